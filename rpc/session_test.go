//go:build unix

package rpc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestAbuse does what no client should; the server lives, serves others, and is back at its base afterwards.
func TestAbuse(t *testing.T) {
	var log lockedBuilder
	r := newRig(t, Options{WriteDeadline: 300 * time.Millisecond, Log: textLog(&log)})
	r.alive()
	r.settled()
	memory, routines := heap(), runtime.NumGoroutine()
	for name, text := range map[string]string{
		"nothing":                "",
		"a gigabyte is promised": "Content-Length: 1073741823\r\n\r\n{}",
		"garbage":                "\x00\x01\x02garbage\r\n\r\n",
		"half a header":          "Content-Le",
		"half a frame":           "Content-Length: 100\r\n\r\n{\"jsonrpc\"",
		"half a line":            "{\"jsonrpc\"",
		"endless header":         "X: " + strings.Repeat("a", 1<<20),
		"deep nesting":           frame(strings.Repeat("[", 1<<20)),
		"a batch of a million":   frame("[" + strings.Repeat("1,", 1<<20) + "1]"),
		"garbage in frames":      strings.Repeat(frame("x"), 5000),
		"calls and away":         strings.Repeat(call(1, "wait", "{}"), 500),
	} {
		conn := r.raw()
		_, _ = io.WriteString(conn, text)
		conn.Close()
		r.alive()
		t.Log(name, "survived")
	}
	silent := []string{call(1, "large", "{}"), call(1, "flood", "{}"), frame("x"), frame("[1]"), call(1, "echo", "{}")}
	for _, sent := range silent {
		r.neverReads(sent)
	}
	r.settled()
	if n := strings.Count(log.String(), "has not read for 300ms"); n != len(silent) {
		t.Errorf("%d of %d clients that do not read are in the log: %s", n, len(silent), log.String())
	}
	if now := heap(); now > memory+16<<20 {
		t.Errorf("memory grew from %d to %d MiB", memory>>20, now>>20)
	}
	if now := runtime.NumGoroutine(); now > routines+2*maxIdleWorkers {
		t.Errorf("goroutines grew from %d to %d", routines, now)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// settled waits until all sessions have ended.
func (r *rig) settled() {
	for ; r.ended < r.srv.ids.Load(); r.ended++ {
		select {
		case <-r.left:
		case <-patience(r.t).Done():
			r.t.Fatalf("sessions do not end: %v", r.srv.Counters())
		}
	}
}

// neverReads is a client that asks without end and never reads: others are served meanwhile, and it is dropped.
func (r *rig) neverReads(text string) {
	conn := r.raw()
	dropped := make(chan struct{})
	go func() {
		defer close(dropped)
		for i := 0; ; i++ {
			if _, err := io.WriteString(conn, strings.Replace(text, `"id":1`, fmt.Sprintf(`"id":%d`, 1+i%9), 1)); err != nil {
				return
			}
		}
	}()
	for range 20 {
		r.alive()
	}
	select {
	case <-dropped:
	case <-patience(r.t).Done():
		r.t.Fatalf("a client that does not read stays: %.60s", text)
	}
	conn.Close()
}

// TestPipelined sends many calls at once and wants every answer, once.
func TestPipelined(t *testing.T) {
	const n = 20000
	r := newRig(t, Options{})
	conn := r.raw()
	go func() {
		w := bufio.NewWriterSize(conn, 1<<20)
		for i := range n {
			_, _ = w.WriteString(call(i, "echo", "{}"))
		}
		_ = w.Flush()
	}()
	in := reader(conn)
	seen := map[string]bool{}
	for range n {
		m := parse(t, receive(t, in))
		if m.Error != nil || seen[string(m.ID)] {
			t.Fatalf("got %+v", m)
		}
		seen[string(m.ID)] = true
	}
}

// TestInFlight: no more than the limit run at once; cancelling one that waits answers it, and those behind it run.
func TestInFlight(t *testing.T) {
	r := newRig(t, Options{MaxInFlight: 3})
	conn := r.raw()
	in := reader(conn)
	for i := range 6 {
		send(t, conn, call(i, "wait", "{}"))
	}
	send(t, conn, note("$/cancelRequest", `{"id":4}`))
	if got := parse(t, receive(t, in)); string(got.ID) != "4" || got.Error == nil || got.Error.Code != CodeCancelled {
		t.Errorf("got %+v", got)
	}
	if n := len(r.began); n > 3 {
		t.Errorf("%d calls run", n)
	}
	for _, id := range []string{"0", "1", "2", "3", "5"} {
		send(t, conn, note("$/cancelRequest", fmt.Sprintf(`{"id":%s}`, id)))
		if got := parse(t, receive(t, in)); string(got.ID) != id || got.Error == nil || got.Error.Code != CodeCancelled {
			t.Errorf("got %+v", got)
		}
	}
}

// TestManyWait: a client that has thousands of calls waiting is heard all the same when it cancels or goes.
func TestManyWait(t *testing.T) {
	const n = 5000
	r := newRig(t, Options{})
	conn := r.raw()
	for i := range n {
		send(t, conn, call(i, "wait", "{}"))
	}
	send(t, conn, note("$/cancelRequest", fmt.Sprintf(`{"id":%d}`, n-1)))
	if got := parse(t, receive(t, reader(conn))); string(got.ID) != fmt.Sprint(n-1) {
		t.Errorf("got %+v", got)
	}
	for range MaxInFlight {
		<-r.began
	}
	conn.Close()
	<-r.left
	if len(r.gone) != MaxInFlight {
		t.Errorf("%d calls were begun", len(r.gone))
	}
	for range MaxInFlight {
		if why := <-r.gone; !errors.Is(why, ErrDisconnected) {
			t.Fatalf("a handler saw %v", why)
		}
	}
}

// TestBackpressure: a connection is not read while what it has sent and not been answered is large.
func TestBackpressure(t *testing.T) {
	const limit = 64 << 10
	r := newRig(t, Options{FrameLimit: limit})
	conn := r.raw()
	var all sync.WaitGroup
	all.Go(func() {
		for i := range 500 {
			send(t, conn, call(i, "gate", `["`+strings.Repeat("x", limit/2)+`"]`))
		}
	})
	r.alive()
	if n := r.srv.Counters()["in_flight"].(int); n > 2*framesAhead+2 {
		t.Errorf("%d calls were read ahead", n)
	}
	close(r.open)
	in := reader(conn)
	for range 500 {
		if got := parse(t, receive(t, in)); got.Error != nil {
			t.Fatalf("got %+v", got.Error)
		}
	}
	all.Wait()
}

func TestCancel(t *testing.T) {
	r := newRig(t, Options{})
	c := r.client()
	for range 3000 {
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
			t.Fatalf("a handler saw %v", why)
		}
	}
	if err := c.Call(patience(t), "echo", nil, nil); err != nil {
		t.Error(err)
	}
}

// TestCancelRaw has the cancel in the same packet as the call, and spells ids in every way.
func TestCancelRaw(t *testing.T) {
	r := newRig(t, Options{})
	conn := r.raw()
	in := reader(conn)
	for i := range 3000 {
		send(t, conn, call(i, "wait", "{}")+note("$/cancelRequest", fmt.Sprintf(`{"id":%d}`, i)))
		if got := parse(t, receive(t, in)); string(got.ID) != fmt.Sprint(i) || got.Error == nil || got.Error.Code != CodeCancelled {
			t.Fatalf("got %+v", got)
		}
	}
	send(t, conn, call("a b", "wait", "{}")+note("$/cancelRequest", `{"id":"a\u0020b"}`))
	if got := parse(t, receive(t, in)); got.Error == nil || got.Error.Code != CodeCancelled {
		t.Errorf("got %+v", got)
	}
	send(t, conn, call("1", "wait", "{}")+note("$/cancelRequest", `{"id":1}`)+note("$/cancelRequest", `{"id":null}`)+note("$/cancelRequest", `[]`)+note("$/cancelRequest", `{"id":"1"}`))
	if got := parse(t, receive(t, in)); string(got.ID) != `"1"` || got.Error == nil || got.Error.Code != CodeCancelled {
		t.Errorf("got %+v", got)
	}
}

func TestDisconnectCancels(t *testing.T) {
	r := newRig(t, Options{})
	conn := r.raw()
	send(t, conn, call(1, "wait", "{}")+call(2, "echo", "{}"))
	receive(t, reader(conn))
	conn.Close()
	if why := <-r.gone; !errors.Is(why, ErrDisconnected) {
		t.Errorf("the handler saw %v", why)
	}
}

// TestHalfClosed: a script that has sent all it has to say gets its answers; when it goes its calls are cancelled.
func TestHalfClosed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a closed half from a closed connection")
	}
	r := newRig(t, Options{MaxInFlight: 2})
	conn := r.raw()
	send(t, conn, call(1, "gate", "{}")+call(2, "gate", "{}")+call(3, "echo", "{}"))
	halfClose(t, conn)
	r.alive()
	close(r.open)
	if got := ended(t, conn); strings.Count(got, `"result"`) != 3 {
		t.Errorf("got %q", got)
	}
	conn = r.raw()
	send(t, conn, call(1, "wait", "{}"))
	halfClose(t, conn)
	<-r.began
	conn.Close()
	if why := <-r.gone; !errors.Is(why, ErrDisconnected) {
		t.Errorf("the handler saw %v", why)
	}
}

