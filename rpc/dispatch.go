package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"unicode/utf8"

	"go.lsp.dev/jsonrpc2"
)

const (
	framesAhead = 2   // frames of the largest size whose bytes a connection may have waiting and running; then no more is read
	itemCost    = 512 // bytes that an item takes beside its frame
)

// item is a request or notification that was read.
type item struct {
	id     jsonrpc2.ID
	call   bool
	method string
	params []byte
	size   int
	batch  *batch
	begun  bool
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func newItem(m jsonrpc2.RequestMessage, size int, b *batch) *item {
	it := &item{method: m.Method(), params: m.Params(), size: size, batch: b}
	if c, ok := m.(*jsonrpc2.Call); ok {
		it.call, it.id = true, c.ID()
	}
	return it
}

func (it *item) isCancel() bool { return !it.call && it.method == "$/cancelRequest" }

// inOrder tells that an item ends before the next one begins. Calls run beside each other; notifications and initialize
// change what the calls after them mean.
func (it *item) inOrder() bool { return !it.call || it.method == "initialize" }

// admit takes an item on: from here on it is answered. The refusal says why it is not.
func (s *Session) admit(it *item) *Error {
	if text, ok := it.id.StringValue(); ok && !utf8.ValidString(text) {
		it.id = jsonrpc2.ID{}
		return &Error{Code: CodeInvalidRequest, Message: "the id is not valid UTF-8"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if it.call && s.calls[it.id] != nil {
		return &Error{Code: CodeInvalidRequest, Message: "a call with this id still runs; give every call an id of its own"}
	}
	if !s.srv.begin() {
		return notBegun()
	}
	it.ctx, it.cancel = context.WithCancelCause(s.work)
	if it.call {
		s.calls[it.id] = it
	}
	s.live++
	s.bytes += it.size
	s.queue = append(s.queue, it)
	return nil
}

func notBegun() *Error {
	return &Error{Code: CodeShuttingDown, Message: "the daemon is shutting down; the call was not begun. Connect again and repeat it"}
}

// pump begins what may begin.
func (s *Session) pump() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) > 0 && !s.alone && s.running < s.srv.opts.MaxInFlight && s.ctx.Err() == nil {
		it := s.queue[0]
		s.queue[0] = nil
		s.queue = s.queue[1:]
		s.running++
		s.alone, it.begun = it.inOrder(), true
		s.srv.workers.run(func() { s.handle(it) })
	}
}

// waitForRoom holds the reader back while a client has sent more than it can be answered. It is false when the
// connection has ended.
func (s *Session) waitForRoom() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.bytes > framesAhead*s.srv.opts.FrameLimit && s.ctx.Err() == nil {
		s.room.Wait()
	}
	return s.ctx.Err() == nil
}

// handle runs an item and delivers its reply.
func (s *Session) handle(it *item) {
	result, err := s.invoke(it)
	if it.inOrder() {
		s.mu.Lock()
		s.alone = false
		s.mu.Unlock()
	}
	if !it.call {
		if err != nil {
			s.srv.opts.Log.Debug("a notification failed", "conn", s.id, "method", it.method, "err", err)
		}
		s.deliver(it, nil)
		if it.method == "exit" { // ends this connection, as in LSP; the daemon lives on
			s.Close()
		}
		return
	}
	s.deliver(it, s.response(it, result, err))
}

// deliver sends an item's reply, or adds it to its batch's.
func (s *Session) deliver(it *item, reply []byte) {
	if it.batch != nil {
		it.batch.done(it.id, reply)
		reply = nil
	}
	if reply == nil {
		s.finished(it)
		return
	}
	s.out.put(letter{body: reply, sent: func() { s.finished(it) }})
}

// finished takes an item off the account: its reply has been written, or has no one to go to.
func (s *Session) finished(it *item) {
	it.cancel(nil)
	s.mu.Lock()
	if it.call {
		delete(s.calls, it.id)
	}
	if it.begun {
		s.running--
	}
	more := len(s.queue) > 0
	s.mu.Unlock()
	s.release(it.size)
	s.srv.end()
	if more {
		s.pump()
	}
}

