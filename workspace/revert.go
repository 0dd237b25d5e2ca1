package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toold/toold/workspace/store"
)

// Revert puts a file back to what it was before the first write to it within the run: its bytes and mode, or gone
// when the run created it. When somebody else has changed the file since, it refuses once and says who and when.
func (w *Workspace) Revert(ctx context.Context, who Actor, tool string, p Path) (*Result, store.Snapshot, error) {
	_, key, err := w.RealPath(p)
	if err != nil {
		return nil, store.Snapshot{}, err
	}
	arrived := w.files.Asks.Arrive()
	snap, err := w.files.Store.Snapshot(ctx, who.Run, key)
	if errors.Is(err, store.ErrNotFound) {
		return nil, snap, w.noSnapshot(ctx, who.Run, p)
	}
	if err != nil {
		return nil, snap, err
	}
	if snap.Unreadable {
		return nil, snap, errorf("no_snapshot", "%s could not be read when it was first written in this run, so there is no snapshot to restore", show(p))
	}
	var want []byte
	if !snap.Absent {
		if want, err = w.files.Store.Blob(ctx, snap.Hash); err != nil {
			return nil, snap, fmt.Errorf("read the snapshot of %s: %w", show(p), err)
		}
	}
	if snap.Generation != w.Generation() && w.files.refusedOnce("new_root", who, key, arrived) {
		return nil, snap, &Refusal{Code: "changed_since", Again: true, Text: fmt.Sprintf("%s was not reverted: another folder now stands at %s than the one that the snapshot is of. Call revert_file for the same path again to restore it here all the same", show(p), w.root)}
	}
	r, err := w.Apply(ctx, Request{Actor: who, Op: OpRevert, Tool: tool, Path: p, Arrived: arrived, Compute: func(c *Change) error {
		if err := w.othersChanged(ctx, who, key, snap, c); err != nil {
			return err
		}
		if snap.Absent {
			c.After, c.Delete = nil, c.Existed
			return nil
		}
		c.After = want
		c.Mode = c.Mode&^0o777 | fsMode(snap.Mode)
		return nil
	}})
	if err != nil {
		return nil, snap, err
	}
	if snap.Absent {
		w.removeEmptyFolders(r.Real, snap.Folders)
	}
	return r, snap, nil
}

// othersChanged refuses once when somebody other than this run's agent changed the file after the snapshot.
func (w *Workspace) othersChanged(ctx context.Context, who Actor, key string, snap store.Snapshot, c *Change) error {
	by, err := w.lastForeign(ctx, who, key, snap, c)
	if err != nil || by == "" || !w.files.refusedOnce("changed_since", who, key, c.Arrived) {
		return err
	}
	return &Refusal{Code: "changed_since", Again: true, Text: fmt.Sprintf("%s was not reverted: %s. Reverting would take that back too. Call revert_file for the same path again to do it; the present version stays reachable with `toold edits`", show(c.Path), by)}
}

// lastForeign says who else changed the file since the snapshot, or "". The journal knows the agents; bytes that no
// journalled change left there are from an outside program.
func (w *Workspace) lastForeign(ctx context.Context, who Actor, key string, snap store.Snapshot, c *Change) (string, error) {
	edits, err := w.files.Store.EditsOf(ctx, key, snap.Time)
	if err != nil {
		return "", err
	}
	var last store.Hash
	if !snap.Absent {
		last = snap.Hash
	}
	foreign := ""
	expect := last
	for _, e := range edits { // oldest first
		if e.Before != expect && e.Existed {
			foreign = "an outside program (an editor, a formatter, a command) changed it before " + w.Clock(e.Time)
		}
		if e.Agent != who.Agent || e.Run != who.Run {
			foreign = fmt.Sprintf("%s changed it at %s", e.Agent, w.Clock(e.Time))
		}
		if e.Op == OpRevert.String() && e.Run == who.Run && e.After == snap.Hash {
			foreign = ""
		}
		expect = e.After
		if e.Deleted {
			expect = ""
		}
	}
	now := store.Hash("")
	if c.Existed {
		now = store.HashOf(c.Before)
	}
	switch {
	case len(edits) == 0, now == expect, !c.Existed:
		return foreign, nil
	}
	return "an outside program (an editor, a formatter, a command) changed it since the last write by an agent", nil
}

func (w *Workspace) noSnapshot(ctx context.Context, run string, p Path) error {
	snaps, err := w.files.Store.Snapshots(ctx, run)
	if err != nil {
		return err
	}
	var names []string
	for _, s := range snaps {
		if rel, ok := below(w.real, s.FileKey); ok {
			names = append(names, ShowName(rel))
		}
	}
	if len(names) == 0 {
		return errorf("no_snapshot", "%s has no snapshot: nothing was written in this run yet, so there is nothing to revert", show(p))
	}
	more := ""
	if len(names) > 20 {
		names, more = names[:20], fmt.Sprintf(" and %d more", len(names)-20)
	}
	return errorf("no_snapshot", "%s has no snapshot: it was not written in this run. What can be reverted: %s%s", show(p), strings.Join(names, ", "), more)
}

// removeEmptyFolders removes the folders that the run created for a file that is gone again, as far as they are empty.
func (w *Workspace) removeEmptyFolders(real Path, made []string) {
	dir := real.Dir()
	for range made {
		pl, err := w.resolve(dir, false)
		if err != nil || !pl.exists || pl.name == "." {
			return
		}
		err = pl.parent.rmdir(pl.name)
		pl.close()
		if err != nil {
			return
		}
		dir = dir.Dir()
	}
}

// Clock gives a time as texts show it: local, with the zone, and with the date when it is not today's.
func (w *Workspace) Clock(t time.Time) string {
	t, now := t.Local(), w.files.now().Local()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04:05 MST")
	}
	return t.Format("2006-01-02 15:04:05 MST")
}

// Undo takes back one journalled change: it gives the bytes that take merges from before, after and now. The merge is
// the caller's, since it knows texts.
func (w *Workspace) Undo(ctx context.Context, who Actor, id string, merge func(before, after, now []byte) ([]byte, error)) (*Result, error) {
	e, err := w.files.Store.Edit(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, errorf("not_found", "there is no journalled change %s; `toold edits` lists them", id)
	}
	if err != nil {
		return nil, err
	}
	before, err := w.blob(ctx, e.Before)
	if err != nil {
		return nil, err
	}
	after, err := w.blob(ctx, e.After)
	if err != nil {
		return nil, err
	}
	rel, ok := below(w.real, e.FileKey)
	if !ok {
		return nil, errorf("outside_workspace", "the change %s is of %s, which is not in this workspace; connect with its root", id, e.FileKey)
	}
	return w.Apply(ctx, Request{Actor: who, Op: OpUndo, Tool: "edits/undo", Path: Path(rel), Undoes: id, Compute: func(c *Change) error {
		if !e.Existed && bytes.Equal(c.Before, after) {
			c.Delete = c.Existed
			return nil
		}
		merged, err := merge(before, after, c.Before)
		if err != nil {
			return err
		}
		c.After = merged
		if !c.Existed {
			c.Mode = fsMode(e.ModeBefore)
		}
		return nil
	}})
}

func (w *Workspace) blob(ctx context.Context, h store.Hash) ([]byte, error) {
	if h == "" {
		return nil, nil
	}
	return w.files.Store.Blob(ctx, h)
}
