package rpc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a server on a socket of its own.
type rig struct {
	t      testing.TB
	srv    *Server
	path   string
	gone   chan error // the cause of each call of "wait" that ended
	closed func()
}

func newRig(t testing.TB, o Options) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "rpc")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, path: filepath.Join(dir, "s"), gone: make(chan error, 10000)}
	l, err := net.Listen("unix", r.path)
	if err != nil {
		t.Fatal(err)
	}
	r.srv = NewServer(r.handle, o)
	served := make(chan error, 1)
	go func() { served <- r.srv.Serve(context.Background(), l) }()
	var once sync.Once
	r.closed = func() {
		once.Do(func() {
			l.Close()
			if err := r.srv.Drain(context.Background()); err != nil {
				t.Error(err)
			}
			if err := <-served; err != nil {
				t.Error(err)
			}
			os.RemoveAll(dir)
		})
	}
	t.Cleanup(r.closed)
	return r
}

func (r *rig) handle(ctx context.Context, s *Session, method string, params []byte) (any, error) {
	switch method {
	case "echo":
		return json.RawMessage(append([]byte(nil), params...)), nil
	case "wait":
		<-ctx.Done()
		r.gone <- context.Cause(ctx)
		return nil, ctx.Err()
	case "panic":
		panic("on purpose")
	case "large":
		return strings.Repeat("x", 8<<20), nil
	case "bad":
		return "a\xffb", nil
	case "plain error":
		return nil, errors.New("it went wrong")
	}
	return nil, &Error{Code: CodeMethodNotFound, Message: "no such method"}
}

