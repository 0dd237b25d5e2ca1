package guards

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// plainID is a selector of one id and nothing else.
var plainID = regexp.MustCompile(`^#(-?[_\p{L}][-\w\p{L}\p{N}]*|--[-\w\p{L}\p{N}]*)$`)

// find gives the literal look-ups of the wanted ids in a script: getElementById('id'), querySelector('#id') and
// querySelectorAll('#id'). Computed ids and longer selectors are none; what stands in comments and strings is no code.
func find(text []byte, name string, line int, wanted map[string]bool) []Reference {
	if !mentions(text) {
		return nil
	}
	var found []Reference
	seen := map[string]bool{}
	s := scanner{text: text, line: line}
	for s.next() {
		if id, ok := s.lookup(); ok && wanted[id] && !seen[id] {
			seen[id] = true
			found = append(found, Reference{ID: id, Script: name, Line: s.at})
		}
	}
	return found
}

func mentions(text []byte) bool {
	return bytes.Contains(text, []byte("getElementById")) || bytes.Contains(text, []byte("querySelector"))
}

// scanner walks over the tokens of a script. It knows as much of the language as it takes to tell code from comments,
// strings, templates and regular expressions.
type scanner struct {
	text  []byte
	pos   int
	line  int
	depth []int // open braces of each template expression that pos is in

	word    string // the identifier that next stopped at
	at      int    // its line
	operand bool   // the last token ends an operand, so that a slash divides
}

// next moves behind the next identifier.
func (s *scanner) next() bool {
	for s.pos < len(s.text) {
		switch b := s.text[s.pos]; {
		case isWord(b):
			start := s.pos
			for s.pos < len(s.text) && isWord(s.text[s.pos]) {
				s.pos++
			}
			s.word, s.at = string(s.text[start:s.pos]), s.line
			s.operand = !isKeyword(s.word)
			return true
		default:
			s.other(b)
		}
	}
	return false
}

// other moves over one token that is no identifier.
func (s *scanner) other(b byte) {
	switch {
	case b == '\n':
		s.line++
		s.pos++
	case b == ' ' || b == '\t' || b == '\r':
		s.pos++
	case s.blank():
	case b == '"' || b == '\'':
		s.str()
		s.operand = true
	case b == '`':
		s.pos++
		s.template()
	case b == '/' && !s.operand:
		s.regex()
		s.operand = true
	default:
		s.brace(b)
	}
}

// brace moves over a mark, and leaves a template's expression at its closing brace.
func (s *scanner) brace(b byte) {
	s.pos++
	s.operand = b == ')' || b == ']' || b == '}'
	n := len(s.depth)
	switch {
	case b == '{' && n > 0:
		s.depth[n-1]++
	case b == '}' && n > 0 && s.depth[n-1] > 0:
		s.depth[n-1]--
	case b == '}' && n > 0:
		s.depth = s.depth[:n-1]
		s.template()
	}
}

// blank moves over a comment, and tells whether there was one.
func (s *scanner) blank() bool {
	rest := s.text[s.pos:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		s.pos += untilNewline(rest)
	case bytes.HasPrefix(rest, []byte("/*")):
		end := bytes.Index(rest[2:], []byte("*/"))
		if end < 0 {
			end = len(rest) - 4
		}
		s.line += bytes.Count(rest[:end+4], []byte("\n"))
		s.pos += end + 4
	default:
		return false
	}
	return true
}

func untilNewline(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i
	}
	return len(b)
}

// str moves over a string, and gives its text when nothing in it is escaped or computed. A string ends with its line
// at the latest: an apostrophe in JSX text is none.
func (s *scanner) str() (value string, literal bool) {
	quote := s.text[s.pos]
	s.pos++
	start, plain := s.pos, true
	for ; s.pos < len(s.text); s.pos++ {
		switch b := s.text[s.pos]; {
		case b == quote:
			s.pos++
			return string(s.text[start : s.pos-1]), plain
		case b == '\n':
			return "", false
		case b == '\\':
			plain = false
			s.pos++
			if s.pos < len(s.text) && s.text[s.pos] == '\n' {
				s.line++
			}
		}
	}
	s.pos = min(s.pos, len(s.text))
	return "", false
}