func halfClose(t *testing.T, conn *net.UnixConn) {
	t.Helper()
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
}

// TestNotify: notifications come in order, never wait for a client that does not read, and tell when they are lost.
func TestNotify(t *testing.T) {
	r := newRig(t, Options{})
	idle := r.raw()
	send(t, idle, call(1, "flood", "{}"))
	in := reader(idle)
	if got := parse(t, receive(t, in)); got.Method != "event" {
		t.Fatalf("got %+v", got)
	}
	n := 1
	for {
		got := parse(t, receive(t, in))
		if got.Method == "" {
			if string(got.Result) != fmt.Sprint(n) {
				t.Errorf("%d notifications came, %s were accepted", n, got.Result)
			}
			break
		}
		n++
	}
	if n < 1000 || r.srv.Counters()["dropped_notifications"] != int64(1) {
		t.Errorf("%d notifications, %v", n, r.srv.Counters())
	}
	conn := r.raw()
	send(t, conn, call(1, "wait", "{}"))
	s := <-r.began
	for i := range 1000 {
		if !s.Progress([]byte(`"tok"`), i) {
			t.Fatal("not accepted")
		}
	}
	in = reader(conn)
	for i := range 1000 {
		if got := parse(t, receive(t, in)); got.Method != "$/progress" || string(got.Params) != fmt.Sprintf(`{"token":"tok","value":%d}`, i) {
			t.Fatalf("%d: got %+v", i, got)
		}
	}
	if s.Notify("event", func() {}) || s.Notify("event", strings.Repeat("x", FrameLimit)) {
		t.Error("what cannot be sent was accepted")
	}
	conn.Close()
	<-s.Done()
	if s.Notify("event", 1) {
		t.Error("a client that has gone accepts notifications")
	}
}

