package edit

import (
	"fmt"
	"math"

	"github.com/toold/toold/edit/lines"
)

// region is the lines that a request is about: the given range, or the whole text.
type region struct {
	start, end int // 1-based, included; end is start-1 where there are no lines
	from, to   int // bytes of the body
	given      bool
	part       bool     // in the agent's numbers it is not the whole text, though it may have become so
	notes      []string // what became of the numbers that were given
}

// whole is the region of all lines.
func (d *doc) whole() region { return region{start: 1, end: d.total, to: len(d.body)} }

// toLast is the end of a range that goes to the last line, wherever that is.
const toLast = math.MaxInt

// region works out the range of a request.
func (d *doc) region() (region, error) {
	r := d.whole()
	if d.req.Start == nil && d.req.End == nil {
		return r, nil
	}
	if err := d.readRange(&r); err != nil {
		return r, err
	}
	if err := d.follow(&r); err != nil {
		return r, err
	}
	r.given = true
	if d.total == 0 && r.start == 1 {
		r.end = 0
		return r, nil
	}
	if r.start > d.total {
		return r, d.pastEnd(r.start)
	}
	if r.end > d.total {
		r.clamp(d.total)
	}
	r.from, r.to = lines.Span(d.body, r.start, r.end)
	return r, nil
}

func (r *region) clamp(last int) {
	if r.end != toLast {
		r.notes = append(r.notes, fmt.Sprintf("the given end_line %d is past the end and was taken as %d", r.end, last))
	}
	r.end = last
}

// readRange fills in the defaults of the range and refuses what is no range. The end of a search's range is by default
// the last line; without a search, where the range is the edit, it is the start.
func (d *doc) readRange(r *region) error {
	if d.req.Start != nil {
		r.start = *d.req.Start
	}
	switch {
	case d.req.End != nil:
		r.end = *d.req.End
	case d.req.Search == "":
		r.end = r.start
	default:
		r.end = toLast
	}
	switch {
	case r.start < 1:
		return d.outOfRange(fmt.Sprintf("start_line %d: lines are counted from 1", r.start))
	case r.end < 1:
		return d.outOfRange(fmt.Sprintf("end_line %d: lines are counted from 1", r.end))
	case r.end < r.start:
		return d.outOfRange(fmt.Sprintf("end_line %d is before start_line %d", r.end, r.start))
	}
	return nil
}

// follow moves a range that was read off an older version to where its lines are now.
func (d *doc) follow(r *region) error {
	if d.req.Seen == nil {
		return nil
	}
	seen := open(d.req.Seen.Text, true, Request{})
	delta := diffContents(seen.body, d.body)
	if r.start > seen.total {
		return nil // a number that the agent cannot have from there
	}
	r.part = r.start > 1 || r.end < seen.total
	last := min(r.end, seen.total)
	start, end, touched := delta.Rebase(r.start, last)
	if d.req.Search == "" && touched {
		return d.stale(r.start, last, start, end)
	}
	if start != r.start {
		r.notes = append(r.notes, moved(r.start, last, start, max(start, end), *d.req.Seen))
	}
	switch {
	case d.req.Search != "" && r.end >= seen.total:
		r.end = toLast // a search to the end looks at what was added there too
	case r.end > seen.total:
		r.clamp(end)
	}
	if d.req.Search == "" && last == seen.total && end < d.total {
		r.notes = append(r.notes, fmt.Sprintf("%s, added below by %s%s, kept", linesWord(end+1, d.total), somebody(d.req.Seen.By), at(d.req.Seen.When)))
	}
	r.start = start
	if r.end != toLast {
		r.end = max(end, start)
	}
	return nil
}

// moved says where the lines start to end of the older version are now.
func moved(start, end, newStart, newEnd int, seen Seen) string {
	verb, word, by := "are", "added", newStart-start
	if end <= start {
		verb = "is"
	}
	if by < 0 {
		word, by = "removed", -by
	}
	return fmt.Sprintf("%s %s now %s (%s %s %d above%s)", linesWord(start, end), verb, span1(newStart, newEnd), somebody(seen.By), word, by, at(seen.When))
}

func (d *doc) outOfRange(what string) *Error {
	has := "the file has " + plural(d.total, "line")
	if !d.existed {
		has = "the file does not exist"
	}
	return fail(OutOfRange, "%s: %s; %s. Nothing was changed.%s", d.req.Path, what, has, d.wholeFileForm())
}

func (d *doc) pastEnd(start int) *Error {
	e := d.outOfRange(fmt.Sprintf("start_line %d is past the end", start))
	if d.total > 0 && d.req.Search == "" {
		e.Text += fmt.Sprintf(" To add lines at the end, send an empty search, start_line %d, and as replace line %d with the new lines behind it.", d.total, d.total)
	}
	return e
}

// wholeFileForm tells how to replace everything.
func (d *doc) wholeFileForm() string {
	if d.total == 0 {
		return " To give the file its content, send an empty search and the whole content as replace."
	}
	return fmt.Sprintf(" To replace the whole file, send an empty search, start_line 1, end_line %d and the whole new content as replace.", d.total)
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// text gives the text being edited as it came in.
func (d *doc) text() []byte {
	if len(d.bom) == 0 {
		return d.body
	}
	return append(d.bom[:len(d.bom):len(d.bom)], d.body...)
}
