package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toold/toold/rpc"
)

// TestIdleExit starts a daemon that ends when nobody is connected for a while; it stays while somebody is.
func TestIdleExit(t *testing.T) {
	h := newHome(t)
	c := exec.Command("toold", "serve", "--idle", "300ms")
	c.Env = h.env
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	client := waitDial(t, h.socket)
	select {
	case err := <-ended:
		t.Fatalf("it ended while a client was connected: %v", err)
	case <-time.After(time.Second): // three times the idle time
	}
	client.Close()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("it does not end")
		_ = c.Process.Kill()
	}
}

func waitDial(t *testing.T, socket string) *rpc.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		c, err := rpc.Dial(ctx, socket)
		if err == nil {
			return c
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal(err)
		}
	}
}

// TestSocketActivation passes a listening socket as systemd does.
func TestSocketActivation(t *testing.T) {
	h := newHome(t)
	if err := os.MkdirAll(filepath.Dir(h.socket), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: h.socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	f, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	c := exec.Command("sh", "-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec toold serve")
	c.Env = h.env
	c.ExtraFiles = []*os.File{f}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	client := waitDial(t, h.socket)
	defer client.Close()
	var s statusReply
	if err := client.Call(t.Context(), "daemon/status", nil, &s); err != nil || s.PID != c.Process.Pid {
		t.Fatalf("%+v %v, want pid %d", s, err, c.Process.Pid)
	}
	if err := client.Call(t.Context(), "daemon/stop", nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(h.socket); err != nil {
		t.Errorf("the service manager's socket was removed: %v", err)
	}
}

// TestForeignObjects puts other things where the socket belongs: the daemon leaves them alone.
func TestForeignObjects(t *testing.T) {
	for name, place := range map[string]func(path string) error{
		"file":   func(p string) error { return os.WriteFile(p, []byte("mine"), 0o600) },
		"folder": func(p string) error { return os.Mkdir(p, 0o700) },
		"link":   func(p string) error { return os.Symlink("/etc/passwd", p) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			if err := os.MkdirAll(filepath.Dir(h.socket), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := place(h.socket); err != nil {
				t.Fatal(err)
			}
			before, err := os.Lstat(h.socket)
			if err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"serve"}, {"call", "list_files"}} {
				c := exec.Command("toold", args...)
				c.Env, c.Dir = h.env, h.ws
				if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "is not a socket") {
					t.Errorf("toold %v: %v %s", args, err, out)
				}
			}
			if after, err := os.Lstat(h.socket); err != nil || !os.SameFile(before, after) {
				t.Errorf("it was replaced: %v", err)
			}
		})
	}
}

// TestSecondDaemon finds one running: it says so and the first serves on.
func TestSecondDaemon(t *testing.T) {
	h := newHome(t)
	h.start()
	c := exec.Command("toold", "serve")
	c.Env = h.env
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "already running (pid ") {
		t.Errorf("%v %s", err, out)
	}
	h.client("agent").must("list_files", map[string]any{})
}

// TestOpenFolder refuses a socket folder that others can enter.
func TestOpenFolder(t *testing.T) {
	h := newHome(t)
	if err := os.MkdirAll(filepath.Dir(h.socket), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(h.socket), 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("toold", "serve")
	c.Env = h.env
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "chmod 700") {
		t.Errorf("%v %s", err, out)
	}
}

// TestProtocolMismatch is a client of another version: it is told so at once, and the frozen methods answer it.
func TestProtocolMismatch(t *testing.T) {
	h := newHome(t)
	h.start()
	c := waitDial(t, h.socket)
	defer c.Close()
	err := c.Call(t.Context(), "initialize", map[string]any{"protocol": 2, "clientInfo": map[string]any{"name": "new"}, "workspace": map[string]any{"root": h.ws}}, nil)
	var re *rpc.Error
	if !errors.As(err, &re) || !strings.Contains(re.Message, "toold restart") {
		t.Errorf("got %v", err)
	}
	if err := c.Call(t.Context(), "read_file", map[string]any{"path": "x"}, nil); err == nil || !strings.Contains(err.Error(), "initialize") {
		t.Errorf("a call without initialize: %v", err)
	}
	if err := c.Call(t.Context(), "future/method", nil, nil); err == nil || !strings.Contains(err.Error(), "protocol 1") {
		t.Errorf("an unknown method: %v", err)
	}
	if err := c.Call(t.Context(), "daemon/status", nil, nil); err != nil {
		t.Errorf("status: %v", err)
	}
}

