package docker_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/google/go-cmp/cmp"

	"github.com/toold/toold/shell"
	"github.com/toold/toold/shell/docker"
	"github.com/toold/toold/shell/docker/dockertest"
)

// refused checks that a container is refused before anything runs, and why.
func refused(t *testing.T, cfg docker.Config, code string, says ...string) {
	t.Helper()
	_, err := shell.Run(t.Context(), open(t, guardPath, docker.Limits{}).New(cfg), shell.Command{Script: "touch pwned"}, shell.Options{})
	if shell.Code(err) != code {
		t.Errorf("code %q, want %q: %v", shell.Code(err), code, err)
		return
	}
	var se *shell.Error
	if errors.As(err, &se); se.Started {
		t.Error("the command was started")
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%q does not say %q", err, s)
		}
	}
}

func TestContainersThatCannotRun(t *testing.T) {
	dir := folder(t)
	cfg := func(name string) docker.Config { return docker.Config{Workspace: dir, Name: name} }
	binds := []string{dir + ":/workspace"}
	ctx := t.Context()
	engine.Run(t, dockertest.Container{Name: "proj-dev", Binds: binds, Stopped: true})
	refused(t, cfg("proj-dve"), shell.NoContainer, `no container "proj-dve"`, "proj-dev")
	refused(t, cfg("../proj"), shell.InvalidArgument, "no container's name")
	refused(t, cfg("proj-dev"), shell.NoContainer, "not running", "docker start proj-dev")

	paused := engine.Run(t, dockertest.Container{Binds: binds})
	if err := engine.API.ContainerPause(ctx, paused); err != nil {
		t.Fatal(err)
	}
	refused(t, cfg(paused), shell.NoContainer, "paused", "docker unpause")
	if err := engine.API.ContainerUnpause(ctx, paused); err != nil {
		t.Fatal(err)
	}

	crashing := engine.Run(t, dockertest.Container{Binds: binds, Cmd: []string{"false"}, Change: func(_ *container.Config, h *container.HostConfig) {
		h.RestartPolicy.Name = "always"
	}})
	for {
		found, err := engine.API.ContainerInspect(ctx, crashing)
		if err != nil {
			t.Fatal(err)
		}
		if found.State.Restarting {
			break
		}
	}
	refused(t, cfg(crashing), shell.NoContainer, "restarting", "read_logs")
}

func TestMountIsTheWorkspace(t *testing.T) {
	dir, other := folder(t), folder(t)
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	name := engine.Run(t, dockertest.Container{Binds: []string{dir + ":/workspace", other + ":/workspace/inner", "some-volume:/volume"}})
	refused(t, docker.Config{Workspace: other, Name: name}, shell.NoContainer, dir, other, "container.root")
	refused(t, docker.Config{Workspace: dir, Name: name, Root: "/elsewhere"}, shell.NoContainer, "nothing mounted at /elsewhere", dir)
	refused(t, docker.Config{Workspace: dir, Name: name, Root: "/volume"}, shell.NoContainer, "the volume some-volume")
	refused(t, docker.Config{Workspace: dir, Name: name, Root: "/workspace/sub"}, shell.NoContainer, filepath.Join(dir, "sub"))
	for _, cfg := range []docker.Config{
		{Workspace: dir, Name: name},
		{Workspace: link, Name: name},
		{Workspace: dir, Name: name, Root: "/workspace/"},
		{Workspace: filepath.Join(dir, "sub"), Name: name, Root: "/workspace/sub"},
		{Workspace: other, Name: name, Root: "/workspace/inner"},
	} {
		if got, _, err := run(t, open(t, guardPath, docker.Limits{}).New(cfg), "pwd"); err != nil || !strings.HasPrefix(got, strings.TrimSuffix(cfg.Root, "/")) {
			t.Errorf("%+v: %s", cfg, got)
		}
	}
}

