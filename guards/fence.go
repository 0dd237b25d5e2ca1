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
	kept := map[string]int{}
	if c.Op == workspace.OpEdit {
		for _, l := range lines.Split(c.Before) {
			if escaped.Match(l) {
				kept[string(l)]++
			}
		}
	}
	var found []int
	for i := 0; i < len(text); i++ {
		if end := blockEnd(text, i); end > i {
			i = end
			continue
		}
		if !escaped.Match(text[i]) {
			continue
		}
		if kept[string(text[i])] > 0 {
			kept[string(text[i])]--
			continue
		}
		found = append(found, i)
	}
	return found
}

// blockEnd gives the line that closes the code block which opens at line i, or i when none opens there or it is never
// closed.
func blockEnd(text [][]byte, i int) int {
	char, n, _ := fenceOf(text[i])
	if n == 0 {
		return i
	}
	for j := i + 1; j < len(text); j++ {
		if ch, m, bare := fenceOf(text[j]); bare && ch == char && m >= n {
			return j
		}
	}
	return i
}

// fenceOf recognises a real code fence: its character, its length, and whether nothing follows it.
func fenceOf(line []byte) (char byte, n int, bare bool) {
	line = bytes.TrimLeft(line, " \t>")
	if len(line) == 0 || line[0] != '`' && line[0] != '~' {
		return 0, 0, false
	}
	rest := bytes.TrimLeft(line, string(line[:1]))
	n = len(line) - len(rest)
	if n < 3 || line[0] == '`' && bytes.IndexByte(rest, '`') >= 0 {
		return 0, 0, false
	}
	return line[0], n, len(bytes.TrimSpace(rest)) == 0
}

// repairFences takes the backslashes out of the escaped fences, and says so.
func repairFences(c *workspace.Change) {
	found := escapedFences(c)
	if len(found) == 0 {
		return
	}
	text := lines.Split(c.After)
	for _, i := range found {
		fence := escaped.FindIndex(text[i])[1]
		text[i] = append(bytes.ReplaceAll(text[i][:fence:fence], []byte(`\`), nil), text[i][fence:]...)
	}
	c.After = bytes.Join(text, nil)
	c.Notes = append(c.Notes, fmt.Sprintf("the backslashes of %s were taken out (first on line %d)", plural(len(found), "escaped code fence"), found[0]+1))
}