// TestExit: exit ends the connection, once the replies that are ready are delivered.
func TestExit(t *testing.T) {
	r := newRig(t, Options{})
	conn := r.raw()
	in := reader(conn)
	send(t, conn, call(1, "wait", "{}")+call(2, "echo", "{}"))
	receive(t, in)
	send(t, conn, note("exit", "null"))
	if rest := ended(t, conn); rest != "" {
		t.Errorf("got %q", rest)
	}
	if why := <-r.gone; !errors.Is(why, ErrDisconnected) {
		t.Errorf("the handler saw %v", why)
	}
}

// TestAcceptFails: the server goes on when it cannot accept a connection for a while.
func TestAcceptFails(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(socketFolder(t), "s"))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, path: l.Addr().String()}
	var log strings.Builder
	srv := NewServer(r.handle, Options{Log: textLog(&log)})
	served := make(chan error, 1)
	go func() {
		served <- srv.Serve(context.Background(), &failing{Listener: l, errs: []error{syscall.EMFILE, syscall.ENFILE, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}, syscall.ECONNABORTED}})
	}()
	r.alive()
	l.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "too many open files"); n != 3 {
		t.Errorf("the log has %d of 3 errors: %s", n, log.String())
	}
	broken := errors.New("broken")
	srv = NewServer(r.handle, Options{})
	if err := srv.Serve(context.Background(), &failing{Listener: l, errs: []error{broken}}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// failing is a listener whose first accepts fail.
type failing struct {
	net.Listener
	errs []error
}

func (f *failing) Accept() (net.Conn, error) {
	if len(f.errs) == 0 {
		return f.Listener.Accept()
	}
	err := f.errs[0]
	f.errs = f.errs[1:]
	return nil, err
}

// TestPanicIsLogged: a panic is one line with the stack, and what the client is told does not have it.
func TestPanicIsLogged(t *testing.T) {
	var log lockedBuilder
	r := newRig(t, Options{Log: slog.New(slog.NewJSONHandler(&log, nil))})
	err := r.client().Call(patience(t), "panic", nil, nil)
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeInternal || strings.Contains(e.Message, "on purpose") {
		t.Errorf("got %v", err)
	}
	send(t, r.raw(), note("panic", "{}")+note("panic", "{}"))
	r.alive()
	r.closed()
	if got := log.String(); strings.Count(got, "on purpose") != 3 || !strings.Contains(got, "rig_test.go") {
		t.Errorf("the log: %s", got)
	}
}

type lockedBuilder struct {
	mu sync.Mutex // guards b
	b  strings.Builder
}

func (l *lockedBuilder) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuilder) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestSlots: heavy calls share the slots, and sessions take turns.
func TestSlots(t *testing.T) {
	l := newSlots(2)
	a, b := &Session{id: "a"}, &Session{id: "b"}
	ctx := context.Background()
	for range 2 {
		if err := l.acquire(ctx, a); err != nil {
			t.Fatal(err)
		}
	}
	got := make(chan string)
	var all sync.WaitGroup
	queue := func(s *Session, n int) {
		all.Go(func() {
			if l.acquire(ctx, s) == nil {
				got <- s.id
			}
		})
		for l.waits(s) < n {
			runtime.Gosched()
		}
	}
	for i := range 3 {
		queue(a, i+1)
	}
	for i := range 2 {
		queue(b, i+1)
	}
	cancelled, cancel := context.WithCancelCause(ctx)
	cancel(ErrClientCancelled)
	if err := l.acquire(cancelled, b); !errors.Is(err, ErrClientCancelled) {
		t.Errorf("got %v", err)
	}
	var order string
	for range 5 {
		l.release()
		order += <-got
	}
	if order != "ababa" {
		t.Errorf("the turns were %s", order)
	}
	all.Wait()
	l.release()
	l.release()
	if l.free != 2 || len(l.waiting) > 0 || len(l.turns) > 0 {
		t.Errorf("left over: %+v", l)
	}
}

