package edit

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/toold/toold/edit/lines"
)

// Elision finds a line of text that stands for code left out, such as "// ... existing code ...", and that before does
// not have. It gives the line's number in text and the line. Written to a file, such a line destroys what it stands
// for.
func Elision(before, text []byte) (line int, elided string, found bool) {
	for i, l := range lines.Split(text) {
		trimmed := bytes.TrimSpace(l)
		if isElision(string(trimmed)) && !bytes.Contains(before, trimmed) {
			return i + 1, string(trimmed), true
		}
	}
	return 0, "", false
}

// isElision says whether a line is, or ends with, a comment that stands for left out code.
func isElision(line string) bool {
	for _, m := range commentMarks() {
		rest, ok := strings.CutPrefix(line, m.open)
		if ok {
			return elides(comment(rest, m), true)
		}
		if m.open == ";" || m.open == "%" {
			continue // ends a statement or formats more often than it begins a comment
		}
		if _, rest, ok = strings.Cut(line, " "+m.open); ok && elides(comment(rest, m), false) {
			return true
		}
	}
	return false
}

type commentMark struct{ open, close string }

// commentMarks lists what begins a comment, longer ones first.
func commentMarks() []commentMark {
	return []commentMark{
		{"<!--", "-->"},
		{"{/*", "*/}"},
		{"/*", "*/"},
		{"(*", "*)"},
		{"{#", "#}"},
		{"//", ""},
		{"--", ""},
		{"#", ""},
		{";", ""},
		{"%", ""},
	}
}

// comment gives the words of a comment without its marks.
func comment(rest string, m commentMark) string {
	if m.close != "" {
		rest, _, _ = strings.Cut(rest, m.close)
	} else {
		rest = strings.TrimLeft(rest, m.open[:1]+"!")
	}
	return strings.TrimFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("*()[]<>{}", r) })
}

// elides says whether the words of a comment stand for left out code. alone tells that the line holds nothing else;
// only then do dots without words count.
func elides(words string, alone bool) bool {
	s := strings.ReplaceAll(strings.ToLower(words), "…", "...")
	inner := strings.TrimFunc(s, func(r rune) bool { return r == '.' || unicode.IsSpace(r) || strings.ContainsRune("()[]-", r) })
	opens, closes := strings.HasPrefix(s, "..."), strings.HasSuffix(s, "...")
	fields := strings.FieldsFunc(inner, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	switch {
	case inner == "":
		return opens && alone
	case opens || closes:
		return keyword(fields)
	}
	return unchanged(fields)
}

// keyword says whether a comment with dots begins, fill words aside, with one that stands for what is left out.
func keyword(fields []string) bool {
	for _, w := range fields {
		switch w {
		case "existing", "rest", "unchanged", "remaining", "remainder", "omitted", "unmodified":
			return true
		case "the", "all", "other", "and", "of", "your", "our", "keep", "plus", "code", "lines", "content":
		default:
			return false
		}
	}
	return false
}

// unchanged recognises the same without dots, such as "rest unchanged" or "rest of the file remains the same": every
// word belongs to that phrase.
func unchanged(fields []string) bool {
	var what, kept bool
	for _, w := range fields {
		switch w {
		case "rest", "remaining", "remainder", "existing", "other", "everything":
			what = true
		case "unchanged", "unmodified", "same", "omitted", "before":
			kept = true
		case "the", "of", "this", "all", "is", "are", "was", "stays", "stay", "remains", "remain", "as", "else", "here", "above", "below", "for",
			"brevity", "code", "file", "function", "functions", "method", "methods", "class", "classes", "lines", "body", "content", "contents",
			"imports", "implementation", "logic", "module", "document", "page", "text", "section", "sections", "fields", "tests", "rules", "styles",
			"markup", "config", "and", "it":
		default:
			return false
		}
	}
	return what && kept
}
