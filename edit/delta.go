package edit

import "strings"

// Delta is the difference between two versions of a text, by lines.
type Delta struct {
	hunks              []Hunk
	oldLines, newLines int
}

// Diff works out how old became new. Lines outside of its hunks are the same in both, byte for byte.
func Diff(old, new []byte) Delta {
	return diffText(splitText(old), splitText(new))
}

// diffContents is Diff without regard to line endings, which nobody counts lines by.
func diffContents(old, new []byte) Delta {
	a, b := splitText(old), splitText(new)
	for _, text := range [][]string{a, b} {
		for i, line := range text {
			text[i] = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		}
	}
	return diffText(a, b)
}

func diffText(a, b []string) Delta {
	d := Delta{oldLines: len(a), newLines: len(b)}
	for _, k := range compare(a, b) {
		d.hunks = append(d.hunks, Hunk{OldStart: k.a0 + 1, OldLines: k.a1 - k.a0, NewStart: k.b0 + 1, NewLines: k.b1 - k.b0})
	}
	return d
}

// Hunks gives the lines that differ, in order.
func (d Delta) Hunks() []Hunk { return d.hunks }

// Rebase maps the lines start to end of the old text (1-based, included) to where they are in the new one. touched
// says that those very lines are not all there any more, or no longer next to each other; the numbers then give what
// stands in their place, newEnd being newStart-1 where nothing does.
func (d Delta) Rebase(start, end int) (newStart, newEnd int, touched bool) {
	newStart, newEnd = start, end
	for _, h := range d.hunks {
		next := h.OldStart + h.OldLines // the first old line behind the hunk
		shift := h.NewStart + h.NewLines - next
		switch {
		case h.OldStart > end:
			return newStart, newEnd, touched
		case next <= start:
			newStart, newEnd = start+shift, end+shift
			continue
		}
		touched = true
		if h.OldStart <= start {
			newStart = h.NewStart
		}
		if next > end {
			newEnd = h.NewStart + h.NewLines - 1
		} else {
			newEnd = end + shift
		}
	}
	return newStart, newEnd, touched
}
