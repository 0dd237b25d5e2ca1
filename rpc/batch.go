package rpc

import (
	"bytes"
	"fmt"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

// maxBatch is the number of messages that a batch may have.
const maxBatch = 1000

// batch collects the replies to a batch's calls; they go out together when the last is there.
type batch struct {
	s    *Session
	cost int  // on the session's account until the replies are out
	held bool // the server does not drain before that

	mu      sync.Mutex // guards what follows
	left    int        // members that are not done, and one for the reader
	size    int
	replies [][]byte
}

// batch handles a frame that is a batch.
func (s *Session) batch(frame []byte) error {
	n := countElements(frame)
	switch {
	case n == 0:
		return s.fail(CodeInvalidRequest, "the batch is empty")
	case n > maxBatch:
		return s.fail(CodeInvalidRequest, fmt.Sprintf("the batch has %d messages; the limit is %d. Nothing of it was done", n, maxBatch))
	}
	msgs, err := jsonrpc2.ParseRequests(frame)
	if err != nil {
		return s.fail(CodeInvalidRequest, notRequest)
	}
	b := &batch{s: s, left: 1 + len(msgs), cost: len(frame) + itemCost*len(msgs), held: s.srv.begin()}
	s.hold(b.cost)
	for _, m := range msgs {
		s.member(b, m)
	}
	s.pump()
	b.done(jsonrpc2.ID{}, nil)
	return nil
}

func (s *Session) member(b *batch, m *jsonrpc2.ParsedMessage) {
	if m.Err != nil {
		b.done(jsonrpc2.ID{}, failure(jsonrpc2.ID{}, &Error{Code: CodeInvalidRequest, Message: notRequest}))
		return
	}
	it := newItem(m.Msg, 0, b)
	if it.isCancel() {
		s.cancelRequest(it.params)
		b.done(it.id, nil)
		return
	}
	refusal := s.admit(it)
	switch {
	case refusal == nil:
	case it.call:
		b.done(it.id, failure(it.id, refusal))
	default:
		b.done(it.id, nil)
	}
}

// done takes a member's reply; one without is a notification's.
func (b *batch) done(id jsonrpc2.ID, reply []byte) {
	b.mu.Lock()
	if reply != nil {
		if limit := b.s.srv.opts.FrameLimit; b.size+len(reply) > limit-maxBatch*itemCost {
			reply = failure(id, &Error{Code: CodeInternal, Message: fmt.Sprintf("the replies to the batch have more than the %d bytes of a frame; send its calls one by one", limit)})
		}
		b.size += len(reply) + 1
		b.replies = append(b.replies, reply)
	}
	b.left--
	last := b.left == 0
	b.mu.Unlock()
	if last {
		b.send()
	}
}

func (b *batch) send() {
	sent := func() {
		b.s.release(b.cost)
		if b.held {
			b.s.srv.end()
		}
	}
	if len(b.replies) == 0 {
		sent()
		return
	}
	body := append(make([]byte, 0, b.size+2), '[')
	body = append(body, bytes.Join(b.replies, []byte{','})...)
	b.s.out.put(letter{body: append(body, ']'), sent: sent})
}

// countElements counts the elements of a valid JSON array, without taking memory for them.
func countElements(array []byte) int {
	n, depth, empty := 0, 0, true
	for i := 0; i < len(array); i++ {
		switch array[i] {
		case '"':
			for i++; array[i] != '"'; i++ {
				if array[i] == '\\' {
					i++
				}
			}
			empty = false
		case '[', '{':
			empty = empty && depth == 0
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 1 {
				n++
			}
		case ' ', '\t', '\r', '\n':
		default:
			empty = false
		}
	}
	if empty {
		return 0
	}
	return n + 1
}
