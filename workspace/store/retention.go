package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	gcBatch   = 500            // rows or contents that go in one transaction, so that writers hardly wait
	blobGrace = 24 * time.Hour // how long content that nothing names is kept
	day       = 24 * time.Hour
)

// Budgets are what a store may grow to. Zero is no limit.
type Budgets struct {
	Blobs          int64 // bytes of stored content
	JournalDays    int   // changes, events and closed runs
	CommandLogDays int   // commands and approvals
}

// Collected counts what a collection has removed.
type Collected struct {
	Edits, Runs, Events, Commands, Approvals int64
	Blobs                                    int64
	Bytes                                    int64 // of the blobs
}

// GC removes what is older than the budgets' days, content that nothing names any more, and, while there is too
// much of it, the content of the oldest changes. The snapshots of open runs and what is being written stay. Writers go
// on meanwhile.
func (s *Store) GC(ctx context.Context, b Budgets) (Collected, error) {
	g := &collection{s: s, now: s.now()}
	for _, step := range []func(context.Context, Budgets) error{g.expire, g.sweep, g.shrink, g.strays, g.vacuum} {
		if err := step(ctx, b); err != nil {
			return g.got, fmt.Errorf("collect garbage: %w", err)
		}
	}
	return g.got, nil
}

type collection struct {
	s   *Store
	now time.Time
	got Collected
}

// expire removes the rows whose days are over. The newest change and the newest event stay: the numbers of both go
// on from them.
func (g *collection) expire(ctx context.Context, b Budgets) error {
	if err := g.s.writer.do(&task{run: func(t *tx) error { return t.closeIdleRuns(g.now) }}); err != nil {
		return err
	}
	now := stamp(g.now)
	if b.JournalDays > 0 {
		end := stamp(g.now.Add(-time.Duration(b.JournalDays) * day))
		err := errors.Join(
			g.delete(ctx, nil, `snapshots WHERE (run, file) IN (SELECT run, file FROM snapshots p WHERE p.time < ?1
				AND NOT EXISTS (SELECT 1 FROM runs WHERE id = p.run AND (closed = 0 OR closed >= ?1)) LIMIT ?2)`, end),
			g.delete(ctx, &g.got.Runs, `runs WHERE seq IN (SELECT seq FROM runs WHERE closed > 0 AND closed < ?1
				AND NOT EXISTS (SELECT 1 FROM snapshots WHERE run = runs.id) LIMIT ?2)`, end),
			g.delete(ctx, &g.got.Edits, `edits WHERE seq IN (SELECT seq FROM edits e WHERE time < ?1 AND state <> 'open' AND seq < (SELECT max(seq) FROM edits)
				AND NOT EXISTS (SELECT 1 FROM runs WHERE id = e.run AND closed = 0 AND (NOT standing OR touched + idle > ?3)) LIMIT ?2)`, end, now),
			g.delete(ctx, &g.got.Events, `events WHERE seq IN (SELECT seq FROM events WHERE time < ?1 AND seq < (SELECT max(seq) FROM events) LIMIT ?2)`, end),
		)
		if err != nil {
			return err
		}
	}
	if b.CommandLogDays == 0 {
		return nil
	}
	end := stamp(g.now.Add(-time.Duration(b.CommandLogDays) * day))
	return errors.Join(
		g.delete(ctx, &g.got.Commands, `container_command_logs WHERE seq IN (SELECT seq FROM container_command_logs WHERE time < ?1 AND outcome <> 'running' LIMIT ?2)`, end),
		g.delete(ctx, &g.got.Approvals, `approvals WHERE seq IN (SELECT seq FROM approvals WHERE time < ?1 AND outcome <> 'pending' LIMIT ?2)`, end),
	)
}

// delete removes rows batch by batch and counts them.
func (g *collection) delete(ctx context.Context, count *int64, what string, end int64, more ...driver.Value) error {
	args := append([]driver.Value{end, int64(gcBatch)}, more...)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var n int64
		err := g.s.writer.do(&task{run: func(t *tx) (err error) {
			n, err = t.change(`DELETE FROM `+what, args...)
			return err
		}})
		if err != nil {
			return err
		}
		if count != nil {
			*count += n
		}
		if n < gcBatch {
			return nil
		}
	}
}

// victim is content that may go.
type victim struct {
	hash Hash
	size int64
}

func scanVictim(r scanner) (victim, error) {
	var v victim
	var hash []byte
	err := r.Scan(&hash, &v.size)
	v.hash = hashOf(hash)
	return v, err
}

// sweep removes the content that nothing names.
func (g *collection) sweep(ctx context.Context, _ Budgets) error {
	last, err := g.lastEdit(ctx)
	if err != nil {
		return err
	}
	victims, err := list(ctx, g.s, scanVictim, `SELECT hash, size FROM blobs WHERE time < ? AND hash NOT IN (
		SELECT before FROM edits WHERE before IS NOT NULL UNION ALL SELECT after FROM edits WHERE after IS NOT NULL
		UNION ALL SELECT hash FROM snapshots WHERE hash IS NOT NULL)`, stamp(g.now.Add(-blobGrace)))
	if err != nil {
		return err
	}
	return g.remove(ctx, victims, last)
}

