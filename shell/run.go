package shell

import (
	"context"
	"io"
	"time"
)

// SpillMax is how much of a command's full output is stored, in bytes.
const SpillMax = 256 << 20

// DefaultLimit is how many bytes of output a reply shows when the caller does not say.
const DefaultLimit = 64 << 10

// Stream names one of a command's two outputs.
type Stream uint8

// The streams.
const (
	Stdout Stream = iota
	Stderr
)

// Options say how [Run] keeps the output.
type Options struct {
	// Timeout ends the command; 0 is none. It starts when the command does, so making a container does not count.
	Timeout time.Duration

	// Limit is the most bytes of output that the reply shows, both streams together; 0 is [DefaultLimit].
	Limit int64

	// Spill opens the place for the full output, at the first byte that the reply cannot show. It gives the name by
	// which an agent reads it. The raw bytes of both streams are written in the order in which they came, at most
	// [SpillMax]. nil keeps nothing.
	Spill func() (w io.WriteCloser, name string, err error)

	// Progress receives clean text as it comes, whole lines where possible. nil is none. It must not block.
	Progress func(s Stream, text string)
}

// Spilled says where the full output is.
type Spilled struct {
	Name  string // "" when the output was not stored
	Bytes int64  // stored
	Cut   bool   // there was more than [SpillMax]
	Err   error  // storing failed; the rest is lost
}

// Result is a command that ran, or ran until it was ended.
type Result struct {
	Exit      int // meaningless when Run returned an error
	Left      int // processes that it left running
	Survivors bool
	Duration  time.Duration
	Stdout    Output
	Stderr    Output
	Spill     Spilled
}

// Run runs cmd and keeps its output in constant memory. The result holds what was printed also when there is an
// error.
func Run(ctx context.Context, ex Executor, cmd Command, opt Options) (Result, error) {
	if len(cmd.Script) > MaxScript {
		return Result{}, Errorf(InvalidArgument, nil,
			"the command has %d bytes, more than the %d that a shell takes: write it to a file with write_file and run that", len(cmd.Script), MaxScript)
	}
	ctx, stop := limited(ctx, &cmd, opt.Timeout)
	defer stop()
	c := newCollector(opt)
	start := time.Now()
	status, err := ex.Exec(ctx, cmd, c.writer(Stdout), c.writer(Stderr))
	res := c.close()
	res.Duration = time.Since(start)
	res.Exit, res.Left, res.Survivors = status.Exit, status.Left, status.Survivors
	if err != nil && Code(err) == Timeout && opt.Timeout > 0 {
		err = Errorf(Timeout, nil, "the time limit of %s passed and the command was ended. "+
			"Give a larger timeout (at most 3600), or background: true for a server", opt.Timeout)
	}
	return res, err
}

// limited gives a context that ends some time after cmd has started.
func limited(ctx context.Context, cmd *Command, timeout time.Duration) (context.Context, func()) {
	if timeout <= 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := make(chan *time.Timer, 1)
	begun := cmd.Started
	cmd.Started = func(pid int) {
		timer <- time.AfterFunc(timeout, func() { cancel(context.DeadlineExceeded) })
		if begun != nil {
			begun(pid)
		}
	}
	cmd.Limit = timeout + 2*time.Second
	return ctx, func() {
		select {
		case t := <-timer:
			t.Stop()
		default:
		}
		cancel(nil)
	}
}

// collector sees the output of one command. Executors never write to both of its writers at the same time.
type collector struct {
	opt     Options
	streams [2]stream
	held    []byte // raw output in the order of its coming, until it is spilled
	spill   io.WriteCloser
	spilled Spilled
	full    bool // nothing more is held or spilled
}

type stream struct {
	raw   int64
	clean *Cleaner
	keep  capture
}

func newCollector(opt Options) *collector {
	if opt.Limit <= 0 {
		opt.Limit = DefaultLimit
	}
	c := &collector{opt: opt, full: opt.Spill == nil}
	for i := range c.streams {
		s := &c.streams[i]
		s.keep.limit = int(opt.Limit)
		s.clean = NewCleaner(func(p []byte) {
			s.keep.add(p)
			if opt.Progress != nil {
				opt.Progress(Stream(i), string(p))
			}
		})
	}
	return c
}

type streamWriter struct {
	c *collector
	s Stream
}

func (c *collector) writer(s Stream) io.Writer { return streamWriter{c, s} }

func (w streamWriter) Write(p []byte) (int, error) {
	s := &w.c.streams[w.s]
	s.raw += int64(len(p))
	w.c.store(p)
	return s.clean.Write(p)
}

// store keeps raw output for the full text: in memory while the reply can show it all, then in the spill.
func (c *collector) store(p []byte) {
	if c.full {
		return
	}
	if c.spill == nil {
		if c.held = append(c.held, p...); int64(len(c.held)) <= c.opt.Limit {
			return
		}
		p, c.held = c.held, nil
		var err error
		if c.spill, c.spilled.Name, err = c.opt.Spill(); err != nil {
			c.spilled = Spilled{Err: err}
			c.full = true
			return
		}
	}
	if room := SpillMax - c.spilled.Bytes; int64(len(p)) > room {
		p, c.spilled.Cut, c.full = p[:room], true, true
	}
	n, err := c.spill.Write(p)
	c.spilled.Bytes += int64(n)
	if err != nil {
		c.spilled.Err, c.full = err, true
	}
}

func (c *collector) close() Result {
	for i := range c.streams {
		c.streams[i].clean.Close()
	}
	if c.spill != nil {
		if err := c.spill.Close(); err != nil && c.spilled.Err == nil {
			c.spilled.Err = err
		}
	}
	out, errs := &c.streams[Stdout], &c.streams[Stderr]
	return Result{Stdout: out.keep.output(out.raw), Stderr: errs.keep.output(errs.raw), Spill: c.spilled}
}
