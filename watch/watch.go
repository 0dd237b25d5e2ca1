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
	"time"

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

	trouble trouble
}

// trouble is what a test lets go wrong. The zero value is a machine on which all is well.
type trouble struct {
	watches func() error            // an error is what the system says to a new watch
	silent  bool                    // no file system gives events
	event   func()                  // called before an event is taken from the system
	open    func(path string) error // an error is what the system says to the opening of a file
	rest    <-chan time.Time        // instead of a timer: when to apply changes that nobody waits for
	audit   <-chan time.Time        // instead of a timer: when to audit
	late    bool                    // time has run out for every search
}

// Tree is a workspace as searches see it. It is safe for concurrent use.
type Tree struct {
	root string
	opts Options

	mu     sync.Mutex // guards the fields below
	view   *view      // nil when the folder is gone, nobody searched for long, and after Close
	closed bool
	idle   bool
	timer  *time.Timer // parks the tree
}

// parkAfter is how long a tree without searches keeps what it knows, and its watches.
const parkAfter = 30 * time.Minute

// Open opens the workspace whose root folder is root, an absolute path without symbolic links.
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
	t := &Tree{root: root, opts: opts}
	v, err := newView(root, &t.opts)
	if err != nil {
		return nil, fmt.Errorf("open tree: %w", err)
	}
	t.view = v
	t.timer = time.AfterFunc(parkAfter, t.Park)
	return t, nil
}

// Close gives everything back, when the searches that run have ended; it makes them end soon.
func (t *Tree) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer.Stop()
	v := t.view
	t.view, t.closed = nil, true
	if v == nil {
		return nil
	}
	return v.close()
}

// Park gives back the memory and the watches of a tree that nobody searches. The next search makes it known again. A tree
// parks itself after half an hour without searches.
func (t *Tree) Park() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.view == nil {
		return
	}
	if err := t.view.close(); err != nil {
		t.opts.Log.Warn("watch: park", "root", t.root, "err", err)
	}
	t.view, t.idle = nil, true
}

// acquire gives the view of the folder that stands at the root's path now; release has to be called afterwards.
func (t *Tree) acquire() (v *view, release func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, nil, errorf("root_gone", "the workspace %s was closed; open it again", t.root)
	}
	if t.view != nil && t.view.disk.gone() {
		if err := t.view.close(); err != nil {
			t.opts.Log.Warn("watch: close the view of a folder that is gone", "root", t.root, "err", err)
		}
		t.view = nil
	}
	if t.view == nil {
		if t.view, err = newView(t.root, &t.opts); err != nil {
			return nil, nil, errorf("root_gone", "the workspace's folder %s is gone; searching goes on when it is back", t.root)
		}
	}
	v = t.view
	t.idle = false
	t.timer.Reset(parkAfter)
	v.use.RLock()
	return v, v.use.RUnlock, nil
}

// Changed tells the tree that these paths, relative to the root, were just written, made or removed by toold itself.
// Searches that begin after it returns see the change. It does not wait for anything.
func (t *Tree) Changed(paths ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.view == nil {
		return
	}
	for _, p := range paths {
		t.view.queue.add(cleanPath(p), hintLook|hintMade|hintWrote)
	}
}

// Ignored says whether a listing should show a folder without its content: ignore rules rule out the folder itself. It is
// false for what lies below such a folder, for somebody who lists that asked for exactly this.
func (t *Tree) Ignored(p string, folder bool) bool {
	p = cleanPath(p)
	dir, name := path.Split(p)
	if p == "." || ignore.Always(name, folder) {
		return p != "."
	}
	v, release, err := t.acquire()
	if err != nil {
		return false
	}
	defer release()
	v.settled(v.ctx)
	rules := v.rulesAt(path.Clean(dir))
	return !rules.RuledOut() && rules.Ignores(name, folder)
}

// rulesAt gives the rules for the entries of a folder, from the files as they are now.
func (v *view) rulesAt(folder string) *ignore.Rules {
	if v.built() {
		v.table.mu.RLock()
		root := v.table.root.rules
		v.table.mu.RUnlock()
		return root.At(folder, v.disk)
	}
	v.live.mu.Lock()
	defer v.live.mu.Unlock()
	if v.live.changed() {
		v.live.base = nil
	}
	rules := v.live.root(v.disk)
	v.live.tracked()
	return rules.At(folder, v.disk)
}

// cleanPath gives a path below the root in its one form, "." for the root itself.
func cleanPath(p string) string {
	return path.Clean(strings.TrimPrefix(path.Clean("/"+p), "/"))
}
