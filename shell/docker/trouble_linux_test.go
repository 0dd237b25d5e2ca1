package docker_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"go.uber.org/goleak"

	"github.com/toold/toold/shell"
	"github.com/toold/toold/shell/docker"
	"github.com/toold/toold/shell/docker/dockertest"
)

// during runs a command that sleeps under a name of its own, does something when it runs, and gives its error.
func during(t *testing.T, ex shell.Executor, name string, do func()) error {
	t.Helper()
	out := &trigger{do: sync.OnceFunc(do)}
	status, err := ex.Exec(t.Context(), shell.Command{Script: "echo ready; exec sleep " + name}, out, out)
	if err == nil {
		t.Errorf("no error, exit code %d", status.Exit)
	}
	return err
}

// lostWith checks the error of a command that had been started and whose end is not known.
func lostWith(t *testing.T, err error, code string, says ...string) {
	t.Helper()
	var se *shell.Error
	if !errors.As(err, &se) || se.Code != code || !se.Started {
		t.Errorf("error %v, code %q, want %q", err, shell.Code(err), code)
		return
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%q does not say %q", err, s)
		}
	}
}

// ended waits until no process of this machine has the argument; the test's own time limit ends it.
func ended(t *testing.T, argument string) time.Duration {
	t.Helper()
	began := time.Now()
	for t.Context().Err() == nil {
		found := false
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range files {
			text, _ := os.ReadFile(file)
			found = found || string(text) == "sleep\x00"+argument+"\x00"
		}
		if !found {
			break
		}
	}
	return time.Since(began)
}

func TestContainerGoesAway(t *testing.T) {
	for name, guard := range map[string]string{"guard": guardPath, "keeper": ""} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			e, ctx := open(t, guard, docker.Limits{}), t.Context()
			make := func() (*docker.Executor, string) {
				c := engine.Run(t, dockertest.Container{Binds: []string{dir + ":/workspace"}})
				return e.New(docker.Config{Workspace: dir, Name: c}), c
			}
			ex, c := make()
			lostWith(t, during(t, ex, "4001", func() {
				if err := engine.API.ContainerRemove(ctx, c, container.RemoveOptions{Force: true}); err != nil {
					t.Error(err)
				}
			}), shell.NoContainer, "removed while")
			ex, c = make()
			lostWith(t, during(t, ex, "4002", func() {
				if err := engine.API.ContainerKill(ctx, c, "KILL"); err != nil {
					t.Error(err)
				}
			}), shell.NoContainer, "stopped while", "docker start")
			ex, c = make()
			now := 0
			lostWith(t, during(t, ex, "4003", func() {
				if err := engine.API.ContainerRestart(ctx, c, container.StopOptions{Timeout: &now}); err != nil {
					t.Error(err)
				}
			}), shell.NoContainer, "stopped while")
			if got, _, _ := run(t, ex, "echo again"); got != "again\nExit code: 0" {
				t.Error(got)
			}
		})
	}
}

func TestEngineIsKilled(t *testing.T) {
	for name, guard := range map[string]string{"guard": guardPath, "keeper": ""} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			c := engine.Run(t, dockertest.Container{Binds: []string{dir + ":/workspace"}})
			ex := open(t, guard, docker.Limits{Quick: 2 * time.Second, Lease: 400 * time.Millisecond}).New(docker.Config{Workspace: dir, Name: c})
			lostWith(t, during(t, ex, "4010", func() { engine.Signal(t, syscall.SIGKILL) }), shell.EngineLost, "not known")
			if guard != "" { // the keeper's command ends when the engine is started again
				t.Log("the command ended after", ended(t, "4010"))
			}
			_, _, err := run(t, ex, "true")
			if shell.Code(err) != shell.EngineUnreachable || !strings.Contains(err.Error(), engine.Host) {
				t.Error(err)
			}
			engine.Restart(t)
			if err := engine.API.ContainerRestart(t.Context(), c, container.StopOptions{}); err != nil {
				t.Fatal(err)
			}
			if got, _, _ := run(t, ex, "echo back"); got != "back\nExit code: 0" {
				t.Errorf("the executor did not recover: %s", got)
			}
		})
	}
}

func TestEngineHangs(t *testing.T) {
	dir := folder(t)
	c := engine.Run(t, dockertest.Container{Binds: []string{dir + ":/workspace"}})
	limits := docker.Limits{Quick: 300 * time.Millisecond, Silence: 50 * time.Millisecond, Hung: 200 * time.Millisecond}
	ex := open(t, guardPath, limits).New(docker.Config{Workspace: dir, Name: c})
	lostWith(t, during(t, ex, "4020", func() { engine.Signal(t, syscall.SIGSTOP) }), shell.EngineLost, "went away")
	_, _, err := run(t, ex, "true")
	if shell.Code(err) != shell.EngineUnreachable || !strings.Contains(err.Error(), "does not answer") {
		t.Error(err)
	}
	engine.Signal(t, syscall.SIGCONT)
	t.Log("the command ended after", ended(t, "4020"))
	if got, _, _ := run(t, open(t, guardPath, docker.Limits{}).New(docker.Config{Workspace: dir, Name: c}), "echo back"); got != "back\nExit code: 0" {
		t.Error(got)
	}
}

