package guard

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toold/toold/shell"
)

const (
	grace    = 300 * time.Millisecond // between SIGTERM and SIGKILL
	drain    = 200 * time.Millisecond // for what children that were left running still print
	killTime = 5 * time.Second        // for the kernel to end what was killed
)

// Main is the guard: it reads a [Request] from standard input, runs it, and returns the exit code of the guard's
// own process. args are the arguments after [Arg].
func Main(args []string) int {
	runtime.GOMAXPROCS(1)
	switch {
	case len(args) > 0 && args[0] == ArgTail:
		return tail()
	case len(args) > 0 && args[0] == ArgSweep:
		return sweep()
	}
	g := &guard{out: os.Stdout, ended: make(chan struct{}), idle: make(chan struct{}), kill: make(chan bool, 8), detach: make(chan struct{})}
	if _, err := io.WriteString(g.out, magic); err != nil {
		return 1
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return g.fail(shell.Internal, "the guard cannot adopt processes: %v", err)
	}
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return 1
	}
	var req Request
	if err := json.Unmarshal(line, &req); err != nil {
		return g.fail(shell.Internal, "the guard cannot read its request: %v", err)
	}
	warm(6)
	return g.run(req, in)
}

// warm makes the runtime create n threads while it still can. When the command has used up the container's
// processes, the guard must not need another thread to kill them; idle threads are kept for good.
func warm(n int) {
	var p [2]int
	if syscall.Pipe2(p[:], syscall.O_CLOEXEC) != nil {
		return
	}
	var wait sync.WaitGroup
	for range n {
		wait.Go(func() {
			var b [1]byte
			_, _ = syscall.Read(p[0], b[:])
		})
	}
	for range n {
		runtime.Gosched()
		_, _ = syscall.Write(p[1], []byte{0})
	}
	syscall.Close(p[1])
	wait.Wait()
	syscall.Close(p[0])
}

type guard struct {
	ended  chan struct{} // closed when the command itself has ended
	idle   chan struct{} // closed when no process is left
	kill   chan bool     // an order to end everything; true is with SIGTERM first
	detach chan struct{} // closed when what is left may go on
	code   int           // the command's exit code, valid when ended is closed

	mu  sync.Mutex // guards out
	out io.Writer
}

func (g *guard) send(kind byte, v any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = writeJSON(g.out, kind, v) // a daemon that is gone closes standard input too
}

func (g *guard) fail(code, format string, args ...any) int {
	g.send(frameFailed, failed{Code: code, Text: fmt.Sprintf(format, args...)})
	return 1
}

func (g *guard) run(req Request, in io.Reader) int {
	child, err := start(req)
	if err != nil {
		f := describe(req, err)
		return g.fail(f.Code, "%s", f.Text)
	}
	go g.reap(child.pid)
	go g.control(in, req.Lease)
	g.signals()
	g.send(frameStarted, started{PID: child.pid})
	var copies sync.WaitGroup
	copies.Go(func() { g.copy(frameStdout, child.stdout) })
	copies.Go(func() { g.copy(frameStderr, child.stderr) })
	copied := make(chan struct{})
	go func() { copies.Wait(); close(copied) }()

	x := g.await(req.Limit)
	if !g.drain(x.Killed, copied, child) {
		return 0
	}
	return g.finish(x, child)
}

// drain waits until what was printed has been sent. It reports false when there is nobody to send it to.
func (g *guard) drain(killed bool, copied <-chan struct{}, child *process) bool {
	if !killed {
		select {
		case <-copied:
		case <-time.After(drain):
		}
	}
	deadline := time.Now()
	_ = child.stdout.SetReadDeadline(deadline)
	_ = child.stderr.SetReadDeadline(deadline)
	var late <-chan time.Time
	if killed {
		late = time.After(killTime)
	}
	select {
	case <-copied:
		return true
	case <-g.kill: // the daemon went away while it was sent to
		g.killAll(false)
		return false
	case <-late:
		return false
	}
}

// await waits for the command's end, or brings it about.
func (g *guard) await(limit time.Duration) exit {
	var x exit
	var expired <-chan time.Time
	if limit > 0 {
		expired = time.After(limit)
	}
	select {
	case <-g.ended:
		return exit{Exit: g.code, Left: len(living())}
	case gently := <-g.kill:
		x.Survivors = !g.killAll(gently)
	case <-expired:
		x.Limit = true
		x.Survivors = !g.killAll(true)
	}
	x.Killed = true
	return x
}

// finish reports the end and, when something was left running, stays with it: as the reader of its output, so that
// nobody is killed for printing.
func (g *guard) finish(x exit, child *process) int {
	if !x.Killed {
		x.Left = len(living())
	}
	g.send(frameExit, x)
	if x.Left == 0 {
		return 0
	}
	select {
	case <-g.detach:
		g.send(frameDetached, struct{}{})
	case <-g.kill:
		g.killAll(false)
		return 0
	}
	discard(child.stdout)
	discard(child.stderr)
	select {
	case <-g.idle:
	case <-g.kill: // by a signal
		g.killAll(false)
	}
	return 0
}

func discard(f *os.File) {
	_ = f.SetReadDeadline(time.Time{})
	go io.Copy(io.Discard, f) // ends with the process
}

// copy sends what the command prints until nobody can print any more. When its deadline has passed it takes what is in
// the pipe already, for that was printed before the command ended.
func (g *guard) copy(kind byte, f *os.File) {
	buf := make([]byte, maxFrame)
	for {
		n, err := f.Read(buf)
		if n > 0 {
			g.frame(kind, buf[:n])
		}
		switch {
		case err == nil:
		case os.IsTimeout(err):
			g.remainder(kind, f, buf)
			return
		default:
			return
		}
	}
}

// remainder takes what a pipe holds now, which is at most its capacity; a child that prints without end is cut off.
func (g *guard) remainder(kind byte, f *os.File, buf []byte) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		size, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0)
		for err == nil && size > 0 {
			var n int
			if n, err = syscall.Read(int(fd), buf); n <= 0 {
				return
			}
			g.frame(kind, buf[:n])
			size -= n
		}
	})
}

func (g *guard) frame(kind byte, p []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = writeFrame(g.out, kind, p)
}

// control takes the daemon's orders. The end of standard input, or of the lease, is the order to kill.
func (g *guard) control(in io.Reader, lease time.Duration) {
	orders := make(chan byte)
	go read(in, orders)
	var tick <-chan time.Time
	if lease > 0 {
		tick = time.Tick(lease / 4)
	}
	for missed := 0; missed < 4; {
		select {
		case <-tick: // a ticker that was frozen with its container does not make up for lost ticks
			missed++
		case order, open := <-orders:
			missed = 0
			switch {
			case !open || order == ctlKill:
				g.kill <- false
				return
			case order == ctlTerminate:
				g.kill <- true
			case order == ctlDetach:
				close(g.detach)
				return
			}
		}
	}
	g.kill <- true
}

func read(in io.Reader, orders chan<- byte) {
	defer close(orders)
	var b [1]byte
	for {
		if _, err := in.Read(b[:]); err != nil {
			return
		}
		orders <- b[0]
	}
}

// signals takes a signal to the guard for an order to end everything. A closed standard output must not kill the guard.
func (g *guard) signals() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		for range c {
			g.kill <- true
		}
	}()
}

// reap collects every process that ends and remembers how the command did.
func (g *guard) reap(command int) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // no child is left, so no descendant either
			close(g.idle)
			return
		case pid == command:
			g.code = status.ExitStatus()
			if status.Signaled() {
				g.code = 128 + int(status.Signal())
			}
			close(g.ended)
		}
	}
}
