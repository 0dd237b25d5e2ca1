package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"go.lsp.dev/jsonrpc2"
)

// Session is one client's connection.
type Session struct {
	srv    *Server
	conn   net.Conn
	peer   Peer
	id     string
	ctx    context.Context // ends with the connection
	cancel context.CancelCauseFunc
	state  any

	waiting chan struct{} // a token for each call that was read and is not answered
	slots   chan struct{} // a token for each call that runs
	handing sync.WaitGroup

	mu    sync.Mutex // guards calls
	calls map[string]context.CancelCauseFunc

	writing sync.Mutex // held while a frame is written; guards what follows
	lines   bool       // the client speaks lines of JSON
	until   time.Time  // the write deadline in force
}

// Peer is the process at the other end.
type Peer struct{ UID, GID, PID int }

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

// Notify sends a notification. It is false when the connection has ended or the client does not read.
func (s *Session) Notify(method string, params any) bool {
	raw, err := encode(params)
	if err != nil {
		s.srv.opts.Log.Error("a notification could not be encoded", "method", method, "err", err)
		return false
	}
	return s.write(jsonrpc2.AppendNotification(nil, method, raw)) == nil
}

func (s *Session) serve() {
	s.srv.add(s)
	if s.srv.opts.Connected != nil {
		s.srv.opts.Connected(s)
	}
	err := s.read()
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
		s.srv.opts.Log.Warn("a connection ended", "conn", s.id, "err", err)
	}
	s.cancel(ErrDisconnected)
	s.handing.Wait()
	s.conn.Close()
	s.srv.drop(s)
	if s.srv.opts.Disconnected != nil {
		s.srv.opts.Disconnected(s)
	}
}

// read dispatches frames until the connection ends.
func (s *Session) read() error {
	r := newFrameReader(s.conn)
	for {
		frame, err := r.next()
		s.writing.Lock()
		s.lines = r.lines
		s.writing.Unlock()
		var skipped *frameError
		switch {
		case errors.As(err, &skipped):
			if err := s.fail(jsonrpc2.ID{}, skipped.code, skipped.text); err != nil || skipped.fatal {
				return errors.Join(skipped, err)
			}
			continue
		case err != nil:
			return err
		}
		if err := s.frame(frame); err != nil {
			return err
		}
	}
}

// frame handles one frame: a request, a notification or a batch. An error ends the connection.
func (s *Session) frame(frame []byte) error {
	if !utf8.Valid(frame) {
		return s.fail(jsonrpc2.ID{}, CodeParse, "the message is not valid UTF-8")
	}
	if !json.Valid(frame) {
		return s.fail(jsonrpc2.ID{}, CodeParse, "the message is not valid JSON")
	}
	msgs, err := jsonrpc2.ParseRequests(frame)
	if err != nil {
		return s.fail(jsonrpc2.ID{}, CodeInvalidRequest, "the message is no JSON-RPC request: "+err.Error())
	}
	if len(msgs) == 0 {
		return s.fail(jsonrpc2.ID{}, CodeInvalidRequest, "the batch is empty")
	}
	if !msgs[0].Batch {
		return s.dispatch(msgs[0], nil)
	}
	b := &batch{s: s, left: 1}
	for _, m := range msgs {
		b.add()
		if err := s.dispatch(m, b); err != nil {
			return err
		}
	}
	return b.done(nil)
}

// batch collects the replies of a batch; they go out together.
type batch struct {
	s       *Session
	mu      sync.Mutex // guards what follows
	left    int
	replies [][]byte
}

func (b *batch) add() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left++
}

func (b *batch) done(reply []byte) error {
	b.mu.Lock()
	if reply != nil {
		b.replies = append(b.replies, reply)
	}
	b.left--
	send := b.left == 0 && len(b.replies) > 0
	b.mu.Unlock()
	if !send {
		return nil
	}
	return b.s.write(append(append([]byte{'['}, bytes.Join(b.replies, []byte{','})...), ']'))
}

// dispatch starts one message. Notifications and initialize are handled in the order in which they come, calls run
// beside each other.
func (s *Session) dispatch(m *jsonrpc2.ParsedMessage, b *batch) error {
	if m.Err != nil {
		return s.reply(b, jsonrpc2.AppendResponse(nil, jsonrpc2.ID{}, nil, wireError(&Error{Code: CodeInvalidRequest, Message: m.Err.Message})))
	}
	call, isCall := m.Msg.(*jsonrpc2.Call)
	if !isCall {
		s.notification(m.Msg.Method(), m.Msg.Params())
		return s.reply(b, nil)
	}
	if !s.srv.begin() {
		return s.reply(b, jsonrpc2.AppendResponse(nil, call.ID(), nil, wireError(&Error{Code: CodeShuttingDown, Message: "the daemon is stopping; the call was not begun. Connect again"})))
	}
	ctx, cancel := context.WithCancelCause(s.ctx)
	key := idKey(call.ID())
	s.mu.Lock()
	s.calls[key] = cancel
	s.mu.Unlock()
	if s.srv.isDraining() {
		cancel(ErrDraining)
	}
	run := func() {
		defer s.srv.end()
		defer cancel(nil)
		s.call(ctx, call, key, b)
	}
	if call.Method() == "initialize" {
		run()
		return nil
	}
	select {
	case s.waiting <- struct{}{}:
	case <-s.ctx.Done():
		s.srv.end()
		cancel(nil)
		return nil
	}
	s.handing.Add(1)
	s.srv.workers.run(func() {
		defer s.handing.Done()
		defer func() { <-s.waiting }()
		s.slots <- struct{}{}
		defer func() { <-s.slots }()
		run()
	})
	return nil
}

