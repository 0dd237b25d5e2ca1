package rpc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"

	"go.lsp.dev/jsonrpc2"
)

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

// Dial connects to the daemon at a socket. The error is ErrNotRunning when there is none.
func Dial(ctx context.Context, socket string) (*Client, error) {
	if err := checkLength(socket); err != nil {
		return nil, err
	}
	if err := checkSocket(socket); err != nil {
		if errors.Is(err, ErrNotRunning) {
			return nil, notRunning(socket)
		}
		return nil, err
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

// Call calls a method and reads its result into result, unless that is nil. When the context ends the daemon is told
// to cancel, and its reply is awaited for a moment: a write that was accepted is answered with what became of it.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	raw, err := encode(params)
	if err != nil {
		return err
	}
	id, reply, err := c.register()
	if err != nil {
		return err
	}
	if err := c.write(jsonrpc2.AppendCall(nil, jsonrpc2.NewNumberID(id), method, raw)); err != nil {
		c.forget(id)
		return fmt.Errorf("send to the daemon: %w", err)
	}
	select {
	case r := <-reply:
		return r.into(result)
	case <-ctx.Done():
	}
	if err := c.Notify("$/cancelRequest", map[string]any{"id": id}); err != nil {
		return err
	}
	grace := time.NewTimer(5 * time.Second)
	defer grace.Stop()
	select {
	case r := <-reply:
		if r.err != nil {
			return context.Cause(ctx)
		}
		return r.into(result)
	case <-grace.C:
		c.forget(id)
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
	raw, err := encode(params)
	if err != nil {
		return err
	}
	return c.write(jsonrpc2.AppendNotification(nil, method, raw))
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

func (c *Client) write(body []byte) error {
	if len(body) > FrameLimit {
		return &Error{Code: CodeInvalidRequest, Message: tooLarge(int64(len(body)))}
	}
	head := appendHead(make([]byte, 0, 32+len(body)), len(body))
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.conn.Write(append(head, body...))
	return err
}

func (c *Client) read() {
	r := &frameReader{r: bufio.NewReaderSize(c.conn, 64<<10), decided: true}
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
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  *Error          `json:"error"`
	}
	if json.Unmarshal(frame, &m) != nil {
		return
	}
	if m.Method != "" {
		c.mu.Lock()
		notify := c.notify
		c.mu.Unlock()
		if notify != nil {
			notify(m.Method, m.Params)
		}
		return
	}
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	if err != nil {
		return
	}
	c.mu.Lock()
	reply := c.waiting[id]
	delete(c.waiting, id)
	c.mu.Unlock()
	if reply == nil {
		return
	}
	r := response{result: m.Result}
	if m.Error != nil {
		r.err = m.Error
	}
	reply <- r
}

// end fails all calls that wait.
func (c *Client) end(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		err = errors.New("the daemon closed the connection")
	}
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
