package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// maxIndents is how many changes of indentation a status names.
const maxIndents = 3

// differences tells in what the search differs from the lines of the file that it was taken for. first is the number
// of the first line.
func differences(g rung, first int, search, file [][]byte) []string {
	var out, indents []string
	var trailing, spacing, alike []int
	for i := range search {
		s, f := search[i], file[i]
		if !g.blank(s) && !g.blank(f) && !bytes.Equal(g.lead(s), g.lead(f)) {
			if change := blanksName(g.lead(s)) + " → " + blanksName(g.lead(f)); !slices.Contains(indents, change) {
				indents = append(indents, change)
			}
		}
		if !bytes.Equal(g.trail(s), g.trail(f)) {
			trailing = append(trailing, first+i)
		}
		switch a, b := g.core(s), g.core(f); {
		case bytes.Equal(a, b):
		case g.fold && !bytes.Equal(rung{blanks: noBlanks}.key(nil, a), rung{blanks: noBlanks}.key(nil, b)):
			alike = append(alike, first+i)
		default:
			spacing = append(spacing, first+i)
		}
	}
	if n := len(indents); n > 0 {
		out = append(out, "indent: "+strings.Join(indents[:min(n, maxIndents)], ", "))
	}
	out = append(out, onLines("trailing blanks", trailing)...)
	out = append(out, onLines("spacing", spacing)...)
	out = append(out, onLines("look-alike characters", alike)...)
	if len(out) == 0 && g.blanks != allCount {
		out = append(out, "the newline at the end of the file")
	}
	return out
}

func onLines(what string, numbers []int) []string {
	if len(numbers) == 0 {
		return nil
	}
	list := make([]string, 0, maxListed)
	for _, n := range numbers[:min(len(numbers), maxListed)] {
		list = append(list, itoa(n))
	}
	s := what + " on " + strings.Join(list, ", ")
	if more := len(numbers) - len(list); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return []string{s}
}

// trail gives the blanks that a line ends with.
func (g rung) trail(line []byte) []byte {
	end := 0
	for i := 0; i < len(line); {
		blank, _, size := g.char(line[i:])
		i += size
		if !blank {
			end = i
		}
	}
	return line[end:]
}

// core gives a line without the blanks at its ends.
func (g rung) core(line []byte) []byte {
	rest := line[len(g.lead(line)):]
	return rest[:len(rest)-len(g.trail(rest))]
}

// blanksName puts an indentation into words.
func blanksName(lead []byte) string {
	tabs, spaces := bytes.Count(lead, []byte("\t")), 0
	for _, r := range string(lead) {
		if r != '\t' {
			spaces++
		}
	}
	switch {
	case tabs == 0 && spaces == 0:
		return "none"
	case spaces == 0 && tabs == 1:
		return "tab"
	case spaces == 0:
		return plural(tabs, "tab")
	case tabs == 0:
		return plural(spaces, "space")
	}
	return plural(tabs, "tab") + " and " + plural(spaces, "space")
}
