package watch

import (
	"context"
	"errors"
	"path"
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
	if err := t.reopen(); err != nil {
		return Answer{}, err
	}
	real, st, err := t.resolve(q.Path)
	if err != nil {
		return Answer{}, err
	}
	p.Path = real
	ctx, stop := context.WithTimeoutCause(ctx, deadline, errDeadline)
	defer stop()
	a, err := t.scan(ctx, p, st)
	if err != nil {
		return Answer{}, err
	}
	render(p, &a)
	return a, nil
}

// reopen follows the root's path when another folder stands there now.
func (t *Tree) reopen() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.disk.gone() {
		return nil
	}
	d, err := openDisk(t.root)
	if err != nil {
		return errorf("root_gone", "the workspace's folder %s is gone; searching goes on when it is back", t.root)
	}
	_ = t.disk.close()
	t.disk = d
	return nil
}

// scan answers by reading the files.
func (t *Tree) scan(ctx context.Context, p *plan, st Stat) (Answer, error) {
	left := &leftOut{}
	c := newCollector(p)
	feed := func(ctx context.Context, emit func(string) bool) error {
		return t.each(ctx, p, st, left, emit)
	}
	var err error
	if p.pattern == nil {
		err = feed(ctx, c.file)
	} else {
		err = t.read(ctx, p, left, feed, c)
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
	return a, nil
}

// each calls emit for every file that the plan selects, in path order, until it says false.
func (t *Tree) each(ctx context.Context, p *plan, st Stat, left *leftOut, emit func(string) bool) error {
	selected := func(f string) bool { return p.glob.Match(f, p.Path) }
	file := func(f string) bool { return !selected(f) || emit(f) }
	if excluded(p.Path, st.Kind == KindFolder) {
		return nil
	}
	if st.Kind != KindFolder {
		if st.Kind == KindFile {
			file(p.Path)
		}
		return nil
	}
	w := &walk{disk: t.disk, skip: t.opts.Skip, all: p.IncludeIgnored, file: file, left: left, glob: selected, open: p.glob.Prefixes(p.Path)}
	rules := t.rules(path.Dir(p.Path))
	if p.Path == "." {
		return w.folder(ctx, "", func(ignore.Source) *ignore.Rules { return rules })
	}
	rules = rules.Enter(path.Base(p.Path), t.disk)
	w.all = w.all || rules.Closed()
	return w.folder(ctx, p.Path, func(ignore.Source) *ignore.Rules { return rules })
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