func (r *rig) raw() net.Conn {
	r.t.Helper()
	c, err := net.Dial("unix", r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	return c
}

func (r *rig) client() *Client {
	c := NewClient(r.raw())
	r.t.Cleanup(func() { c.Close() })
	return c
}

func frame(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

func send(t testing.TB, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// receive reads the next frame of a raw connection.
func receive(t testing.TB, r *frameReader) string {
	t.Helper()
	b, err := r.next()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func reader(c net.Conn) *frameReader {
	return &frameReader{r: bufio.NewReader(c), decided: true}
}

// alive checks that the server still serves somebody else.
func (r *rig) alive() {
	r.t.Helper()
	c := r.client()
	defer c.Close()
	var got map[string]int
	if err := c.Call(context.Background(), "echo", map[string]int{"n": 7}, &got); err != nil || got["n"] != 7 {
		r.t.Fatalf("the server does not serve others: %v %v", got, err)
	}
}

func TestMessages(t *testing.T) {
	r := newRig(t, Options{})
	for name, c := range map[string]struct{ send, want string }{
		"call":                 {`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1}}`, `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`},
		"string id":            {`{"jsonrpc":"2.0","id":"x","method":"echo","params":{}}`, `"id":"x"`},
		"not JSON":             {`{"jsonrpc":`, `"code":-32700`},
		"no request":           {`{"id":1}`, `"code":-32600`},
		"empty batch":          {`[]`, `"code":-32600`},
		"batch":                {`[{"jsonrpc":"2.0","id":1,"method":"echo","params":{}},{"jsonrpc":"2.0","method":"echo"},{"jsonrpc":"2.0","id":2,"method":"nope"}]`, `"code":-32601`},
		"unknown method":       {`{"jsonrpc":"2.0","id":1,"method":"nope"}`, `"code":-32601`},
		"panic":                {`{"jsonrpc":"2.0","id":1,"method":"panic"}`, `"code":-32603`},
		"plain error":          {`{"jsonrpc":"2.0","id":1,"method":"plain error"}`, `it went wrong`},
		"lone surrogate":       {`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":"\ud800"}}`, `"code":-32602`},
		"surrogate pair":       {`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":"\ud83d\ude00"}}`, `"result"`},
		"escaped backslash":    {`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":"\\ud800"}}`, `"result"`},
		"invalid UTF-8":        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":{\"a\":\"\xff\"}}", `"code":-32602`},
		"result is made UTF-8": {`{"jsonrpc":"2.0","id":1,"method":"bad"}`, "a\ufffdb"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := r.raw()
			in := reader(conn)
			send(t, conn, frame(`{"jsonrpc":"2.0","method":"nope"}`)) // an error for a notification closes nothing
			send(t, conn, frame(c.send))
			if got := receive(t, in); !strings.Contains(unescape(got), c.want) {
				t.Errorf("got %s, want %s in it", got, c.want)
			}
			send(t, conn, frame(`{"jsonrpc":"2.0","id":99,"method":"echo","params":{}}`))
			if got := receive(t, in); !strings.Contains(got, `"id":99`) {
				t.Errorf("afterwards: %s", got)
			}
		})
	}
}

func unescape(s string) string { return strings.ReplaceAll(s, `\ufffd`, "\ufffd") }

func TestLines(t *testing.T) {
	r := newRig(t, Options{})
	conn := r.raw()
	send(t, conn, `{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1}}`+"\n\n"+`{"jsonrpc":"2.0","id":2,"method":"nope"}`+"\n{broken\n")
	in := bufio.NewReader(conn)
	got := map[string]bool{}
	for range 3 {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"result":{"a":1}`, `-32601`, `-32700`} {
			got[want] = got[want] || strings.Contains(line, want)
		}
	}
	if len(got) != 3 || !got["-32700"] || !got["-32601"] {
		t.Errorf("%v", got)
	}
}

func TestTooLarge(t *testing.T) {
	r := newRig(t, Options{})
	conn := r.raw()
	in := reader(conn)
	go func() {
		fmt.Fprintf(conn, "Content-Length: %d\r\n\r\n", FrameLimit+1)
		w := bufio.NewWriterSize(conn, 1<<20)
		_, _ = io.CopyN(w, zeros{}, FrameLimit+1)
		_ = w.Flush()
		_, _ = io.WriteString(conn, frame(`{"jsonrpc":"2.0","id":5,"method":"echo","params":{}}`))
	}()
	if got := receive(t, in); !strings.Contains(got, "-32600") || !strings.Contains(got, "the limit is 67108864") {
		t.Errorf("got %s", got)
	}
	if got := receive(t, in); !strings.Contains(got, `"id":5`) {
		t.Errorf("afterwards: %s", got)
	}
	c := r.client()
	big := strings.Repeat("x", FrameLimit-4000)
	var back []string
	if err := c.Call(context.Background(), "echo", []string{big}, &back); err != nil || len(back) != 1 || len(back[0]) != len(big) {
		t.Errorf("a frame just below the limit: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// TestAbuse does what no client should; the server lives, serves others, and is back at its base afterwards.
func TestAbuse(t *testing.T) {
	r := newRig(t, Options{WriteDeadline: 300 * time.Millisecond})
	r.alive()
	before := memory()
	for name, text := range map[string]string{
		"a gigabyte is promised": "Content-Length: 1073741823\r\n\r\n{}",
		"garbage":                "\x00\x01\x02garbage\r\n\r\n",
		"HTTP":                   "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"half a header":          "Content-Le",
		"half a frame":           "Content-Length: 100\r\n\r\n{\"jsonrpc\"",
		"endless header":         "X: " + strings.Repeat("a", 1<<20),
		"no length":              "X: a\r\n\r\n{}",
		"negative length":        "Content-Length: -5\r\n\r\n",
		"length overflows":       "Content-Length: 99999999999999999999\r\n\r\n",
		"deep nesting":           frame(strings.Repeat("[", 1<<20)),
	} {
		conn := r.raw()
		_, _ = io.WriteString(conn, text)
		conn.Close()
		r.alive()
		t.Log(name, "survived")
	}
	pipelined(t, r)
	neverReads(t, r)
	if after := memory(); after > before+64<<20 {
		t.Errorf("memory grew from %d to %d MiB", before>>20, after>>20)
	}
}

func memory() uint64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// pipelined sends twenty thousand calls at once and wants every answer.
func pipelined(t *testing.T, r *rig) {
	const n = 20000
	conn := r.raw()
	go func() {
		w := bufio.NewWriterSize(conn, 1<<20)
		for i := range n {
			_, _ = w.WriteString(frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"echo","params":{}}`, i)))
		}
		_ = w.Flush()
	}()
	in := reader(conn)
	seen := map[float64]bool{}
	for range n {
		var m struct{ ID float64 }
		if err := json.Unmarshal([]byte(receive(t, in)), &m); err != nil {
			t.Fatal(err)
		}
		seen[m.ID] = true
	}
	if len(seen) != n {
		t.Errorf("%d of %d calls were answered", len(seen), n)
	}
	conn.Close()
}

