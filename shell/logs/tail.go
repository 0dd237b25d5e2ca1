package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/toold/toold/shell"
)

const (
	block   = 256 << 10 // read at once
	maxLine = 1 << 20   // longer lines are not held: they are looked at in windows
	overlap = 4 << 10   // of two windows, so that a match at their border is found
)

// sizes are the three above, smaller in tests.
type sizes struct{ block, maxLine, overlap int }

// backward reads a file from its end and collects lines.
type backward struct {
	r      io.ReaderAt
	q      Query
	filter filter
	sizes  sizes

	newest [][]string // groups of lines, the newest group first; lines in a group in order
	found  int        // lines in newest
	size   int64      // their bytes
	full   bool       // no line fits any more
	total  int64      // lines that match, found or not
}

// tailOf gives the end of the first size bytes of r.
func tailOf(ctx context.Context, r io.ReaderAt, size int64, q Query) (Tail, error) {
	return tailIn(ctx, r, size, q, sizes{block, maxLine, overlap})
}

func tailIn(ctx context.Context, r io.ReaderAt, size int64, q Query, s sizes) (Tail, error) {
	b := &backward{r: r, q: q, filter: newFilter(q.Filter), sizes: s}
	began := time.Now()
	var counting time.Time
	for step := range b.steps(size) {
		switch {
		case step.err != nil:
			return Tail{}, step.err
		case ctx.Err() != nil:
			return Tail{}, shell.Ended(ctx)
		case !b.done():
			if step.left > 0 && time.Since(began) > q.Limits.Search {
				return b.tail(false, true), nil
			}
		case counting.IsZero():
			counting = time.Now()
		case step.left > 0 && time.Since(counting) > q.Limits.Count:
			return b.tail(false, false), nil
		}
	}
	return b.tail(true, false), nil
}

// step is the state after one block.
type step struct {
	left int64 // bytes that were not read yet
	err  error
}

// steps reads block by block, from the end.
func (b *backward) steps(off int64) func(yield func(step) bool) {
	return func(yield func(step) bool) {
		var carry []byte   // the end of a line whose beginning was not read yet
		giant := int64(-1) // the end of such a line that is too long to be carried, or -1
		data := make([]byte, 0, b.sizes.block+b.sizes.maxLine)
		for off > 0 {
			n := min(int64(b.sizes.block), off)
			off -= n
			data = data[:n]
			if _, err := b.r.ReadAt(data, off); err != nil && !errors.Is(err, io.EOF) {
				yield(step{err: err})
				return
			}
			text := append(data, carry...)
			if giant >= 0 {
				i := -1
				if bytes.IndexByte(text, '\n') >= 0 { // much faster than to look from the end
					i = bytes.LastIndexByte(text, '\n')
				}
				if i < 0 && off > 0 {
					if !yield(step{left: off}) {
						return
					}
					continue
				}
				b.giant(off+int64(i)+1, giant)
				giant, text = -1, text[:i+1]
			}
			first := 0
			if off > 0 {
				first = bytes.IndexByte(text, '\n') + 1
				if whole := first == len(text); whole || first == 0 {
					first = 0 // at most the end of one line
				}
			}
			switch {
			case off == 0 || first > 0:
				b.region(text[first:])
				carry = bytes.Clone(text[:first])
			case len(text) > b.sizes.maxLine:
				giant, carry = off+int64(len(bytes.TrimSuffix(text, []byte{'\n'}))), nil
			default:
				carry = bytes.Clone(text)
			}
			if !yield(step{left: off}) {
				return
			}
		}
	}
}

// done reports whether only counting is left.
func (b *backward) done() bool { return b.full || b.found >= b.q.Lines }

// region takes whole lines, which stand before all that were taken until now.
func (b *backward) region(text []byte) {
	if len(text) == 0 {
		return
	}
	if b.filter.all() && b.done() {
		b.total += int64(bytes.Count(text, []byte{'\n'}))
		if text[len(text)-1] != '\n' {
			b.total++
		}
		return
	}
	type bounds struct{ start, end int }
	var matches []bounds
	b.filter.lines(text, func(start, end int) {
		b.total++
		if !b.done() {
			matches = append(matches, bounds{start, end})
		}
	})
	var group []string
	for _, m := range slices.Backward(matches) {
		line, ok := b.fit(text[m.start:m.end], int64(m.end-m.start))
		if !ok {
			break
		}
		group = append(group, line)
	}
	b.push(group)
}

// giant takes a line that is too long to be held.
func (b *backward) giant(start, end int64) {
	if !b.filter.all() && !b.search(start, end) {
		return
	}
	b.total++
	if b.done() {
		return
	}
	head := make([]byte, b.q.Limits.Line)
	n, _ := b.r.ReadAt(head, start)
	if line, ok := b.fit(head[:n], end-start); ok {
		b.push([]string{line})
	}
}

// search looks for the filter in windows of a line.
func (b *backward) search(start, end int64) bool {
	window := make([]byte, b.sizes.maxLine)
	for ; start < end; start += int64(b.sizes.maxLine - b.sizes.overlap) {
		n, err := b.r.ReadAt(window[:min(int64(len(window)), end-start)], start)
		if b.filter.match(window[:n]) {
			return true
		}
		if err != nil {
			return false
		}
	}
	return false
}

// fit makes a line presentable, unless there is no room for it. size is its length, of which text may be the beginning.
func (b *backward) fit(text []byte, size int64) (string, bool) {
	if b.done() {
		return "", false
	}
	line := present(text, size, b.q.Limits.Line)
	if b.size += int64(len(line)) + 1; b.size > b.q.Limits.Bytes && b.found > 0 {
		b.full = true
		return "", false
	}
	b.found++
	return line, true
}

// push takes lines, newest first.
func (b *backward) push(group []string) {
	slices.Reverse(group)
	b.newest = append(b.newest, group)
}

func (b *backward) tail(counted, partial bool) Tail {
	var lines []string
	for _, group := range slices.Backward(b.newest) {
		lines = append(lines, group...)
	}
	return Tail{Lines: lines, Total: b.total, Counted: counted, Partial: partial, Full: b.full}
}

// present gives a line as it is shown: clean, and cut to limit bytes. size is its length, of which text may be the
// beginning.
func present(text []byte, size int64, limit int) string {
	cut := size > int64(limit)
	if len(text) > limit {
		text = text[:limit]
	}
	for n := 1; cut && n < utf8.UTFMax && n <= len(text); n++ { // not within a character
		if last := text[len(text)-n]; utf8.RuneStart(last) {
			if !utf8.FullRune(text[len(text)-n:]) {
				text = text[:len(text)-n]
			}
			break
		}
	}
	line := shell.Clean(string(trim(text)))
	if cut {
		line += fmt.Sprintf(" [… the line has %d bytes]", size)
	}
	return line
}
