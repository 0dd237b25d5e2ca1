// Package rpc is the wire: JSON-RPC 2.0 over a Unix socket, framed as LSP does or as lines of JSON. It is the only
// importer of jsonrpc2, of which it uses the wire core. Connections are its own, because of what a daemon needs around
// the core: limits before memory is taken, calls that are cancelled with a reason when their client goes, replies that
// no drain loses, clients that do not read and hold nobody up.
//
// A message goes from frameReader through Session.frame and admit into the session's queue; pump begins it on a worker,
// handle runs it, and its reply goes through the outbox. What has been admitted is on the account of the session and of
// the server until its reply has been written.
package rpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"runtime"
	"slices"
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
	MaxInFlight = 256      // calls of one connection that run at the same time, unless Options say otherwise
)

// Handler answers one request or notification. Its context ends when the client cancels or goes, or the server drains;
// context.Cause tells which. The result is encoded as JSON; an error that is no *Error is an internal one. Calls of a
// connection run beside each other, in the order of their coming in; the next one waits for a notification and for
// initialize.
type Handler func(ctx context.Context, s *Session, method string, params []byte) (any, error)

// Why the context of a call ended.
var (
	ErrClientCancelled = errors.New("cancelled by the client")
	ErrDisconnected    = errors.New("the client has gone")
	ErrDraining        = errors.New("the daemon is shutting down")
)

// Options are the settings of a server.
type Options struct {
	Log           *slog.Logger
	FrameLimit    int                                     // FrameLimit when zero; for tests
	HeaderLimit   int                                     // HeaderLimit when zero; for tests
	MaxInFlight   int                                     // MaxInFlight when zero
	Heavy         func(method string, params []byte) bool // which calls take one of the HeavySlots; none when nil
	HeavySlots    int                                     // heavy calls that run at the same time; two per processor when zero
	WriteDeadline time.Duration                           // in which a client must read a mebibyte; 30 s when zero
	Connected     func(*Session)                          // before the first message of a connection
	Disconnected  func(*Session)                          // after its last call has ended
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.FrameLimit = cmp.Or(o.FrameLimit, FrameLimit)
	o.HeaderLimit = cmp.Or(o.HeaderLimit, HeaderLimit)
	o.MaxInFlight = cmp.Or(o.MaxInFlight, MaxInFlight)
	o.HeavySlots = cmp.Or(o.HeavySlots, 2*runtime.GOMAXPROCS(0))
	o.WriteDeadline = cmp.Or(o.WriteDeadline, 30*time.Second)
	return o
}

// Server answers connections.
type Server struct {
	handler Handler
	opts    Options
	workers *workers
	slots   *slots

	ids, calls, refused, dropped, bad, panics atomic.Int64

	mu       sync.Mutex // guards what follows
	listener net.Listener
	sessions map[*Session]bool
	inflight int // requests that were accepted and not yet answered
	draining bool
	idle     chan struct{} // closed when draining and nothing is in flight
}

// NewServer makes a server.
func NewServer(h Handler, o Options) *Server {
	o = o.withDefaults()
	return &Server{
		handler: h, opts: o, workers: newWorkers(), slots: newSlots(o.HeavySlots),
		sessions: map[*Session]bool{}, idle: make(chan struct{}),
	}
}

// Serve accepts connections until the listener is closed, and returns when all of them have ended. The end of the
// context closes the listener and all connections at once. Connections of another user are closed. A server serves once.
func (srv *Server) Serve(ctx context.Context, l net.Listener) error {
	var conns sync.WaitGroup
	defer srv.workers.stop()
	defer conns.Wait()
	srv.mu.Lock()
	srv.listener = l
	draining := srv.draining
	srv.mu.Unlock()
	if draining {
		return nil
	}
	defer context.AfterFunc(ctx, srv.cut)()
	pause := time.Millisecond
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			pause = time.Millisecond
			conns.Go(func() { srv.accept(conn) })
		case errors.Is(err, net.ErrClosed):
			return nil
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.ENOBUFS), errors.Is(err, syscall.ECONNABORTED):
			srv.opts.Log.Warn("cannot accept a connection", "err", err)
			if !wait(ctx, pause) {
				return nil
			}
			pause = min(2*pause, time.Second)
		default:
			return fmt.Errorf("accept: %w", err)
		}
	}
}

func (srv *Server) accept(conn net.Conn) {
	defer conn.Close()
	peer, err := peerOf(conn)
	if err != nil {
		srv.opts.Log.Warn("refused a connection", "err", err)
		return
	}
	s := newSession(srv, conn, peer, strconv.FormatInt(srv.ids.Add(1), 10))
	if !srv.add(s) {
		return
	}
	defer srv.drop(s)
	if srv.opts.Connected != nil {
		srv.opts.Connected(s)
	}
	s.serve()
	if srv.opts.Disconnected != nil {
		srv.opts.Disconnected(s)
	}
}

// cut ends everything at once.
func (srv *Server) cut() {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	srv.listener.Close()
	for s := range srv.sessions {
		s.conn.Close()
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

// Drain stops the server: new connections and calls are refused, running calls are asked to end or finish, every reply
// is delivered, then the connections are closed. When the context ends before that, its cause is returned; the end of
// Serve's context then closes what is left.
func (srv *Server) Drain(ctx context.Context) error {
	srv.mu.Lock()
	if !srv.draining {
		srv.draining = true
		if srv.inflight == 0 {
			close(srv.idle)
		}
	}
	l := srv.listener
	srv.mu.Unlock()
	refuse(l)
	for _, s := range srv.open() {
		s.drain(ErrDraining)
	}
	select {
	case <-srv.idle:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for _, s := range srv.open() {
		s.Close()
	}
	return nil
}

// refuse stops listening. A Listener keeps its lock, so that no other daemon starts while this one drains.
func refuse(l net.Listener) {
	switch l := l.(type) {
	case nil:
	case *Listener:
		l.Listener.Close()
	default:
		l.Close()
	}
}

func (srv *Server) open() []*Session {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return slices.Collect(maps.Keys(srv.sessions))
}

func (srv *Server) add(s *Session) bool {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if srv.draining {
		return false
	}
	srv.sessions[s] = true
	return true
}

func (srv *Server) drop(s *Session) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	delete(srv.sessions, s)
}

// Counters gives what the status of the daemon shows of the wire.
func (srv *Server) Counters() map[string]any {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return map[string]any{
		"connections": len(srv.sessions), "calls": srv.calls.Load(), "in_flight": srv.inflight, "refused": srv.refused.Load(),
		"bad_frames": srv.bad.Load(), "dropped_notifications": srv.dropped.Load(), "panics": srv.panics.Load(),
		"max_frame_bytes": srv.opts.FrameLimit, "max_in_flight": srv.opts.MaxInFlight,
	}
}
