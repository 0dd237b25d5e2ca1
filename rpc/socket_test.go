//go:build unix

package rpc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestSocketPath(t *testing.T) {
	state, run := t.TempDir(), t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("XDG_RUNTIME_DIR", run)
	for _, c := range []struct{ run, want string }{
		{run, filepath.Join(run, "toold", "toold-v1.sock")},
		{"", filepath.Join(state, "toold", "run", "toold-v1.sock")},
		{"relative", filepath.Join(state, "toold", "run", "toold-v1.sock")},
	} {
		t.Setenv("XDG_RUNTIME_DIR", c.run)
		if got, err := SocketPath(); err != nil || got != c.want {
			t.Errorf("with %q: %s, %v; want %s", c.run, got, err, c.want)
		}
	}
	if st, err := os.Stat(filepath.Join(state, "toold")); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("the state folder: %v %v", st, err)
	}
	t.Setenv("XDG_STATE_HOME", "relative")
	if _, err := SocketPath(); err == nil {
		t.Error("a relative state folder was taken")
	}
}

// TestListen: whatever the umask, the folder and the socket are for this user alone.
func TestListen(t *testing.T) {
	for _, mask := range []int{0, 0o777, 0o022} {
		path := filepath.Join(socketFolder(t), "toold", "s")
		l := listenUnder(t, mask, path)
		for at, want := range map[string]os.FileMode{filepath.Dir(path): 0o700 | os.ModeDir, path: 0o600 | os.ModeSocket, path + ".lock": 0o600} {
			st, err := os.Lstat(at)
			if err != nil || st.Mode()&^os.FileMode(mask) != want&^os.FileMode(mask) || st.Mode().Perm()&0o077 != 0 {
				t.Errorf("umask %04o: %s has the mode %v, %v", mask, at, st.Mode(), err)
			}
		}
		if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("already running (pid %d)", os.Getpid())) {
			t.Errorf("a second daemon: %v", err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := l.Close(); err != nil {
			t.Errorf("closed again: %v", err)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Error("the socket was left")
		}
	}
}

func listenUnder(t *testing.T, mask int, path string) *Listener {
	t.Helper()
	defer syscall.Umask(syscall.Umask(mask))
	l, err := Listen(path)
	if err != nil {
		t.Fatalf("umask %04o: %v", mask, err)
	}
	return l
}

// TestListenRefuses: what stands at the socket's place and is no socket is left alone.
func TestListenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		put  func(path string) error
		want string
	}{
		"a file":             {func(p string) error { return os.WriteFile(p, []byte("data"), 0o600) }, "not a socket"},
		"a folder":           {func(p string) error { return os.Mkdir(p, 0o700) }, "not a socket"},
		"a link":             {func(p string) error { return os.Symlink("/etc/hostname", p) }, "not a socket"},
		"a dangling link":    {func(p string) error { return os.Symlink("nowhere", p) }, "not a socket"},
		"a pipe":             {func(p string) error { return syscall.Mkfifo(p, 0o600) }, "not a socket"},
		"an open folder":     {func(p string) error { return os.Chmod(filepath.Dir(p), 0o755) }, "can be entered by others"},
		"a shared folder":    {func(p string) error { return os.Chmod(filepath.Dir(p), 0o777|os.ModeSticky) }, "shared folder"},
		"a folder by a link": {linkFolder, "not a folder"},
		"a lock that is one": {func(p string) error { return os.Symlink("elsewhere", p+".lock") }, "open the lock"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(socketFolder(t), "toold", "s")
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := c.put(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(path)
			if l, err := Listen(path); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
				if err == nil {
					l.Close()
				}
			}
			if after, _ := os.Lstat(path); before != nil && (after == nil || !os.SameFile(before, after)) {
				t.Error("it was touched")
			}
			if strings.Contains(c.want, "lock") {
				return
			}
			if client, err := Dial(patience(t), path); err == nil || errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the client: %v", err)
				if err == nil {
					client.Close()
				}
			}
		})
	}
}

func linkFolder(p string) error {
	dir := filepath.Dir(p)
	if err := os.Rename(dir, dir+"2"); err != nil {
		return err
	}
	return os.Symlink(dir+"2", dir)
}

// TestOtherUsers: a socket or a folder of another user is refused by both sides.
func TestOtherUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	path := filepath.Join(socketFolder(t), "toold", "s")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, at := range []string{path, filepath.Dir(path)} {
		if err := os.Lchown(at, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if _, err := Dial(patience(t), path); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
			t.Errorf("%s: the client: %v", at, err)
		}
		if _, err := Listen(path); at != path && (err == nil || !strings.Contains(err.Error(), "belongs to another user")) {
			t.Errorf("%s: the daemon: %v", at, err)
		}
		if err := os.Lchown(at, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLockFileDeleted: a daemon that lives is not pushed aside because its lock file is gone.
func TestLockFileDeleted(t *testing.T) {
	path := filepath.Join(socketFolder(t), "toold", "s")
	first, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "already running") {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	first.Close() // does not take the other's socket away
	if _, err := os.Lstat(path); err != nil {
		t.Error(err)
	}
}

func TestPathLength(t *testing.T) {
	dir := socketFolder(t)
	name := func(n int) string {
		return filepath.Join(dir, "toold", strings.Repeat("s", n-len(filepath.Join(dir, "toold"))-1))
	}
	longest := name(maxPath)
	l, err := Listen(longest)
	if err != nil {
		t.Fatalf("%d bytes: %v", len(longest), err)
	}
	defer l.Close()
	if conn, err := net.Dial("unix", longest); err != nil {
		t.Error(err)
	} else {
		conn.Close()
	}
	for _, try := range []func(string) error{
		func(p string) error { _, err := Listen(p); return err },
		func(p string) error { _, err := Dial(patience(t), p); return err },
		func(p string) error { _, err := DialOrStart(patience(t), StartOptions{Socket: p}); return err },
	} {
		if err := try(name(maxPath + 1)); err == nil || errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), fmt.Sprint(maxPath)) {
			t.Errorf("got %v", err)
		}
	}
}