func (l *slots) waits(s *Session) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting[s])
}

func TestHeavy(t *testing.T) {
	r := newRig(t, Options{HeavySlots: 1, Heavy: func(method string, _ []byte) bool { return method == "wait" }})
	conn := r.raw()
	in := reader(conn)
	send(t, conn, call(1, "wait", "{}"))
	<-r.began
	send(t, conn, call(2, "wait", "{}")+call(3, "echo", "{}"))
	receive(t, in) // light ones are not held up
	send(t, conn, note("$/cancelRequest", `{"id":2}`))
	if got := parse(t, receive(t, in)); string(got.ID) != "2" || got.Error == nil || got.Error.Code != CodeCancelled {
		t.Errorf("got %+v", got)
	}
	if len(r.began) > 0 {
		t.Error("two heavy calls ran")
	}
}

// TestDrain: running calls are told and answered, new ones refused, and the connection is closed.
func TestDrain(t *testing.T) {
	r := newRig(t, Options{})
	conn := r.raw()
	in := reader(conn)
	send(t, conn, call(2, "gate", "{}")+call(1, "wait", "{}")) // in this order: when the second has begun, so has the first
	<-r.began
	drained := make(chan error, 1)
	go func() { drained <- r.srv.Drain(context.Background()) }()
	if got := parse(t, receive(t, in)); string(got.ID) != "1" || got.Error == nil || got.Error.Code != CodeCancelled || !strings.Contains(got.Error.Message, "shutting down") {
		t.Errorf("got %+v", got)
	}
	if why := <-r.gone; !errors.Is(why, ErrDraining) {
		t.Errorf("the handler saw %v", why)
	}
	send(t, conn, call(3, "echo", "{}")+frame(`[{"jsonrpc":"2.0","id":4,"method":"echo"}]`))
	for _, id := range []string{"3", "4"} {
		got := parse(t, strings.Trim(receive(t, in), "[]"))
		if string(got.ID) != id || got.Error == nil || got.Error.Code != CodeShuttingDown {
			t.Errorf("got %+v", got)
		}
	}
	if c, err := net.Dial("unix", r.path); err == nil {
		c.Close()
		t.Error("a new connection was accepted")
	}
	close(r.open)
	if got := parse(t, receive(t, in)); string(got.ID) != "2" || got.Error != nil {
		t.Errorf("got %+v", got)
	}
	if rest := ended(t, conn); rest != "" {
		t.Errorf("got %q", rest)
	}
	if err := <-drained; err != nil {
		t.Error(err)
	}
}

