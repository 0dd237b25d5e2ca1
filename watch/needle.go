package watch

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// needles are texts of which every match has at least one. A line without any need not be tried.
type needles struct {
	texts [][]byte
	fold  bool  // ASCII letters in either case; the texts are in lower case
	rare  []int // for fold: the index in each text of the byte to look for first
}

// maxNeedles bounds how many texts are looked for at once: more cost more than they save.
const maxNeedles = 8

// needlesOf gives what every match of an expression has, nil when nothing is sure.
func needlesOf(re *syntax.Regexp) *needles {
	texts, fold := required(re.Simplify())
	if len(texts) == 0 || len(texts) > maxNeedles {
		return nil
	}
	n := &needles{fold: fold}
	for _, t := range texts {
		if fold {
			t = strings.ToLower(t)
		}
		n.texts = append(n.texts, []byte(t))
		n.rare = append(n.rare, rarest(t))
	}
	return n
}

// required gives texts of which each match of re has one.
func required(re *syntax.Regexp) (texts []string, fold bool) {
	switch re.Op {
	case syntax.OpLiteral:
		s, fold := string(re.Rune), re.Flags&syntax.FoldCase != 0
		if strings.ContainsRune(s, utf8.RuneError) || fold && !ascii(s) {
			return nil, false // an invalid byte matches U+FFFD; case beyond ASCII is not known here
		}
		return []string{s}, fold
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		best := 0
		for _, sub := range re.Sub {
			if t, f := required(sub); worth(t) > best {
				texts, fold, best = t, f, worth(t)
			}
		}
		return texts, fold
	case syntax.OpAlternate:
		for i, sub := range re.Sub {
			t, f := required(sub)
			if len(t) == 0 || i > 0 && f != fold {
				return nil, false
			}
			texts, fold = append(texts, t...), f
		}
		return texts, fold
	}
	return nil, false
}

// worth is how much a set of texts narrows a search: the length of the shortest.
func worth(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	n := len(texts[0])
	for _, t := range texts {
		n = min(n, len(t))
	}
	return n
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// rarest gives the index of the byte of a lower-case text that is least often seen in source code.
func rarest(s string) int {
	const often = " etaonirs_lcdupfmhg,.()-=;*\t/bvyw\"0x1k>2:&+{}[]jqz"
	at, best := 0, -1
	for i := range len(s) {
		rank := strings.IndexByte(often, s[i])
		if rank < 0 {
			rank = len(often)
		}
		if rank > best {
			at, best = i, rank
		}
	}
	return at
}

// usable says whether the needles can be trusted in this text: two characters beyond ASCII equal ASCII letters when case
// does not count.
func (n *needles) usable(text []byte) bool {
	if n == nil {
		return false
	}
	for _, t := range n.texts {
		if n.fold && (bytes.IndexByte(t, 'k') >= 0 && bytes.Contains(text, []byte("\u212a")) || bytes.IndexByte(t, 's') >= 0 && bytes.Contains(text, []byte("\u017f"))) {
			return false
		}
	}
	return true
}

// seeker finds the needles in one text, from the front to the back.
type seeker struct {
	*needles
	text []byte
	next []int // per needle: where it stands next, -1 when it does not any more, or before pos when it has to be looked for
}

func (n *needles) seek(text []byte) *seeker {
	s := &seeker{needles: n, text: text, next: make([]int, len(n.texts))}
	for i := range s.next {
		s.next[i] = s.find(i, 0)
	}
	return s
}

// from gives where the first needle at or after pos stands, -1 when there is none.
func (s *seeker) from(pos int) int {
	first := -1
	for i, at := range s.next {
		if at >= 0 && at < pos {
			at = s.find(i, pos)
			s.next[i] = at
		}
		if at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

func (s *seeker) find(i, pos int) int {
	needle := s.texts[i]
	if !s.fold {
		if at := bytes.Index(s.text[pos:], needle); at >= 0 {
			return pos + at
		}
		return -1
	}
	r := s.rare[i]
	low := needle[r]
	up := low
	if low >= 'a' && low <= 'z' {
		up -= 'a' - 'A'
	}
	for from := pos + r; from < len(s.text); {
		at := indexEither(s.text[from:], low, up)
		if at < 0 {
			return -1
		}
		start := from + at - r
		if start+len(needle) <= len(s.text) && equalLower(s.text[start:start+len(needle)], needle) {
			return start
		}
		from += at + 1
	}
	return -1
}

// indexEither gives where the first of two bytes stands. It looks through short pieces, for a byte that is not there would
// cost a look at the whole text each time.
func indexEither(b []byte, x, y byte) int {
	if x == y {
		return bytes.IndexByte(b, x)
	}
	const piece = 256
	for off := 0; off < len(b); off += piece {
		part := b[off:min(off+piece, len(b))]
		i := bytes.IndexByte(part, x)
		if i >= 0 {
			part = part[:i]
		}
		if j := bytes.IndexByte(part, y); j >= 0 {
			return off + j
		}
		if i >= 0 {
			return off + i
		}
	}
	return -1
}

// equalLower compares ASCII without regard to case; low is in lower case.
func equalLower(b, low []byte) bool {
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != low[i] {
			return false
		}
	}
	return true
}
