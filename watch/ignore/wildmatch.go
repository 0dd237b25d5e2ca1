package ignore

import "strings"

// outcome is what a part of a wildcard match says to the part that called it.
type outcome uint8

const (
	hit        outcome = iota
	miss               // no match here; the caller may try further on
	abort              // no match, and none further on either
	abortToDir         // no match before the next slash: only ** can go past it
)

// maxSteps bounds the work of one match, so that a hostile pattern costs milliseconds and not hours. Real patterns need
// a few hundred steps. A match that runs out counts as a miss: the file is searched rather than hidden.
const maxSteps = 1 << 18

// wildmatcher matches byte by byte as git's wildmatch does, with its corner cases: a ** counts as one only between
// slashes, a backslash quotes, classes take [:names:], and no class matches a slash.
type wildmatcher struct {
	paths bool // * and ? do not match a slash, ** does
	fold  bool // ASCII letters match in either case
	steps int
}

// wildmatch says whether text matches pattern.
func wildmatch(pattern, text string, paths, fold bool) bool {
	m := wildmatcher{paths: paths, fold: fold, steps: maxSteps}
	return m.match(pattern, text) == hit
}

func (m *wildmatcher) match(pattern, text string) outcome {
	p, t := 0, 0
	for ; p < len(pattern); p, t = p+1, t+1 {
		if m.steps--; m.steps < 0 {
			return abort
		}
		c := pattern[p]
		if t == len(text) && c != '*' {
			return abort
		}
		switch c {
		case '*':
			return m.star(pattern, p, text[t:])
		case '?':
			if m.paths && text[t] == '/' {
				return miss
			}
		case '[':
			end, in := m.class(pattern, p, m.lower(text[t]))
			if end < 0 {
				return abort
			}
			if !in || m.paths && text[t] == '/' {
				return miss
			}
			p = end
		default:
			if c == '\\' {
				if p++; p == len(pattern) {
					return miss
				}
				c = pattern[p]
				if m.lower(text[t]) != c {
					return miss
				}
			} else if m.lower(text[t]) != m.lower(c) {
				return miss
			}
		}
	}
	if t < len(text) {
		return miss
	}
	return hit
}

// star matches the asterisks at pattern[p] and everything after them.
func (m *wildmatcher) star(pattern string, p int, text string) outcome {
	rest := strings.TrimLeft(pattern[p:], "*")
	crossing := !m.paths
	if m.paths && len(pattern)-p-len(rest) > 1 && betweenSlashes(pattern[:p], rest) {
		// "a/**/b" matches "a/b" too.
		if strings.HasPrefix(rest, "/") && m.match(rest[1:], text) == hit {
			return hit
		}
		crossing = true
	}
	if rest == "" {
		if !crossing && strings.IndexByte(text, '/') >= 0 {
			return abortToDir
		}
		return hit
	}
	if !crossing && rest[0] == '/' {
		i := strings.IndexByte(text, '/')
		if i < 0 {
			return abort
		}
		return m.match(rest[1:], text[i+1:])
	}
	return m.anywhere(rest, text, crossing)
}

// anywhere tries rest at every place of text that the asterisk before it can reach.
func (m *wildmatcher) anywhere(rest, text string, crossing bool) outcome {
	for i := 0; i < len(text); i++ {
		if m.steps--; m.steps < 0 {
			return abort
		}
		switch got := m.match(rest, text[i:]); {
		case got == miss:
			if !crossing && text[i] == '/' {
				return abortToDir
			}
		case got != abortToDir || !crossing:
			return got
		}
	}
	return abort
}

func betweenSlashes(before, after string) bool {
	starts := before == "" || strings.HasSuffix(before, "/")
	return starts && (after == "" || after[0] == '/' || strings.HasPrefix(after, `\/`))
}

// class matches c against the bracket expression at pattern[p] and gives the index of its closing bracket, or -1 when
// the expression is malformed.
func (m *wildmatcher) class(pattern string, p int, c byte) (end int, in bool) {
	at := func(i int) byte {
		if i < len(pattern) {
			return pattern[i]
		}
		return 0
	}
	p++
	negated := at(p) == '!' || at(p) == '^'
	if negated {
		p++
	}
	var prev byte
	for first := true; first || at(p) != ']'; first, p = false, p+1 {
		q := at(p)
		switch {
		case q == 0:
			return -1, false
		case q == '\\':
			p++
			if q = at(p); q == 0 {
				return -1, false
			}
			in = in || c == q
			prev = q
		case q == '-' && prev != 0 && at(p+1) != 0 && at(p+1) != ']':
			p++
			if q = at(p); q == '\\' {
				p++
				if q = at(p); q == 0 {
					return -1, false
				}
			}
			in = in || c >= prev && c <= q || m.fold && upper(c) >= prev && upper(c) <= q
			prev = 0
		case q == '[' && at(p+1) == ':':
			start := p + 2
			close := strings.IndexByte(pattern[start:], ']')
			if close < 0 {
				return -1, false
			}
			if close < 1 || pattern[start+close-1] != ':' {
				in = in || c == '['
				prev = '['
				break
			}
			named, known := m.named(pattern[start:start+close-1], c)
			if !known {
				return -1, false
			}
			in = in || named
			p, prev = start+close, 0
		default:
			in = in || c == q
			prev = q
		}
	}
	return p, in != negated
}

// named says whether c is in the POSIX class name, and whether there is such a class.
func (m *wildmatcher) named(name string, c byte) (in, known bool) {
	digit := c >= '0' && c <= '9'
	low := c >= 'a' && c <= 'z'
	up := c >= 'A' && c <= 'Z'
	graph := c > ' ' && c < 0x7f
	switch name {
	case "alnum":
		return digit || low || up, true
	case "alpha":
		return low || up, true
	case "blank":
		return c == ' ' || c == '\t', true
	case "cntrl":
		return c < ' ' || c == 0x7f, true
	case "digit":
		return digit, true
	case "graph":
		return graph, true
	case "lower":
		return low, true
	case "print":
		return graph || c == ' ', true
	case "punct":
		return graph && !digit && !low && !up, true
	case "space":
		return c == ' ' || c >= '\t' && c <= '\r', true
	case "upper":
		return up || m.fold && low, true
	case "xdigit":
		return digit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F', true
	}
	return false, false
}

func (m *wildmatcher) lower(c byte) byte {
	if m.fold && c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}
