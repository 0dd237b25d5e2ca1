package guards

import (
	"context"
	"errors"
	"io/fs"

	"github.com/toold/toold/workspace"
)

// stageLane keeps a stage of a sequential team off the files that other stages owe, and a checking stage to its
// report. The fourth refusal ends the turn.
func stageLane(o Options) Guard {
	return Guard{
		Name: "stage lane", Code: "stage_lane", Tag: "STAGE-LANE", Ops: workspace.OpWrite | workspace.OpEdit | workspace.OpRevert, CountsInTurn: true,
		Judge: func(ctx context.Context, c *workspace.Change) (*Objection, error) {
			t := o.turn(c)
			if t == nil {
				if o.Sequential != nil && o.Sequential(ctx, c.Actor.Run) {
					o.Log.Info("[STAGE-LANE] stands aside: the call belongs to no turn", "path", c.Path, "agent", c.Actor.Agent, "run", c.Actor.Run)
				}
				return nil, nil
			}
			if why := t.Trespass(spellings(c), o.Real); why != "" {
				return &Objection{Lost: why}, nil
			}
			return nil, nil
		},
	}
}

// owedFile holds a turn in its write phase to the files that it owes, until one of them is on the disk.
func owedFile(o Options) Guard {
	return Guard{
		Name: "owed file", Code: "not_owed", Tag: "NOT-OWED", Ops: workspace.OpWrite | workspace.OpEdit,
		Judge: func(_ context.Context, c *workspace.Change) (*Objection, error) {
			t := o.turn(c)
			if t == nil {
				return nil, nil
			}
			paths := spellings(c)
			for _, p := range c.With {
				paths = append(paths, string(p))
			}
			why, err := t.NotOwed(paths, o.Real, func(p string) (bool, error) { return delivered(c.FS, p) })
			if why == "" || err != nil {
				return nil, err
			}
			return &Objection{Lost: "it is not a file that this turn owes", whole: why}, nil
		},
	}
}

// delivered tells whether a file is there and not empty.
func delivered(fsys fs.FS, path string) (bool, error) {
	st, err := fs.Stat(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return st.Mode().IsRegular() && st.Size() > 0, nil
}
