package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/toold/toold/shell"
)

// The labels of containers that this package makes.
const (
	labelWorkspace = "toold.workspace"
	labelConfig    = "toold.config"
)

// idle keeps a made container alive and lets it stop at once.
const idle = `trap 'exit 0' TERM INT; while :; do sleep 86400 & wait $!; done`

// made gives the name of the running container that belongs to the configured image.
func (x *Executor) made(ctx context.Context) (string, error) {
	x.making.Lock()
	defer x.making.Unlock()
	name, labels := x.identity()
	found, err := x.engine.inspect(ctx, name)
	switch {
	case errdefs.IsNotFound(err):
		err = x.create(ctx, name, labels)
	case err != nil:
	case found.Config == nil || found.Config.Labels[labelWorkspace] != x.cfg.Workspace:
		return "", shell.Errorf(shell.NoContainer, nil, "the name %s belongs to a container that toold has not made. Ask the user to rename it (`docker rename`), or to set container.name", name)
	case found.Config.Labels[labelConfig] != labels[labelConfig]:
		if err = x.remove(ctx, name); err == nil {
			err = x.create(ctx, name, labels)
		}
	case found.State.Status == container.StateRunning:
		return name, nil
	}
	if err == nil {
		err = x.start(ctx, name)
	}
	if err != nil {
		return "", x.unmade(ctx, name, err)
	}
	return name, nil
}

// identity gives a made container's name, which the workspace decides, and its labels.
func (x *Executor) identity() (name string, labels map[string]string) {
	where := sha256.Sum256([]byte(x.cfg.Workspace))
	what := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d %d 1", x.cfg.Root, x.cfg.Image, x.cfg.Network, x.cfg.Memory, x.cfg.Processes))
	return "toold-" + hex.EncodeToString(where[:6]), map[string]string{
		labelWorkspace: x.cfg.Workspace,
		labelConfig:    hex.EncodeToString(what[:6]),
	}
}

// create makes a container with the workspace and nothing else of this machine.
func (x *Executor) create(ctx context.Context, name string, labels map[string]string) error {
	ctx, stop := context.WithTimeout(ctx, slow)
	defer stop()
	memory, err := x.memory(ctx)
	if err != nil {
		return err
	}
	yes, processes := true, x.cfg.Processes
	if processes == 0 {
		processes = 4096
	}
	config := &container.Config{
		Image: x.cfg.Image, Labels: maps.Clone(labels), WorkingDir: x.cfg.Root,
		Entrypoint: []string{"/bin/sh", "-c", idle}, Cmd: []string{},
	}
	host := &container.HostConfig{
		Mounts:      []mount.Mount{{Type: mount.TypeBind, Source: x.cfg.Workspace, Target: x.cfg.Root}},
		NetworkMode: container.NetworkMode(x.cfg.Network),
		LogConfig:   container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "10m", "max-file": "3"}},
		Init:        &yes,
		Resources:   container.Resources{Memory: memory, PidsLimit: &processes},
	}
	_, err = x.engine.api.ContainerCreate(ctx, config, host, nil, nil, name)
	return err
}

func (x *Executor) memory(ctx context.Context) (int64, error) {
	if x.cfg.Memory > 0 {
		return x.cfg.Memory, nil
	}
	info, err := x.engine.api.Info(ctx)
	return info.MemTotal / 4 * 3, err
}

func (x *Executor) start(ctx context.Context, name string) error {
	ctx, stop := context.WithTimeout(ctx, slow)
	defer stop()
	return x.engine.api.ContainerStart(ctx, name, container.StartOptions{})
}

func (x *Executor) remove(ctx context.Context, name string) error {
	ctx, stop := context.WithTimeout(ctx, slow)
	defer stop()
	return x.engine.api.ContainerRemove(ctx, name, container.RemoveOptions{Force: true})
}

// unmade explains why there is no container.
func (x *Executor) unmade(ctx context.Context, name string, err error) error {
	switch {
	case errdefs.IsNotFound(err) && strings.Contains(strings.ToLower(err.Error()), "image"):
		return shell.Errorf(shell.NoContainer, nil, "the docker engine has no image %s. Ask the user to get it (`docker pull %s`) or to correct container.image", x.cfg.Image, x.cfg.Image)
	case errdefs.IsInvalidArgument(err) || errdefs.IsConflict(err) || errdefs.IsInternal(err) || errdefs.IsNotFound(err):
		return shell.Errorf(shell.NoContainer, err, "no container could be made from the image %s for the workspace %s", x.cfg.Image, x.cfg.Workspace)
	}
	return x.engine.failed(ctx, name, err)
}

// Close stops the container that was made from an image; it is kept, with what was installed in it, and started again
// when it is needed. A container that is configured by its name is left alone.
func (x *Executor) Close(ctx context.Context) error {
	if x.cfg.Name != "" {
		return nil
	}
	x.making.Lock()
	defer x.making.Unlock()
	name, labels := x.identity()
	found, err := x.engine.inspect(ctx, name)
	if errdefs.IsNotFound(err) || err == nil && (found.Config == nil || found.Config.Labels[labelWorkspace] != labels[labelWorkspace]) {
		return nil
	}
	if err != nil {
		return x.engine.failed(ctx, name, err)
	}
	ctx, stop := context.WithTimeout(ctx, x.engine.limits.Quick)
	defer stop()
	wait := 2
	if err := x.engine.api.ContainerStop(ctx, name, container.StopOptions{Timeout: &wait}); err != nil {
		return fmt.Errorf("stop the container %s: %w", name, err)
	}
	return nil
}