// neverReads is a client that asks for much and never reads: it is dropped, and others are served meanwhile.
func neverReads(t *testing.T, r *rig) {
	conn := r.raw()
	for i := range 20 {
		send(t, conn, frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"large"}`, i)))
	}
	for range 20 {
		r.alive()
	}
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	for {
		if r.srv.Counters()["connections"] == 0 || r.srv.Counters()["in_flight"] == 0 {
			break
		}
		runtime.Gosched()
	}
	conn.Close()
}

func TestCancel(t *testing.T) {
	r := newRig(t, Options{})
	c := r.client()
	rounds := 3000
	for range rounds {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- c.Call(ctx, "wait", nil, nil) }()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Fatalf("a cancelled call ended with %v", err)
		}
	}
	for len(r.gone) > 0 {
		if why := <-r.gone; !errors.Is(why, ErrClientCancelled) {
			t.Fatalf("the handler saw %v", why)
		}
	}
	conn := r.raw()
	send(t, conn, frame(`{"jsonrpc":"2.0","id":"a b","method":"wait"}`)+frame(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"a b"}}`))
	if got := receive(t, reader(conn)); !strings.Contains(got, "-32800") {
		t.Errorf("got %s", got)
	}
}

func TestDisconnectCancels(t *testing.T) {
	r := newRig(t, Options{})
	conn := r.raw()
	send(t, conn, frame(`{"jsonrpc":"2.0","id":1,"method":"wait"}`)+frame(`{"jsonrpc":"2.0","id":2,"method":"echo","params":{}}`))
	receive(t, reader(conn))
	conn.Close()
	if why := <-r.gone; !errors.Is(why, ErrDisconnected) {
		t.Errorf("the handler saw %v", why)
	}
}

func TestDrain(t *testing.T) {
	r := newRig(t, Options{})
	waiting, other := r.client(), r.client()
	done := make(chan error, 1)
	go func() { done <- waiting.Call(context.Background(), "wait", nil, nil) }()
	for r.srv.Counters()["in_flight"] != 1 {
		runtime.Gosched()
	}
	if err := r.srv.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	var re *Error
	if err := <-done; !errors.As(err, &re) || re.Code != CodeCancelled || !strings.Contains(re.Message, "shutting down") {
		t.Errorf("the running call ended with %v", err)
	}
	if err := other.Call(context.Background(), "echo", nil, nil); err == nil {
		t.Error("a call after the drain was answered")
	}
}

// FuzzFrames reads whatever bytes come: it gives frames or errors, never panics, and never more than came.
func FuzzFrames(f *testing.F) {
	for _, s := range []string{frame("{}"), "{}\n[]\n", "Content-Length: 3\r\n\r\nabc", "\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newFrameReader(strings.NewReader(string(data)))
		total := 0
		for {
			b, err := r.next()
			var fe *frameError
			if errors.As(err, &fe) && !fe.fatal {
				continue
			}
			if err != nil {
				return
			}
			if total += len(b); total > len(data) {
				t.Fatalf("%d bytes of frames out of %d", total, len(data))
			}
		}
	})
}
