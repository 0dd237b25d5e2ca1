package docker_test

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
	"github.com/toold/toold/shell/docker"
	"github.com/toold/toold/shell/docker/dockertest"
	"github.com/toold/toold/shell/guard/guardtest"
)

var (
	engine    *dockertest.Engine
	guardPath string
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "toold-docker")
	if err == nil {
		guardPath, err = guardtest.Build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := dockertest.Main(m, func(e *dockertest.Engine) { engine = e })
	os.RemoveAll(dir)
	os.Exit(code)
}

// open opens the engine with a guard, or without one.
func open(t *testing.T, guard string, limits docker.Limits) *docker.Engine {
	t.Helper()
	e, err := docker.Open(docker.Endpoint{Host: engine.Host, Source: "test"}, guard, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// folder makes a workspace that belongs to the user 1000.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chown(dir, 1000, 1000); err != nil {
		t.Fatal(err)
	}
	return dir
}

// executor makes a container for a new workspace, and the executor for it.
func executor(t *testing.T, guard, image string) (*docker.Executor, string) {
	t.Helper()
	dir := folder(t)
	name := engine.Run(t, dockertest.Container{Image: image, Binds: []string{dir + ":/workspace"}})
	return open(t, guard, docker.Limits{}).New(docker.Config{Workspace: dir, Name: name}), dir
}

// everywhere runs a test with the guard in a bare container, and without it in one with common tools.
func everywhere(t *testing.T, test func(t *testing.T, ex *docker.Executor, dir string)) {
	for name, c := range map[string][2]string{"guard": {guardPath, dockertest.Busybox}, "keeper": {"", dockertest.Machine}} {
		t.Run(name, func(t *testing.T) {
			ex, dir := executor(t, c[0], c[1])
			test(t, ex, dir)
		})
	}
}

func run(t *testing.T, ex shell.Executor, script string) (string, shell.Result, error) {
	t.Helper()
	res, err := shell.Run(t.Context(), ex, shell.Command{Script: script}, shell.Options{})
	return shell.Render(res, err, 0), res, err
}

func TestExec(t *testing.T) {
	everywhere(t, testExec)
	t.Run("keeper without tools", func(t *testing.T) {
		ex, dir := executor(t, "", dockertest.Busybox)
		testExec(t, ex, dir)
	})
}

func testExec(t *testing.T, ex *docker.Executor, dir string) {
	for _, c := range []struct{ script, want string }{
		{"echo hi", "hi\nExit code: 0"},
		{"echo out; echo err >&2; exit 7", "out\nSTDERR:\nerr\n\nExit code: 7"},
		{"cat; read x; echo got:$x", "got:\nExit code: 0"},
		{"(: </dev/tty) 2>/dev/null || echo none", "none\nExit code: 0"},
		{"echo $GIT_TERMINAL_PROMPT $CI; pwd; id -u; id -g", "0 1\n/workspace\n1000\n1000\nExit code: 0"},
		{"touch $HOME/x && echo ok", "ok\nExit code: 0"},
		{"mkdir -p n && echo x > n/f && stat -c %u n/f", "1000\nExit code: 0"},
		{"kill -9 $$", "\nExit code: 137"},
		{"-no-such-command 2>/dev/null; echo $?", "127\nExit code: 0"},
		{`printf '\342'; sleep 0.1; printf '\211'; sleep 0.1; printf '\244\n'`, "≤\nExit code: 0"},
		{`printf '\377x\n'`, "\\xffx\nExit code: 0"},
		{"head -c 10000000 /dev/zero | tr '\\0' x | wc -c", "10000000\nExit code: 0"},
	} {
		if got, _, _ := run(t, ex, c.script); got != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.script, got, c.want)
		}
	}
	_, err := ex.Exec(t.Context(), shell.Command{Script: "true", Dir: "/no/such"}, &bytes.Buffer{}, &bytes.Buffer{})
	if shell.Code(err) != shell.NotFound {
		t.Errorf("a folder that is not there: %v", err)
	}
	info, err := os.Stat(filepath.Join(dir, "n"))
	if err != nil || !info.IsDir() {
		t.Error(err)
	}
}

func TestLeftRunning(t *testing.T) {
	everywhere(t, func(t *testing.T, ex *docker.Executor, dir string) {
		for _, script := range []string{"sleep 300 & echo hi", "setsid sleep 301 & echo hi", "sleep 302 </dev/null & echo hi"} {
			got, _, _ := run(t, ex, script)
			if want := "hi\nExit code: 0\n[1 process that it started is still running]"; got != want {
				t.Errorf("%s\n got %q\nwant %q", script, got, want)
			}
		}
		if got, _, _ := run(t, ex, "ps | grep -c '[s]leep 30'; ps -e -o args | grep -c '^sleep 30'"); !strings.Contains(got, "3") {
			t.Errorf("what was left running was ended: %q", got)
		}
	})
}

// trigger ends a context when the command says that it is ready.
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

// escapes are commands that get away from tools that end a process group or look for a variable.
var escapes = map[string]string{
	"loop":           `echo ready; while :; do :; done`,
	"own session":    `setsid sh -c 'echo ready; exec sleep 300' & sleep 300`,
	"no trace":       `env -i setsid sh -c 'echo ready; exec sleep 300' & sleep 300`,
	"double fork":    `(setsid sh -c '(setsid sleep 300 &) ; echo ready; exec sleep 300' &) ; sleep 300`,
	"deaf":           `trap '' TERM INT HUP; (trap '' TERM; echo ready; while :; do sleep 1; done) & while :; do sleep 1; done`,
	"stopped":        `sleep 300 & kill -STOP $!; echo ready; sleep 300`,
	"breeds":         `n=0; while [ $n -lt 100 ]; do sleep 300 & n=$((n+1)); done; echo ready; wait`,
	"bomb":           `f() { f | f & }; f 2>/dev/null; echo ready; while :; do :; done`,
	"answers TERM":   `trap '(setsid sleep 300 &)' TERM; echo ready; while :; do sleep 1; done`,
	"prints a lot":   `echo ready; yes`,
	"prints nowhere": `echo ready; exec >/dev/null 2>&1; sleep 300`,
}

func TestKillLeavesNothing(t *testing.T) {
	rounds := 1
	if os.Getenv("TOOLD_TORTURE") != "" {
		rounds = 100
	}
	ex, _ := executor(t, guardPath, dockertest.Busybox)
	run(t, ex, "true")
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for name, script := range escapes {
		t.Run(name, func(t *testing.T) {
			for range rounds {
				ctx, cancel := context.WithCancel(t.Context())
				out := &trigger{do: cancel}
				began := time.Now()
				status, err := ex.Exec(ctx, shell.Command{Script: script}, out, out)
				if shell.Code(err) != shell.Cancelled || status.Survivors {
					t.Errorf("status %+v, error %v", status, err)
				}
				t.Log(time.Since(began))
				if got, _, _ := run(t, ex, "ps -o comm,args | grep -E '^(sleep|yes|sh) ' | grep -vE 'sleep 1000|trap exit TERM|ps -o'"); got != "\nExit code: 1" {
					t.Errorf("left behind: %s", got)
				}
			}
		})
	}
}
