package rpc

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

const (
	socketName = "toold-v1.sock"
	maxPath    = 107 // bytes of a Unix socket's path that the kernel takes
)

// ErrNotRunning says that no daemon serves the socket.
var ErrNotRunning = errors.New("no daemon is running")

// StateDir gives the folder of the daemon's state, creating it for this user alone.
func StateDir() (string, error) {
	base := os.Getenv("XDG_STATE_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the state folder: %w; set XDG_STATE_HOME", err)
		}
		base = filepath.Join(home, ".local", "state")
	}
	if !filepath.IsAbs(base) {
		return "", fmt.Errorf("XDG_STATE_HOME must be an absolute path, not %q", base)
	}
	dir := filepath.Join(base, "toold")
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", fmt.Errorf("make the state folder: %w; set XDG_STATE_HOME to a folder of yours", err)
	}
	return dir, privateDir(dir)
}

// SocketPath gives the path of this user's socket: in the runtime folder, else below the state folder; never at a
// name in a shared folder that somebody else could take first.
func SocketPath() (string, error) {
	if run := os.Getenv("XDG_RUNTIME_DIR"); run != "" && filepath.IsAbs(run) {
		return filepath.Join(run, "toold", socketName), nil
	}
	state, err := StateDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(state, "run", socketName), nil
}

func checkLength(path string) error {
	if len(path) > maxPath {
		return fmt.Errorf("the socket's path has %d bytes, more than the %d that the system takes: %s; set XDG_RUNTIME_DIR or --socket to a shorter one", len(path), maxPath, path)
	}
	return nil
}

// privateDir makes a folder for this user alone, or checks that an existing one is.
func privateDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		return os.Chmod(dir, 0o700) // whatever the umask
	}
	if !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the folder %s: %w", dir, err)
	}
	return checkDir(dir)
}

// checkDir refuses a folder that is a link, another user's, or open to others.
func checkDir(dir string) error {
	st, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !st.IsDir():
		return fmt.Errorf("%s is not a folder; remove it, toold keeps its socket there", dir)
	case !ownedByMe(st):
		return fmt.Errorf("%s belongs to another user; toold does not trust it", dir)
	case st.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		return fmt.Errorf("%s can be entered by others (mode %04o); run: chmod 700 %s", dir, st.Mode().Perm(), dir)
	}
	return nil
}

// checkSocket refuses a socket that is none, or another user's.
func checkSocket(path string) error {
	st, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotRunning
	}
	switch {
	case err != nil:
		return err
	case st.Mode()&fs.ModeSocket == 0:
		return fmt.Errorf("%s is not a socket; toold leaves it alone. Remove it, or give --socket", path)
	case !ownedByMe(st):
		return fmt.Errorf("the socket %s belongs to another user; toold does not trust it", path)
	}
	return nil
}

// Listener is the daemon's socket. Who holds its lock owns it; the lock ends with the process.
type Listener struct {
	net.Listener
	path   string
	lock   *os.File
	ready  *os.File
	passed bool // by a service manager, to which the socket belongs
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
	if l.lock != nil {
		if !l.passed {
			os.Remove(l.path)
		}
		l.lock.Close()
		l.lock = nil
	}
	return err
}

// Listen takes the socket at path, or the one that a service manager passed. A stale socket is removed only under the
// lock; anything else that stands there is left alone.
func Listen(path string) (*Listener, error) {
	raiseFileLimit()
	if l, ok, err := activated(); ok || err != nil {
		return l, err
	}
	if err := checkLength(path); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Dir(path)), 0o700); err != nil {
		return nil, fmt.Errorf("make the socket's folder: %w", err)
	}
	if err := privateDir(filepath.Dir(path)); err != nil {
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
	return &Listener{Listener: l, path: path, lock: lock, ready: readyPipe()}, nil
}

func listen(path string) (net.Listener, error) {
	switch err := checkSocket(path); {
	case err == nil:
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("remove the stale socket: %w", err)
		}
	case !errors.Is(err, ErrNotRunning):
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// readyEnv names the descriptor on which a started daemon says that it serves.
const readyEnv = "TOOLD_READY_FD"

func readyPipe() *os.File {
	fd, err := strconv.Atoi(os.Getenv(readyEnv))
	os.Unsetenv(readyEnv)
	if err != nil || fd < 3 {
		return nil
	}
	return os.NewFile(uintptr(fd), "ready")
}

// activated gives the socket that systemd passed, if this process is its addressee.
func activated() (*Listener, bool, error) {
	pid, n := os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS")
	if pid == "" || n == "" || pid != strconv.Itoa(os.Getpid()) {
		return nil, false, nil
	}
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		os.Unsetenv(name)
	}
	if n != "1" {
		return nil, true, fmt.Errorf("the service manager passed %s sockets; toold takes one", n)
	}
	f := os.NewFile(3, "socket")
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return nil, true, fmt.Errorf("take the passed socket: %w", err)
	}
	path := strings.TrimPrefix(l.Addr().String(), "unix:")
	lock, err := takeLock(path + ".lock")
	if err != nil {
		l.Close()
		return nil, true, err
	}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false)
	}
	return &Listener{Listener: l, path: path, lock: lock, passed: true}, true, nil
}
