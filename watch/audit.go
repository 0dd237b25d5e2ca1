package watch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toold/toold/watch/ignore"
)

const (
	auditPause   = time.Second      // between two parts of an audit
	auditPart    = 100              // folders in a part
	auditRest    = 10 * time.Minute // between two audits, while there are searches
	auditPatient = 3                // parts that a suspect may wait for the watcher
)

// audit compares the table with the disk, a few folders at a time, to find what the system did not tell: writes through
// memory maps or through hard links from outside, and faults of this package.
type audit struct {
	todo     []*folder
	suspects []suspect
}

// suspect is a folder that is not as the table says. It is looked at again when every event up to now has been applied: if
// the same is different then, the events did not tell.
type suspect struct {
	folder  *folder
	found   string
	settled *ticket
	waited  int
}

// auditStep does a part of an audit and says when the next one is due.
func (v *view) auditStep() time.Duration {
	v.suspects()
	a := &v.audit
	if len(a.todo) == 0 && len(a.suspects) == 0 {
		a.todo = slices.Collect(v.table.root.below())
	}
	part := a.todo[:min(auditPart, len(a.todo))]
	a.todo = a.todo[len(part):]
	for _, f := range part {
		if d := v.difference(f); d != "" {
			t := newTicket()
			if v.notifier == nil || v.notifier.settle(t) != nil {
				v.queue.settle(t)
			}
			a.suspects = append(a.suspects, suspect{folder: f, found: d, settled: t})
		}
	}
	if len(a.todo) > 0 || len(a.suspects) > 0 {
		return auditPause
	}
	v.table.mu.Lock()
	v.table.audits++
	v.table.mu.Unlock()
	return auditRest
}

// suspects looks again at the folders for which the watcher has caught up.
func (v *view) suspects() {
	a := &v.audit
	waiting := a.suspects
	a.suspects = nil
	for _, s := range waiting {
		select {
		case <-s.settled.done:
			if v.difference(s.folder) == s.found {
				v.table.mu.Lock()
				v.table.diverged++
				v.table.mu.Unlock()
				v.queue.add(dotted(s.folder.path), hintLook|hintMade)
			}
		default:
			if s.waited++; s.waited < auditPatient {
				a.suspects = append(a.suspects, s)
			}
		}
	}
}

// difference says what of a folder is not as the table says, "" when all is.
func (v *view) difference(f *folder) string {
	if v.table.at(f.path) != f || f.blind {
		return "" // gone meanwhile, or looked at for every search anyway
	}
	entries, self, err := v.disk.listStat(dotted(f.path))
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	if self.inode() != f.id {
		b.WriteString("another folder; ")
	}
	seen := 0
	for _, e := range sorted(entries) {
		if v.opts.Skip(e.name) || ignore.Always(e.name, e.folder()) || e.stat.Kind > KindFolder || f.rules.Ignores(e.name, e.folder()) {
			continue
		}
		seen++
		if e.folder() {
			if c := f.child(e.name); c == nil || c.id != e.stat.inode() {
				fmt.Fprintf(&b, "%s/ %v; ", e.name, e.stat.inode())
			}
			continue
		}
		if i, ok := f.file(e.name); !ok || f.files[i].stat != e.stat {
			fmt.Fprintf(&b, "%s %v; ", e.name, e.stat)
		}
	}
	if seen != len(f.files)+len(f.folders) {
		fmt.Fprintf(&b, "%d of %d", seen, len(f.files)+len(f.folders))
	}
	return b.String()
}
