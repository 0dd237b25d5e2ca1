package rpc

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOtherUsersCall: a process of another user that gets past the folder is not served.
func TestOtherUsersCall(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can act as another user")
	}
	var log lockedBuilder
	r := newRig(t, Options{Log: textLog(&log)})
	for at, mode := range map[string]os.FileMode{filepath.Dir(r.path): 0o777, r.path: 0o777} {
		if err := os.Chmod(at, mode); err != nil {
			t.Fatal(err)
		}
	}
	conn := dialAs(t, r.path, 65534)
	defer conn.Close()
	_, _ = conn.Write([]byte(call(1, "echo", "{}")))
	if got := ended(t, conn); got != "" {
		t.Errorf("got %q", got)
	}
	r.alive()
	if got := log.String(); !strings.Contains(got, "belongs to the user 65534") {
		t.Errorf("the log: %s", got)
	}
}

// dialAs connects as another user: on a thread that has become that user's, and ends with the goroutine.
func dialAs(t *testing.T, path string, uid int) net.Conn {
	t.Helper()
	got := make(chan net.Conn, 1)
	fail := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); e != 0 {
			fail <- e
			return
		}
		var d net.Dialer
		conn, err := d.DialContext(context.Background(), "unix", path)
		if err != nil {
			fail <- err
			return
		}
		got <- conn
	}()
	select {
	case err := <-fail:
		t.Fatal(err)
	case conn := <-got:
		return conn
	}
	return nil
}
