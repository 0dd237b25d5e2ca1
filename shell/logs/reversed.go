package logs

import (
	"slices"
	"time"
)

// reversed collects matching lines of entries that come newest first. The lines of one entry come in order; all but the
// first are indented.
type reversed struct {
	q      Query
	filter filter
	entry  []string // the matching lines of the current entry
	groups [][]string
	found  int
	total  int64
	began  time.Time
	filled time.Time // when enough lines were found
	late   bool
}

func newReversed(q Query) *reversed {
	return &reversed{q: q, filter: newFilter(q.Filter), began: time.Now()}
}

// take takes a line; it gives false when the time is up.
func (r *reversed) take(line []byte) bool {
	if len(line) > 0 && line[0] != ' ' {
		r.flush()
	}
	if r.filter.match(trim(line)) {
		r.total++
		if r.filled.IsZero() {
			r.entry = append(r.entry, present(line, int64(len(line)), r.q.Limits.Line))
		}
	}
	if r.filled.IsZero() {
		r.late = time.Since(r.began) > r.q.Limits.Search
	} else {
		r.late = time.Since(r.filled) > r.q.Limits.Count
	}
	return !r.late
}

func (r *reversed) flush() {
	if len(r.entry) == 0 {
		return
	}
	r.groups = append(r.groups, r.entry)
	r.found += len(r.entry)
	r.entry = nil
	if r.found >= r.q.Lines && r.filled.IsZero() {
		r.filled = time.Now()
	}
}

func (r *reversed) tail() Tail {
	r.flush()
	var lines []string
	for _, group := range slices.Backward(r.groups) {
		lines = append(lines, group...)
	}
	lines = lines[max(0, len(lines)-r.q.Lines):]
	t := Tail{Lines: lines, Total: r.total, Counted: !r.late, Partial: r.late && r.filled.IsZero()}
	return t.fit(r.q.Limits.Bytes)
}
