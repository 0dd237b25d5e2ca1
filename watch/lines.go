package watch

import (
	"bytes"
	"unicode/utf8"
)

// span is a matching line: its place in the text without the line end, its number, and where in it the first match is.
type span struct {
	line       int // 1-based
	start, end int // of the line in the text
	from, to   int // of the match in the text; to may lie in a later line
}

// spans calls yield for each matching line of text, until it says false. The first line has the number first.
func (p *pattern) spans(text []byte, first int, yield func(span) bool) {
	switch {
	case p.literal != nil:
		p.anywhere(text, first, yield, func(b []byte) (int, int) {
			i := bytes.Index(b, p.literal)
			return i, i + len(p.literal)
		})
	case p.across:
		p.anywhere(text, first, yield, func(b []byte) (int, int) {
			if m := p.re.FindIndex(b); m != nil {
				return m[0], m[1]
			}
			return -1, -1
		})
	default:
		p.eachLine(text, first, yield)
	}
}

// anywhere looks for a match in all of the text and goes on after the line that it is in. The lines that a match across
// lines touches are all matching lines.
func (p *pattern) anywhere(text []byte, first int, yield func(span) bool, find func([]byte) (int, int)) {
	pos, line := 0, first // where the search goes on, always a line's start, and its number
	for pos < len(text) {
		from, to := find(text[pos:])
		if from < 0 {
			return
		}
		from, to = pos+from, pos+to
		line += bytes.Count(text[pos:from], newline)
		pos = bytes.LastIndexByte(text[:from], '\n') + 1
		for more := true; more; more = pos < to && pos < len(text) {
			end, next := lineEnd(text, pos)
			if !yield(span{line, pos, end, min(max(from, pos), end), min(max(to, from), end)}) {
				return
			}
			pos, line = next, line+1
		}
	}
}

var newline = []byte{'\n'}

// eachLine tries every line by itself, or, where it is known what a match needs, the lines that have that.
func (p *pattern) eachLine(text []byte, first int, yield func(span) bool) {
	pos, line := 0, first
	var s *seeker
	if p.needles.usable(text) {
		s = p.needles.seek(text)
	}
	for pos < len(text) {
		if s != nil {
			at := s.from(pos)
			if at < 0 {
				return
			}
			line += bytes.Count(text[pos:at], newline)
			pos = max(pos, bytes.LastIndexByte(text[:at], '\n')+1)
		}
		end, next := lineEnd(text, pos)
		if m := p.matchLine(text, pos, end, next); m != nil && !yield(span{line, pos, end, min(pos+m[0], end), min(pos+m[1], end)}) {
			return
		}
		pos, line = next, line+1
	}
}

// matchLine tries one line. Its end is before its CR LF as well as before its LF, so that $ holds before either.
func (p *pattern) matchLine(text []byte, pos, end, next int) []int {
	m := p.re.FindIndex(text[pos:end])
	if m == nil && end < next && text[end] == '\r' {
		m = p.re.FindIndex(text[pos : end+1])
	}
	return m
}

// lineEnd gives where the line that begins at pos ends, without its LF or CR LF, and where the next one begins.
func lineEnd(text []byte, pos int) (end, next int) {
	i := bytes.IndexByte(text[pos:], '\n')
	if i < 0 {
		return len(text), len(text)
	}
	end = pos + i
	if end > pos && text[end-1] == '\r' {
		return end - 1, end + 1
	}
	return end, end + 1
}

// maxLine is how much of a line is shown, in bytes.
const maxLine = 300

// excerpt gives the text of a line as an answer shows it: all of it, or the part around the match. It is valid UTF-8.
func excerpt(text []byte, s span) string {
	line := text[s.start:s.end]
	if len(line) <= maxLine {
		return valid(line)
	}
	from, to := s.from-s.start, s.to-s.start
	room := maxLine - 2*len(ellipsis)
	start := max(0, from-max(0, room-(to-from))/2)
	start = max(0, min(start, len(line)-room))
	start = runeStart(line, start)
	end := runeStart(line, min(len(line), start+room))
	out := valid(line[start:end])
	if start > 0 {
		out = ellipsis + out
	}
	if end < len(line) {
		out += ellipsis
	}
	return out
}

const ellipsis = "…"

// valid replaces each byte that is no UTF-8 by U+FFFD.
func valid(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	out := make([]rune, 0, len(b))
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		out = append(out, r)
		b = b[n:]
	}
	return string(out)
}

// runeStart moves i back to where a character begins.
func runeStart(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	for k := 0; k < utf8.UTFMax && i-k >= 0; k++ {
		if utf8.RuneStart(b[i-k]) {
			return i - k
		}
	}
	return i
}

// binaryHead is how much of a file decides whether it is binary, as in git.
const binaryHead = 8000

// binary says whether a file is no text, by its beginning: a NUL, or the mark of UTF-16.
func binary(text []byte) bool {
	head := text[:min(len(text), binaryHead)]
	return bytes.IndexByte(head, 0) >= 0 || bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff})
}
