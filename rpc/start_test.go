//go:build unix

package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// daemonMain is a daemon as small as can be.
func daemonMain(socket string) error {
	l, err := Listen(socket)
	if err != nil {
		return err
	}
	defer l.Close()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	srv := NewServer(func(_ context.Context, s *Session, method string, params []byte) (any, error) {
		switch method {
		case "about":
			dir, err := os.Getwd()
			sid, _ := unix.Getsid(0)
			return about{PID: os.Getpid(), Dir: dir, Leader: sid == os.Getpid(), Pipe: os.Getenv(readyEnv), Old: os.Getenv("OLDPWD"), Peer: s.Peer()}, err
		case "stop":
			stop <- syscall.SIGTERM
			return nil, nil
		case "crash":
			os.Exit(3)
		}
		return json.RawMessage(params), nil
	}, Options{})
	if os.Getenv("RPC_TEST_FAIL") != "" {
		return errors.New("the configuration has a fault on line 7")
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(context.Background(), l) }()
	l.Ready()
	<-stop
	if err := srv.Drain(context.Background()); err != nil {
		return err
	}
	return <-served
}

type about struct {
	PID    int
	Dir    string
	Leader bool
	Pipe   string
	Old    string
	Peer   Peer
}

// clientMain starts or finds the daemon, as any client does, and prints its pid.
func clientMain(socket string) error {
	os.Setenv(modeEnv, "daemon")
	c, err := DialOrStart(context.Background(), StartOptions{Socket: socket, Args: []string{socket}, Log: socket + ".log"})
	if err != nil {
		return err
	}
	defer c.Close()
	var a about
	if err := c.Call(context.Background(), "about", nil, &a); err != nil {
		return err
	}
	fmt.Println(a.PID)
	return nil
}

// vanishMain is a client whose program is gone by the time it starts the daemon, as that of `go run` can be.
func vanishMain(socket string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Remove(exe); err != nil {
		return err
	}
	return clientMain(socket)
}

// daemons starts daemons in a folder of its own, and ends them with the test.
type daemons struct {
	t    *testing.T
	opts StartOptions
}

func newDaemons(t *testing.T) *daemons {
	t.Helper()
	t.Setenv(modeEnv, "daemon")
	path := filepath.Join(socketFolder(t), "toold", "s")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	d := &daemons{t: t, opts: StartOptions{Socket: path, Args: []string{path}, Log: path + ".log"}}
	t.Cleanup(d.stop)
	return d
}

func (d *daemons) client() *Client {
	d.t.Helper()
	c, err := DialOrStart(patience(d.t), d.opts)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { c.Close() })
	return c
}

func (d *daemons) about() about {
	d.t.Helper()
	var a about
	c := d.client()
	defer c.Close()
	if err := c.Call(patience(d.t), "about", nil, &a); err != nil {
		d.t.Fatal(err)
	}
	return a
}

// stop ends the daemon, if there is one, and waits until it has.
func (d *daemons) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if c, err := Dial(ctx, d.opts.Socket); err == nil {
		_ = c.Call(ctx, "stop", nil, nil)
		c.Close()
	}
	if err := WaitStopped(ctx, d.opts.Socket); err != nil {
		d.t.Error(err)
	}
}

// stale puts a socket there whose daemon is gone.
func (d *daemons) stale() {
	d.t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: d.opts.Socket, Net: "unix"})
	if err != nil {
		d.t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
}

func TestStart(t *testing.T) {
	d := newDaemons(t)
	t.Setenv("OLDPWD", "/somewhere")
	a := d.about()
	if a.PID == os.Getpid() || a.Dir != "/" || !a.Leader || a.Pipe != "" || a.Old != "" {
		t.Errorf("the daemon: %+v", a)
	}
	if a.Peer.PID != os.Getpid() || a.Peer.UID != os.Getuid() || a.Peer.GID != os.Getgid() {
		t.Errorf("the peer: %+v", a.Peer)
	}
	if again := d.about(); again.PID != a.PID {
		t.Errorf("a second daemon: %+v", again)
	}
	err := Start(patience(t), d.opts)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("already running (pid %d)", a.PID)) {
		t.Errorf("a second start: %v", err)
	}
	d.stop()
	if _, err := Dial(patience(t), d.opts.Socket); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after the stop: %v", err)
	}
	if _, err := os.Lstat(d.opts.Socket); err == nil {
		t.Error("the socket was left")
	}
}

func TestStartAfterCrash(t *testing.T) {
	d := newDaemons(t)
	first := d.about()
	if err := d.client().Call(patience(t), "crash", nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("the call that crashed: %v", err)
	}
	if next := d.about(); next.PID == first.PID {
		t.Error("the daemon lives")
	}
}

func TestStartFails(t *testing.T) {
	d := newDaemons(t)
	t.Setenv("RPC_TEST_FAIL", "1")
	_, err := DialOrStart(patience(t), d.opts)
	if err == nil || !strings.HasSuffix(err.Error(), "the configuration has a fault on line 7") {
		t.Errorf("got %v", err)
	}
	d.opts.Binary = "/nowhere/toold"
	if _, err = DialOrStart(patience(t), d.opts); err == nil || !strings.Contains(err.Error(), "/nowhere/toold") {
		t.Errorf("got %v", err)
	}
}

