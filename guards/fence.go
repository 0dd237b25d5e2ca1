package guards

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"strings"

	"github.com/toold/toold/edit/lines"
	"github.com/toold/toold/workspace"
)

// fenceRefusals is how often escaped fences are refused for a path before they are repaired.
const fenceRefusals = 2

const repairPasses = 8

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
	f := fencesOf(text)
	note := func(i int) {
		if f.lines[i].escaped {
			found = append(found, i)
		}
	}
	for i := 0; i < len(text); i++ {
		note(i)
		if end := f.blockEnd(i); end > i {
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

// fence is a line that opens or closes a code block. One of length 0 does neither.
type fence struct {
	char    byte
	length  int
	bare    bool // nothing follows it: only such a line closes
	escaped bool
}

// fences are the fences of a text, by line.
type fences struct {
	lines   []fence
	longest []map[byte]int // from a line on, the longest fence that closes
}

func fencesOf(text [][]byte) fences {
	f := fences{lines: make([]fence, len(text)), longest: make([]map[byte]int, len(text)+1)}
	f.longest[len(text)] = map[byte]int{}
	for i := len(text) - 1; i >= 0; i-- {
		f.lines[i] = fenceOf(text[i])
		f.longest[i] = f.longest[i+1]
		if l := f.lines[i]; l.bare && l.length > f.longest[i][l.char] {
			f.longest[i] = maps.Clone(f.longest[i])
			f.longest[i][l.char] = l.length
		}
	}
	return f
}

// blockEnd gives the line that closes the code block which opens at line i, or i when none opens there or nothing
// closes it. A block that opens with a real fence closes with a real one, unless an escaped one stands where it
// should: at the end, or before the next block opens.
func (f fences) blockEnd(i int) int {
	open := f.lines[i]
	if open.length == 0 || f.longest[i+1][open.char] < open.length {
		return i
	}
	candidate := i
	for j := i + 1; j < len(f.lines); j++ {
		l := f.lines[j]
		closes := l.bare && l.length >= open.length
		switch {
		case l.length == 0 || l.char != open.char:
		case closes && (open.escaped || !l.escaped):
			return j
		case closes && candidate == i:
			candidate = j
		case !l.bare && !l.escaped && candidate > i:
			return candidate
		}
	}
	return candidate
}

// fenceOf recognises a code fence, real or escaped.
func fenceOf(line []byte) fence {
	var f fence
	start := bytes.TrimLeft(line, " \t>")
	if len(start) == 0 {
		return f
	}
	if start[0] == '\\' && escaped.Match(line) {
		f.escaped = true
		start = bytes.TrimLeft(unescape(line), " \t>")
	}
	if start[0] != '`' && start[0] != '~' {
		return f
	}
	rest := bytes.TrimLeft(start, string(start[:1]))
	n := len(start) - len(rest)
	if n < 3 || start[0] == '`' && bytes.IndexByte(rest, '`') >= 0 {
		return f
	}
	f.char, f.length, f.bare = start[0], n, len(bytes.TrimSpace(rest)) == 0
	return f
}

// unescape takes the backslashes out of the fence that a line opens with.
func unescape(line []byte) []byte {
	end := escaped.FindIndex(line)[1]
	return append(bytes.ReplaceAll(line[:end:end], []byte(`\`), nil), line[end:]...)
}

// repairFences takes the backslashes out of the escaped fences, and says so.
func repairFences(c *workspace.Change) {
	count, first := 0, 0
	for range repairPasses { // taking out a backslash may open a block that was none
		found := escapedFences(c)
		if len(found) == 0 {
			break
		}
		if count == 0 {
			first = found[0] + 1
		}
		count += len(found)
		text := lines.Split(c.After)
		for _, i := range found {
			text[i] = unescape(text[i])
		}
		c.After = bytes.Join(text, nil)
	}
	if count > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("the backslashes of %s were taken out (first on line %d)", plural(count, "escaped code fence"), first))
	}
}
