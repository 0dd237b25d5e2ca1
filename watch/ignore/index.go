package ignore

import (
	"strings"
	"sync/atomic"
)

// Index is the index of a repository, as far as it concerns ignore rules: the paths in it are never ruled out by git's
// lists. It is read when it is first needed, and may be read again while rules use it.
type Index struct {
	file   string
	sha256 bool
	nested string // the repository's folder and a slash, to drop from a workspace path
	above  string // what to put before a workspace path, when the repository's root lies above: "sub/dir/"
	read   func() []byte
	now    atomic.Pointer[tracked]
}

// File gives the path of the index file: absolute, or relative to the workspace's root.
func (x *Index) File() string { return x.file }

// Reload reads the file again and gives the workspace paths that came or went.
func (x *Index) Reload() []string {
	last, next := x.now.Load(), parseIndex(x.read(), x.sha256)
	x.now.Store(next)
	var out []string
	for _, p := range last.difference(next) {
		if q, ok := x.workspace(p); ok {
			out = append(out, q)
		}
	}
	return out
}

// tracked gives the paths in the index.
func (x *Index) tracked() *tracked {
	if x == nil {
		return nil
	}
	if t := x.now.Load(); t != nil {
		return t
	}
	x.now.CompareAndSwap(nil, parseIndex(x.read(), x.sha256))
	return x.now.Load()
}

// workspace gives the workspace path of a path in the index, if it lies in the workspace.
func (x *Index) workspace(p string) (string, bool) {
	p, ok := strings.CutPrefix(p, x.above)
	return x.nested + p, ok
}

// inside gives the path in the repository of a workspace path.
func (x *Index) inside(p string) string {
	if x == nil {
		return ""
	}
	return x.above + strings.TrimPrefix(p, x.nested)
}

func (x *Index) has(p string, folder bool) bool { return x.tracked().has(x.inside(p), folder) }

func (x *Index) submodule(p string) bool { return x.tracked().sub(x.inside(p)) }
