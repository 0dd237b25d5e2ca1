package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/toold/toold/shell"
	"github.com/toold/toold/shell/guard"
)

// Executor runs commands in the container of one workspace.
type Executor struct {
	engine *Engine
	cfg    Config
	making sync.Mutex // held while the container of an image is made or stopped

	mu    sync.Mutex // guards how
	how   map[string]way
	order []string // the containers in how, oldest first
}

var _ shell.Executor = (*Executor)(nil)

// way is how commands are kept under control in a container.
type way uint8

const (
	asRoot  way = iota + 1 // the guard runs as root, so the command cannot reach it
	asUser                 // the guard runs as the command's user: the container may not change users
	asShell                // a shell script: the guard does not run there
)

// New makes the executor of a workspace.
func (e *Engine) New(cfg Config) *Executor {
	if cfg.Root == "" {
		cfg.Root = "/workspace"
	}
	cfg.Root = path.Clean(cfg.Root)
	return &Executor{engine: e, cfg: cfg, how: map[string]way{}}
}

// Ready finds the container, makes it when it comes from an image, and gives its name. Its error says what is wrong.
func (x *Executor) Ready(ctx context.Context) (string, error) {
	c, err := x.find(ctx)
	return c.name, err
}

// Exec runs a command in the container.
func (x *Executor) Exec(ctx context.Context, cmd shell.Command, stdout, stderr io.Writer) (shell.Status, error) {
	if ctx.Err() != nil {
		return shell.Status{}, unstarted(ctx)
	}
	c, err := x.find(ctx)
	if err != nil {
		return shell.Status{}, err
	}
	status, err := x.run(ctx, c, x.request(cmd), cmd.Started, stdout, stderr)
	if err != nil {
		err = x.explain(ctx, c, err)
	}
	return status, err
}

// run tries the ways to run a request, the best first, until one works in this container.
func (x *Executor) run(ctx context.Context, c usable, req guard.Request, begun func(int), stdout, stderr io.Writer) (shell.Status, error) {
	w, err := x.way(ctx, c)
	if err != nil {
		return shell.Status{}, err
	}
	for fresh := true; ; fresh = false {
		status, err := x.attempt(ctx, c, w, req, begun, stdout, stderr)
		if err == nil || ctx.Err() != nil || w == asShell {
			return status, err
		}
		var said *guard.NotGuard
		switch {
		case errors.Is(err, guard.ErrUnprivileged) && w == asRoot:
			w = asUser
		case !errors.As(err, &said) || stateIn(said.Said) != "":
			return status, err
		case fresh && x.engine.install(ctx, c.id, c.image) == nil: // somebody may have removed it
		default:
			w = asShell
		}
		x.remember(c.id, w)
	}
}

func unstarted(ctx context.Context) error {
	err := shell.Ended(ctx)
	err.Text = "the call ended before the command was started"
	return err
}

func (x *Executor) request(cmd shell.Command) guard.Request {
	dir := cmd.Dir
	if !path.IsAbs(dir) {
		dir = path.Join(x.cfg.Root, dir)
	}
	who := cmd.User
	if who == "" {
		who = x.cfg.User
	}
	return guard.Request{
		Script: cmd.Script, Argv: cmd.Argv, Dir: dir, Env: append(shell.Environment(), cmd.Env...),
		User: who, Owner: x.cfg.Root, Limit: cmd.Limit, Lease: x.engine.limits.Lease, Mark: rand.Text(),
	}
}

// way gives how commands run in a container, and puts the guard there at the first time.
func (x *Executor) way(ctx context.Context, c usable) (way, error) {
	x.mu.Lock()
	w := x.how[c.id]
	x.mu.Unlock()
	if w != 0 {
		return w, nil
	}
	w = asRoot
	if err := x.engine.install(ctx, c.id, c.image); errors.Is(err, errNoGuard) {
		w = asShell
	} else if err != nil {
		return 0, err
	}
	if ctx.Err() != nil {
		return 0, unstarted(ctx)
	}
	x.remember(c.id, w)
	return w, nil
}

func (x *Executor) remember(id string, w way) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, known := x.how[id]; !known {
		x.order = append(x.order, id)
	}
	x.how[id] = w
	if len(x.order) > 16 { // containers that were replaced
		delete(x.how, x.order[0])
		x.order = x.order[1:]
	}
}

// attempt runs a request in one way.
func (x *Executor) attempt(ctx context.Context, c usable, w way, req guard.Request, begun func(int), stdout, stderr io.Writer) (shell.Status, error) {
	opts := container.ExecOptions{
		User: "0:0", WorkingDir: "/", Cmd: []string{x.engine.guard.name, guard.Arg},
		AttachStdin: true, AttachStdout: true, AttachStderr: true,
	}
	switch w {
	case asUser:
		opts.User = x.user(req)
		req.User, req.Owner = "", ""
	case asShell:
		return x.byShell(ctx, c, req, begun, stdout, stderr)
	}
	conn, err := x.engine.attach(ctx, c.id, opts)
	if err != nil {
		return shell.Status{}, err
	}
	status, err := guard.Drive(ctx, conn, conn, req, begun, stdout, stderr)
	var lost *guard.Lost
	if errors.As(err, &lost) && lost.Started {
		x.sweep(ctx, c, req.Mark)
	}
	return status, err
}

// sweep ends what is left of a command whose guard may have been killed, by a command that runs as root.
func (x *Executor) sweep(ctx context.Context, c usable, mark string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), x.engine.limits.Quick)
	defer stop()
	conn, err := x.engine.attach(ctx, c.id, container.ExecOptions{
		User: "0:0", WorkingDir: "/", Cmd: []string{x.engine.guard.name, guard.Arg, guard.ArgSweep},
		AttachStdin: true, AttachStdout: true, AttachStderr: true,
	})
	if err != nil {
		return // the container is gone or the engine is; the error of the command says so
	}
	defer conn.Close()
	if _, err := fmt.Fprintln(conn, mark); err == nil {
		_, _ = io.Copy(io.Discard, conn)
	}
}

// explain turns the failures of a guard and of the engine into what an agent reads.
func (x *Executor) explain(ctx context.Context, c usable, err error) error {
	var lost *guard.Lost
	var said *guard.NotGuard
	switch {
	case errors.As(err, &lost) && lost.Started:
		return x.engine.lost(ctx, c.name, c.id, c.since, err)
	case errors.As(err, &lost):
		return x.engine.failed(ctx, c.name, x.before(ctx, c, err))
	case errors.As(err, &said):
		return x.engine.failed(ctx, c.name, errors.New(strings.TrimSpace(said.Said)))
	}
	return x.engine.failed(ctx, c.name, err)
}

// before explains a connection that was lost before the command began.
func (x *Executor) before(ctx context.Context, c usable, cause error) error {
	found, err := x.engine.inspect(ctx, c.id)
	switch {
	case err != nil:
		return err
	case found.State.Status != container.StateRunning:
		return notUsable(c.name, found.State.Status)
	}
	return cause
}

// attach starts an exec and gives its connection.
func (e *Engine) attach(ctx context.Context, id string, opts container.ExecOptions) (*connection, error) {
	ctx, stop := context.WithTimeout(ctx, e.limits.Quick)
	defer stop()
	made, err := e.api.ContainerExecCreate(ctx, id, opts)
	if err != nil {
		return nil, err
	}
	hijacked, err := e.api.ContainerExecAttach(context.WithValue(ctx, hijack{}, true), made.ID, container.ExecAttachOptions{})
	if err != nil {
		return nil, err
	}
	if err := hijacked.Conn.SetDeadline(time.Time{}); err != nil {
		hijacked.Close()
		return nil, err
	}
	return &connection{engine: e, ctx: context.WithoutCancel(ctx), conn: hijacked.Conn, r: hijacked.Reader, exec: made.ID}, nil
}
