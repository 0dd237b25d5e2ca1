package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"go.lsp.dev/jsonrpc2"
)

// Session is one client's connection.
type Session struct {
	srv    *Server
	conn   net.Conn
	peer   Peer
	id     string
	state  any
	out    *outbox
	ctx    context.Context // ends with the connection
	cancel context.CancelCauseFunc
	work   context.Context // of the calls: ends with the connection, or when the server drains
	drain  context.CancelCauseFunc

	mu      sync.Mutex // guards what follows
	queue   []*item    // read, not begun
	calls   map[jsonrpc2.ID]*item
	live    int  // items and batches that are not finished
	bytes   int  // that they take
	running int  // items that have begun
	alone   bool // the one begun last is to end before the next is begun
	eof     bool // no more will be read
	room    sync.Cond
	empty   chan struct{} // closed when eof and nothing is live
}

// Peer is the process at the other end.
type Peer struct{ UID, GID, PID int }

func newSession(srv *Server, conn net.Conn, peer Peer, id string) *Session {
	s := &Session{srv: srv, conn: conn, peer: peer, id: id, calls: map[jsonrpc2.ID]*item{}, empty: make(chan struct{})}
	s.room.L = &s.mu
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.work, s.drain = context.WithCancelCause(s.ctx)
	s.out = newOutbox(conn, srv.opts.WriteDeadline, srv.workers.run, s.gone)
	return s
}

// ID names the session within the life of the daemon.
func (s *Session) ID() string { return s.id }

// Peer gives the process at the other end.
func (s *Session) Peer() Peer { return s.peer }

// SetState keeps the handler's own state of the session. It is called before the first message.
func (s *Session) SetState(v any) { s.state = v }

// State gives what SetState kept.
func (s *Session) State() any { return s.state }

// Done is closed when the connection has ended.
func (s *Session) Done() <-chan struct{} { return s.ctx.Done() }

// Notify sends a notification without ever waiting for the client. It is false when the notification will not be sent,
// because the connection has ended or too many wait for a client that does not read.
func (s *Session) Notify(method string, params any) bool {
	raw, err := encode(params)
	if limit := s.srv.opts.FrameLimit - itemCost; err == nil && len(raw) > limit {
		err = fmt.Errorf("it has %d bytes, more than %d", len(raw), limit)
	}
	if err != nil {
		s.srv.opts.Log.Error("a notification could not be encoded", "conn", s.id, "method", method, "err", err)
		return false
	}
	ok := s.ctx.Err() == nil && s.out.post(letter{body: jsonrpc2.AppendNotification(nil, method, raw)})
	if !ok {
		s.srv.dropped.Add(1)
	}
	return ok
}

// Progress reports how far the call is that carried the token.
func (s *Session) Progress(token json.RawMessage, value any) bool {
	return s.Notify("$/progress", struct {
		Token json.RawMessage `json:"token"`
		Value any             `json:"value"`
	}{token, value})
}

// Close ends the connection once the replies that are ready have been sent. Calls that still run are cancelled.
func (s *Session) Close() {
	s.out.close()
	_ = s.conn.SetReadDeadline(time.Now().Add(lastWords))
}

// lastWords is how long a client is given to close a connection first whose last reply has been sent.
const lastWords = 200 * time.Millisecond

// serve handles the connection until it ends and nothing of it runs any more.
func (s *Session) serve() {
	err := s.read()
	s.mu.Lock()
	s.eof = true
	live := s.live
	if live == 0 {
		close(s.empty)
	}
	s.mu.Unlock()
	if live > 0 && errors.Is(err, io.EOF) {
		// A script has sent all it has to say (`printf … | nc -U`) and waits for its replies, or the client is gone.
		s.untilAnswered()
	}
	s.gone()
	s.discard()
	<-s.empty
	s.finish()
	if reason := s.out.reason(); !ordinary(reason) {
		err = reason // what the reader then saw is its consequence
	}
	if !ordinary(err) {
		s.srv.opts.Log.Warn("a connection failed", "conn", s.id, "pid", s.peer.PID, "err", err)
	}
}

