//go:build unix

package rpc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	maxPath  = len(unix.RawSockaddrUnix{}.Path) - 1 // bytes of a socket's path that the system takes
	ownImage = "/proc/self/exe"                     // this process's program, even when its file is deleted; where there is /proc
)

func ownedByMe(st fs.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Getuid()
}

// takeLock takes the lock file for the life of the process and writes its pid into it. The file is never removed:
// removing it would let two processes hold locks of two files of one name.
func takeLock(path string) (*os.File, error) {
	for {
		f, err := openLock(path)
		if err != nil {
			return nil, err
		}
		if err := lockForLife(f); err != nil {
			f.Close()
			return nil, err
		}
		if !isAt(f, path) {
			f.Close() // somebody removed the file meanwhile; the lock is of nothing
			continue
		}
		err = f.Truncate(0)
		if err == nil {
			_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("write the lock: %w", err)
		}
		return f, nil
	}
}

func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	return f, nil
}

// lockForLife locks a file alone. Those who only look whether it is locked hold it for a moment, but not alone; they
// are waited for.
func lockForLife(f *os.File) error {
	for {
		err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return fmt.Errorf("take the lock: %w", err)
		}
		if flock(f, unix.LOCK_SH|unix.LOCK_NB) != nil {
			return fmt.Errorf("toold is already running (pid %s)", lockHolder(f))
		}
		runtime.Gosched()
	}
}

func isAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(mine, there)
}

func lockHolder(f *os.File) string {
	b, err := io.ReadAll(io.LimitReader(f, 32))
	if pid := strings.TrimSpace(string(b)); err == nil && pid != "" {
		return pid
	}
	return "unknown"
}

// locked tells whether a daemon holds the lock.
func locked(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return flock(f, unix.LOCK_SH|unix.LOCK_NB) != nil
}

// startLock is held while a client starts the daemon, so that others wait for that instead of starting one too. The
// error is errOther when somebody holds it.
func startLock(path string) (release func(), err error) {
	f, err := openLock(path)
	if err != nil {
		return nil, err
	}
	err = flock(f, unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case err == nil:
		return func() { f.Close() }, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		err = errOther
	default:
		err = fmt.Errorf("take the start lock: %w", err)
	}
	f.Close()
	return nil, err
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func detach(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func closeOnExec(fd int) { unix.CloseOnExec(fd) }

// rawConn calls f with the descriptor of a connection.
func rawConn(conn net.Conn, f func(fd int) error) error {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return fmt.Errorf("the connection is no Unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}
