package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/toold/toold/workspace/store"
)

// Request asks the door for one change.
type Request struct {
	Actor   Actor
	Op      Op
	Tool    string
	Path    Path
	Call    string // digest of the call's arguments
	Input   []byte // the text the agent sent, for judges of the input itself
	Undoes  string // the journalled edit that this one takes back
	Arrived int64  // when the call came in, as run.Asks.Arrive counts; taken here when zero
	Allowed bool   // a person allowed this very change: checkers that a person may overrule are not asked
	// Compute sets After (or Delete, or Mode) from Before. It may be called again when an outside program saved the
	// file in between, and then sees the newer bytes.
	Compute func(*Change) error
}

// Result is a change that was made, or found to change nothing.
type Result struct {
	*Change
	ID        string // of the journalled edit; "" when nothing was changed
	Key       string // of the real file
	Revision  store.Hash
	Unchanged bool
	At        time.Time
}

var bom = []byte("\xef\xbb\xbf")

// Apply is the one door through which a workspace file changes. Under the lock of the real file it reads the current
// bytes once, computes, asks the checkers on exactly these bytes, records intent and snapshot, writes beside, makes
// the bytes durable, swaps, looks at what the swap displaced, and records the change as done. A refused or failed
// change leaves every byte as it was.
func (w *Workspace) Apply(ctx context.Context, q Request) (*Result, error) {
	rs, err := w.ApplyAll(ctx, []Request{q})
	if err != nil {
		return nil, err
	}
	return rs[0], nil
}

// ApplyAll makes several changes or none. Everything is computed and checked before the first byte is written; when a
// write fails, the ones before it are taken back.
func (w *Workspace) ApplyAll(ctx context.Context, qs []Request) ([]*Result, error) {
	if err := cause(ctx); err != nil {
		return nil, err
	}
	arrived := w.files.Asks.Arrive()
	for i := range qs {
		if qs[i].Arrived == 0 {
			qs[i].Arrived = arrived
		}
	}
	keys, err := w.lockKeys(qs)
	if err != nil {
		return nil, err
	}
	release, err := w.files.locks.acquire(ctx, keys...)
	if err != nil {
		return nil, &Error{Code: "cancelled", Text: "cancelled while waiting for another write of the same file; nothing was changed", Err: err}
	}
	defer release()
	ctx = context.WithoutCancel(ctx) // from here on the write is accepted: it finishes and is answered
	for range 16 {
		rs, err := w.attempt(ctx, qs)
		if errors.Is(err, errDisplaced) {
			continue
		}
		return rs, err
	}
	return nil, errorf("changed_since", "another program keeps saving %s; nothing of it was overwritten. Try again when it is done", show(qs[0].Path))
}

// errDisplaced says that an outside program saved the file between reading and swapping; its bytes are in place.
var errDisplaced = errors.New("an outside program saved the file meanwhile")

func (w *Workspace) lockKeys(qs []Request) ([]string, error) {
	var keys []string
	for _, q := range qs {
		pl, err := w.resolve(q.Path, true)
		if err != nil {
			return nil, pathError("write", q.Path, err)
		}
		keys = append(keys, w.Key(pl.real()))
		if pl.exists && pl.info.nlink > 1 {
			keys = append(keys, fmt.Sprintf("inode:%d:%d", pl.info.dev, pl.info.ino))
		}
		pl.close()
	}
	return keys, nil
}

// job is one change on its way through the door.
type job struct {
	q      Request
	place  *place
	change *Change
	key    string
	was    info // of the file that Before was read from
	readAt time.Time
	made   []string // folders that were created for it, outermost first
	result *Result

	added, removed int // lines
}

func (w *Workspace) attempt(ctx context.Context, qs []Request) (rs []*Result, err error) {
	var jobs []*job
	defer func() {
		for _, j := range jobs {
			j.place.close()
		}
	}()
	if jobs, err = w.prepareAll(ctx, qs); err != nil {
		return nil, err
	}
	var with []Path
	for _, j := range jobs {
		with = append(with, j.change.Real)
	}
	for _, j := range jobs {
		if len(jobs) > 1 {
			j.change.With = with
		}
		if err := w.judge(ctx, j); err != nil {
			return nil, err
		}
	}
	for i, j := range jobs {
		if err := w.commit(ctx, j); err != nil {
			return nil, w.rollBack(ctx, jobs[:i], err)
		}
	}
	for _, j := range jobs {
		rs = append(rs, j.result)
	}
	return rs, nil
}

