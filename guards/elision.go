package guards

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/toold/toold/edit"
	"github.com/toold/toold/edit/lines"
	"github.com/toold/toold/workspace"
)

// ordinaryDots bounds how many dots are looked at.
const ordinaryDots = 100

// elision finds text that stands for code left out, such as "// ... existing code ...": written to a file it destroys
// what it stands for.
func elision() Guard {
	return Guard{
		Name: "elision", Code: "elision_guard", Tag: "ELISION", Ops: workspace.OpWrite | workspace.OpEdit, Refusals: 1,
		Judge: func(_ context.Context, c *workspace.Change) (*Objection, error) {
			input := c.Input
			if input == nil {
				input = c.After
			}
			line, text, found := elided(c, input)
			if !found {
				return nil, nil
			}
			if c.Unread {
				return nil, errUnread
			}
			what, do := "content", "Send the whole text, or change only the part that differs with edit_file"
			if c.Op == workspace.OpEdit {
				what, do = "replacement", "Send the text itself, or search for the part that differs only"
			}
			return &Objection{
				Lost:  fmt.Sprintf("line %d of the %s is %q, which stands for text that is left out; the file would hold these words in its place", line, what, clip(text, 80)),
				Do:    do,
				Facts: map[string]any{"line": line, "text": text},
			}, nil
		},
	}
}

// elided finds the first line that stands for text left out. Dots without a word about what they stand for are left
// alone where they are ordinary: between other lines of a comment, which shows an example, and in a code block of a
// Markdown page.
func elided(c *workspace.Change, input []byte) (line int, text string, found bool) {
	var all [][]byte
	var blocks fences
	for range ordinaryDots {
		n, text, found := edit.Elision(c.Before, input)
		if !found {
			return 0, "", false
		}
		if all == nil {
			all = lines.Split(input)
			blocks = fencesOf(all)
		}
		line += n
		if strings.ContainsFunc(text, unicode.IsLetter) || !insideComment(all, line-1) && !(isMarkdown(c) && insideBlock(blocks, line-1)) {
			return line, text, true
		}
		for range n {
			_, input = lines.Cut(input)
		}
	}
	return 0, "", false
}

// insideComment tells whether the lines before and after line i begin with the mark that it begins with.
func insideComment(all [][]byte, i int) bool {
	if i == 0 || i == len(all)-1 {
		return false
	}
	line := bytes.TrimSpace(all[i])
	n := bytes.IndexFunc(line, func(r rune) bool { return unicode.IsSpace(r) || r == '.' || r == '…' || r == '(' || r == '[' })
	if n <= 0 {
		return false
	}
	return bytes.HasPrefix(bytes.TrimSpace(all[i-1]), line[:n]) && bytes.HasPrefix(bytes.TrimSpace(all[i+1]), line[:n])
}

// insideBlock tells whether line i stands in a fenced code block.
func insideBlock(f fences, i int) bool {
	for j := 0; j < i; j++ {
		end := f.blockEnd(j)
		if end > i {
			return true
		}
		j = max(j, end)
	}
	return false
}