// TestRootMoves takes the workspace away and puts it back: nothing is created in its place, and work goes on.
func TestRootMoves(t *testing.T) {
	h := newHome(t)
	h.start()
	c := h.client("agent")
	c.must("write_file", map[string]any{"path": "a.txt", "content": "one two three"})
	if err := os.Rename(h.ws, h.ws+".away"); err != nil {
		t.Fatal(err)
	}
	for tool, args := range map[string]map[string]any{
		"write_file": {"path": "b.txt", "content": "x"}, "read_file": {"path": "a.txt"}, "list_files": {}, "search_files": {"query": "one"}, "revert_file": {"path": "a.txt"},
		"edit_file": {"path": "a.txt", "search": "one", "replace": "two"},
	} {
		if r := c.tool(tool, args); r.Code != "root_gone" {
			t.Errorf("%s: %q %s", tool, r.Code, r.Text)
		}
	}
	if _, err := os.Lstat(h.ws); err == nil {
		t.Error("something was created in the workspace's place")
	}
	if err := os.Rename(h.ws+".away", h.ws); err != nil {
		t.Fatal(err)
	}
	if r := c.must("read_file", map[string]any{"path": "a.txt"}); r.Text != "one two three" {
		t.Errorf("read %q", r.Text)
	}
	// Another folder at the same path: reads show it, and the snapshot is restored into it only on a second ask.
	if err := os.Rename(h.ws, h.ws+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(h.ws, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.ws, "a.txt"), []byte("another tree"), 0o666); err != nil {
		t.Fatal(err)
	}
	if r := c.must("read_file", map[string]any{"path": "a.txt"}); r.Text != "another tree" {
		t.Errorf("read %q", r.Text)
	}
	if r := c.tool("revert_file", map[string]any{"path": "a.txt"}); r.Code != "changed_since" {
		t.Errorf("revert: %q %s", r.Code, r.Text)
	}
	if h.read("a.txt") != "another tree" {
		t.Error("the first ask changed the file")
	}
}

// TestEvents are stored: who connects later with a sequence number misses nothing, and a slow reader gets them all.
func TestEvents(t *testing.T) {
	h := newHome(t)
	p := h.start()
	c := h.client("agent")
	var sub struct{ Last int64 }
	c.ask("events/subscribe", map[string]any{}, &sub)
	c.must("write_file", map[string]any{"path": "a.txt", "content": "one"})
	c.must("write_file", map[string]any{"path": "b.txt", "content": "two"})
	if err := p.term(); err != nil {
		t.Fatal(err)
	}
	h.start()
	later := h.client("later")
	got := make(chan string, 100)
	later.OnNotification(func(method string, params json.RawMessage) {
		if method == "event" {
			got <- string(params)
		}
	})
	later.ask("events/subscribe", map[string]any{"since": sub.Last, "kinds": []string{"edit"}}, nil)
	for _, want := range []string{"a.txt", "b.txt"} {
		select {
		case ev := <-got:
			if !strings.Contains(ev, want) || !strings.Contains(ev, `"agent":"agent"`) {
				t.Errorf("got %s, want one of %s", ev, want)
			}
		case <-time.After(time.Minute):
			t.Fatal("no event")
		}
	}
}

// TestLargeRange reads one line out of a large file: the daemon's memory does not grow by the file.
func TestLargeRange(t *testing.T) {
	h := newHome(t)
	f, err := os.Create(filepath.Join(h.ws, "large.txt"))
	if err != nil {
		t.Fatal(err)
	}
	block := []byte(strings.Repeat("a line of text that is repeated many times over\n", 1<<16))
	for range 64 { // 200 MB
		if _, err := f.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	h.start()
	c := h.client("agent")
	c.must("read_file", map[string]any{"path": "large.txt", "start_line": 1, "end_line": 1})
	var before, after statusReply
	c.ask("daemon/status", nil, &before)
	r := c.must("read_file", map[string]any{"path": "large.txt", "start_line": 4000000, "end_line": 4000000})
	c.ask("daemon/status", nil, &after)
	if !strings.Contains(r.Text, "lines 4000000-4000000 of 4194304") {
		t.Errorf("read %s", r.Text)
	}
	if grown := after.Memory.Resident - before.Memory.Resident; grown > 10<<20 {
		t.Errorf("the daemon grew by %d MB", grown>>20)
	}
}
