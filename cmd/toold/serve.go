package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/toold/toold/rpc"
	"github.com/toold/toold/rpc/catalog"
	"github.com/toold/toold/rpc/engine"
	"github.com/toold/toold/workspace"
	"github.com/toold/toold/workspace/store"
)

const logName = "toold.log"

func serveCommand(g *globals) *cobra.Command {
	var detached bool
	idle := time.Duration(-1)
	c := &cobra.Command{Use: "serve", Short: "Run the daemon in the foreground", Args: cobra.NoArgs}
	c.Flags().BoolVar(&detached, "detached", false, "log to the state folder only; how clients start the daemon")
	c.Flags().DurationVar(&idle, "idle", idle, "exit after this long without clients (0: never; default: the configuration's idle_shutdown)")
	_ = c.Flags().MarkHidden("detached")
	c.RunE = func(c *cobra.Command, _ []string) error {
		d := &daemon{g: g, detached: detached, idle: idle, stderr: c.ErrOrStderr()}
		return d.serve(c.Context())
	}
	return c
}

// daemon is a running toold: everything is put together here, once.
type daemon struct {
	g        *globals
	detached bool
	idle     time.Duration
	stderr   io.Writer

	log    *slog.Logger
	server *rpc.Server
	stop   context.CancelCauseFunc
	active atomic.Int64 // connections
}

var errStopRequested = errors.New("asked to stop")

func (d *daemon) serve(ctx context.Context) error {
	state, err := rpc.StateDir()
	if err != nil {
		return fail(exitFailed, "%w", err)
	}
	logFile, err := openLog(filepath.Join(state, logName))
	if err != nil {
		return fail(exitFailed, "%w", err)
	}
	defer logFile.Close()
	level, err := logLevel(d.g.level)
	if err != nil {
		return err
	}
	d.log = slog.New(slog.NewJSONHandler(logFile, &slog.HandlerOptions{Level: level}))

	socket, err := d.g.socketPath()
	if err != nil {
		return fail(exitFailed, "%w", err)
	}
	listener, err := rpc.Listen(socket)
	if err != nil {
		return fail(exitFailed, "%w", err)
	}
	defer listener.Close()
	if err := os.Chdir("/"); err != nil {
		return fail(exitFailed, "%w", err)
	}
	err = d.run(ctx, state, listener)
	if err != nil {
		d.log.Error("ended", "err", err)
	}
	return err
}

func (d *daemon) run(ctx context.Context, state string, listener *rpc.Listener) error {
	settings, err := d.settings()
	if err != nil {
		return err
	}
	st, err := store.Open(filepath.Join(state, "store"), store.Options{Clock: time.Now, Log: d.log})
	if err != nil {
		return fail(exitFailed, "%w", err)
	}
	defer st.Close()
	files := workspace.NewFiles(st, time.Now)
	injectFaults(files)
	if err := files.Recover(ctx, d.log); err != nil {
		return fail(exitFailed, "%w", err)
	}
	ctx, d.stop = context.WithCancelCause(ctx)
	defer d.stop(nil)
	eng := engine.New(engine.Options{
		Store: st, Files: files, Tools: catalog.New(), Log: d.log, Version: versionText(), Now: time.Now, FrameLimit: rpc.FrameLimit,
		RuntimeDir: filepath.Dir(listener.Path()), CacheDir: filepath.Join(state, "index"), Settings: settings.forRoot, Makers: settings.makers(),
		Stop:     func(bool) { d.stop(errStopRequested) },
		Counters: func() map[string]any { return d.server.Counters() },
	})
	defer eng.Close()
	d.server = rpc.NewServer(d.handler(eng), rpc.Options{Log: d.log, Connected: d.connected(eng), Disconnected: d.disconnected(eng)})
	d.log.Info("serving", "version", versionText(), "pid", os.Getpid(), "socket", listener.Path())
	if !d.detached {
		fmt.Fprintf(d.stderr, "toold %s serves on %s (pid %d)\n", versionText(), listener.Path(), os.Getpid())
	}
	listener.Ready()
	// The socket is closed when serving ends; the lock is given up last, when the store is closed too.
	return d.until(ctx, listener.Listener, settings.idle())
}

