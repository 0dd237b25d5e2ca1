package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"github.com/toold/toold/shell"
)

// unreachable explains an engine that did not answer.
func (e *Engine) unreachable(err error) *shell.Error {
	where := fmt.Sprintf("the docker engine at %s (%s)", e.at.Host, e.at.Source)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return shell.Errorf(shell.EngineUnreachable, nil, "%s may not be used by this user: permission denied. Ask the user to add themselves to the group `docker` and to log in again", where)
	case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		return shell.Errorf(shell.EngineUnreachable, nil, "%s does not answer; it hangs or is overloaded. Try again, or ask the user to look at it (`docker info`)", where)
	default:
		return shell.Errorf(shell.EngineUnreachable, err, "%s cannot be reached. Is it running? Ask the user to start it (`sudo systemctl start docker`) and try again", where)
	}
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// isDown reports whether err says that nothing listens, which no waiting cures.
func isDown(err error) bool {
	return err != nil && client.IsErrConnectionFailed(err) && !isTimeout(err)
}

// failed explains an error of the engine about a container. ctx is the caller's own, not that of the one request.
func (e *Engine) failed(ctx context.Context, name string, err error) error {
	var se *shell.Error
	switch {
	case ctx.Err() != nil:
		return shell.Ended(ctx)
	case errors.As(err, &se):
		return err
	case client.IsErrConnectionFailed(err) || errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		return e.unreachable(err)
	case errdefs.IsNotFound(err):
		return shell.Errorf(shell.NoContainer, nil, "there is no container %q on the docker engine at %s%s", name, e.at.Host, e.near(ctx, name))
	}
	if state := stateIn(err.Error()); state != "" {
		return notUsable(name, state)
	}
	return shell.Errorf(shell.Internal, err, "the docker engine refused to run a command in the container %q", name)
}

// stateIn finds the state of a container in the engine's words. The engine gives such an error no type: when a
// container restarts, only its text tells.
func stateIn(text string) container.ContainerState {
	switch {
	case strings.Contains(text, "is restarting"):
		return container.StateRestarting
	case strings.Contains(text, "is paused"):
		return container.StatePaused
	case strings.Contains(text, "is not running"):
		return container.StateExited
	}
	return ""
}

// notUsable explains a container that cannot run commands now.
func notUsable(name string, state container.ContainerState) *shell.Error {
	switch state {
	case container.StatePaused:
		return shell.Errorf(shell.NoContainer, nil, "the container %q is paused, so nothing can run in it. Ask the user to continue it (`docker unpause %s`)", name, name)
	case container.StateRestarting:
		return shell.Errorf(shell.NoContainer, nil, "the container %q is restarting, its main process keeps ending. Try again in a few seconds; read_logs (source \"docker\", target %q) may say why", name, name)
	case container.StateRemoving, container.StateDead:
		return shell.Errorf(shell.NoContainer, nil, "the container %q is being removed. Ask the user to create it again", name)
	default:
		return shell.Errorf(shell.NoContainer, nil, "the container %q is not running. Ask the user to start it (`docker start %s`)", name, name)
	}
}

// lost explains why a command's connection ended before the command did.
func (e *Engine) lost(ctx context.Context, name, id, since string, cause error) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), e.limits.Quick)
	defer stop()
	found, err := e.api.ContainerInspect(ctx, id)
	switch {
	case errdefs.IsNotFound(err):
		return during(shell.NoContainer, nil, "the container %q was removed while the command ran, and the command ended with it. Ask the user to create it again", name)
	case err != nil:
		return during(shell.EngineLost, cause, "the docker engine at %s went away while the command ran. Whether the command finished is not known: check what it has done before you repeat it", e.at.Host)
	case !found.State.Running || found.State.StartedAt != since:
		why := ""
		if found.State.OOMKilled {
			why = " because it ran out of memory"
		}
		return during(shell.NoContainer, nil, "the container %q was stopped%s while the command ran, and the command ended with it. Ask the user to start it again (`docker start %s`)", name, why, name)
	}
	return during(shell.EngineLost, cause, "the connection to the command was lost while it ran: the engine has closed it, or the command has killed its own guard. Whether the command finished is not known: check what it has done before you repeat it")
}

func during(code string, cause error, format string, args ...any) *shell.Error {
	err := shell.Errorf(code, cause, format, args...)
	err.Started = true
	return err
}
