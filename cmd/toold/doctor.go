package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toold/toold/rpc"
)

// finding is what doctor saw of one thing.
type finding struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Info bool   `json:"info,omitempty"` // not ok, but only needed for some tools
	Text string `json:"text"`
	Fix  string `json:"fix,omitempty"`
}

func good(name, format string, args ...any) finding {
	return finding{Name: name, OK: true, Text: fmt.Sprintf(format, args...)}
}

func bad(name, fix, format string, args ...any) finding {
	return finding{Name: name, Fix: fix, Text: fmt.Sprintf(format, args...)}
}

func optional(name, fix, format string, args ...any) finding {
	f := bad(name, fix, format, args...)
	f.Info = true
	return f
}

func doctorCommand(g *globals) *cobra.Command {
	return &cobra.Command{Use: "doctor", Short: "Check socket, limits, Docker, journal and state folder", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		findings := examine(c.Context(), g)
		if g.output == "json" {
			if err := printJSON(c.OutOrStdout(), findings); err != nil {
				return err
			}
		} else {
			showFindings(c.OutOrStdout(), findings)
		}
		for _, f := range findings {
			if !f.OK && !f.Info {
				return silent(exitFailed)
			}
		}
		return nil
	}}
}

func showFindings(w io.Writer, findings []finding) {
	for _, f := range findings {
		mark := "ok  "
		if !f.OK {
			mark = "BAD "
		}
		if f.Info {
			mark = "--  "
		}
		fmt.Fprintf(w, "%s %-10s %s\n", mark, f.Name, f.Text)
		if f.Fix != "" {
			fmt.Fprintf(w, "                fix: %s\n", f.Fix)
		}
	}
}

func examine(ctx context.Context, g *globals) []finding {
	return []finding{
		checkSocket(ctx, g), checkState(), checkRoot(g), checkWatches(), checkInstances(), checkFiles(), checkDocker(ctx), checkJournal(),
	}
}

func checkSocket(ctx context.Context, g *globals) finding {
	path, err := g.socketPath()
	if err != nil {
		return bad("socket", "set XDG_RUNTIME_DIR to a folder of yours with mode 0700, or give --socket", "%v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	client, err := rpc.Dial(ctx, path)
	if errors.Is(err, rpc.ErrNotRunning) {
		return good("socket", "%s; no daemon runs, the next call starts one", path)
	}
	if err != nil {
		return bad("socket", "remove the object at that path if it is none of yours, then try again", "%v", err)
	}
	defer client.Close()
	var s statusReply
	if err := client.Call(ctx, "daemon/status", map[string]any{}, &s); err != nil {
		return bad("socket", "toold restart", "the daemon does not answer: %v", err)
	}
	if s.Version != versionText() {
		return bad("socket", "toold restart", "the daemon is toold %s, this is %s", s.Version, versionText())
	}
	return good("socket", "%s, daemon pid %d, same version", path, s.PID)
}

func checkState() finding {
	dir, err := rpc.StateDir()
	if err != nil {
		return bad("state", "set XDG_STATE_HOME to a folder of yours", "%v", err)
	}
	st, err := os.Stat(dir)
	if err != nil {
		return bad("state", "create it with mode 0700", "%v", err)
	}
	if st.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return bad("state", "chmod 700 "+dir, "%s can be entered by others (mode %04o)", dir, st.Mode().Perm())
	}
	probe, err := os.CreateTemp(dir, "doctor")
	if err != nil {
		return bad("state", "make it writable for you, or set XDG_STATE_HOME", "%v", err)
	}
	probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		return bad("state", "", "%v", err)
	}
	return good("state", "%s", dir)
}

func checkRoot(g *globals) finding {
	root, err := g.workspaceRoot()
	if err != nil {
		return bad("workspace", "cd to a folder that exists, or give --root", "%v", err)
	}
	if st, err := os.Stat(root); err != nil || !st.IsDir() {
		return bad("workspace", "give --root an existing folder", "%s is not a folder", root)
	}
	return good("workspace", "%s", root)
}

func procNumber(path string) (int, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	return n, err == nil
}

func checkWatches() finding {
	n, ok := procNumber("/proc/sys/fs/inotify/max_user_watches")
	switch {
	case !ok:
		return optional("watches", "", "this system has no inotify; searches verify by looking at each folder")
	case n < 65536:
		return bad("watches", "sudo sysctl fs.inotify.max_user_watches=524288", "only %d inotify watches; folders beyond that are verified at each search, which is slower", n)
	}
	return good("watches", "%d inotify watches", n)
}

func checkInstances() finding {
	n, ok := procNumber("/proc/sys/fs/inotify/max_user_instances")
	if ok && n < 64 {
		return bad("instances", "sudo sysctl fs.inotify.max_user_instances=1024", "only %d inotify instances; each workspace takes one", n)
	}
	return good("instances", "%d inotify instances", n)
}

func checkFiles() finding {
	n, hard := openFileLimit()
	if hard > 0 && hard < 4096 {
		return bad("files", "raise the hard limit of open files (ulimit -Hn)", "at most %d open files (now %d)", hard, n)
	}
	return good("files", "up to %d open files", hard)
}

func checkDocker(ctx context.Context) finding {
	host := os.Getenv("DOCKER_HOST")
	if host == "" {
		host = "unix:///var/run/docker.sock"
	}
	path, ok := strings.CutPrefix(host, "unix://")
	if !ok {
		return good("docker", "DOCKER_HOST is %s (not checked here)", host)
	}
	d := net.Dialer{Timeout: 2 * time.Second}
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return optional("docker", "start Docker, or set DOCKER_HOST; only run_shell and read_logs need it", "no engine at %s", path)
	}
	conn.Close()
	return good("docker", "engine at %s", path)
}

func checkJournal() finding {
	path, err := exec.LookPath("journalctl")
	if err != nil {
		return optional("journal", "install systemd's journalctl; only read_logs with source systemd needs it", "no journalctl")
	}
	return good("journal", "%s", filepath.Clean(path))
}
