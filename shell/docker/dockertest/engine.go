//go:build unix

// Package dockertest runs a private Docker engine for tests.
package dockertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
)

// The images that the engine has.
const (
	Busybox = "toold-test:busybox" // a static busybox only
	Machine = "toold-test:machine" // links into /usr; [Engine.Run] mounts the machine's own there
)

// ErrCannot says that this machine cannot run an engine.
var ErrCannot = errors.New("this machine cannot run a docker engine")

// Engine is a private engine. It ends with the process that started it.
type Engine struct {
	Host   string // its address
	API    *client.Client
	Dir    string // its folder
	cmd    *exec.Cmd
	orders io.WriteCloser
	says   *bufio.Reader
}

// Start starts an engine. env is added to the script's environment.
func Start(env ...string) (*Engine, error) {
	dir, err := os.MkdirTemp("", "toold-engine")
	if err != nil {
		return nil, err
	}
	_, file, _, _ := runtime.Caller(0)
	e := &Engine{Dir: dir, cmd: exec.Command("bash", filepath.Join(filepath.Dir(file), "../../testdata/docker-engine.sh"), dir)}
	e.cmd.Env = append(os.Environ(), env...)
	e.cmd.Stderr = os.Stderr
	e.orders, err = e.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	e.says = bufio.NewReader(out)
	if err := e.cmd.Start(); err != nil {
		return nil, err
	}
	if err := e.ready(); err != nil {
		_ = e.orders.Close()
		_ = e.cmd.Wait()
		if e.cmd.ProcessState.ExitCode() == 3 {
			err = ErrCannot
		}
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	e.API, err = client.NewClientWithOpts(client.WithHost(e.Host), client.WithAPIVersionNegotiation())
	return e, err
}

func (e *Engine) ready() error {
	line, err := e.says.ReadString('\n')
	if err != nil {
		return fmt.Errorf("start the docker engine: %w", err)
	}
	host, ok := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if !ok {
		return fmt.Errorf("start the docker engine: it said %q", line)
	}
	e.Host = host
	return nil
}

// Main is the TestMain of packages that need an engine: it starts one, runs the tests and ends it. Where none can run
// the tests fail in CI and are left out with a message elsewhere.
func Main(m *testing.M, set func(*Engine)) int {
	e, err := Start()
	if errors.Is(err, ErrCannot) && os.Getenv("CI") == "" {
		fmt.Fprintln(os.Stderr, "the tests with containers are left out:", err)
		return 0
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer e.Stop()
	set(e)
	return m.Run()
}

// Stop ends the engine and its containers.
func (e *Engine) Stop() {
	_ = e.API.Close()
	_ = e.orders.Close()
	_ = e.cmd.Wait()
	_ = os.RemoveAll(e.Dir)
}

// Signal sends a signal to the engine: SIGKILL, SIGSTOP, SIGCONT.
func (e *Engine) Signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(e.Dir, "dockerd.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}

// Restart starts the engine again after it was killed. Its containers are gone.
func (e *Engine) Restart(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(e.orders, "start\n"); err != nil {
		t.Fatal(err)
	}
	if err := e.ready(); err != nil {
		t.Fatal(err)
	}
}

// Container says what [Engine.Run] makes. The zero value is a busybox with nothing mounted.
type Container struct {
	Name    string // "" is made up
	Image   string // "" is [Busybox]
	Cmd     []string
	Binds   []string
	Tty     bool
	Change  func(*container.Config, *container.HostConfig) // may be nil
	Stopped bool                                           // it is not started
}

// Run makes a container that is removed with the test, and gives its name.
func (e *Engine) Run(t *testing.T, c Container) string {
	t.Helper()
	if c.Image == "" {
		c.Image = Busybox
	}
	if c.Name == "" {
		c.Name = fmt.Sprintf("t%d", time.Now().UnixNano())
	}
	if c.Cmd == nil {
		c.Cmd = []string{"sh", "-c", "trap exit TERM; while :; do sleep 1000 & wait $!; done"}
	}
	if c.Image == Machine {
		c.Binds = append(c.Binds, "/usr:/usr:ro")
	}
	yes, processes := true, int64(512)
	config := &container.Config{Image: c.Image, Cmd: c.Cmd, Tty: c.Tty}
	host := &container.HostConfig{
		Binds: c.Binds, NetworkMode: "none", Init: &yes,
		Resources: container.Resources{PidsLimit: &processes, Memory: 1 << 30},
	}
	if c.Change != nil {
		c.Change(config, host)
	}
	ctx := context.Background()
	if _, err := e.API.ContainerCreate(ctx, config, host, nil, nil, c.Name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = e.API.ContainerRemove(ctx, c.Name, container.RemoveOptions{Force: true, RemoveVolumes: true})
	})
	if !c.Stopped {
		if err := e.API.ContainerStart(ctx, c.Name, container.StartOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return c.Name
}