// sameFile finds the earlier job of the same call that changes the same real file.
func sameFile(jobs []*job, w *Workspace, q Request) *job {
	if len(jobs) == 0 {
		return nil
	}
	_, key, err := w.RealPath(q.Path)
	if err != nil {
		return nil
	}
	i := slices.IndexFunc(jobs, func(j *job) bool { return j.key == key })
	if i < 0 {
		return nil
	}
	return jobs[i]
}

// chain computes a further change of the same call on top of what j has computed so far.
func (j *job) chain(q Request) error {
	c := *j.change
	c.Before, c.Existed = j.change.After, true
	if err := q.Compute(&c); err != nil {
		return err
	}
	j.change.After, j.change.Notes = c.After, c.Notes
	j.change.Input = append(slices.Clone(j.change.Input), q.Input...)
	return nil
}

// prepare reads the current bytes and computes the new ones.
func (w *Workspace) prepare(ctx context.Context, q Request) (*job, error) {
	pl, err := w.resolve(q.Path, true)
	if err != nil {
		return nil, pathError("write", q.Path, err)
	}
	j := &job{q: q, place: pl, key: w.Key(pl.real()), readAt: w.files.now()}
	j.change = &Change{
		Op: q.Op, Actor: q.Actor, Path: q.Path, Real: pl.real(), Existed: pl.exists, Call: q.Call, Input: q.Input, FS: w.FS(), Arrived: q.Arrived,
	}
	if err := w.admit(j); err != nil {
		return j, err
	}
	if pl.exists {
		if err := w.readBefore(ctx, j); err != nil {
			return j, err
		}
	}
	if err := q.Compute(j.change); err != nil {
		return j, err
	}
	c := j.change
	if q.Op == OpWrite && bytes.HasPrefix(c.Before, bom) && !bytes.HasPrefix(c.After, bom) {
		c.After = append(slices.Clone(bom), c.After...)
		c.Notes = append(c.Notes, "the file's byte-order mark was kept")
	}
	if int64(len(c.After)) > w.opts.MaxFileBytes {
		return j, errorf("too_large", "%s would have %d bytes; the limit is %d (limits.max_file_bytes). Nothing was written", show(q.Path), len(c.After), w.opts.MaxFileBytes)
	}
	return j, nil
}

// admit refuses what no content could make right: protected paths, folders, special and read-only files, files with
// unsaved changes in an editor.
func (w *Workspace) admit(j *job) error {
	p, pl := j.q.Path, j.place
	if j.q.Op&(OpOperator|OpAppend) == 0 {
		for _, q := range []Path{p, pl.real()} {
			if why := w.protected(q); why != "" {
				return errorf("protected_path", "%s is protected: %s. Nothing was written", show(p), why)
			}
		}
	}
	if pl.name == "." || pl.exists && pl.info.mode.IsDir() {
		return errorf("is_directory", "%s is a folder; give the path of a file in it, such as %s", show(p), show(Path(path.Join(string(p), "notes.md"))))
	}
	if pl.exists {
		if err := regular(p, pl.info); err != nil {
			return err
		}
		if pl.info.mode.Perm()&0o222 == 0 {
			return errorf("permission", "%s is read-only (mode %04o); nothing was written. If it really is to change, a person has to make it writable first (chmod u+w)", show(p), pl.info.mode.Perm())
		}
	}
	if w.files.Dirty(j.key) {
		return errorf("editor_dirty", "%s has unsaved changes in an editor; nothing was written. Wait until the person has saved or discarded them, then try again", show(p))
	}
	return nil
}