// untilAnswered waits until all calls are answered or the client has gone.
func (s *Session) untilAnswered() {
	hung := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		defer close(hung)
		awaitHangup(s.conn)
	})
	select {
	case <-s.empty:
	case <-hung:
	}
	_ = s.conn.SetReadDeadline(time.Unix(1, 0)) // ends the watch
	watch.Wait()
}

// finish closes the connection when what is still to be sent has been.
func (s *Session) finish() {
	s.out.close()
	s.out.idle()
	s.conn.Close()
}

// ordinary tells that a connection ended as connections do.
func ordinary(err error) bool {
	for _, end := range []error{io.EOF, net.ErrClosed, os.ErrDeadlineExceeded, errClosing, syscall.EPIPE, syscall.ECONNRESET} {
		if errors.Is(err, end) {
			return true
		}
	}
	return err == nil
}

// gone tells everything that works for the client that it has left.
func (s *Session) gone() {
	s.cancel(ErrDisconnected)
	s.mu.Lock()
	s.room.Broadcast()
	s.mu.Unlock()
}

// read takes frames until the connection ends.
func (s *Session) read() error {
	r := newFrameReader(s.conn, s.srv.opts.FrameLimit, s.srv.opts.HeaderLimit)
	for {
		frame, err := r.next()
		s.out.lines.Store(r.lines)
		var bad *frameError
		switch {
		case errors.As(err, &bad):
			s.srv.bad.Add(1)
			if err := s.refuse(bad); err != nil || bad.fatal {
				return errors.Join(bad, err)
			}
			continue
		case err != nil:
			return err
		}
		if err := s.frame(frame); err != nil {
			return err
		}
		if !s.waitForRoom() {
			return net.ErrClosed
		}
	}
}

// refuse answers a frame that cannot be handled.
func (s *Session) refuse(bad *frameError) error {
	if bad.http {
		return s.out.wait(letter{raw: true, body: []byte("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n" + bad.text + "\n")})
	}
	return s.fail(bad.code, bad.text)
}

// fail sends an error that belongs to no call.
func (s *Session) fail(code int, text string) error {
	return s.out.wait(letter{body: failure(jsonrpc2.ID{}, &Error{Code: code, Message: text})})
}

// frame handles one frame: a request, a notification or a batch. An error ends the connection.
func (s *Session) frame(frame []byte) error {
	if !validJSON(frame) {
		s.srv.bad.Add(1)
		return s.fail(CodeParse, "the message is not valid JSON")
	}
	if frame = bytes.TrimSpace(frame); frame[0] == '[' {
		return s.batch(frame)
	}
	msgs, err := jsonrpc2.ParseRequests(frame)
	if err != nil || len(msgs) != 1 {
		return s.fail(CodeInvalidRequest, notRequest)
	}
	if msgs[0].Err != nil {
		if isResponse(frame) {
			return nil // nothing was asked; an error would be answered with an error, and so on
		}
		return s.fail(CodeInvalidRequest, notRequest)
	}
	it := newItem(msgs[0].Msg, len(frame)+itemCost, nil)
	if it.isCancel() {
		s.cancelRequest(it.params)
		return nil
	}
	if refusal := s.admit(it); refusal != nil {
		return s.out.wait(letter{body: failure(it.id, refusal)})
	}
	s.pump()
	return nil
}

const notRequest = `the message is no JSON-RPC 2.0 request: it takes "jsonrpc":"2.0", "method" (a string), "id" (a string or a whole number) unless it is a notification, and "params"`

// isResponse tells whether a message that is no request answers one.
func isResponse(frame []byte) bool {
	var m struct {
		Method *json.RawMessage `json:"method"`
		Result *json.RawMessage `json:"result"`
		Error  *json.RawMessage `json:"error"`
	}
	return json.Unmarshal(frame, &m) == nil && m.Method == nil && (m.Result != nil || m.Error != nil)
}
