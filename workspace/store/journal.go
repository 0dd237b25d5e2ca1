package store

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// State says how far a change has come.
type State string

// The states of a change.
const (
	StateOpen    State = "open"    // about to be made, or interrupted: the file's bytes tell
	StateDone    State = "done"    // made
	StateAborted State = "aborted" // not made; the file was left as it was
)

// Edit is one change of one file in the journal.
type Edit struct {
	ID         string    // given by the store
	Seq        int64     // the order of changes within this store; given by the store
	Time       time.Time // when it was begun; given by the store
	Workspace  string    // the workspace's real root
	Path       string    // relative to the root
	FileKey    string    // the file's absolute real path
	Op         string
	Tool       string
	Agent      string
	Client     string
	Run        string
	Turn       string
	Before     Hash // the content before; "" when the file was not there or could not be read
	After      Hash // the content after; "" when the file was removed or the change not made
	Existed    bool // the file was there
	Deleted    bool // the file was removed
	ModeBefore uint32
	ModeAfter  uint32
	Temp       string // the name of the temporary file beside the file, for cleaning up after a crash
	State      State
	Added      int // lines
	Removed    int // lines
	Note       string
	Undoes     string // the id of the change that this one takes back
	Forgotten  bool   // its contents were dropped by Forget; Before and After are ""
}

// Intent is a change that is about to be made.
type Intent struct {
	Edit
	BeforeBytes []byte    // the file's bytes; nil when it was not there or could not be read
	AfterBytes  []byte    // what is going to be written; ignored when Deleted
	Snapshot    *Snapshot // what the file is like before it; kept when it is the first of its run and file
}

// Begin records, durably and in one transaction, that a change is about to be made: the journal's row, the content
// before, and the run's snapshot of the file unless there is one. It may be called by many goroutines; what is asked for
// at the same time shares one commit. It gives the change's id. Until [Store.Finish] or [Store.Abort] the change is
// open.
//
// The content after is stored by Finish: until then it is on its way into the file. Whoever overwrites a file in place,
// and so may leave a mixture behind, stores it with [Store.PutBlob] first.
func (s *Store) Begin(ctx context.Context, in Intent) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("record the change: %w", err)
	}
	e, after, blobs := s.prepare(in)
	var seq int64
	tag := newTag()
	err := s.record(&task{durable: true}, func(t *tx) (err error) {
		if seq, err = t.insertEdit(&e, tag); err != nil || in.Snapshot == nil {
			return err
		}
		return t.insertSnapshot(&e, seq, in.Snapshot)
	}, blobs...)
	if err != nil {
		return "", fmt.Errorf("record the change: %w", err)
	}
	s.open.add(seq, after)
	return editID(seq, tag), nil
}

// prepare gives the row of a change that is about to be made, the content that Finish stores, and what is stored with
// the row. Large content is among the latter: it takes a file.
func (s *Store) prepare(in Intent) (e Edit, after *blob, blobs []*blob) {
	e = in.Edit
	e.Time, e.State, e.Before, e.After = s.now(), StateOpen, "", ""
	if in.Existed && in.BeforeBytes != nil {
		b := newBlob(in.BeforeBytes)
		e.Before, blobs = b.hash, append(blobs, b)
	}
	if in.Deleted {
		return e, nil, blobs
	}
	after = newBlob(in.AfterBytes)
	e.After = after.hash
	if after.large() && e.After != e.Before {
		blobs = append(blobs, after)
	}
	return e, after, blobs
}