// template moves over the text of a template, up to its end or its next expression, whose code is then walked over.
func (s *scanner) template() {
	for ; s.pos < len(s.text); s.pos++ {
		switch b := s.text[s.pos]; {
		case b == '`':
			s.pos++
			s.operand = true
			return
		case b == '\n':
			s.line++
		case b == '\\':
			s.pos++
		case b == '$' && s.pos+1 < len(s.text) && s.text[s.pos+1] == '{':
			s.pos += 2
			s.depth = append(s.depth, 0)
			s.operand = false
			return
		}
	}
	s.pos = min(s.pos, len(s.text))
}

// regex moves over a regular expression; one that its line does not close is a division.
func (s *scanner) regex() {
	class := false
	for i := s.pos + 1; i < len(s.text) && s.text[i] != '\n'; i++ {
		switch b := s.text[i]; {
		case b == '\\':
			i++
		case b == '[':
			class = true
		case b == ']':
			class = false
		case b == '/' && !class:
			s.pos = i + 1
			return
		}
	}
	s.pos++
}

// lookup reads the call of a look-up whose name next has stopped at.
func (s *scanner) lookup() (id string, ok bool) {
	selector := s.word != "getElementById"
	if selector && s.word != "querySelector" && s.word != "querySelectorAll" {
		return "", false
	}
	s.skipTypes()
	s.skip("?.")
	if !s.skip("(") {
		return "", false
	}
	value, literal := s.argument()
	if !literal || !s.ends() {
		return "", false
	}
	if !selector {
		return value, true
	}
	m := plainID.FindStringSubmatch(strings.TrimSpace(value))
	if m == nil {
		return "", false
	}
	return m[1], true
}

// argument reads a string or a template without expressions.
func (s *scanner) argument() (string, bool) {
	s.skip("")
	if s.pos >= len(s.text) {
		return "", false
	}
	switch s.text[s.pos] {
	case '"', '\'':
		return s.str()
	case '`':
		rest := s.text[s.pos+1:]
		end := bytes.IndexByte(rest, '`')
		if end < 0 || bytes.ContainsAny(rest[:end], "\\$\n") {
			return "", false
		}
		s.pos += end + 2
		return string(rest[:end]), true
	}
	return "", false
}

// ends tells whether the argument ends here; what joins more to it makes it a computed one.
func (s *scanner) ends() bool {
	s.skip("")
	return s.pos < len(s.text) && (s.text[s.pos] == ')' || s.text[s.pos] == ',')
}

// skip moves over blanks and comments, and then over the mark if it is there.
func (s *scanner) skip(mark string) bool {
	for s.pos < len(s.text) {
		b := s.text[s.pos]
		if b == '\n' {
			s.line++
		}
		if b == ' ' || b == '\t' || b == '\r' || b == '\n' {
			s.pos++
			continue
		}
		if !s.blank() {
			break
		}
	}
	if !bytes.HasPrefix(s.text[s.pos:], []byte(mark)) {
		return false
	}
	s.pos += len(mark)
	return true
}

// skipTypes moves over the type arguments of a TypeScript call, such as <HTMLElement>.
func (s *scanner) skipTypes() {
	if s.pos >= len(s.text) || s.text[s.pos] != '<' {
		return
	}
	depth := 0
	for i, b := range s.text[s.pos:min(len(s.text), s.pos+200)] {
		switch b {
		case '<':
			depth++
		case '>':
			depth--
		case '(', ')', ';', '\n':
			return
		}
		if depth == 0 {
			s.pos += i + 1
			return
		}
	}
}

func isWord(b byte) bool {
	return b == '_' || b == '$' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= utf8.RuneSelf
}

// isKeyword tells whether a slash after the word begins a regular expression.
func isKeyword(word string) bool {
	switch word {
	case "return", "typeof", "case", "in", "of", "do", "else", "void", "delete", "throw", "new", "instanceof", "yield", "await":
		return true
	}
	return false
}
