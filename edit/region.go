package edit

import (
	"fmt"

	"github.com/toold/toold/edit/lines"
)

// region is the lines that a request is about: the given range, or the whole text.
type region struct {
	start, end int // 1-based, included; end is start-1 where there are no lines
	from, to   int // bytes of the body
	given      bool
	notes      []string // what became of the numbers that were given
}

// region works out the range of a request.
func (d *doc) region() (region, error) {
	r := region{start: 1, end: d.total, to: len(d.body)}
	if d.req.Start == nil && d.req.End == nil {
		return r, nil
	}
	r.given = true
	if err := d.readRange(&r); err != nil {
		return r, err
	}
	if err := d.follow(&r); err != nil {
		return r, err
	}
	if d.total == 0 && r.start == 1 {
		r.end = 0
		return r, nil
	}
	if r.start > d.total {
		return r, d.outOfRange(fmt.Sprintf("start_line %d is past the end", r.start))
	}
	if r.end > d.total {
		r.notes = append(r.notes, fmt.Sprintf("end_line %d is past the end and was taken as %d", r.end, d.total))
		r.end = d.total
	}
	r.from, r.to = lines.Span(d.body, r.start, r.end)
	return r, nil
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
		r.end = max(d.total, r.start)
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

func (d *doc) outOfRange(what string) *Error {
	return fail(OutOfRange, "%s: %s; the file has %s. Nothing was changed.%s", d.req.Path, what, plural(d.total, "line"), d.wholeFileForm())
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

// follow moves a range that was read off an older version to where its lines are now.
func (d *doc) follow(r *region) error {
	if d.req.Seen == nil {
		return nil
	}
	delta := Diff(d.req.Seen.Text, d.text())
	if r.start > delta.oldLines {
		return nil // numbers that the agent cannot have read there
	}
	toEnd := r.end >= delta.oldLines
	end := min(r.end, delta.oldLines)
	start, last, touched := delta.Rebase(r.start, end)
	if d.req.Search != "" {
		d.followSearch(r, start, last, toEnd)
		return nil
	}
	if touched {
		return d.stale(r.start, end, start, last)
	}
	if toEnd && r.end > end {
		r.notes = append(r.notes, fmt.Sprintf("end_line %d is past the end and was taken as %d", r.end, end))
	}
	if start != r.start {
		r.notes = append(r.notes, moved(r.start, end, start, last, *d.req.Seen))
	}
	r.start, r.end = start, last
	return nil
}

// followSearch moves the range of a search. What others changed inside it does not matter: the search itself decides.
func (d *doc) followSearch(r *region, start, last int, toEnd bool) {
	if toEnd {
		last = d.total
	}
	if start != r.start {
		r.notes = append(r.notes, moved(r.start, min(r.end, d.total), start, last, *d.req.Seen))
	}
	r.start, r.end = start, max(last, start)
}

func moved(start, end, newStart, newEnd int, seen Seen) string {
	word, by := "added", newStart-start
	if by < 0 {
		word, by = "removed", -by
	}
	return fmt.Sprintf("%s now %s (%s %s %d above%s)", are("line", start, end), span1(newStart, newEnd), seen.By, word, by, at(seen.When))
}

// text gives the text being edited as it came in.
func (d *doc) text() []byte {
	if len(d.bom) == 0 {
		return d.body
	}
	return append(d.bom[:len(d.bom):len(d.bom)], d.body...)
}
