// Package lines holds the one rule for what a line is, shared by everything that counts, reads, edits or searches text.
//
// Only LF ends a line, and CRLF is one end. A lone CR, form feed, NEL or U+2028 is an ordinary character. A final
// newline ends the last line and starts no other; an unterminated last line counts; an empty text has no lines. Two
// counters that disagree about this make a range edit hit the neighbour of the line that was read.
package lines

import "bytes"

// Count gives the number of lines of b.
func Count(b []byte) int {
	n := bytes.Count(b, []byte{'\n'})
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}

// Split cuts b into its lines, each with its ending. The lines share b's memory.
func Split(b []byte) [][]byte {
	out := make([][]byte, 0, Count(b))
	for len(b) > 0 {
		line, rest := Cut(b)
		out = append(out, line)
		b = rest
	}
	return out
}

// Cut gives the first line of b with its ending, and what follows it.
func Cut(b []byte) (line, rest []byte) {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return b[: i+1 : i+1], b[i+1:]
	}
	return b, nil
}

// Content gives a line without its ending.
func Content(line []byte) []byte {
	return line[:len(line)-len(Ending(line))]
}

// Ending gives the ending of a line: "\n", "\r\n", or nothing for an unterminated one.
func Ending(line []byte) []byte {
	n := len(line)
	if n == 0 || line[n-1] != '\n' {
		return nil
	}
	if n > 1 && line[n-2] == '\r' {
		return line[n-2:]
	}
	return line[n-1:]
}

// At gives the 1-based number of the line that holds the byte at offset.
func At(b []byte, offset int) int {
	return 1 + bytes.Count(b[:offset], []byte{'\n'})
}

// Offset gives the byte offset at which the 1-based line n begins. Past the last line it gives len(b).
func Offset(b []byte, n int) int {
	at := 0
	for ; n > 1; n-- {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return len(b)
		}
		at += i + 1
	}
	return at
}

// Span gives the byte offsets of the lines start to end, both 1-based and included.
func Span(b []byte, start, end int) (from, to int) {
	from = Offset(b, start)
	if end < start {
		return from, from
	}
	return from, from + Offset(b[from:], end-start+2)
}
