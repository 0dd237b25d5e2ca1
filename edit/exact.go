package edit

import (
	"bytes"
	"strings"
)

// span is a run of bytes of the body.
type span struct{ from, to int }

// exact finds the search as given in the region, then with LF and CRLF taken as the same.
func (d *doc) exact(r region, search string) ([]span, Match) {
	text := d.body[r.from:r.to]
	if rest, ok := strings.CutPrefix(search, bom); ok && len(d.bom) > 0 {
		return d.exactAtMark(r, rest)
	}
	if hits := findAll(text, []byte(search)); len(hits) > 0 {
		return shift(wholeEndings(text, hits), r.from), Exact
	}
	if !strings.Contains(search, "\n") {
		return nil, Exact
	}
	return shift(findEitherEnding(text, search), r.from), LineEndings
}

// exactAtMark finds a search that opens with the file's byte order mark: it can only mean the first line.
func (d *doc) exactAtMark(r region, search string) ([]span, Match) {
	if r.from > 0 || search == "" {
		return nil, Exact
	}
	text := d.body[:r.to]
	if bytes.HasPrefix(text, []byte(search)) {
		return []span{{0, len(search)}}, Exact
	}
	hits := findEitherEnding(text, search)
	if len(hits) > 0 && hits[0].from == 0 {
		return hits[:1], LineEndings
	}
	return nil, Exact
}

func findAll(text, search []byte) []span {
	var hits []span
	for at := 0; ; {
		i := bytes.Index(text[at:], search)
		if i < 0 {
			return hits
		}
		hits = append(hits, span{at + i, at + i + len(search)})
		at += i + len(search)
	}
}

// wholeEndings lets hits that open with the LF of a CRLF take in its CR: the two are one ending, and replacing half of
// it would leave a stray CR behind.
func wholeEndings(text []byte, hits []span) []span {
	end := 0
	for i, h := range hits {
		if text[h.from] == '\n' && h.from > end && text[h.from-1] == '\r' {
			hits[i].from--
		}
		end = h.to
	}
	return hits
}

// findEitherEnding finds search with every ending, LF or CRLF, matching either.
func findEitherEnding(text []byte, search string) []span {
	hits := findAll(toLF(text), []byte(strings.ReplaceAll(search, "\r\n", "\n")))
	if len(hits) == 0 {
		return nil
	}
	// Walk the original beside the shortened text to find where each border lies.
	at, dropped := 0, 0
	original := func(border int) int {
		for at-dropped < border {
			i := indexCRLF(text[at:])
			if i < 0 || at+i-dropped >= border {
				break
			}
			at += i + 2
			dropped++
		}
		return border + dropped
	}
	for i, h := range hits {
		hits[i] = span{original(h.from), original(h.to)}
	}
	return hits
}

// toLF gives b with LF for every CRLF.
func toLF(b []byte) []byte {
	i := indexCRLF(b)
	if i < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for ; i >= 0; i = indexCRLF(b) {
		out = append(append(out, b[:i]...), '\n')
		b = b[i+2:]
	}
	return append(out, b...)
}

// indexCRLF gives the offset of the first CRLF, or -1.
func indexCRLF(b []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], '\r')
		if i < 0 || at+i+1 >= len(b) {
			return -1
		}
		at += i + 1
		if b[at] == '\n' {
			return at - 1
		}
	}
}

func shift(hits []span, by int) []span {
	for i := range hits {
		hits[i].from += by
		hits[i].to += by
	}
	return hits
}
