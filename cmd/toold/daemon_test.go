package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toold/toold/rpc"
	"github.com/toold/toold/rpc/tool"
)

// home is a user of the tests: a workspace, and a state of its own, on which daemons are started and killed.
type home struct {
	t      testing.TB
	ws     string
	socket string
	env    []string
	binary string
}

// newHome makes a home. The socket lies in a folder with a short name.
func newHome(t testing.TB) *home {
	t.Helper()
	run, err := os.MkdirTemp("", "toold")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(run) })
	dir := t.TempDir()
	h := &home{t: t, ws: filepath.Join(dir, "ws"), socket: filepath.Join(run, "toold", "toold-v1.sock"), binary: "toold"}
	if err := os.Mkdir(h.ws, 0o777); err != nil {
		t.Fatal(err)
	}
	h.env = append(os.Environ(), "HOME="+dir, "XDG_RUNTIME_DIR="+run, "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	return h
}

// daemon is one run of the daemon.
type process struct {
	h   *home
	cmd *exec.Cmd
	out strings.Builder
}

// start starts the daemon in the foreground and waits until it answers.
func (h *home) start(env ...string) *process {
	h.t.Helper()
	p := &process{h: h, cmd: exec.Command(h.binary, "serve")}
	p.cmd.Env = append(append([]string{}, h.env...), env...)
	p.cmd.Stderr = &p.out
	if err := p.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { p.kill() })
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		c, err := rpc.Dial(ctx, h.socket)
		if err == nil {
			err = c.Call(ctx, "daemon/status", nil, nil)
			c.Close()
		}
		if err == nil {
			return p
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			h.t.Fatalf("the daemon does not answer: %v; it says: %s", err, p.out.String())
		}
	}
}

func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
}

// term asks the daemon to drain and waits until it has ended.
func (p *process) term() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return p.cmd.Wait()
}

// dial connects an agent.
func (h *home) dial(agent string) (*rpc.Client, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := rpc.Dial(ctx, h.socket)
	if err != nil {
		return nil, err
	}
	err = c.Call(ctx, "initialize", map[string]any{
		"protocol": 1, "clientInfo": map[string]any{"name": "test"}, "workspace": map[string]any{"root": h.ws}, "agent": agent,
	}, nil)
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// client connects an agent and closes it with the test.
func (h *home) client(agent string) *client {
	h.t.Helper()
	c, err := h.dial(agent)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { c.Close() })
	return &client{Client: c, t: h.t}
}

// client is an agent's connection in a test.
type client struct {
	*rpc.Client
	t testing.TB
}

// tool calls a tool; a call that does not reach it fails the test.
func (c *client) tool(name string, args map[string]any) tool.Result {
	c.t.Helper()
	r, err := callTool2(c.Client, name, args)
	if err != nil {
		c.t.Fatalf("%s: %v", name, err)
	}
	return r
}

func callTool2(c *rpc.Client, name string, args map[string]any) (tool.Result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var r tool.Result
	err := c.Call(ctx, name, args, &r)
	return r, err
}

// ask calls a method that is no tool.
func (c *client) ask(method string, params any, into any) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := c.Call(ctx, method, params, into); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
}

// must calls a tool that has to succeed.
func (c *client) must(name string, args map[string]any) tool.Result {
	c.t.Helper()
	r := c.tool(name, args)
	if r.IsError {
		c.t.Fatalf("%s: %s", name, r.Text)
	}
	return r
}

// temps lists the door's temporary files below the workspace.
func (h *home) temps() []string {
	h.t.Helper()
	var found []string
	err := filepath.WalkDir(h.ws, func(path string, d os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err == nil && strings.HasPrefix(d.Name(), ".toold-") {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return found
}

// history gives every content that the journal can show: of each change before and after, and whether all changes are
// closed.
func (h *home) history() (contents map[string]bool, open int) {
	h.t.Helper()
	c := h.client("historian")
	defer c.Close()
	contents = map[string]bool{}
	before := ""
	for {
		var page struct {
			Edits []struct{ ID, State string }
			Next  string
		}
		c.ask("edits/list", map[string]any{"limit": 1000, "before": before}, &page)
		for _, e := range page.Edits {
			if e.State != "done" {
				open++
			}
			var got struct{ Before, After string }
			c.ask("edits/get", map[string]any{"id": e.ID}, &got)
			contents[got.Before], contents[got.After] = true, true
		}
		if before = page.Next; before == "" {
			return contents, open
		}
	}
}

func (h *home) read(name string) string {
	h.t.Helper()
	b, err := os.ReadFile(filepath.Join(h.ws, name))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(b)
}

// torture tells whether the long variants of the tests are wanted.
func torture() bool { return os.Getenv("TOOLD_TORTURE") != "" }
