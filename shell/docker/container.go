package docker

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/docker/docker/api/types/container"

	"github.com/toold/toold/shell"
)

// Config says which container a workspace uses. Name or Image is set.
type Config struct {
	Workspace string // the workspace's root on this machine
	Root      string // where the container has it; "" is /workspace
	Name      string // an existing container's name or id
	Image     string // or the image that one is made from when it is needed
	User      string // "user[:group]"; "" is the owner of the workspace's root folder
	Network   string // the network of a made container; "" is the engine's default
	Memory    int64  // bytes that a made container may use; 0 is three quarters of the engine's
	Processes int64  // that a made container may have; 0 is 4096

	// Unsafe lets commands run in a container that is no wall: one that is privileged, shares the process ids of its
	// machine or reaches the engine's socket.
	Unsafe bool
}

// usable is a container that may run commands now.
type usable struct {
	id    string
	name  string
	image string
	since string // when it was started; another time later means that its processes have ended
}

// find gives the configured container, made and started when it comes from an image.
func (x *Executor) find(ctx context.Context) (usable, error) {
	name := x.cfg.Name
	if name == "" {
		var err error
		if name, err = x.made(ctx); err != nil {
			return usable{}, err
		}
	}
	found, err := x.engine.inspect(ctx, name)
	if err != nil {
		return usable{}, x.engine.failed(ctx, name, err)
	}
	if err := x.judge(found); err != nil {
		return usable{}, err
	}
	u := usable{id: found.ID, name: strings.TrimPrefix(found.Name, "/"), image: found.Image, since: found.State.StartedAt}
	if found.State.Status != container.StateRunning {
		return u, notUsable(u.name, found.State.Status)
	}
	return u, nil
}

func (e *Engine) inspect(ctx context.Context, name string) (container.InspectResponse, error) {
	if !validName(name) {
		return container.InspectResponse{}, shell.Errorf(shell.InvalidArgument, nil, "%q is no container's name or id: those have letters, digits, `_`, `.` and `-` only", name)
	}
	ctx, stop := context.WithTimeout(ctx, e.limits.Quick)
	defer stop()
	return e.api.ContainerInspect(ctx, name)
}

// validName keeps text that is no name out of the request's path.
func validName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("_.-", rune(c))) {
			return false
		}
	}
	return name != "" && len(name) <= 255
}

// judge refuses a container that has another folder than the workspace, or that is no wall.
func (x *Executor) judge(c container.InspectResponse) error {
	name := strings.TrimPrefix(c.Name, "/")
	if err := x.mounted(name, c.Mounts); err != nil {
		return err
	}
	if hole := x.engine.hole(c); hole != "" && !x.cfg.Unsafe {
		return shell.Errorf(shell.NoContainer, nil, "the container %q is no wall: %s. "+
			"Ask the user to create it without that, or to set `container.unsafe: true` for this root", name, hole)
	}
	return nil
}

// mounted checks that the container's root is this workspace.
func (x *Executor) mounted(name string, mounts []container.MountPoint) error {
	var best *container.MountPoint
	for i, m := range mounts {
		if below(x.cfg.Root, m.Destination) && (best == nil || len(m.Destination) > len(best.Destination)) {
			best = &mounts[i]
		}
	}
	if best == nil {
		return shell.Errorf(shell.NoContainer, nil, "the container %q has nothing mounted at %s, so it is not the container of the workspace %s. "+
			"Ask the user to create it with `-v %s:%s`, or to correct container.root", name, x.cfg.Root, x.cfg.Workspace, x.cfg.Workspace, x.cfg.Root)
	}
	source := path.Join(best.Source, strings.TrimPrefix(x.cfg.Root, strings.TrimSuffix(best.Destination, "/")))
	if best.Type != "bind" {
		source = "the " + string(best.Type) + " " + best.Name
	} else if sameFolder(source, x.cfg.Workspace) {
		return nil
	}
	return shell.Errorf(shell.NoContainer, nil, "the container %q has %s at %s, not this workspace %s. "+
		"Ask the user to correct container.name or container.root for this root, or to create the container with `-v %s:%s`",
		name, source, x.cfg.Root, x.cfg.Workspace, x.cfg.Workspace, x.cfg.Root)
}

// below reports whether p is dir or in it.
func below(p, dir string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return p == dir || strings.HasPrefix(p, dir+"/")
}

// virtual are the places at which engines in a virtual machine have this machine's folders.
var virtual = [...]string{"/host_mnt", "/run/desktop/mnt/host"}

// sameFolder reports whether the mount's source is the workspace. The path decides, and where it is a path of this
// machine, the folder itself.
func sameFolder(source, workspace string) bool {
	for _, prefix := range virtual {
		source = strings.TrimPrefix(source, prefix)
	}
	if filepath.Clean(source) == filepath.Clean(workspace) {
		return true
	}
	a, err := os.Stat(source)
	if err != nil {
		return false
	}
	b, err := os.Stat(workspace)
	return err == nil && os.SameFile(a, b)
}

// hole says how a process in the container could reach its machine, or "".
func (e *Engine) hole(c container.InspectResponse) string {
	if h := c.HostConfig; h != nil {
		switch {
		case h.Privileged:
			return "it is privileged"
		case h.PidMode.IsHost():
			return "it shares the process ids of its machine"
		}
	}
	sockets := []string{"/var/run/docker.sock", "/run/docker.sock", strings.TrimPrefix(e.at.Host, "unix://")}
	for _, m := range c.Mounts {
		for _, socket := range sockets {
			if m.Type == "bind" && strings.HasPrefix(socket, "/") && below(socket, m.Source) {
				return "it reaches the docker engine through the mount of " + m.Source
			}
		}
	}
	return ""
}
