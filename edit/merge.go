package edit

import (
	"bytes"
	"slices"
)

// Conflict is a place that two sides of a merge changed in different ways.
type Conflict struct {
	Line   int    // where it is in ours, 1-based
	Base   []byte // what both started from
	Ours   []byte
	Theirs []byte
}

// Merge3 brings what theirs changed in base into ours, by whole lines. Where both changed the same lines in different
// ways there is a conflict, and merged is nil: nothing is decided for the reader. To take back an edit, base is the
// text after it, theirs the text before it, and ours the text as it is now.
func Merge3(base, ours, theirs []byte) (merged []byte, conflicts []Conflict) {
	m := merger{base: splitText(base), ours: splitText(ours), theirs: splitText(theirs)}
	a, b := compare(m.base, m.ours), compare(m.base, m.theirs)
	at := 0 // lines of base that are dealt with
	for len(a) > 0 || len(b) > 0 {
		g := nextGroup(&a, &b)
		m.keep(at, g.from)
		m.settle(g)
		at = g.to
	}
	m.keep(at, len(m.base))
	if len(m.conflicts) > 0 {
		return nil, m.conflicts
	}
	return m.out.Bytes(), nil
}

// group is blocks of either side that overlap in base, and the lines from..to of base that they cover.
type group struct {
	from, to     int
	ours, theirs []block
}

// nextGroup takes the first block off either list, and every block that overlaps what has been taken.
func nextGroup(a, b *[]block) group {
	var g group
	if len(*b) == 0 || len(*a) > 0 && before((*a)[0], (*b)[0]) {
		g.ours = append(g.ours, pop(a))
		g.from, g.to = g.ours[0].a0, g.ours[0].a1
	} else {
		g.theirs = append(g.theirs, pop(b))
		g.from, g.to = g.theirs[0].a0, g.theirs[0].a1
	}
	for {
		switch {
		case len(*a) > 0 && g.overlaps((*a)[0], g.theirs):
			g.ours = append(g.ours, pop(a))
			g.to = max(g.to, g.ours[len(g.ours)-1].a1)
		case len(*b) > 0 && g.overlaps((*b)[0], g.ours):
			g.theirs = append(g.theirs, pop(b))
			g.to = max(g.to, g.theirs[len(g.theirs)-1].a1)
		default:
			return g
		}
	}
}

func pop(list *[]block) block {
	first := (*list)[0]
	*list = (*list)[1:]
	return first
}

// before orders blocks of the two sides: by place, an insertion before what replaces the line it stands in front of.
func before(x, y block) bool {
	if x.a0 != y.a0 {
		return x.a0 < y.a0
	}
	return x.a1 <= y.a1
}

// overlaps says whether a block shares lines of base with the group, or puts lines where the other side puts some.
func (g group) overlaps(x block, others []block) bool {
	if x.a0 < g.to {
		return true
	}
	return x.a0 == g.to && x.a0 == x.a1 && slices.ContainsFunc(others, func(o block) bool { return o.a0 == x.a0 && o.a1 == x.a1 })
}

type merger struct {
	base, ours, theirs []string
	out                bytes.Buffer
	glued              bool // the last line written has no newline
	conflicts          []Conflict
}

// keep copies lines of base that neither side changed.
func (m *merger) keep(from, to int) { m.write(m.base[from:to], group{from: from, to: to}) }

// settle writes what becomes of a group.
func (m *merger) settle(g group) {
	ours := side(m.base, m.ours, g.from, g.to, g.ours)
	theirs := side(m.base, m.theirs, g.from, g.to, g.theirs)
	switch {
	case len(g.theirs) == 0:
		m.write(ours, g)
	case len(g.ours) == 0 || slices.Equal(ours, theirs):
		m.write(theirs, g)
	default:
		m.conflict(g, ours, theirs)
	}
}

// write appends lines. Lines behind one that has no newline would be glued to it; that is a conflict too.
func (m *merger) write(text []string, g group) {
	for _, line := range text {
		if m.glued {
			m.conflict(g, side(m.base, m.ours, g.from, g.to, g.ours), side(m.base, m.theirs, g.from, g.to, g.theirs))
			return
		}
		m.out.WriteString(line)
		m.glued = line[len(line)-1] != '\n'
	}
}

func (m *merger) conflict(g group, ours, theirs []string) {
	line := g.from + 1
	if len(g.ours) > 0 {
		line = g.ours[0].b0 + 1
	}
	m.conflicts = append(m.conflicts, Conflict{Line: line, Base: join(m.base[g.from:g.to]), Ours: join(ours), Theirs: join(theirs)})
}

// side gives what one side makes of the lines from..to of base.
func side(base, text []string, from, to int, blocks []block) []string {
	var out []string
	at := from
	for _, k := range blocks {
		out = append(out, base[at:k.a0]...)
		out = append(out, text[k.b0:k.b1]...)
		at = k.a1
	}
	return append(out, base[at:to]...)
}

func join(text []string) []byte {
	var b bytes.Buffer
	for _, line := range text {
		b.WriteString(line)
	}
	return b.Bytes()
}

// RevertHunk gives after with its n-th hunk (from 0) undone, the hunks being those of Diff(before, after); ok is false
// when there is none. It is what [Merge3] takes as theirs to undo one hunk of an edit.
func RevertHunk(before, after []byte, n int) (reverted []byte, ok bool) {
	a, b := splitText(before), splitText(after)
	blocks := compare(a, b)
	if n < 0 || n >= len(blocks) {
		return nil, false
	}
	k := blocks[n]
	return slices.Concat(join(b[:k.b0]), join(a[k.a0:k.a1]), join(b[k.b1:])), true
}
