package guards

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/toold/toold/edit"
	"github.com/toold/toold/workspace"
)

// errUnread is the failure of a judge that needs the old content of a file that cannot be read.
var errUnread = errors.New("the file is there but cannot be read, so what would be lost cannot be told; make it readable for the user that runs toold, or write to another path")

// diffLines bounds the lines of a diff in a refusal.
const diffLines = 30

// stale finds a write over a version that the agent has not seen: somebody else changed the file since it looked.
func stale(o Options) Guard {
	return Guard{
		Name: "stale", Code: "stale", Tag: "STALE", Ops: workspace.OpWrite, Refusals: 1,
		Judge: func(ctx context.Context, c *workspace.Change) (*Objection, error) {
			if o.Stale == nil || !c.Existed {
				return nil, nil
			}
			s, err := o.Stale(ctx, c)
			if err != nil || s == nil {
				return nil, err
			}
			by := s.By
			if s.When != "" {
				by += " at " + s.When
			}
			return &Objection{
				Lost:  fmt.Sprintf("it was changed by %s, after you last saw it, and your content would take that back%s", by, staleDiff(c, s)),
				Do:    "Change your part only with edit_file, or work the change into your content",
				Facts: map[string]any{"by": s.By, "when": s.When},
				about: s.Hash,
			}, nil
		},
	}
}

// staleDiff shows what changed since the agent saw the file.
func staleDiff(c *workspace.Change, s *Stale) string {
	if s.Seen == nil || c.Unread {
		return ""
	}
	diff := strings.TrimRight(edit.Unified(string(c.Path), s.Seen, c.Before), "\n")
	all := strings.Split(diff, "\n")
	if len(all) > diffLines {
		all = append(all[:diffLines], fmt.Sprintf("… %d more lines of this diff", len(all)-diffLines))
	}
	for i, l := range all {
		all[i] = clipRight(l, 200)
	}
	return ":\n" + strings.Join(all, "\n") + "\n"
}

// clipRight shortens a line of a diff, keeping its indentation.
func clipRight(s string, limit int) string {
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	return string(r[:limit]) + "…"
}
