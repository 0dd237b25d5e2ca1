package watch

import (
	"slices"
	"strings"
	"sync"
)

// leftOut collects what a search did not look into, for the reply to say so.
type leftOut struct {
	mu     sync.Mutex // guards the fields below
	ign    []string   // ignored folders (with a slash) and files, the first ones in path order
	ignN   int
	binary int
	faults []Unreadable
}

const namedIgnored = 5 // how many ignored entries a reply names

func (l *leftOut) ignored(p string, folder bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if folder {
		p += "/"
	}
	l.ignN++
	i, _ := slices.BinarySearch(l.ign, p)
	if l.ign = slices.Insert(l.ign, i, p); len(l.ign) > namedIgnored {
		l.ign = l.ign[:namedIgnored]
	}
}

func (l *leftOut) unreadable(p string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, Unreadable{p, reason(err)})
}

func (l *leftOut) binaryFile() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.binary++
}

// into moves the account into the answer.
func (l *leftOut) into(a *Answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a.Ignored, a.IgnoredNames, a.Binary = l.ignN, l.ign, l.binary
	a.Unreadable = slices.Clone(l.faults)
	slices.SortFunc(a.Unreadable, func(x, y Unreadable) int { return strings.Compare(x.Path, y.Path) })
}
