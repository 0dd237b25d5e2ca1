package watch

import (
	"bytes"
	"context"
	"math"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"
)

// found is what one file has.
type found struct {
	path    string
	matches []Match // as many as the answer may have
	total   int     // all of them
	skipped bool    // binary, unreadable or gone: not searched
}

// ahead is how many files are read ahead of the one whose turn it is.
const ahead = 256

// read searches the files that feed emits, several at a time, and hands what they have to the collector in their order.
func (v *view) read(ctx context.Context, p *plan, left *leftOut, feed func(context.Context, func(string) bool) error, c *collector) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	g, gctx := errgroup.WithContext(ctx)
	type job struct {
		path string
		done chan found
	}
	jobs, order := make(chan job), make(chan job, ahead)
	g.Go(func() error {
		defer close(jobs)
		defer close(order)
		return feed(gctx, func(f string) bool {
			j := job{f, make(chan found, 1)}
			for _, to := range []chan job{order, jobs} {
				select {
				case to <- j:
				case <-gctx.Done():
					return false
				}
			}
			return true
		})
	})
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() error {
			s := searcher{disk: v.disk, plan: p, left: left}
			for j := range jobs {
				j.done <- s.file(gctx, j.path)
			}
			return nil
		})
	}
	for j := range order {
		select {
		case f := <-j.done:
			if !f.skipped && !c.matches(f) {
				stop(nil)
			}
		case <-gctx.Done():
		}
		if gctx.Err() != nil {
			break
		}
	}
	err := g.Wait()
	if !c.complete {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// searcher reads files one after the other into one buffer.
type searcher struct {
	disk *disk
	plan *plan
	left *leftOut
	buf  []byte
}

const (
	window = 16 << 20 // how much of a large file is in memory, in bytes
	large  = 32 << 20 // files up to this size are read at once
)

// file searches one file. Line numbers and texts come from one open file, read once.
func (s *searcher) file(ctx context.Context, p string) found {
	none := found{path: p, skipped: true}
	if ctx.Err() != nil {
		return none
	}
	f, err := s.disk.open(p)
	if err != nil {
		if !missing(err) {
			s.left.unreadable(p, err)
		}
		return none
	}
	defer f.close()
	limit := large
	if f.stat.Size > large {
		limit = window
	}
	s.buf, err = f.whole(s.buf, limit)
	if err == nil && binary(s.buf) {
		s.left.binaryFile()
		return none
	}
	l := lineCollector{path: p, plan: s.plan}
	if err == nil && len(s.buf) < limit {
		l.add(s.buf, 1, 1, math.MaxInt)
	} else if err == nil {
		err = l.windows(ctx, f, s.buf)
	}
	if err != nil {
		s.left.unreadable(p, err)
		return none
	}
	return found{path: p, matches: l.matches, total: l.total}
}

// lineCollector makes matches of the matching lines of one file.
type lineCollector struct {
	path    string
	plan    *plan
	matches []Match
	total   int
}

// windows searches a file that is too large for memory, of which text holds the beginning. A window ends at a line's end.
// Matches in its last lines are left to the next window, which begins early enough to show what stands before them.
func (l *lineCollector) windows(ctx context.Context, f *file, text []byte) error {
	margin := l.plan.Context
	if l.plan.pattern.across {
		margin += strings.Count(l.plan.Text, "\n")
	}
	first, from := 1, 1 // the number of the window's first line, and of the first line that is not judged yet
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		n := len(text)
		text = append(text, make([]byte, window)...)
		read, err := f.fill(text[n:])
		if err != nil {
			return err
		}
		text = text[:n+read]
		if read == 0 {
			l.add(text, first, from, math.MaxInt)
			return nil
		}
		end := bytes.LastIndexByte(text, '\n') + 1
		keep := end
		for range margin {
			keep = bytes.LastIndexByte(text[:max(0, keep-1)], '\n') + 1
		}
		upto := first + bytes.Count(text[:keep], newline)
		if upto <= from {
			continue // lines longer than the window
		}
		l.add(text[:end], first, from, upto)
		from = upto
		for range margin {
			keep = bytes.LastIndexByte(text[:max(0, keep-1)], '\n') + 1
		}
		first += bytes.Count(text[:keep], newline)
		text = append(make([]byte, 0, len(text)-keep+window), text[keep:]...)
	}
}

// add takes the matches in the lines from <= number < upto of a text whose first line has the number first.
func (l *lineCollector) add(text []byte, first, from, upto int) {
	c := l.plan.Context
	l.plan.pattern.spans(text, first, func(sp span) bool {
		if sp.line < from {
			return true
		}
		if sp.line >= upto {
			return false
		}
		shown := 0 // the last line that the matches so far show
		if n := len(l.matches); n > 0 && l.total == n {
			last := &l.matches[n-1]
			last.After = last.After[:min(len(last.After), sp.line-last.Line-1)]
			shown = last.Line + len(last.After)
		}
		if l.total++; l.total > l.plan.Max {
			return true
		}
		l.matches = append(l.matches, Match{
			Path: l.path, Line: sp.line, Text: excerpt(text, sp),
			Before: linesBefore(text, sp.start, min(c, sp.line-1-shown)), After: linesAfter(text, sp.end, c),
		})
		return true
	})
}

// linesBefore gives up to n lines that end before the line at start.
func linesBefore(text []byte, start, n int) []string {
	var out []string
	for ; n > 0 && start > 0; n-- {
		begin := bytes.LastIndexByte(text[:start-1], '\n') + 1
		end, _ := lineEnd(text, begin)
		out = append([]string{excerpt(text, span{start: begin, end: end, from: begin, to: begin})}, out...)
		start = begin
	}
	return out
}

// linesAfter gives up to n lines after the line whose text ends at end.
func linesAfter(text []byte, end, n int) []string {
	_, pos := lineEnd(text, end)
	var out []string
	for ; n > 0 && pos < len(text); n-- {
		stop, next := lineEnd(text, pos)
		out = append(out, excerpt(text, span{start: pos, end: stop, from: pos, to: pos}))
		pos = next
	}
	return out
}
