package edit

import (
	"fmt"

	"github.com/toold/toold/edit/lines"
)

func (d *doc) miss(r region) *Error {
	return fail(NoMatch, "%s: search not found. Nothing was changed.%s", d.req.Path, d.wholeFileForm())
}

func (d *doc) ambiguous(w window, places []place, f found) *Error {
	n := countLines([]byte(f.search))
	var list []string
	for _, p := range places[:min(len(places), maxListed)] {
		list = append(list, span1(w.start+p.at, w.start+p.at+n-1))
	}
	return fail(Ambiguous, "%s: the search is nowhere exactly, and %d places match it apart from %s: %s. Nothing was changed. "+
		"Copy the text exactly, add a neighbouring line that only one place has, or give start_line and end_line.",
		d.req.Path, len(places), places[0].rung.words(), lineList(list, len(places)))
}

func (g rung) words() string {
	switch g.match {
	case TrailingBlanks:
		return "trailing blanks"
	case Indentation:
		return "indentation"
	case Spacing, NoBlanks:
		return "spacing"
	case LookAlikes:
		return "look-alike characters"
	}
	return "line numbers"
}

func (d *doc) stale(start, end, newStart, newEnd int) *Error {
	seen := d.req.Seen
	text := fmt.Sprintf("%s: %s were changed by %s%s since you saw them.", d.req.Path, linesWord(start, end), seen.By, at(seen.When))
	if newEnd < newStart {
		return &Error{Code: Stale, Line: newStart, Text: text + " They are gone now. Nothing was changed."}
	}
	text += " Nothing was changed. They now read:\n" + d.numberedLines(newStart, newEnd)
	return &Error{Code: Stale, Line: newStart, Text: text}
}

// numberedLines shows lines as read_file does.
func (d *doc) numberedLines(start, end int) string {
	from, to := lines.Span(d.body, start, end)
	out := ""
	for i, line := range lines.Split(d.body[from:to]) {
		out += fmt.Sprintf("%d| %s\n", start+i, lines.Content(line))
	}
	return out
}