func (s *Session) reply(b *batch, reply []byte) error {
	switch {
	case b != nil:
		return b.done(reply)
	case reply != nil:
		return s.write(reply)
	}
	return nil
}

// call runs one call and delivers its reply.
func (s *Session) call(ctx context.Context, call *jsonrpc2.Call, key string, b *batch) {
	result, err := s.handle(ctx, call.Method(), call.Params())
	s.mu.Lock()
	delete(s.calls, key)
	s.mu.Unlock()
	if err != nil && ctx.Err() != nil && isCancel(err) {
		err = &Error{Code: CodeCancelled, Message: "cancelled: " + context.Cause(ctx).Error()}
	}
	var reply []byte
	if err == nil {
		var raw []byte
		raw, err = encode(result)
		if err == nil && len(raw) > FrameLimit-1024 {
			err = &Error{Code: CodeInternal, Message: fmt.Sprintf("the reply would be larger than a frame may be (%d bytes); ask for less", FrameLimit)}
		}
		reply = jsonrpc2.AppendResponse(make([]byte, 0, len(raw)+64), call.ID(), raw, nil)
	}
	if err != nil {
		reply = jsonrpc2.AppendResponse(nil, call.ID(), nil, wireError(err))
	}
	if err := s.reply(b, reply); err != nil && s.ctx.Err() == nil {
		s.srv.opts.Log.Warn("a reply could not be delivered", "conn", s.id, "method", call.Method(), "err", err)
	}
}

func isCancel(err error) bool {
	for _, c := range []error{context.Canceled, ErrClientCancelled, ErrDisconnected, ErrDraining} {
		if errors.Is(err, c) {
			return true
		}
	}
	return false
}

// handle calls the handler; a panic there is an error of this call alone.
func (s *Session) handle(ctx context.Context, method string, params []byte) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.srv.opts.Log.Error("a call panicked", "conn", s.id, "method", method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			result, err = nil, &Error{Code: CodeInternal, Message: fmt.Sprintf("toold has a fault in %s; `toold logs` has the details. Other calls go on", method)}
		}
	}()
	if badSurrogate(params) {
		return nil, &Error{Code: CodeInvalidParams, Message: "the parameters have a lone surrogate (half of a \\u pair), which is no character; send the text as UTF-8"}
	}
	return s.srv.handler(ctx, s, method, params)
}

func (s *Session) notification(method string, params []byte) {
	if method == "$/cancelRequest" {
		var p struct {
			ID json.RawMessage `json:"id"`
		}
		if json.Unmarshal(params, &p) == nil {
			s.cancelCall(string(p.ID))
		}
		return
	}
	if _, err := s.handle(s.ctx, method, params); err != nil {
		s.srv.opts.Log.Debug("a notification failed", "conn", s.id, "method", method, "err", err)
	}
}

func (s *Session) cancelCall(key string) {
	s.mu.Lock()
	cancel := s.calls[key]
	s.mu.Unlock()
	if cancel != nil {
		cancel(ErrClientCancelled)
	}
}

func (s *Session) cancelAll(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cancel := range s.calls {
		cancel(why)
	}
}

// idKey gives a request's id as its JSON text, by which $/cancelRequest names it.
func idKey(id jsonrpc2.ID) string {
	if n, ok := id.Number(); ok {
		return strconv.FormatInt(n, 10)
	}
	if t, ok := id.StringValue(); ok {
		raw, err := json.Marshal(t)
		if err == nil {
			return string(raw)
		}
	}
	return "null"
}

func (s *Session) fail(id jsonrpc2.ID, code int, text string) error {
	return s.write(jsonrpc2.AppendResponse(nil, id, nil, wireError(&Error{Code: code, Message: text})))
}

// write sends one frame. The first failure ends the connection: after half a frame nothing that follows would make
// sense.
func (s *Session) write(body []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	// The deadline is renewed when half of it is over: setting it for each frame would wake a thread each time.
	if now := time.Now(); s.until.Sub(now) < s.srv.opts.WriteDeadline/2 {
		s.until = now.Add(s.srv.opts.WriteDeadline)
		if err := s.conn.SetWriteDeadline(s.until); err != nil {
			return err
		}
	}
	if err := writeFrame(s.conn, body, s.lines); err != nil {
		s.cancel(ErrDisconnected)
		s.conn.Close()
		return err
	}
	return nil
}

// finish ends a session whose replies have all been written. The client is given a moment to close first: a socket
// that is closed with unread bytes in it would cut its last replies off.
func (s *Session) finish() {
	if c, ok := s.conn.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
	}
	_ = s.conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
}

// encode gives a value as JSON without escaping for HTML.
func encode(v any) ([]byte, error) {
	if raw, ok := v.(json.RawMessage); ok && raw != nil {
		return raw, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a reply: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
