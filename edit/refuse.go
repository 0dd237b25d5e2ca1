package edit

import (
	"fmt"
	"strings"

	"github.com/toold/toold/edit/lines"
)

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

// words says what a rung overlooks.
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

func (d *doc) oversized(r region, f found, size int) *Error {
	where := "the file's"
	if r.given {
		where = "the range's"
	}
	hits := make([]string, 0, maxListed)
	for _, p := range f.patches[:min(len(f.patches), maxListed)] {
		hits = append(hits, itoa(lines.At(d.body, p.from)))
	}
	return fail(OversizedReplacement, "%s: the search matches %d times (%s) and its replacements would take %d bytes, more than %s %d. "+
		"Nothing was changed. Make the search longer so that it matches once, or give start_line and end_line.%s",
		d.req.Path, len(f.patches), lineList(hits, len(f.patches)), size, where, r.to-r.from, d.wholeFileForm())
}

func (d *doc) duplicated(f found) *Error {
	return fail(DuplicatedDocument, "%s: the replacement opens with the file's own first line and has %s for a search of %s; "+
		"the file would hold its text twice. Nothing was changed.%s To only add a block at the top, send an empty search with "+
		"start_line 1, end_line 1, and as replace the first line with the block.", d.req.Path,
		plural(countLines([]byte(f.replace)), "line"), plural(countLines([]byte(f.search)), "line"), d.wholeFileForm())
}

func (d *doc) stale(start, end, newStart, newEnd int) *Error {
	verb := "were"
	if end <= start {
		verb = "was"
	}
	seen := d.req.Seen
	text := fmt.Sprintf("%s: %s %s changed by %s%s since you saw the file. Nothing was changed.", d.req.Path, linesWord(start, end), verb, somebody(seen.By), at(seen.When))
	if newEnd < newStart {
		return &Error{Code: Stale, Line: newStart, Text: text + " Nothing is left of it."}
	}
	text += fmt.Sprintf(" In that place the file now reads:\n%s", d.numberedLines(newStart, min(newEnd, newStart+maxRows-1)))
	return &Error{Code: Stale, Line: newStart, Text: strings.TrimSuffix(text, "\n")}
}

func somebody(name string) string {
	if name == "" {
		return "somebody else"
	}
	return name
}

func lineList(numbers []string, total int) string {
	s := "lines " + strings.Join(numbers, ", ")
	if more := total - len(numbers); more > 0 {
		s += " and " + itoa(more) + " more"
	}
	return s
}
