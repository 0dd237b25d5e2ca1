package store

import (
	"context"
	"fmt"
	"time"
)

// Filter selects entries of a list; empty fields select all. Lists are newest first.
type Filter struct {
	Workspace string
	Run       string
	Agent     string
	Turn      string
	Path      string    // relative to the root, or the absolute real path
	FileKey   string    // the absolute real path
	Text      string    // commands: a part of the command, upper and lower case alike
	Since     time.Time // not before this time
	Until     time.Time // before this time
	Aborted   bool      // edits: also those that were not made
	Before    string    // the id to go on after, as the last page gave it
	Limit     int       // at most so many; 0 is no limit
}

func (f *Filter) where() *where {
	w := &where{}
	w.equal("workspace", f.Workspace)
	w.equal("run", f.Run)
	w.equal("agent", f.Agent)
	w.equal("turn", f.Turn)
	if !f.Since.IsZero() {
		w.add("time >= ?", stamp(f.Since))
	}
	if !f.Until.IsZero() {
		w.add("time < ?", stamp(f.Until))
	}
	return w
}

const editColumns = `seq, tag, time, workspace, path, file, op, tool, agent, client, run, turn, before, after, existed, deleted,
	mode_before, mode_after, temp, state, added, removed, note, undoes, forgotten`

func scanEdit(r scanner) (Edit, error) {
	var e Edit
	var at int64
	var before, after []byte
	var tag string
	err := r.Scan(&e.Seq, &tag, &at, &e.Workspace, &e.Path, &e.FileKey, &e.Op, &e.Tool, &e.Agent, &e.Client, &e.Run, &e.Turn, &before, &after,
		&e.Existed, &e.Deleted, &e.ModeBefore, &e.ModeAfter, &e.Temp, &e.State, &e.Added, &e.Removed, &e.Note, &e.Undoes, &e.Forgotten)
	e.ID = editID(e.Seq, tag)
	e.Time, e.Before, e.After = unstamp(at), hashOf(before), hashOf(after)
	return e, err
}

// Edits lists changes, newest first, and gives the id to go on with (as Filter.Before) when there are more.
func (s *Store) Edits(ctx context.Context, f Filter) ([]Edit, string, error) {
	w := f.where()
	w.equal("file", f.FileKey)
	if f.Path != "" {
		w.add("(path = ? OR file = ?)", f.Path, f.Path)
	}
	if !f.Aborted {
		w.add("state <> 'aborted'")
	}
	if f.Run != "" {
		// A run's first change of a file has a snapshot: what is older is not of the run.
		w.add("seq >= coalesce((SELECT min(edit) FROM snapshots WHERE run = ?), 0)", f.Run)
	}
	if f.Before != "" {
		e, err := s.Edit(ctx, f.Before)
		if err != nil {
			return nil, "", fmt.Errorf("list the changes: go on after %q: %w", f.Before, err)
		}
		w.add("seq < ?", e.Seq)
	}
	edits, next, err := page(ctx, s, "edits", editColumns, w, f.Limit, scanEdit, func(e Edit) string { return e.ID })
	if err != nil {
		return nil, "", fmt.Errorf("list the changes: %w", err)
	}
	return edits, next, nil
}

// EditsOf lists the changes of a file from the first one that was begun at since or later, oldest first. Those that
// were not made are left out.
func (s *Store) EditsOf(ctx context.Context, fileKey string, since time.Time) ([]Edit, error) {
	// By the order of the journal, not by time alone: a clock that was set back hides nothing.
	edits, err := list(ctx, s, scanEdit, `SELECT `+editColumns+` FROM edits WHERE file = ?1 AND state <> 'aborted'
		AND seq >= (SELECT min(seq) FROM edits WHERE file = ?1 AND time >= ?2) ORDER BY seq`, fileKey, stamp(since))
	if err != nil {
		return nil, fmt.Errorf("list the changes of %s: %w", fileKey, err)
	}
	return edits, nil
}

// Edit gives one change; the error is [ErrNotFound] when there is none with that id.
func (s *Store) Edit(ctx context.Context, id string) (Edit, error) {
	seq, tag := parseEditID(id)
	e, err := scanEdit(s.row(ctx, `SELECT `+editColumns+` FROM edits WHERE seq = ? AND tag = ?`, seq, tag))
	if err != nil {
		return Edit{}, fmt.Errorf("read the change %s: %w", id, translate(err))
	}
	return e, nil
}