func (w *Workspace) readBefore(ctx context.Context, j *job) error {
	f, st, err := openRegular(j.place, j.q.Path)
	if errors.Is(err, fs.ErrPermission) {
		j.change.Unread, j.change.Mode, j.was = true, j.place.info.mode, j.place.info
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	data, st, err := readAll(ctx, f, w.opts.MaxFileBytes)
	if errors.Is(err, errTooLarge) {
		return errorf("too_large", "%s has %d bytes; the tools change files up to %d (limits.max_file_bytes). Use run_shell for a file of this size", show(j.q.Path), st.size, w.opts.MaxFileBytes)
	}
	if err != nil {
		return pathError("read", j.q.Path, err)
	}
	j.change.Before, j.change.Mode, j.was = data, st.mode, st
	return nil
}

// judge asks the checkers. A change that changes nothing is not judged.
func (w *Workspace) judge(ctx context.Context, j *job) error {
	c := j.change
	if c.Existed && !c.Unread && !c.Delete && bytes.Equal(c.Before, c.After) && c.Mode == j.was.mode {
		return nil
	}
	if err := w.lookAlike(j); err != nil {
		return err
	}
	if j.q.Allowed {
		return nil
	}
	for _, k := range w.opts.Checkers {
		if err := k.Check(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// lookAlike refuses once to create a file whose name a person could not tell from that of one that is there.
func (w *Workspace) lookAlike(j *job) error {
	if j.change.Existed || j.change.Delete {
		return nil
	}
	name := j.place.name
	if len(j.place.missing) > 0 {
		name = j.place.missing[0]
	}
	entries, err := j.place.parent.names()
	if err != nil {
		return pathError("write", j.q.Path, err)
	}
	t := twin(name, entries)
	if t == "" || !w.files.refusedOnce("look_alike_name", j.q.Actor, j.key, j.q.Arrived) {
		return nil
	}
	return &Refusal{Code: "look_alike_name", Again: true, Text: fmt.Sprintf(
		"%s was not written: the folder has %s, a name that looks the same but is not. Use that name (%s) to change the existing file; ask again for the same path to make a second file anyway",
		show(j.q.Path), visible(t), ShowName(path.Join(string(j.place.dir), t)))}
}

// rollBack takes back the changes that a failed call has already made, and gives the call's error.
func (w *Workspace) rollBack(ctx context.Context, done []*job, failed error) error {
	var kept []string
	for _, j := range slices.Backward(done) {
		if j.result == nil || j.result.Unchanged {
			continue
		}
		if err := w.takeBack(ctx, j); err != nil {
			kept = append(kept, show(j.q.Path))
		}
	}
	if len(kept) > 0 {
		return errorf("internal", "%v; %s could not be taken back: use revert_file", failed, strings.Join(kept, ", "))
	}
	return failed
}

func (w *Workspace) takeBack(ctx context.Context, j *job) error {
	pl, err := w.resolve(j.q.Path, true)
	if err != nil {
		return err
	}
	b := &job{q: j.q, place: pl, key: j.key, readAt: w.files.now()}
	defer pl.close()
	b.q.Op, b.q.Undoes = OpUndo, j.result.ID
	b.change = &Change{Op: OpUndo, Actor: j.q.Actor, Path: j.q.Path, Real: pl.real(), Existed: pl.exists}
	if pl.exists {
		if err := w.readBefore(ctx, b); err != nil {
			return err
		}
	}
	if !bytes.Equal(b.change.Before, j.change.After) {
		return errDisplaced
	}
	b.change.After, b.change.Mode, b.change.Delete = j.change.Before, j.was.mode, !j.change.Existed
	return w.commit(ctx, b)
}

// FS gives the workspace as a file system for reading, confined to the root.
func (w *Workspace) FS() fs.FS { return confined{w} }

// Preview computes the changes as ApplyAll would, and writes nothing.
func (w *Workspace) Preview(ctx context.Context, qs []Request) ([]*Change, error) {
	jobs, err := w.prepareAll(ctx, qs)
	changes := make([]*Change, len(jobs))
	for i, j := range jobs {
		changes[i] = j.change
		j.place.close()
	}
	return changes, err
}

// prepareAll makes the jobs of a call; changes of the same real file are one job. With an error it gives the jobs so
// far, whose places the caller closes in any case.
func (w *Workspace) prepareAll(ctx context.Context, qs []Request) ([]*job, error) {
	var jobs []*job
	for _, q := range qs {
		if prev := sameFile(jobs, w, q); prev != nil {
			if err := prev.chain(q); err != nil {
				return jobs, err
			}
			continue
		}
		j, err := w.prepare(ctx, q)
		if j != nil {
			jobs = append(jobs, j)
		}
		if err != nil {
			return jobs, err
		}
	}
	return jobs, nil
}
