package edit

import (
	"bytes"
	"strings"

	"github.com/toold/toold/edit/lines"
)

// maxUnit is the widest level of spaces that counts as a level and not as alignment.
const maxUnit = 8

// searchWidth tells how many spaces make a level in the search and its replacement.
func searchWidth(g rung, search, replace [][]byte) int {
	var steps stepCount
	for _, text := range [][][]byte{search, replace} {
		steps.add(g, text)
	}
	if w := steps.common(); w > 0 {
		return w
	}
	// No two neighbours differ: the smallest difference between any two lines is all there is to go by.
	best := 0
	for _, a := range append(search, replace...) {
		for _, b := range search {
			if d := abs(spaces(g, a) - spaces(g, b)); d > 0 && (best == 0 || d < best) {
				best = d
			}
		}
	}
	return max(best, 1)
}

// stepCount counts by how many spaces indentation changes from one line to the next.
type stepCount [maxUnit + 1]int

func (c *stepCount) add(g rung, text [][]byte) {
	last := -1
	for _, line := range text {
		if g.blank(line) || bytes.HasPrefix(line, []byte("\t")) {
			continue
		}
		n := spaces(g, line)
		if d := abs(n - last); last >= 0 && d > 1 && d <= maxUnit {
			c[d]++
		}
		last = n
	}
}

// common gives the step that occurs most, the smaller one of equals, or 0.
func (c *stepCount) common() int {
	best := 0
	for d, n := range c {
		if n > c[best] {
			best = d
		}
	}
	return best
}

func spaces(g rung, line []byte) int { return len([]rune(string(g.lead(line)))) }

// unit gives one level of indentation as the file writes it: as the matched lines show it, else as the file mostly does,
// else as the replacement does.
func (d *doc) unit(x indenter) string {
	bare := true // no matched line is indented
	for _, p := range x.pairs {
		if strings.Contains(p.file, "\t") {
			return "\t"
		}
		bare = bare && p.file == ""
	}
	if n := x.slope(); n > 0 {
		return strings.Repeat(" ", n)
	}
	tabs, steps := d.habits()
	n := steps.common()
	switch {
	case bare && tabs > 0 && tabs >= steps.total():
		return "\t"
	case n == 0:
		n = x.ratio()
	}
	return strings.Repeat(" ", n)
}

// slope tells by how many spaces the file's lines move when the search's move by one level; 0 when no two lines tell.
func (x indenter) slope() int {
	for _, p := range x.pairs {
		for _, q := range x.pairs {
			levels := x.columns(q.search) - x.columns(p.search)
			columns := len(q.file) - len(p.file)
			if levels > 0 && levels%x.width == 0 && columns > 0 && columns%(levels/x.width) == 0 && columns/(levels/x.width) <= maxUnit {
				return columns / (levels / x.width)
			}
		}
	}
	return 0
}

// ratio takes the depth of an indented line in the search as its depth in the file, and by that tells the file's
// unit; where that does not come out even it is the search's.
func (x indenter) ratio() int {
	for _, p := range x.pairs {
		levels := x.columns(p.search) / x.width
		if levels > 0 && len(p.file) > 0 && len(p.file)%levels == 0 && len(p.file)/levels <= maxUnit {
			return len(p.file) / levels
		}
	}
	return x.width
}

func (c *stepCount) total() int {
	n := 0
	for _, k := range c {
		n += k
	}
	return n
}

// habits counts the file's lines that begin with a tab and its steps of spaces.
func (d *doc) habits() (tabs int, steps stepCount) {
	all := contents(lines.Split(d.body))
	for _, line := range all {
		if bytes.HasPrefix(line, []byte("\t")) {
			tabs++
		}
	}
	steps.add(rung{blanks: noOuter}, all)
	return tabs, steps
}
