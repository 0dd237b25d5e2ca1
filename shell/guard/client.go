package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/toold/toold/shell"
)

// confirm is how long a killed command may take to be confirmed dead before the connection is closed.
const confirm = 3 * time.Second

// ErrUnprivileged says that the guard may not change to the command's user. Nothing was run.
var ErrUnprivileged = errors.New("the guard may not change its user")

// NotGuard is what came instead of a guard's output: the engine's message about why nothing could be started.
type NotGuard struct{ Said string }

// Error gives the message.
func (e *NotGuard) Error() string { return "the guard did not start: " + e.Said }

// Lost says that the connection ended before the guard said how the command ended.
type Lost struct {
	Started bool // the command may have begun
	Err     error
}

// Error says what is known.
func (e *Lost) Error() string { return fmt.Sprintf("the connection to the guard was lost: %v", e.Err) }

// Unwrap gives the cause.
func (e *Lost) Unwrap() error { return e.Err }

// Drive runs a request on a guard whose standard input is in and whose standard output is out, and closes in before it
// returns. It writes what the command prints to stdout and stderr, and returns as an executor does, with *[NotGuard],
// *[Lost] and [ErrUnprivileged] as further errors for the caller to explain.
//
// Closing in must make reads of out end.
func Drive(ctx context.Context, in io.WriteCloser, out io.Reader, req Request, begun func(pid int), stdout, stderr io.Writer) (shell.Status, error) {
	d := &driver{in: in, out: out, begun: begun, stdout: stdout, stderr: stderr, buf: make([]byte, maxFrame)}
	defer d.close()
	line, err := json.Marshal(req)
	if err != nil {
		return shell.Status{}, fmt.Errorf("encode guard request: %w", err)
	}
	stop := context.AfterFunc(ctx, d.end)
	defer stop()
	if _, err := in.Write(append(line, '\n')); err != nil {
		// What the engine says instead of reading the request is worth more than the error of writing it.
		if err := d.greet(); err != nil {
			return shell.Status{}, d.explain(ctx, err)
		}
		return shell.Status{}, d.explain(ctx, &Lost{Err: err})
	}
	if err := d.greet(); err != nil {
		return shell.Status{}, d.explain(ctx, err)
	}
	d.started = true // from now on it may be, also when the news of it is lost
	if req.Lease > 0 {
		var beats sync.WaitGroup
		over := make(chan struct{})
		beats.Go(func() { d.beat(req.Lease/8, over) })
		defer beats.Wait()
		defer d.close() // a write that blocks ends with it
		defer close(over)
	}
	return d.follow(ctx)
}

type driver struct {
	in             io.WriteCloser
	out            io.Reader
	begun          func(int)
	stdout, stderr io.Writer
	buf            []byte
	started        bool

	mu     sync.Mutex // guards what follows, which end and close share
	closed bool
	timer  *time.Timer
}

// beat tells the guard again and again that somebody is there.
func (d *driver) beat(every time.Duration, over <-chan struct{}) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-over:
			return
		case <-t.C:
			if _, err := d.in.Write([]byte{ctlBeat}); err != nil {
				return
			}
		}
	}
}

// end asks the guard to end everything, and gives up on an answer after a while.
func (d *driver) end() {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return
	}
	d.timer = time.AfterFunc(confirm, d.close)
	d.mu.Unlock()
	_, _ = d.in.Write([]byte{ctlTerminate}) // may block on a hung engine; close unblocks it
}

func (d *driver) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	d.closed = true
	if d.timer != nil {
		d.timer.Stop()
	}
	_ = d.in.Close()
}

// explain puts the end of ctx before what it caused.
func (d *driver) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return shell.Ended(ctx)
	}
	return err
}

// greet reads the magic, or else what the engine says.
func (d *driver) greet() error {
	got := make([]byte, len(magic))
	n, err := io.ReadFull(d.out, got)
	if err == nil && string(got) == magic {
		return nil
	}
	if n == 0 {
		return &Lost{Err: err}
	}
	rest, _ := io.ReadAll(io.LimitReader(d.out, 4<<10))
	return &NotGuard{Said: string(got[:n]) + string(rest)}
}

func (d *driver) follow(ctx context.Context) (shell.Status, error) {
	for {
		kind, payload, err := readFrame(d.out, d.buf)
		if err != nil {
			lost := d.explain(ctx, &Lost{Started: d.started, Err: err})
			return shell.Status{Survivors: d.started}, lost
		}
		switch kind {
		case frameStdout:
			_, err = d.stdout.Write(payload)
		case frameStderr:
			_, err = d.stderr.Write(payload)
		case frameStarted:
			err = d.start(payload)
		case frameFailed:
			return shell.Status{}, failure(payload)
		case frameExit:
			return d.finish(ctx, payload)
		}
		if err != nil {
			return shell.Status{}, fmt.Errorf("take the command's output: %w", err)
		}
	}
}

func (d *driver) start(payload []byte) error {
	var s started
	if err := json.Unmarshal(payload, &s); err != nil {
		return err
	}
	if d.begun != nil {
		d.begun(s.PID)
	}
	return nil
}

func (d *driver) finish(ctx context.Context, payload []byte) (shell.Status, error) {
	var x exit
	if err := json.Unmarshal(payload, &x); err != nil {
		return shell.Status{}, fmt.Errorf("read guard's exit frame: %w", err)
	}
	status := shell.Status{Exit: x.Exit, Left: x.Left, Survivors: x.Survivors}
	switch {
	case x.Limit:
		return status, shell.Errorf(shell.Timeout, nil, "the time limit passed and the command was ended")
	case x.Killed && ctx.Err() != nil:
		return status, shell.Ended(ctx)
	case x.Killed:
		return status, shell.Errorf(shell.Cancelled, nil, "the command was ended by a signal to its guard")
	}
	if x.Left > 0 {
		return d.detach(status)
	}
	return status, nil
}

// detach lets go of what the command left running. Only when the guard has answered may the connection be closed:
// a byte that was still on its way would be lost with it, and the guard would kill them.
func (d *driver) detach(status shell.Status) (shell.Status, error) {
	timer := time.AfterFunc(confirm, d.close)
	defer timer.Stop()
	_, err := d.in.Write([]byte{ctlDetach})
	for err == nil {
		var kind byte
		if kind, _, err = readFrame(d.out, d.buf); kind == frameDetached {
			return status, nil
		}
	}
	status.Left = 0 // the guard takes a lost connection for an order to kill
	return status, nil
}

func failure(payload []byte) error {
	var f failed
	if err := json.Unmarshal(payload, &f); err != nil {
		return fmt.Errorf("read guard's failure frame: %w", err)
	}
	if f.Code == codeUnprivileged {
		return ErrUnprivileged
	}
	return shell.Errorf(f.Code, nil, "%s", f.Text)
}
