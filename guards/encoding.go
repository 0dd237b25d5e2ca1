package guards

import (
	"bytes"
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/toold/toold/workspace"
)

var replacement = []byte("\uFFFD")

// lossy finds a write that puts replacement characters over a file that is not valid UTF-8: what a lossy reading could
// not show would be destroyed.
func lossy() Guard {
	return Guard{
		Name: "lossy encoding", Code: "lossy_guard", Tag: "LOSSY", Ops: workspace.OpWrite, Refusals: 1,
		Judge: func(_ context.Context, c *workspace.Change) (*Objection, error) {
			marks := bytes.Count(c.After, replacement)
			if marks == 0 || !c.Existed {
				return nil, nil
			}
			if c.Unread {
				return nil, errUnread
			}
			if utf8.Valid(c.Before) || marks <= bytes.Count(c.Before, replacement) {
				return nil, nil
			}
			at := firstInvalid(c.Before)
			line := bytes.Count(c.Before[:at], []byte("\n")) + 1
			return &Objection{
				Lost: fmt.Sprintf("the file is not valid UTF-8 (byte 0x%02x on line %d), and the new content has %s U+FFFD where those bytes could not be shown; the original characters would be lost",
					c.Before[at], line, plural(marks, "replacement character")),
				Do:    "Use edit_file, which keeps the bytes that it does not replace, or convert the file first with run_shell (iconv -f WINDOWS-1252 -t UTF-8)",
				Facts: map[string]any{"line": line, "byte": at, "replacements": marks},
			}, nil
		},
	}
}

// firstInvalid gives the offset of the first byte that is not part of a character.
func firstInvalid(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(b)
}
