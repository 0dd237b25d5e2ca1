package guards

import (
	"context"
	"fmt"

	"github.com/toold/toold/edit"
	"github.com/toold/toold/workspace"
)

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
			line, text, found := edit.Elision(c.Before, input)
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