// until serves until a signal, a stop request or idleness ends it, then drains.
func (d *daemon) until(ctx context.Context, listener net.Listener, idle time.Duration) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	var serving sync.WaitGroup
	served := make(chan error, 1)
	serving.Go(func() { served <- d.server.Serve(context.WithoutCancel(ctx), listener) })
	idleTimer := newIdle(idle, func() bool { return d.active.Load() > 0 }, func() { d.stop(errors.New("idle")) })
	defer idleTimer.stop()
	select {
	case <-ctx.Done():
		d.log.Info("draining", "why", context.Cause(ctx))
	case s := <-signals:
		d.log.Info("draining", "why", s.String())
	case err := <-served:
		return err
	}
	return d.drain(signals, listener, &serving)
}

// drain lets running calls finish and answers them; a second signal ends it at once.
func (d *daemon) drain(signals <-chan os.Signal, listener net.Listener, serving *sync.WaitGroup) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-signals:
			os.Exit(exitInterrupted)
		case <-ctx.Done():
		}
	}()
	err := d.server.Drain(ctx)
	listener.Close()
	serving.Wait()
	d.log.Info("drained")
	return err
}

func (d *daemon) connected(eng *engine.Engine) func(*rpc.Session) {
	return func(s *rpc.Session) {
		d.active.Add(1)
		p := s.Peer()
		s.SetState(eng.Attach(&engine.Conn{ID: s.ID(), UID: p.UID, PID: p.PID, Done: s.Done(), Notify: s.Notify}))
	}
}

func (d *daemon) disconnected(eng *engine.Engine) func(*rpc.Session) {
	return func(s *rpc.Session) {
		eng.Detach(s.State().(*engine.Conn))
		d.active.Add(-1)
	}
}

// handler joins the wire and the engine: the engine's faults become JSON-RPC errors.
func (d *daemon) handler(eng *engine.Engine) rpc.Handler {
	return func(ctx context.Context, s *rpc.Session, method string, params []byte) (any, error) {
		reply, err := eng.Handle(ctx, s.State().(*engine.Conn), method, params)
		var f *engine.Fault
		if errors.As(err, &f) {
			return nil, &rpc.Error{Code: f.Code, Message: f.Message, Data: f.Data}
		}
		return reply, err
	}
}

// idle ends the daemon when nobody has been connected for a while.
type idle struct{ done chan struct{} }

func newIdle(after time.Duration, busy func() bool, end func()) *idle {
	i := &idle{done: make(chan struct{})}
	if after <= 0 {
		return i
	}
	go func() {
		check := time.NewTicker(min(after, time.Minute))
		defer check.Stop()
		since := time.Now()
		for {
			select {
			case <-i.done:
				return
			case now := <-check.C:
				if busy() {
					since = now
				} else if now.Sub(since) >= after {
					end()
					return
				}
			}
		}
	}()
	return i
}

func (i *idle) stop() { close(i.done) }

func logLevel(name string) (slog.Level, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(name)); err != nil {
		return l, fmt.Errorf("--log-level takes debug, info, warn or error, not %q", name)
	}
	return l, nil
}

// logFile is the daemon's log: one file that starts over, keeping its last version, when it has grown large.
type logFile struct {
	mu   sync.Mutex // guards f and size
	path string
	f    *os.File
	size int64
}

const logLimit = 8 << 20

func openLog(path string) (*logFile, error) {
	l := &logFile{path: path}
	return l, l.open()
}

func (l *logFile) open() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return fmt.Errorf("open the log: %w", err)
	}
	l.f, l.size = f, st.Size()
	return nil
}

func (l *logFile) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > logLimit {
		l.f.Close()
		if err := os.Rename(l.path, strings.TrimSuffix(l.path, ".log")+".old.log"); err != nil {
			return 0, err
		}
		if err := l.open(); err != nil {
			return 0, err
		}
	}
	n, err := l.f.Write(b)
	l.size += int64(n)
	return n, err
}

func (l *logFile) Close() error { return l.f.Close() }
