package guards

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/toold/toold/edit/lines"
	"github.com/toold/toold/workspace"
)

// fenceRefusals is how often escaped fences are refused for a path before they are repaired.
const fenceRefusals = 2

// escaped is a code fence of backticks or tildes, after blanks or quote marks, whose first mark carries a backslash.
var escaped = regexp.MustCompile("^[ \\t>]*(?:\\\\`(?:\\\\?`){2,}|\\\\~(?:\\\\?~){2,})")

// escapedFence finds fences such as \`\`\` in Markdown, which render as text instead of a code block.
func escapedFence() Guard {
	return Guard{
		Name: "escaped fence", Code: "fence_guard", Tag: "ESCAPED-FENCE", Ops: workspace.OpWrite | workspace.OpEdit, Refusals: fenceRefusals,
		Judge: func(_ context.Context, c *workspace.Change) (*Objection, error) {
			if !isMarkdown(c) || !escapedInput(c) {
				return nil, nil
			}
			found := escapedFences(c)
			if len(found) == 0 {
				return nil, nil
			}
			line := strings.TrimSpace(string(lines.Split(c.After)[found[0]]))
			return &Objection{
				Lost:  fmt.Sprintf("line %d is %s, a code fence with a backslash before its marks, which renders as text and not as a code block", found[0]+1, clip(line, 60)),
				Do:    "Send the fence without backslashes: " + clip(strings.ReplaceAll(line, `\`, ""), 60),
				Facts: map[string]any{"line": found[0] + 1, "text": line, "count": len(found)},
			}, nil
		},
		Repair: repairFences,
	}
}

func isMarkdown(c *workspace.Change) bool {
	for _, p := range spellings(c) {
		switch strings.ToLower(path.Ext(p)) {
		case ".md", ".mdx", ".markdown":
			return true
		}
	}
	return false
}

// escapedInput tells whether what the agent sent has such a line at all.
func escapedInput(c *workspace.Change) bool {
	input := c.Input
	if input == nil {
		input = c.After
	}
	for line := range bytes.Lines(input) {
		if escaped.Match(line) {
			return true
		}
	}
	return false
}

// escapedFences gives the lines, counted from 0, of the new text that open with an escaped fence and are the agent's:
// in an edit, not those that the file had before. Inside a real code block such a line is an example, and stays.
func escapedFences(c *workspace.Change) []int {
	text := lines.Split(c.After)
	if c.Op == workspace.OpEdit {
		hideOwn(text, lines.Split(c.Before))
	}
	var found []int
	note := func(i int) {
		if escaped.Match(text[i]) {
			found = append(found, i)
		}
	}
	for i := 0; i < len(text); i++ {
		note(i)
		if end := blockEnd(text, i); end > i {
			note(end)
			i = end
		}
	}
	return found
}

// hideOwn empties the escaped fences of a text that the file had before: those in what both texts begin and end with,
// and as many others as there were.
func hideOwn(text, before [][]byte) {
	own := map[string]int{}
	for _, l := range before {
		if escaped.Match(l) {
			own[string(l)]++
		}
	}
	hide := func(i int) {
		if n := own[string(text[i])]; n > 0 {
			own[string(text[i])] = n - 1
			text[i] = nil
		}
	}
	head, tail := 0, 0
	for head < len(text) && head < len(before) && bytes.Equal(text[head], before[head]) {
		hide(head)
		head++
	}
	for tail < len(text)-head && tail < len(before)-head && bytes.Equal(text[len(text)-1-tail], before[len(before)-1-tail]) {
		tail++
		hide(len(text) - tail)
	}
	for i := head; i < len(text)-tail; i++ {
		hide(i)
	}
}

// blockEnd gives the line that closes the code block which opens at line i, or i when none opens there or nothing
// closes it. A block that opens with a real fence closes with a real one, unless an escaped one stands where it
// should: at the end, or before the next block opens.
func blockEnd(text [][]byte, i int) int {
	open, ok := fenceOf(text[i])
	if !ok {
		return i
	}
	candidate := i
	for j := i + 1; j < len(text); j++ {
		f, ok := fenceOf(text[j])
		switch {
		case !ok || f.char != open.char:
		case f.bare && f.length >= open.length && (open.escaped || !f.escaped):
			return j
		case f.bare && f.length >= open.length && candidate == i:
			candidate = j
		case !f.bare && !f.escaped && candidate > i:
			return candidate
		}
	}
	return candidate
}

// fence is a line that opens or closes a code block.
type fence struct {
	char    byte
	length  int
	bare    bool // nothing follows it: only such a line closes
	escaped bool
}

// fenceOf recognises a code fence, real or escaped.
func fenceOf(line []byte) (fence, bool) {
	f := fence{escaped: escaped.Match(line)}
	if f.escaped {
		end := escaped.FindIndex(line)[1]
		line = append(bytes.ReplaceAll(line[:end:end], []byte(`\`), nil), line[end:]...)
	}
	line = bytes.TrimLeft(line, " \t>")
	if len(line) == 0 || line[0] != '`' && line[0] != '~' {
		return f, false
	}
	rest := bytes.TrimLeft(line, string(line[:1]))
	f.char, f.length, f.bare = line[0], len(line)-len(rest), len(bytes.TrimSpace(rest)) == 0
	return f, f.length >= 3 && (f.char == '~' || bytes.IndexByte(rest, '`') < 0)
}

// repairFences takes the backslashes out of the escaped fences, and says so.
func repairFences(c *workspace.Change) {
	count, first := 0, 0
	for found := escapedFences(c); len(found) > 0; found = escapedFences(c) {
		if count == 0 {
			first = found[0] + 1
		}
		count += len(found)
		text := lines.Split(c.After)
		for _, i := range found {
			end := escaped.FindIndex(text[i])[1]
			text[i] = append(bytes.ReplaceAll(text[i][:end:end], []byte(`\`), nil), text[i][end:]...)
		}
		c.After = bytes.Join(text, nil)
	}
	if count > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("the backslashes of %s were taken out (first on line %d)", plural(count, "escaped code fence"), first))
	}
}
