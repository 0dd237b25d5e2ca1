//go:build unix

package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// modeEnv makes the test program act as something else: see modes.
const modeEnv = "RPC_TEST_MODE"

func TestMain(m *testing.M) {
	if mode := modes()[os.Getenv(modeEnv)]; mode != nil {
		if err := mode(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// modes are what the test program can act as; each is given a socket.
func modes() map[string]func(socket string) error {
	return map[string]func(string) error{"daemon": daemonMain, "bare": bareMain, "client": clientMain, "vanish": vanishMain}
}

// torture tells that there is time for the long variants of tests.
func torture() bool { return os.Getenv("TOOLD_TORTURE") != "" }

// patience ends a test that would hang; no test is expected to come near it.
func patience(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// rig is a server on a socket of its own.
type rig struct {
	t      testing.TB
	srv    *Server
	path   string
	began  chan *Session // each call of "wait" that has begun
	gone   chan error    // the cause of each call of "wait" that ended
	left   chan string   // each session that has ended
	ended  int64         // sessions that settled has seen end
	open   chan struct{} // "gate" waits until it is closed
	seen   []string      // what "note" was given, in order
	closed func()
}

func newRig(t testing.TB, o Options) *rig {
	t.Helper()
	r := &rig{
		t: t, path: filepath.Join(socketFolder(t), "s"),
		began: make(chan *Session, 10000), gone: make(chan error, 10000), left: make(chan string, 10000), open: make(chan struct{}),
	}
	l, err := net.Listen("unix", r.path)
	if err != nil {
		t.Fatal(err)
	}
	o.Disconnected = func(s *Session) {
		select {
		case r.left <- s.ID():
		default: // a fuzzer does not ask
		}
	}
	r.srv = NewServer(r.handle, o)
	served := make(chan error, 1)
	ctx, cut := context.WithCancel(context.Background())
	go func() { served <- r.srv.Serve(ctx, l) }()
	var once sync.Once
	r.closed = func() {
		once.Do(func() {
			cut()
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(r.closed)
	return r
}

// socketFolder is a folder whose path is short enough for sockets.
func socketFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rpc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (r *rig) handle(ctx context.Context, s *Session, method string, params []byte) (any, error) {
	switch method {
	case "echo":
		return json.RawMessage(params), nil
	case "wait":
		r.began <- s
		<-ctx.Done()
		r.gone <- context.Cause(ctx)
		return nil, ctx.Err()
	case "gate":
		<-r.open
		return "open", nil
	case "note", "initialize":
		r.seen = append(r.seen, string(params))
		return len(r.seen), nil
	case "seen":
		return r.seen, nil
	case "panic":
		panic("on purpose")
	case "large":
		return strings.Repeat("x", 512<<10), nil
	case "flood":
		n := 0
		for s.Notify("event", strings.Repeat("e", 1<<10)) {
			n++
		}
		return n, nil
	case "bad text":
		return "a\xffb", nil
	case "bad JSON":
		return json.RawMessage(`{"a":`), nil
	case "spread JSON":
		return json.RawMessage("{\n  \"a\": \"b\\n\"\n}"), nil
	case "no JSON":
		return func() {}, nil
	case "plain error":
		return nil, errors.New("it went wrong")
	case "typed error":
		return nil, &Error{Code: 7, Message: "seven \xff", Data: map[string]int{"n": 7}}
	case "exit":
		return nil, nil
	}
	return nil, &Error{Code: CodeMethodNotFound, Message: fmt.Sprintf("there is no method %q", method)}
}

func (r *rig) raw() *net.UnixConn {
	r.t.Helper()
	c, err := net.Dial("unix", r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	return c.(*net.UnixConn)
}

func (r *rig) client() *Client {
	c := NewClient(r.raw())
	r.t.Cleanup(func() { c.Close() })
	return c
}

// alive checks that the server still serves somebody else.
func (r *rig) alive() {
	r.t.Helper()
	c := r.client()
	defer c.Close()
	var got map[string]int
	if err := c.Call(patience(r.t), "echo", map[string]int{"n": 7}, &got); err != nil || got["n"] != 7 {
		r.t.Fatalf("the server does not serve others: %v %v", got, err)
	}
}

func frame(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

// call is a framed call.
func call(id any, method, params string) string {
	raw, err := json.Marshal(id)
	if err != nil {
		panic(err)
	}
	return frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, raw, method, params))
}

func note(method, params string) string {
	return frame(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
}

func send(t testing.TB, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

func reader(c net.Conn) *frameReader { return newFrameReader(c, FrameLimit, HeaderLimit) }

// receive reads the next frame of a raw connection.
func receive(t testing.TB, r *frameReader) string {
	t.Helper()
	b, err := r.next()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// reply is a message of the server's.
type reply struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *Error
}

func parse(t testing.TB, text string) reply {
	t.Helper()
	var m reply
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
	return m
}

// ended reads until the server has closed the connection.
func ended(t testing.TB, c net.Conn) string {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	b, err := io.ReadAll(c)
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("the connection was not closed; it gave %.200q", b)
	}
	return string(b)
}
