package rpc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxNotes     = 4096    // notifications that may wait for a client to read
	maxNoteBytes = 8 << 20 // and their bytes
	writeChunk   = 1 << 20 // bytes for which a client has the write deadline
	joined       = 16 << 10
)

var errClosing = errors.New("the connection is closing")

// letter is a frame to be sent. Without sent it is a notification, which may be turned away.
type letter struct {
	body []byte
	raw  bool   // not a frame: sent as it is
	sent func() // called once, when the letter has been written or never will be
}

// outbox sends a connection's frames, in the order in which they come. Whoever puts one in while nobody writes does the
// writing; nobody else waits for it.
type outbox struct {
	conn     net.Conn
	deadline time.Duration
	run      func(func())
	failed   func()
	lines    atomic.Bool // the client speaks lines of JSON

	mu      sync.Mutex // guards what follows
	queue   []letter
	notes   int // notifications in the queue
	bytes   int // of them
	busy    bool
	quiet   sync.Cond // of busy
	closing bool
	err     error

	scratch []byte    // of the goroutine that writes
	until   time.Time // the write deadline in force; of the goroutine that writes
}

func newOutbox(conn net.Conn, deadline time.Duration, run func(func()), failed func()) *outbox {
	o := &outbox{conn: conn, deadline: deadline, run: run, failed: failed}
	o.quiet.L = &o.mu
	return o
}

// put sends a letter, writing it on this goroutine when nobody else writes.
func (o *outbox) put(l letter) {
	if mine, _ := o.add(l); mine {
		o.flush()
	}
}

// post sends a letter and never waits. It is false when the letter will not be sent.
func (o *outbox) post(l letter) bool {
	mine, ok := o.add(l)
	if mine {
		o.run(o.flush)
	}
	return ok
}

// wait sends a letter and waits until it has been written.
func (o *outbox) wait(l letter) error {
	done := make(chan struct{})
	l.sent = func() { close(done) }
	if !o.post(l) {
		return errClosing
	}
	<-done
	return o.reason()
}

// add queues a letter; mine tells that the caller has to see to the writing.
func (o *outbox) add(l letter) (mine, ok bool) {
	o.mu.Lock()
	note := l.sent == nil
	full := note && (o.notes >= maxNotes || o.notes > 0 && o.bytes+len(l.body) > maxNoteBytes)
	if o.err != nil || o.closing || full {
		o.mu.Unlock()
		if !note {
			l.sent()
		}
		return false, false
	}
	if note {
		o.notes++
		o.bytes += len(l.body)
	}
	o.queue = append(o.queue, l)
	mine, o.busy = !o.busy, true
	o.mu.Unlock()
	return mine, true
}

// flush writes until the queue is empty.
func (o *outbox) flush() {
	var done []letter
	for {
		o.mu.Lock()
		if len(o.queue) == 0 || o.err != nil {
			o.busy = false
			o.quiet.Broadcast()
			o.mu.Unlock()
			break
		}
		done, o.queue = o.queue, done[:0]
		o.mu.Unlock()
		if err := o.write(done); err != nil {
			o.fail(err)
		}
		o.settle(done)
	}
	o.mu.Lock()
	closing := o.closing && !o.busy
	o.mu.Unlock()
	if closing {
		o.closeWrite()
	}
}

// settle takes written letters off the account.
func (o *outbox) settle(done []letter) {
	o.mu.Lock()
	for i := range done {
		if done[i].sent == nil {
			o.notes--
			o.bytes -= len(done[i].body)
		}
	}
	o.mu.Unlock()
	for i := range done {
		if done[i].sent != nil {
			done[i].sent()
		}
		done[i] = letter{}
	}
}

// fail ends the connection: after half a frame nothing that follows would make sense.
func (o *outbox) fail(err error) {
	o.mu.Lock()
	first := o.err == nil
	if first {
		o.err = err
	}
	rest := o.queue
	o.queue = nil
	o.mu.Unlock()
	o.settle(rest)
	if first {
		o.conn.Close()
		o.failed()
	}
}

// close closes the connection for writing as soon as everything has been written.
func (o *outbox) close() {
	o.mu.Lock()
	now := !o.closing && !o.busy && o.err == nil
	o.closing = true
	o.mu.Unlock()
	if now {
		o.closeWrite()
	}
}

// idle waits until nothing is being written.
func (o *outbox) idle() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.busy {
		o.quiet.Wait()
	}
}

func (o *outbox) closeWrite() {
	if c, ok := o.conn.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
	}
}

// write writes letters, small ones together.
func (o *outbox) write(letters []letter) error {
	buf := o.scratch[:0]
	lines := o.lines.Load()
	for _, l := range letters {
		if !lines && !l.raw {
			buf = appendHead(buf, len(l.body))
		}
		if len(buf)+len(l.body) <= joined {
			buf = append(buf, l.body...)
		} else {
			if err := o.send(buf); err != nil {
				return err
			}
			if err := o.send(l.body); err != nil {
				return err
			}
			buf = buf[:0]
		}
		if lines && !l.raw {
			buf = append(buf, '\n')
		}
	}
	o.scratch = buf
	return o.send(buf)
}

func (o *outbox) send(p []byte) error {
	for len(p) > 0 {
		// The deadline is renewed when half of it is over: setting it for each frame would wake a thread each time.
		if now := time.Now(); o.until.Sub(now) < o.deadline/2 {
			o.until = now.Add(o.deadline)
			if err := o.conn.SetWriteDeadline(o.until); err != nil {
				return err
			}
		}
		n, err := o.conn.Write(p[:min(len(p), writeChunk)])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("the client has not read for %s", o.deadline)
		}
		if err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// reason gives why the connection failed, if it did.
func (o *outbox) reason() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