// A command that is silent for long is not taken for lost.
func TestSilence(t *testing.T) {
	dir := folder(t)
	c := engine.Run(t, dockertest.Container{Binds: []string{dir + ":/workspace"}})
	ex := open(t, guardPath, docker.Limits{Silence: 10 * time.Millisecond, Hung: time.Minute}).New(docker.Config{Workspace: dir, Name: c})
	if got, _, _ := run(t, ex, "sleep 0.5; echo ok"); got != "ok\nExit code: 0" {
		t.Error(got)
	}
}

// The guard ends a command at its limit also when nobody else can.
func TestLimitWithoutAnEngine(t *testing.T) {
	dir := folder(t)
	c := engine.Run(t, dockertest.Container{Binds: []string{dir + ":/workspace"}})
	ex := open(t, guardPath, docker.Limits{}).New(docker.Config{Workspace: dir, Name: c})
	var out bytes.Buffer
	_, err := ex.Exec(t.Context(), shell.Command{Script: "echo begun; exec sleep 4030", Limit: 300 * time.Millisecond}, &out, &out)
	if shell.Code(err) != shell.Timeout || out.String() != "begun\n" {
		t.Errorf("%q %v", out.String(), err)
	}
}

// When the daemon dies, nothing that it started lives on.
func TestConnectionIsCut(t *testing.T) {
	rounds := 2
	if os.Getenv("TOOLD_TORTURE") != "" {
		rounds = 100
	}
	for name, guard := range map[string]string{"guard": guardPath, "keeper": ""} {
		t.Run(name, func(t *testing.T) {
			p := unixProxy(t)
			dir := folder(t)
			c := engine.Run(t, dockertest.Container{Binds: []string{dir + ":/workspace"}})
			e, err := docker.Open(docker.Endpoint{Host: p.host}, guard, docker.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			ex := e.New(docker.Config{Workspace: dir, Name: c})
			worst := time.Duration(0)
			for range rounds {
				lostWith(t, during(t, ex, "4040", p.cut), shell.EngineLost, "not known")
				worst = max(worst, ended(t, "4040"))
			}
			t.Log("the command ended after at most", worst)
		})
	}
}

// A command may kill all that it can reach, but not what watches over it; and when it is root, that is noticed.
func TestCommandKillsEverything(t *testing.T) {
	ex, dir := executor(t, guardPath, dockertest.Busybox)
	if got, _, _ := run(t, ex, "kill -9 -1; echo alive"); got != "alive\nExit code: 0" {
		t.Error(got)
	}
	c := engine.Run(t, dockertest.Container{Binds: []string{dir + ":/workspace"}})
	root := open(t, guardPath, docker.Limits{}).New(docker.Config{Workspace: dir, Name: c, User: "root"})
	_, _, err := run(t, root, "setsid sleep 4050 & kill -9 $PPID; sleep 4050")
	lostWith(t, err, shell.EngineLost, "killed its own guard")
	ended(t, "4050")
}

func TestNoEngine(t *testing.T) {
	dir := t.TempDir()
	closed := filepath.Join(dir, "closed")
	l, err := net.Listen("unix", closed)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	for host, says := range map[string]string{
		"unix://" + filepath.Join(dir, "none"): "Is it running?",
		"unix://" + closed:                     "Is it running?",
		"tcp://127.0.0.1:1":                    "Is it running?",
	} {
		e, err := docker.Open(docker.Endpoint{Host: host, Source: "DOCKER_HOST"}, guardPath, docker.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = run(t, e.New(docker.Config{Workspace: dir, Name: "x"}), "true")
		if shell.Code(err) != shell.EngineUnreachable || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), host) || !strings.Contains(err.Error(), "DOCKER_HOST") {
			t.Errorf("%s: %v", host, err)
		}
		e.Close()
	}
	if _, err := docker.Open(docker.Endpoint{Host: "ssh://x"}, "", docker.Limits{}); shell.Code(err) != shell.EngineUnreachable {
		t.Error(err)
	}
}

func TestNothingIsLeftHere(t *testing.T) {
	dir := folder(t)
	c := engine.Run(t, dockertest.Container{Binds: []string{dir + ":/workspace"}})
	current := goleak.IgnoreCurrent()
	e, err := docker.Open(docker.Endpoint{Host: engine.Host}, guardPath, docker.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	ex := e.New(docker.Config{Workspace: dir, Name: c})
	for range 3 {
		run(t, ex, "sleep 300 & echo hi")
		ctx, cancel := context.WithCancel(t.Context())
		out := &trigger{do: cancel}
		_, _ = ex.Exec(ctx, shell.Command{Script: "echo ready; sleep 300"}, out, out)
	}
	e.Close()
	goleak.VerifyNone(t, current)
}

// Many commands at once, and a reply for each.
func TestManyAtOnce(t *testing.T) {
	ex, _ := executor(t, guardPath, dockertest.Busybox)
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			want := strings.Repeat("x", i) + "\nExit code: 0"
			if got, _, _ := run(t, ex, "echo "+strings.Repeat("x", i)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	wait.Wait()
}