func TestContainersThatAreNoWall(t *testing.T) {
	dir := folder(t)
	for says, change := range map[string]func(*container.Config, *container.HostConfig){
		"privileged":  func(_ *container.Config, h *container.HostConfig) { h.Privileged = true },
		"process ids": func(_ *container.Config, h *container.HostConfig) { h.PidMode = "host" },
		"docker engine through the mount of " + engine.Dir: func(_ *container.Config, h *container.HostConfig) {
			h.Binds = append(h.Binds, engine.Dir+":/engine")
		},
	} {
		// not started: where the tests run in a container themselves, a privileged one cannot be
		name := engine.Run(t, dockertest.Container{Binds: []string{dir + ":/workspace"}, Change: change, Stopped: true})
		refused(t, docker.Config{Workspace: dir, Name: name}, shell.NoContainer, "no wall", says)
		refused(t, docker.Config{Workspace: dir, Name: name, Unsafe: true}, shell.NoContainer, "not running")
		if says != "process ids" {
			continue
		}
		if err := engine.API.ContainerStart(t.Context(), name, container.StartOptions{}); err != nil {
			t.Fatal(err)
		}
		if got, _, err := run(t, open(t, guardPath, docker.Limits{}).New(docker.Config{Workspace: dir, Name: name, Unsafe: true}), "pwd"); err != nil {
			t.Error(got)
		}
	}
}

func TestUsers(t *testing.T) {
	dir := folder(t)
	name := engine.Run(t, dockertest.Container{Binds: []string{dir + ":/workspace"}})
	for user, want := range map[string]string{
		"":          "1000 1000 1000 2000 agent /home/agent",
		"agent":     "1000 1000 1000 2000 agent /home/agent",
		"1000:2000": "1000 2000 2000 1000 agent /home/agent",
		"0":         "0 0 0 root /root",
		"4242:4243": "4242 4243 4243 4242 /tmp",
	} {
		ex := open(t, guardPath, docker.Limits{}).New(docker.Config{Workspace: dir, Name: name, User: user})
		got, _, err := run(t, ex, "echo $(id -u; id -g; id -G; echo $USER $HOME)")
		if want += "\nExit code: 0"; err != nil || got != want {
			t.Errorf("user %q: got %q, want %q", user, got, want)
		}
	}
	refused(t, docker.Config{Workspace: dir, Name: name, User: "nobody-here"}, shell.InvalidArgument, "nobody-here", "container.user")
}

// Containers that do not let the guard in, or not as root, still run commands as the right user.
func TestHardenedContainers(t *testing.T) {
	for name, change := range map[string]func(*container.Config, *container.HostConfig){
		"no capabilities":   func(_ *container.Config, h *container.HostConfig) { h.CapDrop = []string{"ALL"} },
		"no new privileges": func(_ *container.Config, h *container.HostConfig) { h.SecurityOpt = []string{"no-new-privileges"} },
		"read-only":         func(_ *container.Config, h *container.HostConfig) { h.ReadonlyRootfs = true },
		"another user":      func(c *container.Config, _ *container.HostConfig) { c.User = "1234" },
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			ex := open(t, guardPath, docker.Limits{}).New(docker.Config{
				Workspace: dir, Name: engine.Run(t, dockertest.Container{Binds: []string{dir + ":/workspace"}, Change: change}),
			})
			for range 2 {
				if got, _, _ := run(t, ex, "id -u; touch made; exit 3"); got != "1000\nExit code: 3" {
					t.Errorf("got %q", got)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			out := &trigger{do: cancel}
			if _, err := ex.Exec(ctx, shell.Command{Script: "echo ready; sleep 300"}, out, out); shell.Code(err) != shell.Cancelled {
				t.Error(err)
			}
			if got, _, _ := run(t, ex, "ps -o args | grep '^sleep 300'"); got != "\nExit code: 1" {
				t.Errorf("left behind: %q", got)
			}
		})
	}
}

