// Package watch answers searches of a workspace. It knows which files there are, which of them ignore files rule out, and
// follows every change, so that an answer reflects all changes that were finished when the question came.
package watch

import (
	"fmt"
	"log/slog"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/toold/toold/watch/ignore"
)

// Options say how a tree is opened.
type Options struct {
	Ignore       []string               // more patterns, as in .gitignore, relative to the root; they count more than files
	RuntimeDir   string                 // where a file for the watcher's own use may be made; "" for the system's temporary folder
	CacheDir     string                 // where the index is kept between runs; "" for nowhere
	Skip         func(name string) bool // files that are no part of the workspace, such as those of a write in progress
	Surroundings *ignore.Surroundings   // where outer ignore rules come from; nil for this machine's
	Log          *slog.Logger
}

// Tree is a workspace as searches see it. It is safe for concurrent use.
type Tree struct {
	root string
	opts Options

	mu   sync.Mutex // guards disk, which is replaced when another folder stands at the root's path
	disk *disk
}

// Open opens the workspace whose root folder is root, an absolute path.
func Open(root string, opts Options) (*Tree, error) {
	if !filepath.IsAbs(root) {
		return nil, fmt.Errorf("open tree: %q is not an absolute path", root)
	}
	if opts.Skip == nil {
		opts.Skip = func(string) bool { return false }
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Surroundings == nil {
		s := ignore.Host(root, opts.Ignore)
		opts.Surroundings = &s
	}
	d, err := openDisk(root)
	if err != nil {
		return nil, fmt.Errorf("open tree: %w", err)
	}
	return &Tree{root: root, opts: opts, disk: d}, nil
}

// Close gives everything back. A search that runs meanwhile fails.
func (t *Tree) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.disk.close()
}

// Changed tells the tree that these paths, relative to the root, were just written, made or removed by toold itself. When
// it returns, searches see the change.
func (t *Tree) Changed(paths ...string) {}

// Status says how the tree is doing.
type Status struct {
	State string `json:"state"` // "scan": searches read the files
}

// Status gives the state now.
func (t *Tree) Status() Status { return Status{State: "scan"} }

// Ignored says whether a listing should show a folder without its content: ignore rules rule out the folder itself. It is
// false for what lies below such a folder, for somebody who lists that asked for exactly this.
func (t *Tree) Ignored(p string, folder bool) bool {
	p = cleanPath(p)
	if p == "." {
		return false
	}
	dir, name := path.Split(p)
	if ignore.Always(name, folder) {
		return true
	}
	rules := t.rules(path.Clean(dir))
	return !rules.Closed() && rules.Ignores(name, folder)
}

// rules gives the rules for the entries of a folder.
func (t *Tree) rules(folder string) *ignore.Rules {
	rules, _ := t.opts.Surroundings.Rules(t.disk)
	return rules.At(folder, t.disk)
}

// cleanPath gives a path below the root in its one form, "." for the root itself.
func cleanPath(p string) string {
	return path.Clean(strings.TrimPrefix(path.Clean("/"+p), "/"))
}