// shrink removes the content whose last use is longest ago until the rest is within the budget.
func (g *collection) shrink(ctx context.Context, b Budgets) error {
	var total int64
	if err := g.s.row(ctx, `SELECT coalesce(sum(size), 0) FROM blobs`).Scan(&total); err != nil {
		return translate(err)
	}
	if b.Blobs == 0 || total <= b.Blobs {
		return nil
	}
	last, err := g.lastEdit(ctx)
	if err != nil {
		return err
	}
	victims, err := list(ctx, g.s, scanVictim, `SELECT hash, size FROM (SELECT b.hash, b.size, sum(b.size) OVER (ORDER BY u.seq, b.time, b.hash) - b.size AS freed
		FROM blobs b LEFT JOIN (SELECT hash, max(seq) AS seq FROM (SELECT before AS hash, seq FROM edits UNION ALL SELECT after, seq FROM edits) GROUP BY hash) u ON u.hash = b.hash
		WHERE b.hash NOT IN (SELECT hash FROM snapshots WHERE hash IS NOT NULL AND run IN (SELECT id FROM runs WHERE `+openRun+`))
		AND (u.seq IS NOT NULL OR b.time < ?)
		AND b.hash NOT IN (SELECT before FROM edits WHERE state = 'open' AND before IS NOT NULL UNION ALL SELECT after FROM edits WHERE state = 'open' AND after IS NOT NULL)
		) WHERE freed < ?`, stamp(g.now), stamp(g.now.Add(-blobGrace)), total-b.Blobs)
	if err != nil {
		return err
	}
	return g.remove(ctx, victims, last)
}

func (g *collection) lastEdit(ctx context.Context) (int64, error) {
	var last int64
	err := g.s.row(ctx, `SELECT coalesce(max(seq), 0) FROM edits`).Scan(&last)
	return last, translate(err)
}

// remove removes content, but not what a change after the given one names again.
func (g *collection) remove(ctx context.Context, victims []victim, last int64) error {
	for len(victims) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(gcBatch, len(victims))
		if err := g.removeBatch(victims[:n], last); err != nil {
			return err
		}
		victims = victims[n:]
	}
	return nil
}

func (g *collection) removeBatch(victims []victim, last int64) error {
	g.s.files.Lock()
	defer g.s.files.Unlock()
	var gone []victim
	err := g.s.writer.do(&task{run: func(t *tx) error {
		gone = gone[:0]
		for _, v := range victims {
			used, err := t.number(`SELECT EXISTS (SELECT 1 FROM edits WHERE seq > ?1 AND (before = ?2 OR after = ?2)) OR EXISTS (SELECT 1 FROM blobs WHERE hash = ?2 AND time > ?3)`,
				last, v.hash.column(), stamp(g.now))
			if err != nil {
				return err
			}
			if used != 0 {
				continue
			}
			if err := t.removeBlob(v.hash); err != nil {
				return err
			}
			gone = append(gone, v)
		}
		return nil
	}})
	if err != nil {
		return err
	}
	for _, v := range gone {
		g.got.Blobs++
		g.got.Bytes += v.size
		if err := g.s.removeFile(v.hash); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) removeBlob(h Hash) error {
	if err := t.exec(`DELETE FROM contents WHERE id = (SELECT content FROM blobs WHERE hash = ?)`, h.column()); err != nil {
		return err
	}
	return t.exec(`DELETE FROM blobs WHERE hash = ?`, h.column())
}

func (s *Store) removeFile(h Hash) error {
	err := os.Remove(s.blobFile(h))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// strays removes files of content whose row was never written: a process was killed between the two.
func (g *collection) strays(ctx context.Context, _ Budgets) error {
	folders, err := os.ReadDir(g.s.blobDir())
	if err != nil {
		return err
	}
	for _, d := range folders {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := g.straysIn(d.Name()); err != nil {
			return err
		}
	}
	return nil
}

func (g *collection) straysIn(folder string) error {
	g.s.files.Lock()
	defer g.s.files.Unlock()
	files, err := os.ReadDir(filepath.Join(g.s.blobDir(), folder))
	if err != nil {
		return err
	}
	for _, f := range files {
		h := Hash(folder + f.Name())
		if !h.valid() {
			continue
		}
		have, err := g.s.has(h)
		if err != nil {
			return err
		}
		if !have {
			if err := g.s.removeFile(h); err != nil {
				return err
			}
		}
	}
	return nil
}

// vacuum gives the database's unused pages back to the file system when they are more than a tenth of it.
func (g *collection) vacuum(ctx context.Context, _ Budgets) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var free, pages int64
		err := g.s.writer.do(&task{run: func(t *tx) (err error) {
			if free, err = t.number(`PRAGMA freelist_count`); err != nil {
				return err
			}
			if pages, err = t.number(`PRAGMA page_count`); err != nil || free <= pages/10 {
				return err
			}
			return t.exec(`PRAGMA incremental_vacuum(1000)`)
		}})
		if err != nil || free <= pages/10 {
			return err
		}
	}
}
