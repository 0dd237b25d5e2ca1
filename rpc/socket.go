package rpc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

const socketName = "toold-v1.sock"

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
	if run := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		if st, err := os.Stat(run); err == nil && !ownedByMe(st) {
			return "", fmt.Errorf("XDG_RUNTIME_DIR is %s, which belongs to another user (su and sudo keep it); unset it, or give --socket", run)
		}
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

// socketDir makes or checks the folder of a socket.
func socketDir(socket string) error {
	if err := checkLength(socket); err != nil {
		return err
	}
	dir := filepath.Dir(socket)
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("make the socket's folder: %w; set XDG_RUNTIME_DIR or --socket to a place of yours", err)
	}
	return privateDir(dir)
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
		return fmt.Errorf("%s is not a folder; toold keeps its socket in one of its own: remove it, or give --socket", dir)
	case !ownedByMe(st):
		return fmt.Errorf("%s belongs to another user; toold does not trust it: give --socket a folder of yours", dir)
	case st.Mode()&fs.ModeSticky != 0:
		return fmt.Errorf("%s is a shared folder; give --socket a folder of its own", dir)
	case st.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		return fmt.Errorf("%s can be entered by others (mode %04o); give --socket a folder of its own, or run: chmod 700 %s", dir, st.Mode().Perm(), dir)
	}
	return nil
}

// checkSocket refuses a socket that is none, or another user's. The error is ErrNotRunning when nothing is there.
func checkSocket(path string) error {
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNotRunning
	case err != nil:
		return err
	case st.Mode()&fs.ModeSocket == 0:
		return fmt.Errorf("%s is not a socket; toold leaves it alone. Remove it, or give --socket", path)
	case !ownedByMe(st):
		return fmt.Errorf("the socket %s belongs to another user; toold does not trust it", path)
	}
	return nil
}
