// Package rpc is the wire: JSON-RPC 2.0 over a Unix socket, framed as LSP does or as lines of JSON. It is the only
// importer of jsonrpc2, of which it uses the wire core; what a daemon needs around that (limits, cancellation when a
// client goes, replies that are not lost in a drain) is here.
package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Limits of the wire.
const (
	FrameLimit  = 64 << 20 // bytes of one frame, both ways
	HeaderLimit = 4 << 10  // bytes of a frame's header block
	MaxInFlight = 256      // calls of one connection that run at the same time
	maxWaiting  = 1024     // calls of one connection that have been read and wait
)

// Handler answers one request or notification. Its context ends when the client cancels or goes, or the server
// drains; context.Cause tells which.
type Handler func(ctx context.Context, s *Session, method string, params []byte) (any, error)

// Why the context of a call ended.
var (
	ErrClientCancelled = errors.New("cancelled by the client")
	ErrDisconnected    = errors.New("the client has gone")
	ErrDraining        = errors.New("the daemon is stopping")
)

// Options are the settings of a server.
type Options struct {
	Log           *slog.Logger
	WriteDeadline time.Duration  // for a client that does not read; 30 s when zero
	Connected     func(*Session) // before the first message of a connection
	Disconnected  func(*Session) // after its last call has ended
}

// Server answers connections.
type Server struct {
	handler Handler
	opts    Options
	ids     atomic.Int64
	calls   atomic.Int64
	refused atomic.Int64
	workers *workers

	mu       sync.Mutex // guards what follows
	sessions map[*Session]bool
	draining bool
	idle     chan struct{} // closed when draining and nothing runs any more
	inflight int           // requests that were accepted and not yet answered
}

// NewServer makes a server.
func NewServer(h Handler, o Options) *Server {
	if o.WriteDeadline == 0 {
		o.WriteDeadline = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{handler: h, opts: o, sessions: map[*Session]bool{}, idle: make(chan struct{}), workers: &workers{jobs: make(chan func())}}
}

// Serve accepts connections until the listener is closed, and returns when all of them have ended. Connections of
// another user are closed at once.
func (srv *Server) Serve(ctx context.Context, l net.Listener) error {
	var conns sync.WaitGroup
	defer srv.workers.stop()
	defer conns.Wait()
	pause := time.Millisecond
	for {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ECONNABORTED):
			srv.opts.Log.Warn("cannot accept a connection", "err", err)
			if !wait(ctx, pause) {
				return nil
			}
			pause = min(2*pause, time.Second)
			continue
		case err != nil:
			return fmt.Errorf("accept: %w", err)
		}
		pause = time.Millisecond
		peer, err := peerOf(conn)
		if err != nil {
			srv.opts.Log.Warn("refused a connection", "err", err)
			conn.Close()
			continue
		}
		conns.Go(func() { srv.session(conn, peer).serve() })
	}
}

func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (srv *Server) session(conn net.Conn, peer Peer) *Session {
	s := &Session{srv: srv, conn: conn, peer: peer, id: strconv.FormatInt(srv.ids.Add(1), 10), calls: map[string]context.CancelCauseFunc{}}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.slots, s.waiting = make(chan struct{}, MaxInFlight), make(chan struct{}, maxWaiting)
	return s
}

// begin admits one request, unless the server drains.
func (srv *Server) begin() bool {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if srv.draining {
		srv.refused.Add(1)
		return false
	}
	srv.inflight++
	srv.calls.Add(1)
	return true
}

// end records that an admitted request has been answered.
func (srv *Server) end() {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if srv.inflight--; srv.draining && srv.inflight == 0 {
		close(srv.idle)
	}
}

// Drain stops the server: new calls are refused, running ones are asked to end or finish, every reply is delivered,
// then the connections are closed. It returns early when the context ends.
func (srv *Server) Drain(ctx context.Context) error {
	srv.mu.Lock()
	if !srv.draining {
		srv.draining = true
		if srv.inflight == 0 {
			close(srv.idle)
		}
	}
	var open []*Session
	for s := range srv.sessions {
		open = append(open, s)
	}
	srv.mu.Unlock()
	for _, s := range open {
		s.cancelAll(ErrDraining)
	}
	select {
	case <-srv.idle:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	srv.mu.Lock()
	open = open[:0]
	for s := range srv.sessions {
		open = append(open, s)
	}
	srv.mu.Unlock()
	for _, s := range open {
		s.finish()
	}
	return nil
}

func (srv *Server) add(s *Session) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	srv.sessions[s] = true
}

func (srv *Server) drop(s *Session) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	delete(srv.sessions, s)
}

func (srv *Server) isDraining() bool {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return srv.draining
}

// Counters gives what the status of the daemon shows of the wire.
func (srv *Server) Counters() map[string]any {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return map[string]any{
		"connections": len(srv.sessions), "calls": srv.calls.Load(), "in_flight": srv.inflight, "refused": srv.refused.Load(),
		"max_frame_bytes": FrameLimit, "max_in_flight": MaxInFlight,
	}
}

// maxIdleWorkers is how many goroutines are kept for the next calls.
const maxIdleWorkers = 16

// workers run calls on goroutines that are kept for the next ones: their stacks have grown already, which a new
// goroutine would pay for at each call.
type workers struct {
	jobs chan func()
	idle atomic.Int64
	all  sync.WaitGroup
}

func (w *workers) run(job func()) {
	select {
	case w.jobs <- job:
	default:
		w.all.Go(func() { w.work(job) })
	}
}

func (w *workers) work(job func()) {
	for job != nil {
		job()
		if w.idle.Add(1) > maxIdleWorkers {
			w.idle.Add(-1)
			return
		}
		job = <-w.jobs // nil when it is closed
		w.idle.Add(-1)
	}
}

// stop ends the goroutines. No call may be running.
func (w *workers) stop() {
	close(w.jobs)
	w.all.Wait()
}
