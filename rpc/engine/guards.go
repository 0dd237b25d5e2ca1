package engine

import (
	"context"

	"github.com/toold/toold/guards"
	"github.com/toold/toold/workspace"
	"github.com/toold/toold/workspace/store"
)

// guards makes the guards of a workspace.
func (e *Engine) guards(sp *Space) *guards.Set {
	return guards.New(guards.Options{
		Asks: e.opts.Files.Asks, Turns: &e.turns, Makers: e.opts.Makers, Log: e.opts.Log,
		Real: func(path string) string {
			real, _, err := sp.W.RealPath(workspace.Path(path))
			if err != nil {
				return path
			}
			return string(real)
		},
		Stale: func(ctx context.Context, c *workspace.Change) (*guards.Stale, error) { return e.stale(ctx, sp, c) },
	})
}

// stale tells what others have changed since the agent of a change last saw the file. It goes by content alone.
func (e *Engine) stale(ctx context.Context, sp *Space, c *workspace.Change) (*guards.Stale, error) {
	key := sp.W.Key(c.Real)
	seen, ok := e.opts.Files.Seen(c.Actor.Agent, key)
	now := store.HashOf(c.Before)
	if !ok || c.Unread || seen.Hash == now {
		return nil, nil
	}
	s := &guards.Stale{By: "an outside program (an editor, a formatter, a command)", Seen: seen.Text, Hash: string(now)}
	edits, err := e.opts.Store.EditsOf(ctx, key, seen.At)
	if err != nil {
		return nil, err
	}
	if n := len(edits); n > 0 && edits[n-1].After == now {
		s.By, s.When = edits[n-1].Agent, sp.W.Clock(edits[n-1].Time)
	}
	return s, nil
}