// TestDrainGivesUp: a drain ends with its context.
func TestDrainGivesUp(t *testing.T) {
	r := newRig(t, Options{})
	send(t, r.raw(), call(1, "gate", "{}"))
	r.alive()
	ctx, cancel := context.WithTimeoutCause(context.Background(), time.Millisecond, os.ErrDeadlineExceeded)
	defer cancel()
	for r.srv.Counters()["in_flight"] == 0 {
		runtime.Gosched()
	}
	if err := r.srv.Drain(ctx); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	close(r.open)
}

// TestDrainUnderLoad: every call whose handler was entered is answered, in whatever moment the drain comes.
func TestDrainUnderLoad(t *testing.T) {
	rounds := 50
	if torture() {
		rounds = 1000
	}
	for range rounds {
		drainOnce(t)
	}
}

func drainOnce(t *testing.T) {
	var begun, answered sync.Map
	entered := make(chan struct{}, 1<<20)
	srv := NewServer(func(_ context.Context, _ *Session, _ string, params []byte) (any, error) {
		begun.Store(string(params), true)
		entered <- struct{}{}
		return string(params), nil
	}, Options{})
	path := socketFolder(t) + "/s"
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		if err := srv.Serve(context.Background(), l); err != nil {
			t.Error(err)
		}
	})
	for client := range 4 {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		c := NewClient(conn)
		var callers sync.WaitGroup
		for caller := range 8 {
			callers.Go(func() {
				for n := 0; ; n++ {
					params := fmt.Sprintf("[%d,%d,%d]", client, caller, n)
					var back string
					if err := c.Call(context.Background(), "do", rawJSON(params), &back); err != nil {
						return
					}
					answered.Store(back, true)
				}
			})
		}
		all.Go(func() { callers.Wait(); c.Close() })
	}
	for range 200 {
		<-entered
	}
	if err := srv.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	begun.Range(func(k, _ any) bool {
		if _, ok := answered.Load(k); !ok {
			t.Errorf("the call %s was begun and its reply lost", k)
		}
		return true
	})
}

func textLog(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }
