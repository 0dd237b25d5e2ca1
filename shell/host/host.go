// Package host runs commands on this machine, for workspaces whose configuration says so. Nothing contains them: every
// command needs an approval unless a rule allows it.
package host

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/toold/toold/shell"
	"github.com/toold/toold/shell/guard"
)

// drain is how long what children that were left running print still counts.
const drain = 200 * time.Millisecond

// Executor runs commands in one workspace of this machine.
type Executor struct {
	Root string // the workspace

	// Guard is the path of a binary that calls [guard.Main] when its first argument is [guard.Arg]; on Linux
	// "/proc/self/exe" is the daemon itself. With it nothing that a command starts escapes its end. Without it, "",
	// only the command's process group is ended.
	Guard string
}

var _ shell.Executor = (*Executor)(nil)

// Exec runs a command as the daemon's user.
func (e *Executor) Exec(ctx context.Context, cmd shell.Command, stdout, stderr io.Writer) (shell.Status, error) {
	if ctx.Err() != nil {
		return shell.Status{}, shell.Ended(ctx)
	}
	if cmd.User != "" {
		return shell.Status{}, shell.Errorf(shell.InvalidArgument, nil, "commands on this machine run as the daemon's user; remove container.user from the configuration")
	}
	if cmd.Dir == "" {
		cmd.Dir = e.Root
	}
	if e.Guard != "" {
		return e.guarded(ctx, cmd, stdout, stderr)
	}
	return e.plain(ctx, cmd, stdout, stderr)
}

// pipe is a guard's standard input and output.
type pipe struct {
	io.WriteCloser
	out *os.File
}

// Close ends reads of the output too, as [guard.Drive] wants it.
func (p pipe) Close() error { return errors.Join(p.WriteCloser.Close(), p.out.Close()) }

func (e *Executor) guarded(ctx context.Context, cmd shell.Command, stdout, stderr io.Writer) (shell.Status, error) {
	g := exec.Command(e.Guard, guard.Arg)
	g.Env = environment()
	g.SysProcAttr = session()
	in, err := g.StdinPipe()
	if err != nil {
		return shell.Status{}, failed(err)
	}
	out, outEnd, err := os.Pipe()
	if err != nil {
		return shell.Status{}, failed(err)
	}
	g.Stdout = outEnd
	err = g.Start()
	outEnd.Close()
	if err != nil {
		return shell.Status{}, errors.Join(failed(err), in.Close(), out.Close())
	}
	req := guard.Request{Script: cmd.Script, Argv: cmd.Argv, Dir: cmd.Dir, Env: cmd.Env, Limit: cmd.Limit}
	status, err := guard.Drive(ctx, pipe{in, out}, out, req, cmd.Started, stdout, stderr)
	if status.Left == 0 {
		_ = g.Wait()
	} else {
		go g.Wait() // the guard stays with what was left running; this collects it
	}
	return status, explain(err)
}

// explain turns what is special about a guard into what an agent reads.
func explain(err error) error {
	var lost *guard.Lost
	var other *guard.NotGuard
	switch {
	case errors.As(err, &lost) && lost.Started:
		return &shell.Error{Code: shell.EngineLost, Text: "the command's guard was killed, so how the command ended is not known", Err: err, Started: true}
	case errors.As(err, &lost), errors.As(err, &other):
		return failed(err)
	}
	return err
}

func failed(err error) *shell.Error {
	return shell.Errorf(shell.Internal, err, "the command could not be started")
}

// plain runs a command in a process group of its own.
func (e *Executor) plain(ctx context.Context, cmd shell.Command, stdout, stderr io.Writer) (shell.Status, error) {
	argv := cmd.Argv
	if cmd.Script != "" {
		argv = append(interpreter(), shell.Operand(cmd.Script))
	}
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir, c.Env, c.SysProcAttr = cmd.Dir, append(environment(), cmd.Env...), session()
	gate := &gate{}
	c.Stdout, c.Stderr = gate.writer(stdout), gate.writer(stderr)
	c.WaitDelay = drain
	c.Cancel = func() error { return endGroup(c.Process) }
	if err := c.Start(); err != nil {
		return shell.Status{}, unstarted(cmd, err)
	}
	if cmd.Started != nil {
		cmd.Started(c.Process.Pid)
	}
	err := c.Wait()
	gate.close()
	if ctx.Err() != nil {
		return shell.Status{}, shell.Ended(ctx)
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return shell.Status{}, nil
	case errors.Is(err, exec.ErrWaitDelay):
		return shell.Status{Exit: c.ProcessState.ExitCode(), Left: 1}, nil
	case errors.As(err, &exit):
		return shell.Status{Exit: code(exit.ProcessState)}, nil
	}
	return shell.Status{}, failed(err)
}

func unstarted(cmd shell.Command, err error) *shell.Error {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return shell.Errorf(shell.NotFound, err, "the program is not installed on this machine")
	case errors.Is(err, os.ErrNotExist):
		return shell.Errorf(shell.NotFound, err, "cannot run in %s", cmd.Dir)
	}
	return failed(err)
}

func environment() []string { return append(os.Environ(), shell.Environment()...) }
