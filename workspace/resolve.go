package workspace

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
)

const maxLinks = 40 // as the kernel's own limit

// place is where a path leads: an open folder and a name in it. When the file's own folder is missing too, missing
// lists the folders to create on the way from parent, outermost first.
type place struct {
	parent  folder
	dir     Path // the real path of parent
	missing []string
	name    string
	info    info // of the file itself, when it exists
	exists  bool
	owned   bool // whether close closes parent
}

func (pl *place) close() {
	if pl.owned {
		pl.parent.close()
	}
}

// real gives the real path of the file: no component of it is a symbolic link.
func (pl *place) real() Path {
	return Path(path.Join(append([]string{string(pl.dir)}, append(slices.Clone(pl.missing), pl.name)...)...))
}

// walker goes down a path by descriptors. It keeps the open folders from the root on, so that ".." in a link's target
// is a step back to a folder that it came through, and never leads out.
type walker struct {
	w     *Workspace
	stack []folder // stack[0] is the root, which is not ours to close
	names []string // names[i] leads from stack[i] to stack[i+1]
	links int
}

func (k *walker) top() folder { return k.stack[len(k.stack)-1] }

func (k *walker) up() error {
	if len(k.names) == 0 {
		return errOutside
	}
	k.top().close()
	k.stack, k.names = k.stack[:len(k.stack)-1], k.names[:len(k.names)-1]
	return nil
}

func (k *walker) down(name string) error {
	f, err := k.top().folder(name)
	if err != nil {
		return err
	}
	k.stack, k.names = append(k.stack, f), append(k.names, name)
	return nil
}

func (k *walker) reset() {
	for len(k.names) > 0 {
		_ = k.up()
	}
}

var errOutside = errors.New("leads out of the workspace")

// target gives the components to follow for a link's text, going back to the root first when it is absolute and
// points into the workspace.
func (k *walker) target(text string) ([]string, error) {
	if k.links++; k.links > maxLinks {
		return nil, syscall.ELOOP
	}
	if !path.IsAbs(text) {
		return strings.Split(text, "/"), nil
	}
	clean := path.Clean(text)
	for _, root := range []string{k.w.real, k.w.root, k.w.opts.ContainerRoot} {
		if rel, ok := below(root, clean); ok {
			k.reset()
			return strings.Split(rel, "/"), nil
		}
	}
	return nil, errOutside
}

// resolve follows p to a place. With follow a link at the end is followed too, also a dangling one, whose target is
// then what a write creates.
func (w *Workspace) resolve(p Path, follow bool) (*place, error) {
	root, err := w.rootFolder()
	if err != nil {
		return nil, err
	}
	k := &walker{w: w, stack: []folder{root}}
	pl, err := k.walk(p.parts(), follow)
	if err != nil {
		k.reset()
		if errors.Is(err, errOutside) {
			return nil, errorf("outside_workspace", "%s leads out of the workspace through a symbolic link or \"..\"; toold's file tools stay inside %s", show(p), w.root)
		}
		return nil, err
	}
	for _, f := range k.stack[1:max(1, len(k.stack)-1)] {
		f.close()
	}
	pl.owned = len(k.stack) > 1
	return pl, nil
}

func (k *walker) walk(todo []string, follow bool) (*place, error) {
	for i := 0; i < len(todo); i++ {
		name, last := todo[i], i == len(todo)-1
		switch name {
		case "", ".":
			continue
		case "..":
			if err := k.up(); err != nil {
				return nil, err
			}
			continue
		}
		st, err := k.top().lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return k.absent(todo[i:])
		case err != nil:
			return nil, err
		case st.mode&fs.ModeSymlink != 0 && (!last || follow):
			text, err := k.top().readlink(name)
			if err != nil {
				return nil, err
			}
			to, err := k.target(text)
			if err != nil {
				return nil, err
			}
			todo, i = append(to, todo[i+1:]...), -1
		case last || restIsEmpty(todo[i+1:]):
			return &place{parent: k.top(), dir: k.path(), name: name, info: st, exists: true}, nil
		case !st.mode.IsDir():
			return nil, syscall.ENOTDIR
		default:
			if err := k.down(name); err != nil {
				return nil, err
			}
		}
	}
	return k.folderItself()
}

// folderItself is the place of the folder that the walk ended in.
func (k *walker) folderItself() (*place, error) {
	st, err := k.top().lstat(".")
	if err != nil {
		return nil, err
	}
	return &place{parent: k.top(), dir: k.path(), name: ".", info: st, exists: true}, nil
}

// absent is the place of a file that is not there.
func (k *walker) absent(rest []string) (*place, error) {
	clean := make([]string, 0, len(rest))
	for _, name := range rest {
		if name == ".." {
			return nil, fs.ErrNotExist
		}
		if name != "" && name != "." {
			clean = append(clean, name)
		}
	}
	n := len(clean) - 1
	return &place{parent: k.top(), dir: k.path(), missing: clean[:n], name: clean[n]}, nil
}

func (k *walker) path() Path {
	if len(k.names) == 0 {
		return "."
	}
	return Path(strings.Join(k.names, "/"))
}

func restIsEmpty(rest []string) bool {
	for _, name := range rest {
		if name != "" && name != "." {
			return false
		}
	}
	return true
}
