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

// unit gives one level of indentation as the file writes it: as around the matched lines where they show it, else as
// the file mostly does, else as the replacement does.
func (d *doc) unit(x indenter) string {
	for _, p := range x.pairs {
		if strings.Contains(p.file, "\t") {
			return "\t"
		}
	}
	tabs, steps := d.habits()
	spaced := false
	for _, p := range x.pairs {
		spaced = spaced || p.file != ""
	}
	n := steps.common()
	switch {
	case !spaced && tabs > 0 && tabs >= steps.total():
		return "\t"
	case n > 0:
		return strings.Repeat(" ", n)
	}
	return strings.Repeat(" ", x.width)
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
