package docker

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// connection is an exec's standard input and output. Reading gives what the process prints on its standard output;
// standard error is kept aside.
type connection struct {
	engine *Engine
	ctx    context.Context // of the pings; without an end
	conn   net.Conn
	r      *bufio.Reader
	exec   string // the exec's id

	left   uint32 // bytes of the current piece that are not read yet
	isErr  bool   // the current piece is of standard error
	errors []byte // standard error, its beginning
	onErr  func([]byte) error
}

func (c *connection) Write(p []byte) (int, error) { return c.conn.Write(p) }

// Close ends the process's standard input, and reads.
func (c *connection) Close() error { return c.conn.Close() }

// Read gives standard output.
func (c *connection) Read(p []byte) (int, error) {
	for {
		for c.left == 0 {
			if err := c.header(); err != nil {
				return 0, err
			}
		}
		n, err := c.alive(p[:min(uint32(len(p)), c.left)])
		c.left -= uint32(n)
		if !c.isErr {
			return n, err
		}
		if err == nil {
			err = c.aside(p[:n])
		}
		if err != nil {
			return 0, err
		}
	}
}

// aside takes a piece of standard error.
func (c *connection) aside(p []byte) error {
	if c.onErr != nil {
		return c.onErr(p)
	}
	if room := 4<<10 - len(c.errors); room > 0 {
		c.errors = append(c.errors, p[:min(len(p), room)]...)
	}
	return nil
}

// header reads the head of the next piece: which stream, and how long.
func (c *connection) header() error {
	var h [8]byte
	for got := 0; got < len(h); {
		n, err := c.alive(h[got:])
		got += n
		if err == io.EOF && got > 0 && got < len(h) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil && got < len(h) {
			return err
		}
	}
	if h[0] > 3 || h[1] != 0 || h[2] != 0 || h[3] != 0 {
		return fmt.Errorf("read the engine's stream: %q is no header", h)
	}
	c.isErr = h[0] == 2
	c.left = binary.BigEndian.Uint32(h[4:])
	return nil
}

// alive reads, and while nothing comes it asks the engine whether it still lives: a connection to an engine whose
// machine is gone does not end by itself.
func (c *connection) alive(p []byte) (int, error) {
	limits := c.engine.limits
	quiet := time.Duration(0)
	for {
		if err := c.conn.SetReadDeadline(time.Now().Add(limits.Silence)); err != nil {
			return 0, err
		}
		n, err := c.r.Read(p)
		if n > 0 || !isTimeout(err) {
			return n, err
		}
		switch err := c.engine.ping(c.ctx, limits.Silence); {
		case err == nil:
			quiet = 0
		case isDown(err) || quiet >= limits.Hung:
			return 0, fmt.Errorf("the engine does not answer: %w", err)
		default:
			quiet += 2 * limits.Silence
		}
	}
}

func (e *Engine) ping(ctx context.Context, limit time.Duration) error {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	_, err := e.api.Ping(ctx)
	return err
}