func (t *tx) insertEdit(e *Edit, tag string) (int64, error) {
	return t.insert(`INSERT INTO edits (tag, time, workspace, path, file, op, tool, agent, client, run, turn, before, after, existed, deleted,
		mode_before, mode_after, temp, state, added, removed, note, undoes) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		tag, stamp(e.Time), e.Workspace, e.Path, e.FileKey, e.Op, e.Tool, e.Agent, e.Client, e.Run, e.Turn, e.Before.column(), e.After.column(),
		e.Existed, e.Deleted, int64(e.ModeBefore), int64(e.ModeAfter), e.Temp, string(e.State), int64(e.Added), int64(e.Removed), e.Note, e.Undoes)
}

// openEdits are the changes that this process has begun and not yet closed, with the content that Finish stores.
type openEdits struct {
	mu  sync.Mutex // guards all
	all map[int64]*blob
}

func (o *openEdits) add(seq int64, after *blob) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all[seq] = after
}

func (o *openEdits) get(seq int64) *blob {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all[seq]
}

func (o *openEdits) remove(seq int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.all, seq)
}

func (o *openEdits) none() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.all) == 0
}

// content finds content that is on its way into a file.
func (o *openEdits) content(h Hash) ([]byte, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, b := range o.all {
		if b != nil && b.hash == h {
			return b.data, true
		}
	}
	return nil, false
}

// Finish records that an open change was made: its content after and the events that tell of it. It survives a killed
// process; after a power cut the change may be open again, and the file's bytes tell that it was made. It works whether
// or not ctx has ended.
//
// When it is called for a change that an earlier process began, the caller stores the file's content with
// [Store.PutBlob] first.
func (s *Store) Finish(_ context.Context, id string, events ...Event) error {
	now := s.now()
	err := s.settle(id, func(t *tx, seq int64, after *blob) (int64, error) {
		if after != nil {
			if err := t.putBlob(after, now); err != nil {
				return 0, err
			}
		}
		if err := t.addEvents(now, events); err != nil {
			return 0, err
		}
		return t.change(`UPDATE edits SET state = 'done' WHERE seq = ? AND state = 'open'`, seq)
	})
	if err != nil {
		return fmt.Errorf("record that the change %s was made: %w", id, err)
	}
	return nil
}

// Abort records that an open change was not made, and why. The snapshot that was taken for it goes. It works whether or
// not ctx has ended.
func (s *Store) Abort(_ context.Context, id, reason string, events ...Event) error {
	now := s.now()
	err := s.settle(id, func(t *tx, seq int64, _ *blob) (int64, error) {
		if err := t.exec(`DELETE FROM snapshots WHERE run = (SELECT run FROM edits WHERE seq = ?1) AND edit = ?1`, seq); err != nil {
			return 0, err
		}
		if err := t.addEvents(now, events); err != nil {
			return 0, err
		}
		return t.change(`UPDATE edits SET state = 'aborted', note = ?, after = NULL WHERE seq = ? AND state = 'open'`, reason, seq)
	})
	if err != nil {
		return fmt.Errorf("record that the change %s was not made: %w", id, err)
	}
	return nil
}

// settle closes an open change; to gives how many rows it has closed.
func (s *Store) settle(id string, to func(t *tx, seq int64, after *blob) (int64, error)) error {
	seq, _ := parseEditID(id)
	after := s.open.get(seq)
	err := s.writer.do(&task{run: func(t *tx) error {
		n, err := to(t, seq, after)
		if err == nil && n == 0 {
			return ErrNotFound
		}
		return err
	}})
	if err == nil {
		s.open.remove(seq)
	}
	return err
}

// RecordDisplaced stores content that an outside program saved while a change was being made and that could not be
// put back. It is a row of its own in the journal, with the content as Before, and gives its id.
func (s *Store) RecordDisplaced(_ context.Context, e Edit, content []byte, events ...Event) (string, error) {
	now, b, tag := s.now(), newBlob(content), newTag()
	e.Time, e.State, e.Before, e.Existed = now, StateDone, b.hash, true
	if e.Agent == "" {
		e.Agent = "outside"
	}
	var seq int64
	err := s.record(&task{durable: true}, func(t *tx) (err error) {
		if seq, err = t.insertEdit(&e, tag); err != nil {
			return err
		}
		return t.addEvents(now, events)
	}, b)
	if err != nil {
		return "", fmt.Errorf("record a displaced version of %s: %w", e.FileKey, err)
	}
	return editID(seq, tag), nil
}

// OpenIntents lists the changes that were begun and neither finished nor aborted, oldest first.
func (s *Store) OpenIntents(ctx context.Context) ([]Edit, error) {
	if s.settled && s.open.none() {
		return nil, nil // there is no index of them: they are only looked for when there may be some
	}
	edits, err := list(ctx, s, scanEdit, `SELECT `+editColumns+` FROM edits WHERE state = 'open' ORDER BY seq`)
	if err != nil {
		return nil, fmt.Errorf("list the open changes: %w", err)
	}
	return edits, nil
}

// Snapshot is what a file was like before the first write to it within a run.
type Snapshot struct {
	Run        string    // given by the store
	FileKey    string    // given by the store
	Workspace  string    // given by the store
	Time       time.Time // given by the store: the time of the change that it was taken for
	Hash       Hash      // the content; "" when Absent or Unreadable
	Mode       uint32
	Absent     bool     // the file was not there
	Unreadable bool     // the file was there and could not be read: there is nothing to restore
	Link       string   // the text of the symbolic link that was there, or ""
	Generation int      // which folder stood at the workspace's root
	Folders    []string // the folders that were created for the file
}

func (t *tx) insertSnapshot(e *Edit, seq int64, p *Snapshot) error {
	folders, err := json.Marshal(p.Folders)
	if err != nil {
		return err
	}
	hash := e.Before
	if p.Absent || p.Unreadable {
		hash = ""
	}
	return t.exec(`INSERT OR IGNORE INTO snapshots (run, file, edit, time, workspace, hash, mode, absent, unreadable, link, generation, folders)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?)`, e.Run, e.FileKey, seq, stamp(e.Time), e.Workspace, hash.column(), int64(p.Mode), p.Absent, p.Unreadable, p.Link, int64(p.Generation), string(folders))
}

const snapshotColumns = `run, file, workspace, time, hash, mode, absent, unreadable, link, generation, folders`

func scanSnapshot(r scanner) (Snapshot, error) {
	var p Snapshot
	var hash []byte
	var at int64
	var folders string
	err := r.Scan(&p.Run, &p.FileKey, &p.Workspace, &at, &hash, &p.Mode, &p.Absent, &p.Unreadable, &p.Link, &p.Generation, &folders)
	if err != nil {
		return p, err
	}
	p.Time, p.Hash = unstamp(at), hashOf(hash)
	return p, json.Unmarshal([]byte(folders), &p.Folders)
}

// Snapshot gives the run's snapshot of a file; the error is [ErrNotFound] when the run has not written to it.
func (s *Store) Snapshot(ctx context.Context, run, fileKey string) (Snapshot, error) {
	p, err := scanSnapshot(s.row(ctx, `SELECT `+snapshotColumns+` FROM snapshots WHERE run = ? AND file = ?`, run, fileKey))
	if err != nil {
		return Snapshot{}, fmt.Errorf("read the snapshot of %s: %w", fileKey, translate(err))
	}
	return p, nil
}

// Snapshots lists the snapshots of a run, by file.
func (s *Store) Snapshots(ctx context.Context, run string) ([]Snapshot, error) {
	all, err := list(ctx, s, scanSnapshot, `SELECT `+snapshotColumns+` FROM snapshots WHERE run = ? ORDER BY file`, run)
	if err != nil {
		return nil, fmt.Errorf("list the snapshots of the run %s: %w", run, err)
	}
	return all, nil
}
