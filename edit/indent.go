package edit

import (
	"bytes"
	"slices"
	"strings"
)

// leadPair says that the line at in the search, indented by search, stands in the file indented by file.
type leadPair struct {
	search, file string
	at           int
}

// indenter carries the indentation of a search over to that of the file.
type indenter struct {
	rung   rung
	pairs  []leadPair            // one for each way in which an indentation of the search becomes one of the file
	bySeek map[string][]leadPair // all pairs by the search's indentation, in the order of the lines
	width  int                   // blanks per level in the search and the replacement; a tab is one level
	unit   string                // one level in the file
}

// reindent gives the replacement's lines the file's indentation. kept tells which line of the search each one equals;
// those become the file's own line. Blank lines get no indentation. A replacement that is already written at the
// file's indentation is left as it is.
func (d *doc) reindent(g rung, search, file, replace [][]byte, kept []int) [][]byte {
	x := newIndenter(g, search, file)
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

func newIndenter(g rung, search, file [][]byte) indenter {
	x := indenter{rung: g, bySeek: make(map[string][]leadPair)}
	known := make(map[leadPair]bool)
	for i, line := range search {
		if g.blank(line) {
			continue
		}
		p := leadPair{search: string(g.lead(line)), file: string(g.lead(file[i]))}
		if !known[p] {
			known[p] = true
			x.pairs = append(x.pairs, p)
		}
		p.at = i
		x.bySeek[p.search] = append(x.bySeek[p.search], p)
	}
	return x
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
	if known := x.bySeek[lead]; len(known) > 0 {
		return atNearest(known, at)
	}
	best, want := x.pairs[0], x.columns(lead)
	for _, p := range x.pairs[1:] {
		if x.nearer(want-x.columns(p.search), want-x.columns(best.search)) {
			best = p
		}
	}
	return x.shifted(atNearest(x.bySeek[best.search], at), want-x.columns(best.search))
}

// nearer says whether an indentation that falls short of the wanted one by d is a better model for it than one that
// falls short by e: whole levels first, so that a line aligned inside of a level is no model; then the deepest that is
// not deeper, else the shallowest.
func (x indenter) nearer(d, e int) bool {
	if (d%x.width == 0) != (e%x.width == 0) {
		return d%x.width == 0
	}
	if (d >= 0) != (e >= 0) {
		return d >= 0
	}
	return abs(d) < abs(e)
}

// atNearest gives the file's indentation at the pair that is nearest to a line of the search.
func atNearest(pairs []leadPair, at int) string {
	i, _ := slices.BinarySearchFunc(pairs, at, func(p leadPair, at int) int { return p.at - at })
	if i == len(pairs) || i > 0 && at-pairs[i-1].at <= pairs[i].at-at {
		i--
	}
	return pairs[i].file
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
