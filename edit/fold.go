package edit

import (
	"hash/maphash"
	"slices"
	"unicode/utf8"
)

// rung is one step of the tolerance ladder: what two lines may differ in and still count as the same.
type rung struct {
	match  Match
	blanks tolerance
	fold   bool // look-alike quotes, dashes and spaces are the same
}

// tolerance says which blanks do not count.
type tolerance uint8

const (
	allCount   tolerance = iota
	noTrailing           // none at the end
	noOuter              // none at either end
	noRuns               // and a run inside counts as one
	noBlanks             // none at all
)

// ladder gives the rungs from the strictest on. Each is tried only when the ones before found nothing.
func ladder() []rung {
	return []rung{
		{TrailingBlanks, noTrailing, false},
		{Indentation, noOuter, false},
		{Spacing, noRuns, false},
		{NoBlanks, noBlanks, false},
		{LookAlikes, noTrailing, true},
		{LookAlikes, noOuter, true},
		{LookAlikes, noRuns, true},
		{LookAlikes, noBlanks, true},
	}
}

// loosest finds whatever any rung finds.
func loosest() rung { return rung{LookAlikes, noBlanks, true} }

// key appends the form of a line that counts on this rung: lines with equal keys are the same.
func (g rung) key(dst, line []byte) []byte {
	switch g.blanks {
	case allCount:
		return append(dst, line...)
	case noBlanks:
		if out, ok := withoutBlanks(dst, line, g.fold); ok {
			return out
		}
	}
	start, gap := len(dst), -1
	for i := 0; i < len(line); {
		blank, as, size := g.char(line[i:])
		if blank {
			if gap < 0 {
				gap = i
			}
			i += size
			continue
		}
		if gap >= 0 {
			dst = g.gap(dst, line[gap:i], len(dst) == start)
			gap = -1
		}
		if as != 0 {
			dst = append(dst, as)
		} else {
			dst = append(dst, line[i:i+size]...)
		}
		i += size
	}
	return dst
}

// withoutBlanks is key for the rungs that look at no blank at all, which every line of a file is put through. It gives
// up at characters that may be look-alikes.
func withoutBlanks(dst, line []byte, fold bool) ([]byte, bool) {
	n := len(dst)
	dst = slices.Grow(dst, len(line))
	out := dst[:n+len(line)]
	for _, c := range line {
		if fold && c >= utf8.RuneSelf {
			return dst, false
		}
		out[n] = c
		if c != ' ' && c != '\t' {
			n++
		}
	}
	return out[:n], true
}

// char classifies the first character: whether it is a blank, what it counts as when that is not itself, and its
// length in bytes.
func (g rung) char(b []byte) (blank bool, as byte, size int) {
	if c := b[0]; c < utf8.RuneSelf || !g.fold {
		return c == ' ' || c == '\t', 0, 1
	}
	r, size := utf8.DecodeRune(b)
	as = lookAlike(r)
	return as == ' ', as, size
}

// gap appends what a run of blanks in front of other characters counts as.
func (g rung) gap(dst, run []byte, leading bool) []byte {
	switch {
	case g.blanks == noBlanks, leading && g.blanks >= noOuter:
		return dst
	case g.blanks == noRuns:
		return append(dst, ' ')
	}
	for i := 0; i < len(run); {
		_, as, size := g.char(run[i:])
		if as == 0 {
			as = run[i]
		}
		dst = append(dst, as)
		i += size
	}
	return dst
}

// lead gives the blanks that a line begins with.
func (g rung) lead(line []byte) []byte {
	i := 0
	for i < len(line) {
		blank, _, size := g.char(line[i:])
		if !blank {
			break
		}
		i += size
	}
	return line[:i]
}

// blank says whether a line holds nothing but blanks.
func (g rung) blank(line []byte) bool { return len(g.lead(line)) == len(line) }

// lookAlike gives the ASCII character that r is easily taken for, or 0.
func lookAlike(r rune) byte {
	switch r {
	case '‘', '’', '‚', '‛', '′', 'ʼ', '＇':
		return '\''
	case '“', '”', '„', '‟', '″', '＂':
		return '"'
	case '‐', '‑', '‒', '–', '—', '―', '−', '﹘', '﹣', '－':
		return '-'
	case '\u00a0', '\u1680', '\u202f', '\u205f', '\u3000':
		return ' '
	}
	if r >= '\u2000' && r <= '\u200a' {
		return ' '
	}
	return 0
}

// hashes gives a hash of each line's key.
func (g rung) hashes(seed maphash.Seed, text [][]byte) []uint64 {
	out := make([]uint64, len(text))
	var buf []byte
	for i, line := range text {
		buf = g.key(buf[:0], line)
		out[i] = maphash.Bytes(seed, buf)
	}
	return out
}
