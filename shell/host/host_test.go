package host_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toold/toold/shell"
	"github.com/toold/toold/shell/guard/guardtest"
	"github.com/toold/toold/shell/host"
)

var guardPath string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "toold-host")
	if err == nil {
		guardPath, err = guardtest.Build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// both runs a test with a guard and without one.
func both(t *testing.T, test func(t *testing.T, ex *host.Executor)) {
	for _, guard := range []string{guardPath, ""} {
		name := "guard"
		if guard == "" {
			name = "group"
		}
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			test(t, &host.Executor{Root: t.TempDir(), Guard: guard})
		})
	}
}

func TestExec(t *testing.T) {
	for _, c := range []struct {
		name, script, stdout, stderr string
		exit                         int
	}{
		{"prints", "echo hi", "hi\n", "", 0},
		{"both streams and an exit code", "echo out; echo err >&2; exit 7", "out\n", "err\n", 7},
		{"input is empty", "cat; read x; echo got:$x", "got:\n", "", 0},
		{"there is no terminal", "(: </dev/tty) 2>/dev/null || echo none", "none\n", "", 0},
		{"nothing may ask", "echo $GIT_TERMINAL_PROMPT $CI", "0 1\n", "", 0},
		{"a signal's exit code", "kill -9 $$", "", "", 137},
		{"begins with a dash", "-no-such-command 2>/dev/null; echo $?", "127\n", "", 0},
		{"much output", "head -c 1000000 /dev/zero | tr '\\0' x | wc -c", "1000000\n", "", 0},
		{"not found", "no-such-program 2>/dev/null", "", "", 127},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, ex *host.Executor) {
				var stdout, stderr bytes.Buffer
				status, err := ex.Exec(t.Context(), shell.Command{Script: c.script}, &stdout, &stderr)
				if err != nil || status.Exit != c.exit || stdout.String() != c.stdout || stderr.String() != c.stderr {
					t.Errorf("exit %d, stdout %q, stderr %q, error %v", status.Exit, stdout.String(), stderr.String(), err)
				}
			})
		})
	}
}

func TestLeftRunning(t *testing.T) {
	for _, script := range []string{"sleep 300 & echo hi", "setsid sleep 300 & echo hi"} {
		both(t, func(t *testing.T, ex *host.Executor) {
			var stdout bytes.Buffer
			status, err := ex.Exec(t.Context(), shell.Command{Script: script + "; echo $! > pid"}, &stdout, &stdout)
			if err != nil || status.Left != 1 || stdout.String() != "hi\n" {
				t.Errorf("left %d, output %q, error %v", status.Left, stdout.String(), err)
			}
			pid, err := os.ReadFile(filepath.Join(ex.Root, "pid"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ex.Exec(t.Context(), shell.Command{Script: "kill " + string(pid)}, &stdout, &stdout); err != nil {
				t.Error(err)
			}
		})
	}
}

// started runs a command that prints a line when it runs, and gives a context that ends with that line.
func untilPrinted(t *testing.T, cause error) (context.Context, *trigger) {
	ctx, cancel := context.WithCancelCause(t.Context())
	return ctx, &trigger{do: func() { cancel(cause) }}
}

type trigger struct {
	bytes.Buffer
	do func()
}

func (w *trigger) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if strings.Contains(w.Buffer.String(), "ready\n") {
		w.do()
	}
	return n, err
}

func TestCancel(t *testing.T) {
	both(t, func(t *testing.T, ex *host.Executor) {
		ctx, out := untilPrinted(t, context.Canceled)
		_, err := ex.Exec(ctx, shell.Command{Script: "echo ready; sleep 300"}, out, out)
		if shell.Code(err) != shell.Cancelled || out.String() != "ready\n" {
			t.Errorf("output %q, error %v", out.String(), err)
		}
	})
}

func TestTimeout(t *testing.T) {
	both(t, func(t *testing.T, ex *host.Executor) {
		res, err := shell.Run(t.Context(), ex, shell.Command{Script: "echo begun; while :; do :; done"}, shell.Options{Timeout: 300 * time.Millisecond})
		if shell.Code(err) != shell.Timeout || res.Stdout.Head != "begun\n" {
			t.Errorf("output %q, error %v", res.Stdout.Head, err)
		}
	})
}

// The commands that get away from tools that kill a process group or look for a variable.
var escapes = map[string]string{
	"loop":           `echo ready; while :; do :; done`,
	"own session":    `setsid sh -c 'echo ready; exec sleep 300' & sleep 300`,
	"no trace":       `env -i setsid sh -c 'echo ready; exec sleep 300' & sleep 300`,
	"double fork":    `(setsid sh -c '(setsid sleep 300 &) ; echo ready; exec sleep 300' &) ; sleep 300`,
	"deaf":           `trap '' TERM INT HUP; (trap '' TERM; echo ready; while :; do sleep 1; done) & while :; do sleep 1; done`,
	"stopped":        `(kill -STOP $BASHPID) & echo ready; sleep 300`,
	"breeds":         `f() { while :; do (exec sleep 300) & n=$((n+1)); [ $n -gt 40 ] && break; done; echo ready; wait; }; f`,
	"answers TERM":   `trap '(setsid sleep 300 &)' TERM; echo ready; while :; do sleep 1; done`,
	"prints a lot":   `echo ready; yes`,
	"prints nowhere": `echo ready; exec >/dev/null 2>&1; sleep 300`,
}

func TestKillLeavesNothing(t *testing.T) {
	rounds := 1
	if os.Getenv("TOOLD_TORTURE") != "" {
		rounds = 100
	}
	for name, script := range escapes {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			for range rounds {
				ex := &host.Executor{Root: t.TempDir(), Guard: guardPath}
				ctx, out := untilPrinted(t, context.Canceled)
				mark := fmt.Sprintf("TOOLD_TEST=%s", filepath.Base(ex.Root))
				status, err := ex.Exec(ctx, shell.Command{Script: script, Dir: ex.Root}, out, out)
				if shell.Code(err) != shell.Cancelled || status.Survivors {
					t.Errorf("status %+v, error %v, %s", status, err, mark)
				}
				if pids := inFolder(ex.Root); len(pids) > 0 {
					t.Errorf("processes %v still run", pids)
				}
			}
		})
	}
}

// inFolder gives the processes whose current folder is dir.
func inFolder(dir string) []string {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	var pids []string
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == dir {
			pids = append(pids, filepath.Base(filepath.Dir(link)))
		}
	}
	return pids
}
