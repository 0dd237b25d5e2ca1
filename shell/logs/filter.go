package logs

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// filter decides which lines are given. Its zero value takes all.
type filter struct {
	re      *regexp.Regexp // nil when literal decides alone
	literal []byte         // every line that matches holds it; nil when nothing is known
}

// newFilter takes text for a regular expression, and when it is none for itself.
func newFilter(text string) filter {
	if text == "" {
		return filter{}
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return filter{literal: []byte(text)}
	}
	if tree, err := syntax.Parse(text, syntax.Perl); err == nil && tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase == 0 {
		return filter{literal: []byte(string(tree.Rune))}
	}
	f := filter{re: re}
	// A byte that is not UTF-8 matches U+FFFD, but does not look like it.
	if prefix, _ := re.LiteralPrefix(); prefix != "" && !strings.ContainsRune(prefix, utf8.RuneError) {
		f.literal = []byte(prefix)
	}
	return f
}

// all reports whether every line is taken.
func (f filter) all() bool { return f.re == nil && f.literal == nil }

// match reports whether a line, without its break, is taken.
func (f filter) match(line []byte) bool {
	if f.literal != nil && !bytes.Contains(line, f.literal) {
		return false
	}
	return f.re == nil || f.re.Match(line)
}

// lines calls take with the bounds of every line of text that matches, in order. All lines of text end with a line
// break, but for the last.
func (f filter) lines(text []byte, take func(start, end int)) {
	for pos := 0; pos < len(text); {
		if f.literal != nil {
			// skip to the line of the next place that could match
			i := bytes.Index(text[pos:], f.literal)
			if i < 0 {
				return
			}
			if j := bytes.LastIndexByte(text[pos:pos+i], '\n'); j >= 0 {
				pos += j + 1
			}
		}
		end := len(text)
		if i := bytes.IndexByte(text[pos:], '\n'); i >= 0 {
			end = pos + i
		}
		if f.match(trim(text[pos:end])) {
			take(pos, end)
		}
		pos = end + 1
	}
}

// trim drops the CR of a line that ends with CR LF.
func trim(line []byte) []byte { return bytes.TrimSuffix(line, []byte{'\r'}) }