func TestContainerOfAnImage(t *testing.T) {
	dir := folder(t)
	e := open(t, guardPath, docker.Limits{})
	cfg := docker.Config{Workspace: dir, Image: dockertest.Busybox, Network: "none"}
	ex := e.New(cfg)
	ctx := t.Context()
	name, err := ex.Ready(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = engine.API.ContainerRemove(context.WithoutCancel(ctx), name, container.RemoveOptions{Force: true})
	})
	found, err := engine.API.ContainerInspect(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	h := found.HostConfig
	if h.Init == nil || !*h.Init || h.Memory <= 0 || h.PidsLimit == nil || *h.PidsLimit != 4096 || h.Privileged || len(found.Mounts) != 1 ||
		h.LogConfig.Config["max-size"] == "" || found.Config.Labels["toold.workspace"] != dir {
		t.Errorf("made %+v", h)
	}
	if got, _, _ := run(t, ex, "touch /tmp/kept; pwd"); got != "/workspace\nExit code: 0" {
		t.Error(got)
	}
	if err := ex.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if found, err := engine.API.ContainerInspect(ctx, name); err != nil || found.State.Running {
		t.Errorf("it was not stopped: %v", err)
	}
	if got, _, _ := run(t, e.New(cfg), "ls /tmp/kept"); got != "/tmp/kept\nExit code: 0" {
		t.Errorf("it was not used again: %s", got)
	}
	cfg.Processes = 100
	if got, _, _ := run(t, e.New(cfg), "ls /tmp/kept 2>/dev/null"); got != "\nExit code: 1" {
		t.Errorf("it was not made anew for another configuration: %s", got)
	}

	cfg.Image = "no-such-image:1"
	refused(t, cfg, shell.NoContainer, "no image no-such-image:1", "docker pull")
	if err := e.New(cfg).Close(ctx); err != nil {
		t.Error(err)
	}
	engine.Run(t, dockertest.Container{Name: name})
	cfg.Image = dockertest.Busybox
	refused(t, cfg, shell.NoContainer, name, "not made")
	if err := e.New(cfg).Close(ctx); err != nil {
		t.Error(err)
	}
	if found, err := engine.API.ContainerInspect(ctx, name); err != nil || !found.State.Running {
		t.Errorf("somebody else's container was stopped: %v", err)
	}
}

func TestBackground(t *testing.T) {
	everywhere(t, func(t *testing.T, ex *docker.Executor, dir string) {
		jobs := shell.NewJobs(t.Context(), ex, "/workspace", 0)
		defer jobs.Close()
		start := func(command string) (shell.Job, string) {
			job, err := jobs.Start(t.Context(), shell.Command{Script: command})
			if err != nil {
				t.Fatal(err)
			}
			tail := ""
			if !job.Running() {
				if tail, err = jobs.Tail(t.Context(), job, 4096); err != nil {
					t.Error(err)
				}
			}
			return job, tail
		}
		job, _ := start("sh -c 'echo serving; exec sleep 900'")
		if text, err := os.ReadFile(filepath.Join(dir, ".server.log")); err != nil || string(text) != "serving\n" || !job.Running() || job.PID == 0 {
			t.Errorf("%+v, log %q, %v", job, text, err)
		}
		if second, tail := start("no-such-program"); second.Running() || second.Exit == nil || *second.Exit != 127 || !strings.Contains(tail, "no-such-program") || second.Log != "/workspace/.server-2.log" {
			t.Errorf("%+v, tail %q", second, tail)
		}
		if _, err := jobs.Stop(t.Context(), job.ID); err != nil {
			t.Error(err)
		}
		if got, _, _ := run(t, ex, "ps -o args 2>/dev/null | grep '^sleep 900' || ps -e -o args | grep '^sleep 900'"); got != "\nExit code: 1" {
			t.Errorf("left behind: %q", got)
		}
		if diff := cmp.Diff(shell.Cancelled, shell.Code(jobs.List()[0].Err)); diff != "" {
			t.Error(diff)
		}
	})
}
