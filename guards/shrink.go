package guards

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/toold/toold/workspace"
)

const (
	shrinkBytes  = 400 // smaller files are not protected
	shrinkShare  = 0.5 // the share of the old characters that has to survive
	shownLines   = 3   // lost lines in the text of a refusal
	listedRanges = 200 // ranges of lost lines in its evidence
)

// Shrinkage is what a rewrite would discard, for editors.
type Shrinkage struct {
	Kept      float64    `json:"kept"`       // share of the old characters that survive
	OldLines  int        `json:"old_lines"`  // lines of the present file
	LostLines int        `json:"lost_lines"` // lines most of which would be gone
	Lost      []LineSpan `json:"lost"`       // which, in order; the first of many
}

// LineSpan is a span of lines, both included, counted from 1.
type LineSpan struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// shrink finds a rewrite that would discard most of an existing file.
func shrink(o Options) Guard {
	return Guard{
		Name: "shrink", Code: "shrink_guard", Tag: "SHRINK-GUARD", Ops: workspace.OpWrite, Refusals: 1,
		Judge: func(_ context.Context, c *workspace.Change) (*Objection, error) {
			if !c.Existed {
				return nil, nil
			}
			if t := o.turn(c); t != nil && t.OwesWords(spellings(c), o.Real) {
				o.Log.Info("[SHRINK-GUARD] stands aside: the file is owed at a range of words", "path", c.Path, "agent", c.Actor.Agent, "run", c.Actor.Run, "turn", c.Actor.Turn)
				return nil, nil
			}
			if c.Unread {
				return nil, unreadAbove(c, shrinkBytes)
			}
			if len(c.Before) < shrinkBytes {
				return nil, nil
			}
			s := survey(c.Before, c.After)
			if s.retention() >= shrinkShare {
				return nil, nil
			}
			return s.objection(), nil
		},
	}
}

// unreadAbove fails for an unreadable file, unless it is too small to be protected.
func unreadAbove(c *workspace.Change, size int64) error {
	st, err := fs.Stat(c.FS, string(c.Real))
	if err == nil && st.Size() < size {
		return nil
	}
	return errUnread
}

// Retention gives the share of before's characters that survive in after, 1 when there are none. A line that was
// moved or indented anew survives; of a line that was changed, the unchanged part does.
func Retention(before, after []byte) float64 {
	s := survey(before, after)
	return s.retention()
}

func (s *survival) objection() *Objection {
	facts := Shrinkage{Kept: s.retention(), OldLines: s.lines}
	var samples []string
	for _, l := range s.lostLines() {
		facts.LostLines++
		if n := len(facts.Lost); n > 0 && facts.Lost[n-1].To == l.number-1 {
			facts.Lost[n-1].To = l.number
		} else if n < listedRanges {
			facts.Lost = append(facts.Lost, LineSpan{l.number, l.number})
		}
		if text := clip(string(l.text), 60); len(samples) < shownLines && len(text) > 3 {
			samples = append(samples, fmt.Sprintf("%d: %s", l.number, text))
		}
	}
	lost := fmt.Sprintf("it would discard %.0f%% of the existing file (%d of %s", 100*(1-facts.Kept), facts.LostLines, plural(facts.OldLines, "line"))
	if len(samples) > 0 {
		lost += ", such as " + strings.Join(samples, " / ")
	}
	return &Objection{
		Lost:  lost + ")",
		Do:    "To change a part of it use edit_file, which keeps the rest; if you have seen only a part of the file, the rest of it is still there",
		Facts: facts,
	}
}
