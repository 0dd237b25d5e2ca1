package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// lostEvents is more than a power cut can take back: the numbers that are skipped after a daemon that did not end
// properly, so that no number is ever given twice.
const lostEvents = 1000

// Event is something that subscribers are told. It is stored in the same transaction as what it tells of.
type Event struct {
	Seq       int64     // ascending within this store, with gaps; given by the store
	Time      time.Time // given by the store
	Kind      string
	Workspace string // the workspace's real root, or ""
	Data      json.RawMessage
}

func (t *tx) addEvents(now time.Time, events []Event) error {
	for _, e := range events {
		if len(e.Data) == 0 {
			e.Data = []byte("null")
		}
		err := t.exec(`INSERT INTO events (time, kind, workspace, data) VALUES (?, ?, ?, ?)`, stamp(now), e.Kind, e.Workspace, string(e.Data))
		if err != nil {
			return err
		}
		t.events = true
	}
	return nil
}

// skipEvents leaves a gap in the numbers. The last event is never collected, so the numbers always ascend.
func (t *tx) skipEvents(now time.Time) error {
	return t.exec(`INSERT INTO events (seq, time, kind, workspace, data) SELECT max(seq) + ?, ?, 'restart', '', 'null' FROM events HAVING count(*) > 0`, int64(lostEvents), stamp(now))
}

// AddEvents stores events that tell of nothing else in the store.
func (s *Store) AddEvents(ctx context.Context, events ...Event) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("store an event: %w", err)
	}
	now := s.now()
	if err := s.writer.do(&task{run: func(t *tx) error { return t.addEvents(now, events) }}); err != nil {
		return fmt.Errorf("store an event: %w", err)
	}
	return nil
}

func scanEvent(r scanner) (Event, error) {
	var e Event
	var at int64
	var data string
	err := r.Scan(&e.Seq, &at, &e.Kind, &e.Workspace, &data)
	e.Time, e.Data = unstamp(at), json.RawMessage(data)
	return e, err
}

// EventsSince lists at most limit events with numbers above seq, oldest first, of the given kinds or, without any, of
// all.
func (s *Store) EventsSince(ctx context.Context, seq int64, kinds []string, limit int) ([]Event, error) {
	w := &where{}
	w.add("seq > ?", seq)
	if len(kinds) > 0 {
		args := make([]any, len(kinds))
		for i, k := range kinds {
			args[i] = k
		}
		w.add("kind IN (?"+strings.Repeat(",?", len(kinds)-1)+")", args...)
	}
	events, err := list(ctx, s, scanEvent, `SELECT seq, time, kind, workspace, data FROM events`+w.String()+` ORDER BY seq LIMIT ?`, append(w.args, limit)...)
	if err != nil {
		return nil, fmt.Errorf("list the events: %w", err)
	}
	return events, nil
}

// LastEvent gives the number of the newest event, 0 when there is none.
func (s *Store) LastEvent(ctx context.Context) (int64, error) {
	var seq int64
	if err := s.row(ctx, `SELECT coalesce(max(seq), 0) FROM events`).Scan(&seq); err != nil {
		return 0, fmt.Errorf("read the last event: %w", translate(err))
	}
	return seq, nil
}

// Watch gives a channel that receives after events were committed, once for any number of them, and a function that
// ends that. What is new is then read with [Store.EventsSince].
func (s *Store) Watch() (<-chan struct{}, func()) { return s.writer.watchers.add() }
