package edit

import (
	"bytes"
	"strings"
)

// leadPair says that a line which the search indents by search stands in the file indented by file.
type leadPair struct {
	search, file string
	at           int // index of the line in the search
}

// indenter carries the indentation of a search over to that of the file.
type indenter struct {
	rung  rung
	pairs []leadPair
	width int    // blanks per level in the search and the replacement; a tab is one level
	unit  string // one level in the file
}

// reindent gives the replacement's lines the file's indentation. kept tells which line of the search each one equals;
// those become the file's own line. Blank lines get no indentation. A replacement that is already written at the
// file's indentation is left as it is.
func (d *doc) reindent(g rung, search, file, replace [][]byte, kept []int) [][]byte {
	x := indenter{rung: g, pairs: leadPairs(g, search, file)}
	leave := x.same() || x.written(search, file, replace, kept)
	if !leave {
		x.width = searchWidth(g, search, replace)
		x.unit = d.unit(x)
	}
	at := positions(kept, len(search))
	out := make([][]byte, len(replace))
	for j, line := range replace {
		switch {
		case kept[j] >= 0:
			out[j] = file[kept[j]]
		case leave:
			out[j] = line
		case g.blank(line):
			out[j] = nil
		default:
			lead := g.lead(line)
			out[j] = append([]byte(x.lead(string(lead), at[j])), line[len(lead):]...)
		}
	}
	return out
}

func leadPairs(g rung, search, file [][]byte) []leadPair {
	var out []leadPair
	for i, line := range search {
		if !g.blank(line) {
			out = append(out, leadPair{string(g.lead(line)), string(g.lead(file[i])), i})
		}
	}
	return out
}

// same says whether the search has the file's indentation throughout.
func (x indenter) same() bool {
	for _, p := range x.pairs {
		if p.search != p.file {
			return false
		}
	}
	return true
}

// written says whether the replacement is at the file's indentation although the search is not: its shallowest line
// stands where the file's shallowest does, and no line that it shares with the search says otherwise.
func (x indenter) written(search, file, replace [][]byte, kept []int) bool {
	for _, i := range kept {
		if i >= 0 && !x.rung.blank(search[i]) && !bytes.Equal(x.rung.lead(search[i]), x.rung.lead(file[i])) {
			return false
		}
	}
	base := x.base(replace)
	return base == x.base(file) && base != x.base(search)
}

// base gives the shortest indentation of the lines that are not blank.
func (x indenter) base(text [][]byte) string {
	base, any := "", false
	for _, line := range text {
		if x.rung.blank(line) {
			continue
		}
		if lead := string(x.rung.lead(line)); !any || len(lead) < len(base) {
			base, any = lead, true
		}
	}
	return base
}

// lead gives the file's indentation for a line that the replacement indents by lead. at is the line of the search it
// stands nearest to, which decides where the search is indented one way and the file in several.
func (x indenter) lead(lead string, at int) string {
	best, want := -1, x.columns(lead)
	for i, p := range x.pairs {
		if best < 0 || x.nearer(p, x.pairs[best], lead, want, at) {
			best = i
		}
	}
	p := x.pairs[best]
	if p.search == lead {
		return p.file
	}
	return x.shifted(p.file, want-x.columns(p.search))
}

// nearer says whether p is a better model than q for a line indented by lead: the same indentation first, then the
// deepest that is not deeper, then the shallowest; among equals the one whose line is nearest.
func (x indenter) nearer(p, q leadPair, lead string, want, at int) bool {
	if (p.search == lead) != (q.search == lead) {
		return p.search == lead
	}
	dp, dq := want-x.columns(p.search), want-x.columns(q.search)
	if dp != dq {
		if (dp >= 0) != (dq >= 0) {
			return dp >= 0
		}
		return abs(dp) < abs(dq)
	}
	return abs(p.at-at) < abs(q.at-at)
}

func abs(n int) int { return max(n, -n) }

// columns measures an indentation of the search or the replacement.
func (x indenter) columns(lead string) int {
	n := 0
	for _, r := range lead {
		if r == '\t' {
			n += x.width
		} else {
			n++
		}
	}
	return n
}

// shifted moves an indentation of the file by columns of the search: whole levels in the file's unit, the rest in
// spaces.
func (x indenter) shifted(lead string, columns int) string {
	levels, rest := columns/x.width, columns%x.width
	if columns >= 0 {
		return lead + strings.Repeat(x.unit, levels) + strings.Repeat(" ", rest)
	}
	for range -levels {
		lead = outdent(lead, len(x.unit))
	}
	return outdentSpaces(lead, -rest)
}

// outdent takes one level off the end of an indentation.
func outdent(lead string, unit int) string {
	if cut, ok := strings.CutSuffix(lead, "\t"); ok {
		return cut
	}
	return outdentSpaces(lead, unit)
}

func outdentSpaces(lead string, n int) string {
	for ; n > 0 && strings.HasSuffix(lead, " "); n-- {
		lead = lead[:len(lead)-1]
	}
	return lead
}

// positions gives for each line of the replacement the line of the search it stands for or nearest to.
func positions(kept []int, search int) []int {
	out := make([]int, len(kept))
	next := search // the line of the search that the next kept line stands for
	for j := len(kept) - 1; j >= 0; j-- {
		if kept[j] >= 0 {
			next = kept[j]
		}
		out[j] = next
	}
	at := -1
	for j := range kept {
		if kept[j] >= 0 {
			at = kept[j]
		} else if at+1 < out[j] {
			at++
		}
		out[j] = max(at, 0)
	}
	return out
}
