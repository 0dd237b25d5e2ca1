package logs

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"
)

// forward collects the last lines of a log that is read from its beginning.
type forward struct {
	q      Query
	filter filter
	ring   []string
	next   int // where the next line goes when the ring is full
	total  int64
	until  time.Time
	late   bool // the time was up
}

func newForward(q Query) *forward {
	return &forward{q: q, filter: newFilter(q.Filter), until: time.Now().Add(q.Limits.Search)}
}

// take takes a line; it gives false when the time is up.
func (f *forward) take(line []byte) bool {
	if f.late = time.Now().After(f.until); f.late {
		return false
	}
	if !f.filter.match(trim(line)) {
		return true
	}
	f.total++
	text := present(line, int64(len(line)), f.q.Limits.Line)
	if len(f.ring) < f.q.Lines {
		f.ring = append(f.ring, text)
		return true
	}
	f.ring[f.next] = text
	f.next = (f.next + 1) % len(f.ring)
	return true
}

// tail gives what was collected. all says that the log was read from its beginning.
func (f *forward) tail(all bool) Tail {
	lines := append(append([]string(nil), f.ring[f.next:]...), f.ring[:f.next]...)
	t := Tail{Lines: lines, Total: f.total, Counted: all && !f.late, Partial: f.late}
	return t.fit(f.q.Limits.Bytes)
}

// fit drops the oldest lines beyond a limit; the newest one always stays.
func (t Tail) fit(limit int64) Tail {
	size := int64(0)
	for i := len(t.Lines) - 1; i >= 0; i-- {
		if size += int64(len(t.Lines[i])) + 1; size > limit && i < len(t.Lines)-1 {
			t.Lines, t.Full = t.Lines[i+1:], true
			break
		}
	}
	return t
}

// eachLine hands the lines of r to take until it gives false. Of a line that is longer than maxLine only the beginning
// comes.
func eachLine(r io.Reader, take func(line []byte) bool) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		if room := maxLine - len(line); room > 0 {
			line = append(line, piece[:min(len(piece), room)]...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(line) == 0:
			return ignoreEOF(err)
		}
		if !take(bytes.TrimSuffix(line, []byte{'\n'})) || err != nil {
			return ignoreEOF(err)
		}
		line = line[:0]
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// Stream collects the last lines of what is written to it.
type Stream struct {
	f    *forward
	line []byte
}

// NewStream makes a stream for a query.
func NewStream(q Query) *Stream { return &Stream{f: newForward(q.withDefaults())} }

// Write takes a part of the log.
func (s *Stream) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		part := p
		if i >= 0 {
			part = p[:i]
		}
		if room := maxLine - len(s.line); room > 0 {
			s.line = append(s.line, part[:min(len(part), room)]...)
		}
		if i < 0 {
			return n, nil
		}
		s.f.take(s.line)
		s.line, p = s.line[:0], p[i+1:]
	}
	return n, nil
}

// Tail gives the last lines. How many there are before what was written is not known.
func (s *Stream) Tail() Tail {
	if len(s.line) > 0 {
		s.f.take(s.line)
		s.line = nil
	}
	return s.f.tail(false)
}
