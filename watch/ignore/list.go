// Package ignore decides which files a search leaves out, exactly as git does: gitignore patterns, their precedence and
// their nesting. It also reads what surrounds a workspace: the patterns of parent folders up to the repository's root,
// .git/info/exclude and core.excludesFile.
package ignore

import "strings"

// A List is the patterns of one ignore file. The zero List matches nothing. It must not be changed after Parse.
type List struct {
	patterns []pattern
}

// Verdict is what a list says about a path.
type Verdict uint8

// The verdicts.
const (
	Silent  Verdict = iota // no pattern matches
	Exclude                // the last pattern that matches rules the path out
	Include                // the last pattern that matches begins with !
)

// pattern is one line, parsed as git parses it.
type pattern struct {
	text     string // without !, a leading slash of an anchored pattern, and the trailing slash
	literal  int    // length of the part before the first special character
	negated  bool
	folder   bool // matches folders only
	anchored bool // matches the whole path and not the last name
	suffix   bool // * and then nothing special
}

// Parse reads an ignore file. No content is an error: as in git, a line that makes no sense matches nothing.
func Parse(data []byte) *List {
	l := &List{}
	text := strings.TrimPrefix(string(data), "\ufeff")
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		line, _, _ = strings.Cut(strings.TrimSuffix(line, "\r"), "\x00")
		if p, ok := parseLine(trimSpaces(line)); ok {
			l.patterns = append(l.patterns, p)
		}
	}
	return l
}

func parseLine(line string) (p pattern, ok bool) {
	line, p.negated = strings.CutPrefix(line, "!")
	line, p.folder = strings.CutSuffix(line, "/")
	p.anchored = strings.Contains(line, "/")
	p.suffix = strings.HasPrefix(line, "*") && special(line[1:]) == len(line)-1
	p.text = line
	if p.anchored {
		p.text = strings.TrimPrefix(line, "/")
	}
	p.literal = special(p.text)
	return p, line != ""
}

// trimSpaces removes the spaces at the end that no backslash protects.
func trimSpaces(s string) string {
	end := 0 // after the last character that stays
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = i + 1
	}
	return s[:min(end, len(s))]
}

// special gives the index of the first character of s that is not taken literally, or its length.
func special(s string) int {
	if i := strings.IndexAny(s, `*?[\`); i >= 0 {
		return i
	}
	return len(s)
}

// Match gives the verdict on a path, slash-separated and relative to the folder of the ignore file. With fold, ASCII
// letters match in either case (core.ignoreCase).
func (l *List) Match(path string, folder, fold bool) Verdict {
	base := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(l.patterns) - 1; i >= 0; i-- {
		p := &l.patterns[i]
		if p.folder && !folder {
			continue
		}
		if p.anchored && !p.matchPath(path, fold) || !p.anchored && !p.matchBase(base, fold) {
			continue
		}
		if p.negated {
			return Include
		}
		return Exclude
	}
	return Silent
}

func (l *List) empty() bool { return l == nil || len(l.patterns) == 0 }

// matchesAll says that some pattern rules out any file and folder beside the ignore file, whatever its name, and that only
// patterns for certain names follow.
func (l *List) matchesAll() bool {
	const nobodysName = "\x01"
	return l.Match(nobodysName, false, false) == Exclude && l.Match(nobodysName, true, false) == Exclude
}

func (p *pattern) matchBase(base string, fold bool) bool {
	switch {
	case p.literal == len(p.text):
		return equal(p.text, base, fold)
	case p.suffix:
		n := len(p.text) - 1
		return len(base) >= n && equal(p.text[1:], base[len(base)-n:], fold)
	}
	return wildmatch(p.text, base, false, fold)
}

// matchPath compares the literal beginning first and gives only the rest to wildmatch, for which a ** at its beginning
// then stands between slashes. That is what git does, and it shows: "/a**/b" matches "ab".
func (p *pattern) matchPath(path string, fold bool) bool {
	n := p.literal
	if len(path) < n || !equal(p.text[:n], path[:n], fold) {
		return false
	}
	if n == len(p.text) && n == len(path) {
		return true
	}
	return wildmatch(p.text[n:], path[n:], true, fold)
}

func equal(a, b string, fold bool) bool {
	if !fold || len(a) != len(b) {
		return a == b
	}
	var m wildmatcher
	m.fold = true
	for i := range len(a) {
		if m.lower(a[i]) != m.lower(b[i]) {
			return false
		}
	}
	return true
}
