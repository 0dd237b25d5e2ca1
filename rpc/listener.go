package rpc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Listener is the daemon's socket. Who holds its lock owns it; the lock ends with the process.
type Listener struct {
	net.Listener
	path  string
	file  fs.FileInfo // of the socket; nil when a service manager made it, to which it belongs
	lock  *os.File
	ready *os.File
	once  sync.Once
}

// Listen takes the socket at path, or the one that a service manager passed. A stale socket is removed only under the
// lock; anything else that stands there is left alone.
func Listen(path string) (*Listener, error) {
	ready := readyPipe()
	if l, err := activated(); l != nil || err != nil {
		return l, err
	}
	if err := socketDir(path); err != nil {
		return nil, err
	}
	lock, err := takeLock(path + ".lock")
	if err != nil {
		return nil, err
	}
	l, err := listen(path)
	if err != nil {
		lock.Close()
		return nil, err
	}
	l.lock, l.ready = lock, ready
	return l, nil
}

func listen(path string) (*Listener, error) {
	if err := removeStale(path); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false)
	err = os.Chmod(path, 0o600)
	st, statErr := os.Lstat(path)
	if err := errors.Join(err, statErr); err != nil {
		l.Close()
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	return &Listener{Listener: l, path: path, file: st}, nil
}

// removeStale removes the socket of a daemon that has crashed. The caller holds the lock; that nobody answers is made
// sure of nevertheless, for the lock file may have been deleted under a living daemon.
func removeStale(path string) error {
	err := checkSocket(path)
	if errors.Is(err, ErrNotRunning) {
		return nil
	}
	if err != nil {
		return err
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		defer conn.Close()
		peer, _ := peerOf(conn)
		return fmt.Errorf("toold is already running (pid %d), though it does not hold %s.lock: end it first", peer.PID, path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("is a daemon behind %s: %w; if none is, remove it", path, err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove the stale socket: %w", err)
	}
	return nil
}

// Path gives the socket's path.
func (l *Listener) Path() string { return l.path }

// Ready tells the process that started this one that calls are answered from now on.
func (l *Listener) Ready() {
	if l.ready != nil {
		_, _ = l.ready.WriteString("ready\n")
		l.ready.Close()
		l.ready = nil
	}
}

// Close stops listening, removes the socket and gives up the lock, in that order.
func (l *Listener) Close() error {
	err := l.Listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil // a drain has closed it
	}
	l.once.Do(func() {
		if st, statErr := os.Lstat(l.path); l.file != nil && statErr == nil && os.SameFile(st, l.file) {
			os.Remove(l.path)
		}
		l.lock.Close()
	})
	return err
}

// readyEnv names the descriptor on which a started daemon says that it serves.
const readyEnv = "TOOLD_READY_FD"

func readyPipe() *os.File {
	fd, err := strconv.Atoi(os.Getenv(readyEnv))
	os.Unsetenv(readyEnv)
	if err != nil || fd < 3 {
		return nil
	}
	closeOnExec(fd)
	return os.NewFile(uintptr(fd), "ready")
}

// activated gives the socket that systemd passed, if this process is its addressee.
func activated() (*Listener, error) {
	pid, n := os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS")
	if n == "" || pid != strconv.Itoa(os.Getpid()) {
		return nil, nil
	}
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		os.Unsetenv(name)
	}
	if n != "1" {
		return nil, fmt.Errorf("the service manager passed %s sockets; toold takes one: name one ListenStream in the unit", n)
	}
	f := os.NewFile(3, "socket")
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("take the passed socket: %w; the unit's ListenStream must be a path", err)
	}
	u, ok := l.(*net.UnixListener)
	if !ok || u.Addr().Network() != "unix" {
		l.Close()
		return nil, fmt.Errorf("the service manager passed %s, which is no Unix stream socket; the unit's ListenStream must be a path", l.Addr())
	}
	u.SetUnlinkOnClose(false)
	path := u.Addr().String()
	lock, err := takeLock(path + ".lock")
	if err != nil {
		l.Close()
		return nil, err
	}
	return &Listener{Listener: u, path: path, lock: lock}, nil
}

// WaitStopped waits until no daemon holds the socket any more.
func WaitStopped(ctx context.Context, socket string) error {
	for pause := time.Millisecond; locked(socket + ".lock"); pause = min(2*pause, 25*time.Millisecond) {
		if !wait(ctx, pause) {
			return context.Cause(ctx)
		}
	}
	return nil
}
