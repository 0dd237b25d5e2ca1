package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Run is a piece of an agent's work whose snapshots belong together.
type Run struct {
	ID        string // made by OpenRun when empty
	Workspace string // the workspace's real root
	Agent     string
	Team      string
	Stages    json.RawMessage
	Meta      json.RawMessage
	Standing  bool          // of an agent that opened none; it ends by itself
	Idle      time.Duration // how long a standing run lives without calls
	Opened    time.Time     // given by the store
	Touched   time.Time     // when it was last used; given by the store
	Closed    time.Time     // zero while it is open
}

const runColumns = `id, workspace, agent, team, stages, meta, standing, idle, opened, touched, closed`

// scanRun reads a run. A standing run that nobody has used for its idle time is closed, whether or not the row says so
// yet.
func (s *Store) scanRun(r scanner) (Run, error) {
	var x Run
	var opened, touched, closed int64
	var stages, meta string
	err := r.Scan(&x.ID, &x.Workspace, &x.Agent, &x.Team, &stages, &meta, &x.Standing, &x.Idle, &opened, &touched, &closed)
	x.Stages, x.Meta = raw(stages), raw(meta)
	x.Opened, x.Touched, x.Closed = unstamp(opened), unstamp(touched), unstamp(closed)
	if end := x.Touched.Add(x.Idle); x.Closed.IsZero() && x.Standing && !s.now().Before(end) {
		x.Closed = end
	}
	return x, err
}

func raw(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

// OpenRun begins a run and gives its id. The error is [ErrExists] when there is a run with the wanted id.
func (s *Store) OpenRun(ctx context.Context, r Run, events ...Event) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("open a run: %w", err)
	}
	now := s.now()
	if r.ID == "" {
		r.ID = newID(now)
	}
	err := s.writer.do(&task{durable: true, run: func(t *tx) error {
		if err := t.insertRun(&r, now); err != nil {
			return err
		}
		return t.addEvents(now, events)
	}})
	if err != nil {
		return "", fmt.Errorf("open the run %s: %w", r.ID, err)
	}
	return r.ID, nil
}

func (t *tx) insertRun(r *Run, now time.Time) error {
	return t.exec(`INSERT INTO runs (`+runColumns+`) VALUES (?,?,?,?,?,?,?,?,?,?,0)`,
		r.ID, r.Workspace, r.Agent, r.Team, string(r.Stages), string(r.Meta), r.Standing, int64(r.Idle), stamp(now), stamp(now))
}

// StandingRun gives the run of an agent that opened none, and counts as a use of it. When the last one has not been
// used for the idle time, or was closed, a new one begins.
func (s *Store) StandingRun(ctx context.Context, workspace, agent string, idle time.Duration) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("find the standing run: %w", err)
	}
	now := s.now()
	r := Run{ID: newID(now), Workspace: workspace, Agent: agent, Standing: true, Idle: idle}
	var id string
	err := s.writer.do(&task{run: func(t *tx) error {
		if err := t.closeIdleRuns(now); err != nil {
			return err
		}
		found, err := t.value(`SELECT id FROM runs WHERE workspace = ? AND agent = ? AND standing AND closed = 0`, workspace, agent)
		if errors.Is(err, ErrNotFound) {
			id = r.ID
			return t.insertRun(&r, now)
		}
		if err != nil {
			return err
		}
		id = found.(string)
		return t.exec(`UPDATE runs SET touched = max(touched, ?), idle = ? WHERE id = ?`, stamp(now), int64(idle), id)
	}})
	if err != nil {
		return "", fmt.Errorf("find the standing run: %w", err)
	}
	return id, nil
}

func (t *tx) closeIdleRuns(now time.Time) error {
	return t.exec(`UPDATE runs SET closed = touched + idle WHERE standing AND closed = 0 AND touched + idle <= ?`, stamp(now))
}

// TouchRun counts as a use of a standing run that is called by its id.
func (s *Store) TouchRun(_ context.Context, id string) error {
	now := s.now()
	err := s.writer.do(&task{run: func(t *tx) error {
		return t.exec(`UPDATE runs SET touched = max(touched, ?1) WHERE id = ?2 AND closed = 0 AND (NOT standing OR touched + idle > ?1)`, stamp(now), id)
	}})
	if err != nil {
		return fmt.Errorf("keep the run %s: %w", id, err)
	}
	return nil
}

// CloseRun ends a run; a run that has ended stays as it is. The error is [ErrNotFound] when there is none.
func (s *Store) CloseRun(_ context.Context, id string, events ...Event) error {
	now := s.now()
	err := s.writer.do(&task{durable: true, run: func(t *tx) error {
		n, err := t.change(`UPDATE runs SET closed = CASE WHEN closed = 0 THEN ? ELSE closed END WHERE id = ?`, stamp(now), id)
		if err != nil {
			return err
		}
		if n == 0 {
			return ErrNotFound
		}
		return t.addEvents(now, events)
	}})
	if err != nil {
		return fmt.Errorf("close the run %s: %w", id, err)
	}
	return nil
}

// Run gives one run; the error is [ErrNotFound] when there is none with that id.
func (s *Store) Run(ctx context.Context, id string) (Run, error) {
	r, err := s.scanRun(s.row(ctx, `SELECT `+runColumns+` FROM runs WHERE id = ?`, id))
	if err != nil {
		return Run{}, fmt.Errorf("read the run %s: %w", id, translate(err))
	}
	return r, nil
}

// Runs lists runs, newest first, by Filter.Workspace and Filter.Agent, and gives the id to go on with when there are
// more.
func (s *Store) Runs(ctx context.Context, f Filter) ([]Run, string, error) {
	w := &where{}
	w.equal("workspace", f.Workspace)
	w.equal("agent", f.Agent)
	if err := s.after(ctx, w, "runs", f.Before); err != nil {
		return nil, "", fmt.Errorf("list the runs: %w", err)
	}
	runs, next, err := page(ctx, s, "runs", runColumns, w, f.Limit, s.scanRun, func(r Run) string { return r.ID })
	if err != nil {
		return nil, "", fmt.Errorf("list the runs: %w", err)
	}
	return runs, next, nil
}

// OpenRuns counts the runs that are open.
func (s *Store) OpenRuns(ctx context.Context) (int, error) {
	var n int
	if err := s.row(ctx, `SELECT count(*) FROM runs WHERE `+openRun, stamp(s.now())).Scan(&n); err != nil {
		return 0, fmt.Errorf("count the open runs: %w", translate(err))
	}
	return n, nil
}

// openRun is the condition for a run that is open at the time given as its parameter.
const openRun = `closed = 0 AND (NOT standing OR touched + idle > ?)`
