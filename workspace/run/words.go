package run

import (
	"bytes"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// CountWords counts the words of a text as a person would. A word is what stands between blanks or dashes and has a
// letter or a digit in it: "don't", "well-known", "3.14" and an address are one word each. Where a script does
// without blanks (Chinese, Japanese, Thai, Lao, Khmer, Burmese), words are the segments of Unicode's word
// segmentation. In Markdown and HTML, as told by the file's name, what a reader does not see is not counted: marks,
// front matter, the markers of code fences, tags, comments, the targets of links.
func CountWords(name string, content []byte) int {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".mdx", ".markdown", ".mdown", ".mkd":
		return countMarkdown(content)
	case ".html", ".htm", ".xhtml":
		return countHTML(content)
	}
	return countText(content)
}

// countText counts the words of plain text.
func countText(text []byte) int {
	n := 0
	for len(text) > 0 {
		start := bytes.IndexFunc(text, func(r rune) bool { return !separates(r) })
		if start < 0 {
			break
		}
		text = text[start:]
		end := bytes.IndexFunc(text, separates)
		if end < 0 {
			end = len(text)
		}
		n += countToken(text[:end])
		text = text[end:]
	}
	return n
}

// separates tells what stands between words: blanks, and the dashes that are set between words without blanks.
func separates(r rune) bool {
	switch r {
	case '—', '–', '―', '…', '\u200b':
		return true
	}
	return unicode.IsSpace(r)
}

// countToken counts the words of a text without blanks: one, or the segments when a script without blanks is in it.
func countToken(token []byte) int {
	letters, unspaced := false, false
	for i := 0; i < len(token); {
		r, size := utf8.DecodeRune(token[i:])
		i += size
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			letters = true
			unspaced = unspaced || r >= 0x0e00 && isUnspaced(r)
		}
	}
	switch {
	case unspaced:
		return countSegments(token)
	case letters:
		return 1
	}
	return 0
}

func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func countSegments(token []byte) int {
	n, state := 0, -1
	for len(token) > 0 {
		var word []byte
		word, token, state = uniseg.FirstWord(token, state)
		if bytes.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			n++
		}
	}
	return n
}