// hold puts something that is to be answered on the session's account; release takes it off.
func (s *Session) hold(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live++
	s.bytes += size
}

func (s *Session) release(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live--
	s.bytes -= size
	if s.eof && s.live == 0 {
		close(s.empty)
	}
	s.room.Signal()
}

// response gives the reply to a call.
func (s *Session) response(it *item, result any, err error) []byte {
	if err == nil {
		var raw []byte
		raw, err = encode(result)
		switch {
		case err != nil:
			s.srv.opts.Log.Error("a reply could not be encoded", "conn", s.id, "method", it.method, "err", err)
		case len(raw) > s.srv.opts.FrameLimit-itemCost:
			err = &Error{Code: CodeInternal, Message: fmt.Sprintf("the reply has %d bytes, more than the %d of a frame; ask for less", len(raw), s.srv.opts.FrameLimit)}
		default:
			return jsonrpc2.AppendResponse(make([]byte, 0, len(raw)+64), it.id, raw, nil)
		}
	}
	var e *Error
	if !errors.As(err, &e) && it.ctx.Err() != nil {
		err = &Error{Code: CodeCancelled, Message: "cancelled: " + context.Cause(it.ctx).Error()}
	}
	return failure(it.id, err)
}

// invoke calls the handler; a panic there is an error of this call alone.
func (s *Session) invoke(it *item) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.srv.panics.Add(1)
			s.srv.opts.Log.Error("a call panicked", "conn", s.id, "id", fmt.Sprint(it.id), "method", it.method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			result, err = nil, &Error{Code: CodeInternal, Message: fmt.Sprintf("toold has a fault in %.60q; `toold logs` has the details. Other calls go on", it.method)}
		}
	}()
	if errors.Is(context.Cause(s.work), ErrDraining) {
		return nil, notBegun()
	}
	if err := it.ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkText(it.params); err != nil {
		return nil, err
	}
	if heavy := s.srv.opts.Heavy; heavy != nil && heavy(it.method, it.params) {
		if err := s.srv.slots.acquire(it.ctx, s); err != nil {
			return nil, err
		}
		defer s.srv.slots.release()
	}
	return s.srv.handler(it.ctx, s, it.method, it.params)
}

// cancelRequest cancels the call that the parameters name. One that waits is answered at once.
func (s *Session) cancelRequest(params []byte) {
	id, ok := cancelID(params)
	if !ok {
		return
	}
	s.mu.Lock()
	it := s.calls[id]
	waits := it != nil && s.unqueue(it)
	s.mu.Unlock()
	if it == nil {
		return
	}
	it.cancel(ErrClientCancelled)
	if waits {
		s.srv.workers.run(func() { s.deliver(it, s.response(it, nil, it.ctx.Err())) })
	}
}

// unqueue takes an item out of the queue, if it is there. The caller holds mu.
func (s *Session) unqueue(it *item) bool {
	i := slices.Index(s.queue, it)
	if i < 0 {
		return false
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	return true
}

// discard gives up what was read and not begun.
func (s *Session) discard() {
	s.mu.Lock()
	queue := s.queue
	s.queue = nil
	s.mu.Unlock()
	for _, it := range queue {
		s.deliver(it, s.response(it, nil, it.ctx.Err()))
	}
}

// cancelID reads the id in the parameters of $/cancelRequest.
func cancelID(params []byte) (jsonrpc2.ID, bool) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(params, &p) != nil {
		return jsonrpc2.ID{}, false
	}
	var text string
	if json.Unmarshal(p.ID, &text) == nil && p.ID[0] == '"' {
		return jsonrpc2.NewStringID(text), true
	}
	var n int64
	if json.Unmarshal(p.ID, &n) != nil || string(p.ID) == "null" {
		return jsonrpc2.ID{}, false
	}
	return jsonrpc2.NewNumberID(n), true
}
