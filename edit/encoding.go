package edit

import (
	"bytes"
	"unicode/utf8"

	"github.com/toold/toold/edit/lines"
)

// wideEncoding names the encoding of a text that is made of units of two or four bytes, where a line of single bytes
// put in would shift everything behind it. It gives "" for any other text.
func wideEncoding(b []byte) string {
	for _, m := range []struct{ mark, name string }{
		{"\xff\xfe\x00\x00", "UTF-32LE"},
		{"\x00\x00\xfe\xff", "UTF-32BE"},
		{"\xff\xfe", "UTF-16LE"},
		{"\xfe\xff", "UTF-16BE"},
	} {
		if bytes.HasPrefix(b, []byte(m.mark)) {
			return m.name
		}
	}
	return unmarkedWide(b)
}

// unmarkedWide recognises UTF-16 without a mark by its zero bytes: nearly all on one side of the pairs.
func unmarkedWide(b []byte) string {
	head := b[:min(len(b), 1024)&^1]
	var zeros [2]int
	for i, c := range head {
		if c == 0 {
			zeros[i&1]++
		}
	}
	pairs := len(head) / 2
	switch {
	case pairs < 4 || len(b)%2 != 0:
		return ""
	case zeros[1] > pairs*3/4 && zeros[0] <= pairs/8:
		return "UTF-16LE"
	case zeros[0] > pairs*3/4 && zeros[1] <= pairs/8:
		return "UTF-16BE"
	}
	return ""
}

func (d *doc) refuseWide(name string) *Error {
	return fail(NotUTF8, "%s is %s, which edits of single bytes would break. Nothing was changed. Convert it first, for example with "+
		"iconv -f %s -t UTF-8, and back afterwards.", d.req.Path, name, name)
}

// checkEncoding refuses new text beyond ASCII for a file that is not UTF-8: it would mix two encodings in one file.
// Lines that the replaced text holds already are no new text.
func (d *doc) checkEncoding(f found) error {
	if isASCII([]byte(f.replace)) || utf8.Valid(d.body) {
		return nil
	}
	for _, p := range f.patches {
		from, to := lineStart(d.body, p.from), d.hunkEnd(p.from, p.to, nil)
		old := make(map[string]bool)
		for _, line := range lines.Split(d.body[from:to]) {
			old[string(lines.Content(line))] = true
		}
		for _, line := range lines.Split(p.text) {
			if !isASCII(line) && !old[string(lines.Content(line))] {
				return d.notUTF8(line)
			}
		}
	}
	return nil
}

func (d *doc) notUTF8(line []byte) *Error {
	at := firstInvalid(d.body)
	e := fail(NotUTF8, "%s is not valid UTF-8 (line %d, byte 0x%02X; likely %s) and the replacement has characters beyond ASCII (%q), "+
		"which would put a second encoding into the file. Nothing was changed. Use ASCII or escapes in the replacement, or convert the file "+
		"to UTF-8 first.", d.req.Path, lines.At(d.body, at), d.body[at], likelyEncoding(d.body), clip(string(lines.Content(line)), 60))
	e.Line = lines.At(d.body, at)
	return e
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func firstInvalid(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(b)
}

// likelyEncoding guesses by the bytes that are not UTF-8.
func likelyEncoding(b []byte) string {
	valid, invalid, windows := 0, 0, false
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			invalid++
			windows = windows || b[i] < 0xa0
		case size > 1:
			valid++
		}
		i += size
	}
	switch {
	case valid > invalid:
		return "UTF-8 with damaged bytes"
	case windows:
		return "Windows-1252"
	}
	return "ISO-8859-1 (Latin-1)"
}
