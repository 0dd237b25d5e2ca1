package watch

import (
	"context"
	"slices"
	"strings"

	"github.com/toold/toold/watch/ignore"
)

// walk goes through a folder in path order: byte order of whole paths, as git sorts them.
type walk struct {
	disk  *disk
	skip  func(name string) bool // names that are no part of the workspace
	all   bool                   // ignored entries too
	file  func(path string) bool // called for every file; false ends the walk
	left  *leftOut
	glob  func(path string) bool // what the caller asked for; ignored files outside of it are not counted
	open  []string               // what to look into even when it is ignored
	ended bool
}

// listing lets the rules look into a folder that has just been listed, without asking the system again.
type listing struct {
	*disk
	dir     string
	entries []entry
}

func (l listing) Has(p string) bool {
	name, ok := strings.CutPrefix(p, prefix(l.dir))
	if !ok || strings.Contains(name, "/") {
		return l.disk.Has(p)
	}
	return slices.ContainsFunc(l.entries, func(e entry) bool { return e.name == name })
}

// prefix gives what the paths in a folder begin with.
func prefix(dir string) string {
	if dir == "" || dir == "." {
		return ""
	}
	return dir + "/"
}

// sorted orders entries so that going down in this order gives the byte order of the whole paths.
func sorted(entries []entry) []entry {
	key := func(e entry) string {
		if e.folder() {
			return e.name + "/"
		}
		return e.name
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(key(a), key(b)) })
	return entries
}

// folder walks the entries of dir, "" for the root. The function enter gives their rules; it may look at what is listed.
func (w *walk) folder(ctx context.Context, dir string, enter func(ignore.Source) *ignore.Rules) error {
	entries, _, err := w.disk.list(dotted(dir))
	if err != nil {
		if !missing(err) {
			w.left.unreadable(dotted(dir), err)
		}
		return nil
	}
	rules := enter(listing{w.disk, dir, entries})
	for _, e := range sorted(entries) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := w.entry(ctx, dir, e, rules); err != nil || w.ended {
			return err
		}
	}
	return nil
}

func (w *walk) entry(ctx context.Context, dir string, e entry, rules *ignore.Rules) error {
	p := prefix(dir) + e.name
	folder := e.folder()
	switch {
	case ignore.Always(e.name, folder) || w.skip(e.name):
		return nil
	case !w.all && rules.Ignores(e.name, folder) && !w.opened(p, rules.RuledOut()):
		if folder || e.stat.Kind == KindFile && w.glob(p) {
			w.left.ignored(p, folder)
		}
		return nil
	case folder:
		return w.folder(ctx, p, func(src ignore.Source) *ignore.Rules {
			if w.all {
				return rules
			}
			return rules.Enter(e.name, src)
		})
	case e.stat.Kind == KindFile:
		w.ended = !w.file(p)
	}
	return nil
}

// opened says that an ignored entry is one that the caller named, lies in one, or is on the way to one.
func (w *walk) opened(p string, below bool) bool {
	for _, o := range w.open {
		if p == o || strings.HasPrefix(o, p+"/") || below && strings.HasPrefix(p, o+"/") {
			return true
		}
	}
	return false
}

// dotted gives the path of a folder as the system takes it.
func dotted(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}
