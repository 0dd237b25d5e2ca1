package run

import (
	"bytes"
	"regexp"

	"golang.org/x/net/html"
)

// What a reader of Markdown does not see.
var (
	comment        = regexp.MustCompile(`(?s)<!--.*?-->`)
	image          = regexp.MustCompile(`!\[[^\]\n]*\](\([^()\n]*(\([^()\n]*\)[^()\n]*)*\)|\[[^\]\n]*\])`)
	link           = regexp.MustCompile(`\[([^\]\n]*)\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\[[^\]\n]*\])`)
	tag            = regexp.MustCompile(`</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?/?>|\[\^[^\]\s]+\]`) // and footnote marks
	linkDefinition = regexp.MustCompile(`^ {0,3}\[[^\]^\n][^\]\n]*\]:\s*\S`)
	listMark       = regexp.MustCompile(`^[\s>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(?:\[[ xX]\][ \t]+)?(?:#{1,6}[ \t])?`)
)

// countMarkdown counts the words that a reader of the rendered page would see, the code in fences among them.
func countMarkdown(text []byte) int {
	text = withoutFrontMatter(text)
	n := 0
	var fence []byte // the open fence's marker
	var prose []byte // the lines since the last fence: comments and links may span lines
	flush := func() {
		n += countText(visibleMarkdown(prose))
		prose = prose[:0]
	}
	for line := range bytes.Lines(text) {
		marker, info := fenceMarker(line)
		switch {
		case fence == nil && marker != nil:
			flush()
			fence = marker
		case fence != nil && closes(fence, marker, info):
			fence = nil
		case fence != nil:
			n += countText(line)
		default:
			prose = append(prose, visibleLine(line)...)
		}
	}
	flush()
	return n
}

// withoutFrontMatter cuts the block of settings that a page may begin with, between lines of "---" or "+++".
func withoutFrontMatter(text []byte) []byte {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	mark := string(bytes.TrimRight(first, " \t\r"))
	if mark != "---" && mark != "+++" {
		return text
	}
	for line := range bytes.Lines(rest) {
		rest = rest[len(line):]
		end := string(bytes.TrimRight(line, " \t\r\n"))
		if end == mark || mark == "---" && end == "..." {
			return rest
		}
	}
	return text // never closed: a rule between paragraphs
}

// fenceMarker gives the run of backticks or tildes that a line opens with, after blanks and quote marks, and what
// follows it.
func fenceMarker(line []byte) (marker, info []byte) {
	line = bytes.TrimLeft(line, " \t>")
	if len(line) < 3 || line[0] != '`' && line[0] != '~' {
		return nil, nil
	}
	n := len(line) - len(bytes.TrimLeft(line, string(line[:1])))
	info = bytes.TrimSpace(line[n:])
	if n < 3 || line[0] == '`' && bytes.IndexByte(info, '`') >= 0 {
		return nil, nil
	}
	return line[:n], info
}

func closes(fence, marker, info []byte) bool {
	return len(marker) >= len(fence) && marker[0] == fence[0] && len(info) == 0
}

// visibleLine takes away what only structures a line: the marks of lists, quotes, tables and link definitions.
func visibleLine(line []byte) []byte {
	first := bytes.TrimLeft(line, " \t")
	if len(first) == 0 {
		return line
	}
	switch {
	case first[0] == '[' && linkDefinition.Match(line):
		return []byte("\n")
	case bytes.IndexByte([]byte("-+*#>[0123456789"), first[0]) >= 0:
		line = listMark.ReplaceAll(line, []byte(" "))
	}
	if bytes.IndexByte(line, '|') >= 0 {
		line = bytes.ReplaceAll(line, []byte("|"), []byte(" "))
	}
	return line
}

// visibleMarkdown takes away what a reader of a paragraph does not see: comments, tags, images, the targets of links.
func visibleMarkdown(text []byte) []byte {
	if bytes.IndexByte(text, '<') >= 0 {
		text = comment.ReplaceAll(text, []byte(" "))
	}
	if bytes.IndexByte(text, ']') >= 0 {
		text = image.ReplaceAll(text, []byte(" "))
		text = link.ReplaceAll(text, []byte("$1"))
	}
	return tag.ReplaceAll(text, []byte(" "))
}

// countHTML counts the words of an HTML page's text; scripts, styles and comments are none.
func countHTML(text []byte) int {
	z := html.NewTokenizer(bytes.NewReader(text))
	var visible []byte
	hidden := false
	for {
		switch z.Next() {
		case html.ErrorToken:
			return countText(visible)
		case html.TextToken:
			if !hidden {
				visible = append(visible, z.Text()...)
			}
		case html.StartTagToken:
			name, _ := z.TagName()
			hidden = string(name) == "script" || string(name) == "style" || string(name) == "template"
			visible = appendBreak(visible, string(name))
		case html.EndTagToken:
			name, _ := z.TagName()
			hidden = false
			visible = appendBreak(visible, string(name))
		case html.SelfClosingTagToken:
			name, _ := z.TagName()
			visible = appendBreak(visible, string(name))
		}
	}
}

// appendBreak ends a word at a tag, except at those that style a part of a word.
func appendBreak(visible []byte, name string) []byte {
	switch name {
	case "a", "abbr", "b", "bdi", "bdo", "cite", "code", "em", "font", "i", "ins", "kbd", "mark", "q", "s", "small", "span", "strong", "sub", "sup", "u", "wbr":
		return visible
	}
	return append(visible, ' ')
}
