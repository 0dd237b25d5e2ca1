package edit

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxShown is how many characters of a line a message shows on either side of the point of interest.
const maxShown = 80

// visible writes a line so that what cannot be told apart on paper can be: blanks at the ends and in runs as · and →,
// other unusual characters by their code points. Of a long line it writes what is around point; column is the number
// of characters in front of that.
func visible(line []byte, point int) (text string, column int) {
	from, to := point, point
	for n := 0; n < maxShown && from > 0; n++ {
		_, size := utf8.DecodeLastRune(line[:from])
		from -= size
	}
	for n := 0; n < maxShown && to < len(line); n++ {
		_, size := utf8.DecodeRune(line[to:])
		to += size
	}
	var out strings.Builder
	if from > 0 {
		out.WriteString("…")
	}
	for i := from; i < to; {
		if i == point {
			column = utf8.RuneCountInString(out.String())
		}
		r, size := utf8.DecodeRune(line[i:])
		out.WriteString(visibleChar(line, i, r, size))
		i += size
	}
	if point == to {
		column = utf8.RuneCountInString(out.String())
	}
	if to < len(line) {
		out.WriteString("…")
	}
	return out.String(), column
}

func visibleChar(line []byte, i int, r rune, size int) string {
	switch {
	case r == utf8.RuneError && size == 1:
		return fmt.Sprintf("<0x%02X>", line[i])
	case r == '\t':
		return "→"
	case r == ' ':
		if singleBlank(line, i) {
			return " "
		}
		return "·"
	case !unicode.IsPrint(r), lookAlike(r) == ' ':
		return fmt.Sprintf("<U+%04X>", r)
	}
	return string(line[i : i+size])
}

// singleBlank says whether the space at i stands alone between two other characters.
func singleBlank(line []byte, i int) bool {
	blank := func(i int) bool { return i < 0 || i >= len(line) || line[i] == ' ' || line[i] == '\t' }
	return !blank(i-1) && !blank(i+1)
}

// difference finds where two lines first differ, blanks and look-alikes aside. b may be a part of a: it is held
// against the part of a that it agrees with longest, which begins at start.
func difference(a, b []byte) (start, i, j int) {
	start = skipBlanks(a, 0)
	i, j = agree(a, b, start)
	first := skipBlanks(b, 0)
	work := len(b)
	for at := start + 1; at < len(a) && j < len(b) && work < maxWork; at++ {
		work++
		if first == len(b) || !sameChar(a[at:], b[first:]) {
			continue
		}
		i1, j1 := agree(a, b, at)
		work += j1
		if j1 > j {
			start, i, j = at, i1, j1
		}
	}
	return start, i, j
}

// maxWork bounds how many characters are compared to find where in a line the agreement begins.
const maxWork = 1 << 20

// agree walks b along a from start, past the blanks, for as long as they agree.
func agree(a, b []byte, start int) (i, j int) {
	i, j = skipBlanks(a, start), skipBlanks(b, 0)
	for i < len(a) && j < len(b) && sameChar(a[i:], b[j:]) {
		_, _, sizeA := loosest().char(a[i:])
		_, _, sizeB := loosest().char(b[j:])
		i, j = skipBlanks(a, i+sizeA), skipBlanks(b, j+sizeB)
	}
	return i, j
}

// sameChar says whether a and b begin with the same character or look-alikes.
func sameChar(a, b []byte) bool {
	_, asA, sizeA := loosest().char(a)
	_, asB, sizeB := loosest().char(b)
	if asA == 0 && sizeA == 1 {
		asA = a[0]
	}
	if asB == 0 && sizeB == 1 {
		asB = b[0]
	}
	return asA == asB && (asA != 0 || string(a[:sizeA]) == string(b[:sizeB]))
}

// literal gives the first byte in which b differs from a[start:], every blank counting.
func literal(a, b []byte, start int) (i, j int) {
	for i = start; i < len(a) && j < len(b) && a[i] == b[j]; i, j = i+1, j+1 {
		continue
	}
	for j > 0 && (i < len(a) && !utf8.RuneStart(a[i]) || j < len(b) && !utf8.RuneStart(b[j])) {
		i, j = i-1, j-1
	}
	return i, j
}

func skipBlanks(line []byte, i int) int {
	for i < len(line) {
		blank, _, size := loosest().char(line[i:])
		if !blank {
			break
		}
		i += size
	}
	return i
}

// composedAlike says whether two lines are the same letters, composed in one and decomposed in the other.
func composedAlike(a, b []byte) bool {
	const most = 1 << 12 // bytes of a line that anybody would compare by eye
	return len(a) < most && len(b) < most && !bytes.Equal(a, b) && bytes.Equal(norm.NFC.Bytes(a), norm.NFC.Bytes(b))
}

// charAt names the character at i, with its combining marks: quoted, and by code points when codes is set.
func charAt(line []byte, i int, codes bool) string {
	if i >= len(line) {
		return "the end of the line"
	}
	r, size := utf8.DecodeRune(line[i:])
	if r == utf8.RuneError && size == 1 {
		return fmt.Sprintf("the byte 0x%02X, which is no UTF-8", line[i])
	}
	end := i + size
	for end < len(line) {
		m, n := utf8.DecodeRune(line[end:])
		if !unicode.Is(unicode.M, m) {
			break
		}
		end += n
	}
	s := fmt.Sprintf("%q", line[i:end])
	if codes {
		var list []string
		for _, r := range string(line[i:end]) {
			list = append(list, fmt.Sprintf("U+%04X", r))
		}
		s += " (" + strings.Join(list, " ") + ")"
	}
	return s
}

// plain says whether the character at i is one that anybody can read off the page.
func plain(line []byte, i int) bool {
	return i >= len(line) || line[i] > ' ' && line[i] < 0x7f && (i+1 >= len(line) || line[i+1] < utf8.RuneSelf)
}
