package watch

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/toold/toold/watch/ignore"
)

// deadline is how long a search may take before it answers with what it has.
const deadline = 30 * time.Second

var errDeadline = errors.New("the search took too long")

// Search answers a query. It fails with an *[Error] when the query makes no sense, and with the context's error when that
// ends first.
func (t *Tree) Search(ctx context.Context, q Query) (Answer, error) {
	p, err := newPlan(q)
	if err != nil {
		return Answer{}, err
	}
	v, release, err := t.acquire()
	if err != nil {
		return Answer{}, err
	}
	defer release()
	limit := deadline
	if t.opts.trouble.late {
		limit = -1
	}
	ctx, stop := context.WithTimeoutCause(ctx, limit, errDeadline)
	defer stop()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(v.ctx, func() { end(errClosed) })()
	return v.answer(ctx, p, v.settled(ctx))
}

var errClosed = errors.New("the workspace was closed")

// answer answers from the table when the ticket says that it is up to date, else by reading the folders.
func (v *view) answer(ctx context.Context, p *plan, settled *ticket) (Answer, error) {
	real, st, err := v.resolve(p.Query.Path)
	if err != nil {
		return Answer{}, err
	}
	p.Path = real
	left := &leftOut{}
	c := newCollector(p)
	feed := func(ctx context.Context, emit func(string) bool) error { return v.walk(ctx, p, st, left, emit) }
	if settled != nil {
		feed = func(ctx context.Context, emit func(string) bool) error { return v.lookUp(ctx, p, st, left, emit) }
	}
	if p.pattern == nil {
		err = feed(ctx, c.file)
	} else {
		err = v.read(ctx, p, left, feed, c)
	}
	switch {
	case errors.Is(err, errDeadline):
		c.answer.Deadline = true
		c.complete = false
	case err != nil:
		return Answer{}, err
	}
	a := c.finish()
	left.into(&a)
	a.Rescanned = settled != nil && settled.rescan
	render(p, &a)
	return a, nil
}

// walk calls emit for every file that the plan selects, in path order, until it says false. It reads the folders.
func (v *view) walk(ctx context.Context, p *plan, st Stat, left *leftOut, emit func(string) bool) error {
	w := v.walker(p, left, emit)
	switch {
	case excluded(p.Path, st.Kind == KindFolder):
		return nil
	case st.Kind == KindFile:
		w.file(p.Path)
		return nil
	case st.Kind != KindFolder:
		return nil
	case p.Path == ".":
		rules := v.rulesAt(".")
		return w.folder(ctx, "", func(ignore.Source) *ignore.Rules { return rules })
	}
	rules := v.rulesAt(p.Path)
	w.all = w.all || rules.RuledOut()
	return w.folder(ctx, p.Path, func(ignore.Source) *ignore.Rules { return rules })
}

func (v *view) walker(p *plan, left *leftOut, emit func(string) bool) *walk {
	selected := func(f string) bool { return p.glob.Match(f, p.Path) }
	return &walk{
		disk: v.disk, skip: v.opts.Skip, all: p.IncludeIgnored, left: left, glob: selected, open: p.glob.Prefixes(p.Path),
		file: func(f string) bool { return !selected(f) || emit(f) },
	}
}

// lookUp is walk from the table. What ignore rules rule out is not in the table; where the plan wants that, folders are
// read.
func (v *view) lookUp(ctx context.Context, p *plan, st Stat, left *leftOut, emit func(string) bool) error {
	v.table.mu.RLock()
	f := v.table.at(p.Path)
	if f == nil || st.Kind != KindFolder || f.rules == nil || f.rules.RuledOut() {
		v.table.mu.RUnlock()
		return v.walk(ctx, p, st, left, emit)
	}
	type item struct {
		path    string
		ignored bool
		folder  bool
	}
	var items []item
	w := v.walker(p, left, emit)
	byName := p.glob.ByName()
	f.inOrder(func(in *folder, name string) bool {
		if byName && !w.glob(name) {
			return true
		}
		if file := prefix(in.path) + name; byName || w.glob(file) {
			items = append(items, item{path: file})
		}
		return true
	}, func(in *folder, q string, isFolder bool) bool {
		switch {
		case w.all || w.opened(q, in.rules.RuledOut()):
			items = append(items, item{q, true, isFolder})
		case isFolder || w.glob(q):
			left.ignored(q, isFolder)
		}
		return true
	})
	for g := range f.below() {
		if g.fault != nil {
			left.unreadable(dotted(g.path), g.fault)
		}
	}
	v.table.mu.RUnlock()
	for i, it := range items {
		if i%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch {
		case !it.ignored:
			w.ended = !emit(it.path)
		case !it.folder:
			w.ended = !w.file(it.path)
		default:
			if err := w.folder(ctx, it.path, func(ignore.Source) *ignore.Rules { return ignore.Closed(it.path) }); err != nil {
				return err
			}
		}
		if w.ended {
			break
		}
	}
	return nil
}

// excluded says that a path lies in a folder that is never searched.
func excluded(p string, folder bool) bool {
	parts := strings.Split(p, "/")
	for i, name := range parts {
		if ignore.Always(name, folder || i < len(parts)-1) {
			return true
		}
	}
	return false
}