// TestStartRace: clients that find a stale socket all at once end up on one daemon.
func TestStartRace(t *testing.T) {
	d := newDaemons(t)
	for round := range 25 {
		d.stale()
		var mu sync.Mutex
		pids := map[int]int{}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				c, err := DialOrStart(patience(t), d.opts)
				if err != nil {
					t.Error(err)
					return
				}
				defer c.Close()
				var a about
				if err := c.Call(patience(t), "about", nil, &a); err != nil {
					t.Error(err)
				}
				mu.Lock()
				pids[a.PID]++
				mu.Unlock()
			})
		}
		all.Wait()
		if len(pids) != 1 {
			t.Fatalf("round %d: the clients are on %v", round, pids)
		}
		d.stop()
	}
}

// TestStartRaceProcesses is the same with processes, and with a daemon that ends at that moment.
func TestStartRaceProcesses(t *testing.T) {
	d := newDaemons(t)
	rounds := 2
	if torture() {
		rounds = 25
	}
	for round := range rounds {
		old := d.about().PID
		var clients []*exec.Cmd
		outs := make([]strings.Builder, 20)
		for i := range outs {
			c := exec.Command(os.Args[0], d.opts.Socket)
			c.Env = append(os.Environ(), modeEnv+"=client")
			c.Stdout, c.Stderr = &outs[i], &outs[i]
			clients = append(clients, c)
		}
		var all sync.WaitGroup
		all.Go(d.stop2)
		for _, c := range clients {
			all.Go(func() { _ = c.Run() })
		}
		all.Wait()
		pids := map[string]int{}
		for i := range outs {
			pid := strings.TrimSpace(outs[i].String())
			if pid == fmt.Sprint(old) || strings.Contains(pid, ErrClosed.Error()) || strings.Contains(pid, notBegun().Message) {
				continue // it came to the one that was ending
			}
			pids[pid]++
		}
		if len(pids) > 1 {
			t.Fatalf("round %d: the clients are on %v", round, pids)
		}
		d.stop()
	}
}

// stop2 asks the daemon to end and does not wait.
func (d *daemons) stop2() {
	ctx := patience(d.t)
	if c, err := Dial(ctx, d.opts.Socket); err == nil {
		_ = c.Call(ctx, "stop", nil, nil)
		c.Close()
	}
}

// TestStartWithoutProgram: the program of the client is deleted before it starts the daemon.
func TestStartWithoutProgram(t *testing.T) {
	if _, err := os.Stat(ownImage); err != nil {
		t.Skip("there is no /proc here")
	}
	d := newDaemons(t)
	program := filepath.Join(socketFolder(t), "program")
	if err := exec.Command("cp", os.Args[0], program).Run(); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, d.opts.Socket)
	c.Env = append(os.Environ(), modeEnv+"=vanish")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if a := d.about(); fmt.Sprint(a.PID) != strings.TrimSpace(string(out)) {
		t.Errorf("started %s, now runs %d", out, a.PID)
	}
}

// TestStartWaits: a daemon that holds the lock and does not listen is waited for as long as the context says.
func TestStartWaits(t *testing.T) {
	d := newDaemons(t)
	lock, err := takeLock(d.opts.Socket + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	gaveUp := errors.New("gave up")
	ctx, cancel := context.WithTimeoutCause(context.Background(), 50*time.Millisecond, gaveUp)
	defer cancel()
	if _, err := DialOrStart(ctx, d.opts); !errors.Is(err, gaveUp) {
		t.Errorf("got %v", err)
	}
	lock.Close()
	d.about()
}

// TestLockAgainstLookers: those who look whether a daemon runs do not keep one from starting.
func TestLockAgainstLookers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	done := make(chan struct{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					locked(path)
				}
			}
		})
	}
	for range 200 {
		f, err := takeLock(path)
		if err != nil {
			t.Error(err)
			break
		}
		if !locked(path) {
			t.Error("the lock is not held")
		}
		f.Close()
	}
	close(done)
	all.Wait()
}

// TestPassedSocket: a service manager's socket is taken, and left when the daemon ends.
func TestPassedSocket(t *testing.T) {
	d := newDaemons(t)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: d.opts.Socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	f, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	defer f.Close()
	c := exec.Command("/bin/sh", "-c", `export LISTEN_PID=$$; exec "$0" /elsewhere/s`, os.Args[0])
	c.Env = append(os.Environ(), "LISTEN_FDS=1")
	c.ExtraFiles = []*os.File{f}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if a := d.about(); a.PID != c.Process.Pid {
		t.Errorf("another daemon serves: %+v", a)
	}
	d.stop()
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(d.opts.Socket); err != nil {
		t.Errorf("the socket belongs to the service manager: %v", err)
	}
}
