package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"go.lsp.dev/jsonrpc2"
)

// ErrClosed says that the daemon has closed the connection, or died. What became of a call that was under way is not
// known; one that was sent later has not been begun.
var ErrClosed = errors.New("the daemon closed the connection")

// cancelGrace is how long the reply to a cancelled call is awaited.
const cancelGrace = 5 * time.Second

// Client is a connection to a daemon. Its methods may be called concurrently.
type Client struct {
	conn net.Conn
	done chan struct{}

	writing sync.Mutex // held while a frame is written

	mu      sync.Mutex // guards what follows
	next    int64
	waiting map[int64]chan response
	notify  func(method string, params json.RawMessage)
	err     error // why the connection ended
}

type response struct {
	result json.RawMessage
	err    error
}

// Dial connects to the daemon at a socket. The error is ErrNotRunning when there is none. A socket or a folder that
// somebody else could have put there is refused.
func Dial(ctx context.Context, socket string) (*Client, error) {
	if err := checkLength(socket); err != nil {
		return nil, err
	}
	err := checkDir(filepath.Dir(socket))
	if err == nil {
		err = checkSocket(socket)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotRunning) {
		return nil, notRunning(socket)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the daemon: %w", err)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT) {
		return nil, notRunning(socket)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the daemon: %w", err)
	}
	if _, err := peerOf(conn); err != nil {
		conn.Close()
		return nil, fmt.Errorf("connect to the daemon: %w", err)
	}
	return NewClient(conn), nil
}

func notRunning(socket string) error {
	return fmt.Errorf("%w at %s; any `toold call` starts one", ErrNotRunning, socket)
}

// NewClient makes a client of a connection.
func NewClient(conn net.Conn) *Client {
	c := &Client{conn: conn, done: make(chan struct{}), waiting: map[int64]chan response{}}
	go c.read()
	return c
}

// OnNotification sets the function that is given each notification, in order. It must not wait for a call of this
// client.
func (c *Client) OnNotification(f func(method string, params json.RawMessage)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notify = f
}

// Done is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.done }

// Close ends the connection; calls that wait fail.
func (c *Client) Close() error {
	err := c.conn.Close()
	<-c.done
	return err
}

// Call calls a method and reads its result into result, unless that is nil. The error is an *Error when the daemon
// answered with one, and ErrClosed when the connection ended. When the context ends the daemon is told to cancel, and
// its reply is awaited for a moment: a write that was accepted is answered with what became of it. Otherwise the error
// is the context's cause.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	raw, err := encode(params)
	if err != nil {
		return err
	}
	id, reply, err := c.register()
	if err != nil {
		return err
	}
	if err := c.write(ctx, jsonrpc2.AppendCall(nil, jsonrpc2.NewNumberID(id), method, raw)); err != nil {
		c.forget(id)
		return err
	}
	select {
	case r := <-reply:
		return r.into(result)
	case <-ctx.Done():
		return c.abandon(ctx, id, reply, result)
	}
}

// abandon cancels a call.
func (c *Client) abandon(ctx context.Context, id int64, reply <-chan response, result any) error {
	defer c.forget(id)
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelGrace)
	defer cancel()
	if err := c.send(grace, "$/cancelRequest", map[string]int64{"id": id}); err != nil {
		return context.Cause(ctx)
	}
	select {
	case r := <-reply:
		var e *Error
		if errors.As(r.err, &e) && e.Code == CodeCancelled || errors.Is(r.err, ErrClosed) {
			return context.Cause(ctx)
		}
		return r.into(result)
	case <-grace.Done():
		return context.Cause(ctx)
	}
}

func (r response) into(result any) error {
	if r.err != nil || result == nil {
		return r.err
	}
	if raw, ok := result.(*json.RawMessage); ok {
		*raw = r.result
		return nil
	}
	if err := json.Unmarshal(r.result, result); err != nil {
		return fmt.Errorf("read the daemon's reply: %w", err)
	}
	return nil
}

// Notify sends a notification.
func (c *Client) Notify(method string, params any) error {
	return c.send(context.Background(), method, params)
}

func (c *Client) send(ctx context.Context, method string, params any) error {
	raw, err := encode(params)
	if err != nil {
		return err
	}
	return c.write(ctx, jsonrpc2.AppendNotification(nil, method, raw))
}

func (c *Client) register() (int64, chan response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, nil, c.err
	}
	c.next++
	reply := make(chan response, 1)
	c.waiting[c.next] = reply
	return c.next, reply, nil
}

func (c *Client) forget(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// write sends a frame. When the context has ended and the daemon still does not read, the connection ends: half a
// frame cannot be taken back. A daemon that has closed the connection may have sent replies before: they are still read.
func (c *Client) write(ctx context.Context, body []byte) error {
	if len(body) > FrameLimit {
		return &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf("the call has %d bytes; the limit is %d: send less at once", len(body), FrameLimit)}
	}
	frame := append(appendHead(make([]byte, 0, 32+len(body)), len(body)), body...)
	c.writing.Lock()
	defer c.writing.Unlock()
	defer context.AfterFunc(ctx, func() { _ = c.conn.SetWriteDeadline(time.Now().Add(cancelGrace)) })()
	if _, err := c.conn.Write(frame); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			c.conn.Close()
		}
		return fmt.Errorf("send to the daemon: %w", errors.Join(ErrClosed, err))
	}
	return nil
}

// read takes messages until the connection ends.
func (c *Client) read() {
	r := newFrameReader(c.conn, FrameLimit, HeaderLimit)
	for {
		frame, err := r.next()
		if err != nil {
			c.end(err)
			return
		}
		c.message(frame)
	}
}

func (c *Client) message(frame []byte) {
	m, err := jsonrpc2.DecodeMessage(frame)
	if err != nil {
		return
	}
	switch m := m.(type) {
	case *jsonrpc2.Notification:
		c.mu.Lock()
		notify := c.notify
		c.mu.Unlock()
		if notify != nil {
			notify(m.Method(), json.RawMessage(m.Params()))
		}
	case *jsonrpc2.Response:
		id, ok := m.ID().Number()
		if !ok {
			return
		}
		c.mu.Lock()
		reply := c.waiting[id]
		delete(c.waiting, id)
		c.mu.Unlock()
		if reply != nil {
			reply <- response{result: json.RawMessage(m.Result()), err: fromWire(m.Err())}
		}
	}
}

// end fails all calls that wait.
func (c *Client) end(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		err = nil
	}
	err = errors.Join(ErrClosed, err)
	c.mu.Lock()
	c.err = err
	for id, reply := range c.waiting {
		reply <- response{err: err}
		delete(c.waiting, id)
	}
	c.mu.Unlock()
	c.conn.Close()
	close(c.done)
}
