package workspace

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/toold/toold/workspace/run"
	"github.com/toold/toold/workspace/store"
)

const (
	tempPrefix = ".toold-"
	tempSuffix = ".tmp"
	writerWait = 2 * time.Second // for a program that has the displaced file open for writing
)

// commit makes one judged change durable: intent, new bytes beside, swap, look at the displaced bytes, done.
func (w *Workspace) commit(ctx context.Context, j *job) error {
	c := j.change
	j.result = &Result{Change: c, Key: j.key, Revision: store.HashOf(c.After), At: w.files.now()}
	if c.Existed && !c.Unread && !c.Delete && bytes.Equal(c.Before, c.After) && c.Mode == j.was.mode {
		j.result.Unchanged = true
		w.files.Saw(c.Actor.Agent, j.key, j.result.Revision, c.After)
		return nil
	}
	if err := w.makeParents(j); err != nil {
		j.removeMade()
		return pathError("write", j.q.Path, err)
	}
	if err := w.write(ctx, j); err != nil {
		j.removeMade()
		if errors.Is(err, errDisplaced) && !errors.Is(err, errHalfDone) {
			return errDisplaced
		}
		return pathError("write", j.q.Path, err)
	}
	return nil
}

func (w *Workspace) makeParents(j *job) error {
	for len(j.place.missing) > 0 {
		name := j.place.missing[0]
		err := j.place.parent.mkdir(name)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err == nil {
			j.made = append(j.made, name)
			_ = j.place.parent.sync()
		}
		next, err := j.place.parent.folder(name)
		if err != nil {
			return err
		}
		dir := Path(strings.TrimPrefix(string(j.place.dir)+"/"+name, "./"))
		j.place.close()
		j.place.parent, j.place.dir, j.place.owned = next, dir, true
		j.place.missing = j.place.missing[1:]
	}
	return nil
}

// removeMade removes the folders that were created for a write that then failed; only empty ones go.
func (j *job) removeMade() {
	if len(j.made) == 0 {
		return
	}
	d := j.place.parent
	for i := len(j.made) - 1; i >= 0; i-- {
		up, err := d.parentOf()
		if err != nil {
			return
		}
		if d != j.place.parent {
			d.close()
		}
		if up.rmdir(j.made[i]) != nil {
			up.close()
			return
		}
		d = up
	}
	d.close()
}

// write brings the change to the disk. The intent is committed to the store while the new bytes are being written to
// an anonymous file, so that a durable write costs about as much as one done by hand.
func (w *Workspace) write(ctx context.Context, j *job) error {
	c := j.change
	temp := tempName()
	intent := w.intent(j, temp)
	type begun struct {
		id  string
		err error
	}
	began := make(chan begun, 1)
	go func() {
		id, err := w.files.Store.Begin(ctx, intent)
		began <- begun{id, err}
	}()
	var fresh *os.File
	var err error
	if !c.Delete {
		fresh, err = w.anonymousCopy(j)
	}
	b := <-began
	if fresh != nil {
		defer fresh.Close()
	}
	if err != nil || b.err != nil {
		if b.err == nil {
			w.abort(ctx, b.id, err)
		}
		return errors.Join(b.err, err)
	}
	j.result.ID = b.id
	if err := w.step("intent"); err != nil {
		w.abort(ctx, b.id, err)
		return err
	}
	if err := w.swap(ctx, j, fresh, temp); err != nil {
		if !errors.Is(err, errHalfDone) {
			w.abort(ctx, b.id, err)
		}
		return err
	}
	return w.done(ctx, j)
}

func (w *Workspace) abort(ctx context.Context, id string, why error) {
	if err := w.files.Store.Abort(ctx, id, why.Error()); err != nil {
		w.opts.Log.Error("an intent stays open until the next start", "edit", id, "err", err)
	}
}

// errHalfDone says that the file may have been changed although the write failed; the intent stays open, and the next
// start decides by the bytes.
var errHalfDone = errors.New("the write was interrupted half done")

func tempName() string {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return tempPrefix + hex.EncodeToString(b[:]) + tempSuffix
}

// IsTemp tells whether a name is one of the door's own, which listings and searches leave out.
func IsTemp(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix) && len(name) == len(tempPrefix)+16+len(tempSuffix)
}

func (w *Workspace) step(name string) error {
	if w.files.fail == nil {
		return nil
	}
	return w.files.fail(name)
}

// anonymousCopy writes the new bytes to a file without a name, with the old one's owner and attributes, and makes
// them durable. Where the file system has no such files it gives nil: swap then writes to a named one.
func (w *Workspace) anonymousCopy(j *job) (*os.File, error) {
	if j.inPlace() {
		return nil, nil
	}
	f, err := j.place.parent.anonymous()
	if err != nil {
		return nil, nil
	}
	if err := w.fill(j, f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (j *job) inPlace() bool { return j.change.Existed && j.was.nlink > 1 }

func (w *Workspace) fill(j *job, f *os.File) error {
	if err := w.step("temp"); err != nil {
		return err
	}
	if _, err := f.Write(j.change.After); err != nil {
		return err
	}
	if j.change.Existed {
		if old, err := j.place.parent.open(j.place.name); err == nil {
			keepOwner(f, old, j.was)
			old.Close()
		}
	}
	if j.change.Mode != 0 {
		if err := setMode(f, j.change.Mode); err != nil {
			return err
		}
	}
	if err := w.step("sync"); err != nil {
		return err
	}
	return again(f.Sync)
}

// swap puts the new file in the place of the old one.
func (w *Workspace) swap(ctx context.Context, j *job, fresh *os.File, temp string) error {
	switch {
	case j.change.Delete:
		return w.swapOut(ctx, j, temp)
	case j.inPlace():
		return w.writeInPlace(ctx, j)
	case !j.change.Existed:
		return w.swapNew(j, fresh, temp)
	}
	if err := w.placeTemp(j, fresh, temp); err != nil {
		return w.orInPlace(ctx, j, err)
	}
	if err := w.step("linked"); err != nil {
		_ = j.place.parent.remove(temp)
		return err
	}
	if err := j.place.parent.exchange(temp, j.place.name); err != nil {
		_ = j.place.parent.remove(temp)
		if errors.Is(err, fs.ErrNotExist) {
			return errDisplaced // the file was removed or renamed away meanwhile
		}
		return w.orInPlace(ctx, j, err)
	}
	if err := w.step("swapped"); err != nil {
		return errors.Join(errHalfDone, err)
	}
	if err := w.checkDisplaced(ctx, j, temp); err != nil {
		return err
	}
	if err := j.place.parent.sync(); err != nil {
		return errors.Join(errHalfDone, err)
	}
	// Once more, after the time that the folder took: a program that had found the old file's inode by its name, but
	// not opened it yet, has done so by now.
	if err := w.checkDisplaced(ctx, j, temp); err != nil {
		return err
	}
	_ = j.place.parent.remove(temp)
	if err := w.step("removed"); err != nil {
		return errors.Join(errHalfDone, err)
	}
	return nil
}

// placeTemp gives the new file a name beside the old one.
func (w *Workspace) placeTemp(j *job, fresh *os.File, temp string) error {
	if fresh != nil {
		err := j.place.parent.link(fresh, temp)
		if err == nil {
			return fresh.Close() // or our own descriptor would look like another program's, see writerGone
		}
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			return err
		}
	}
	perm := fs.FileMode(0o600)
	if !j.change.Existed {
		perm = 0o666
	}
	f, err := j.place.parent.create(temp, perm)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := w.fill(j, f); err != nil {
		_ = j.place.parent.remove(temp)
		return err
	}
	return nil
}

// swapNew creates the file; one that somebody else created meanwhile is not replaced.
func (w *Workspace) swapNew(j *job, fresh *os.File, temp string) error {
	if fresh != nil {
		err := j.place.parent.link(fresh, j.place.name)
		if errors.Is(err, fs.ErrExist) {
			return errDisplaced
		}
		if err == nil {
			return w.afterNew(j)
		}
	}
	if err := w.placeTemp(j, nil, temp); err != nil {
		return err
	}
	err := j.place.parent.renameNew(temp, j.place.name)
	if err != nil {
		_ = j.place.parent.remove(temp)
	}
	if errors.Is(err, fs.ErrExist) {
		return errDisplaced
	}
	if err != nil {
		return err
	}
	return w.afterNew(j)
}

func (w *Workspace) afterNew(j *job) error {
	if err := w.step("swapped"); err != nil {
		return errors.Join(errHalfDone, err)
	}
	if err := j.place.parent.sync(); err != nil {
		return errors.Join(errHalfDone, err)
	}
	return nil
}

// checkDisplaced looks at what the exchange put aside. When it is not what the change was computed from, an outside
// program saved in between: its version goes back in place and the change starts over from it.
func (w *Workspace) checkDisplaced(ctx context.Context, j *job, temp string) error {
	put, same, err := w.displaced(j, temp)
	if err == nil && same {
		return nil
	}
	expected := j.change.After // what should be at the name, unless somebody saves there meanwhile
	for range 64 {
		if err != nil {
			break
		}
		if err = j.place.parent.exchange(temp, j.place.name); err != nil {
			break
		}
		var got []byte
		if got, err = readSettled(ctx, j.place.parent, temp); err != nil {
			break
		}
		if bytes.Equal(got, expected) {
			return errors.Join(w.dropTemp(ctx, j, temp, got), errDisplaced)
		}
		// Somebody saved at the name since; that version is the newest, and goes back there in its turn.
		expected, put = put, got
	}
	return errors.Join(errHalfDone, err, fmt.Errorf("an outside version of %s lies in %s beside it; the next start of toold puts it in order", show(j.change.Real), temp))
}

// dropTemp removes the temporary file, whose content is known; a version of an outside program is stored first.
func (w *Workspace) dropTemp(ctx context.Context, j *job, temp string, content []byte) error {
	if !bytes.Equal(content, j.change.After) {
		if err := w.keepDisplaced(ctx, j, content); err != nil {
			return errors.Join(errHalfDone, err)
		}
	}
	return j.place.parent.remove(temp)
}

// readSettled reads a file to which no program has a descriptor for writing any more.
func readSettled(ctx context.Context, d folder, name string) ([]byte, error) {
	f, err := d.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	writerGone(f, writerWait)
	data, _, err := readAll(ctx, f, 1<<40)
	return data, err
}

// displaced reads the file that was put aside and tells whether it is the version that the change was made from.
func (w *Workspace) displaced(j *job, temp string) ([]byte, bool, error) {
	f, err := j.place.parent.open(temp)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	writerGone(f, writerWait)
	st, err := statFile(f)
	if err != nil {
		return nil, false, err
	}
	settled := time.Duration(j.readAt.UnixNano()-j.was.mtime) > 2*time.Second
	if settled && st.same(j.was) && st.size == j.was.size && st.mtime == j.was.mtime {
		return nil, true, nil
	}
	if j.change.Unread {
		return nil, st.same(j.was), nil
	}
	data, _, err := readAll(context.Background(), f, 1<<40)
	return data, bytes.Equal(data, j.change.Before), err
}

// keepDisplaced stores a version of an outside program that no change of ours has as its content before.
func (w *Workspace) keepDisplaced(ctx context.Context, j *job, data []byte) error {
	e := store.Edit{
		Workspace: w.real, Path: string(j.change.Real), FileKey: j.key, Op: "displaced", Agent: "outside",
		Note: "saved by an outside program while " + j.change.Actor.Agent + " was writing",
	}
	_, err := w.files.Store.RecordDisplaced(ctx, e, data)
	return err
}

// swapOut removes the file: it is renamed away, looked at, and only then removed.
func (w *Workspace) swapOut(ctx context.Context, j *job, temp string) error {
	if err := j.place.parent.renameNew(j.place.name, temp); err != nil {
		return err
	}
	data, same, err := w.displaced(j, temp)
	if err != nil || !same {
		if back := j.place.parent.renameNew(temp, j.place.name); back != nil {
			return errors.Join(w.dropTemp(ctx, j, temp, data), errDisplaced)
		}
		return errDisplaced
	}
	if err := w.step("swapped"); err != nil {
		return errors.Join(errHalfDone, err)
	}
	if err := j.place.parent.remove(temp); err != nil {
		return errors.Join(errHalfDone, err)
	}
	if err := j.place.parent.sync(); err != nil {
		return errors.Join(errHalfDone, err)
	}
	return nil
}

// orInPlace falls back to writing in place where the file cannot be replaced: a mount point, a folder in which this
// user may not create files, a file system without the exchange.
func (w *Workspace) orInPlace(ctx context.Context, j *job, err error) error {
	for _, e := range []error{syscall.EXDEV, syscall.EBUSY, syscall.EACCES, syscall.EPERM, syscall.EINVAL, syscall.ENOSYS, errors.ErrUnsupported} {
		if errors.Is(err, e) {
			return w.writeInPlace(ctx, j)
		}
	}
	return err
}

// writeInPlace overwrites the file's bytes, keeping its inode. The journal holds the old bytes, so that an
// interrupted write is undone at the next start.
func (w *Workspace) writeInPlace(ctx context.Context, j *job) error {
	f, err := j.place.parent.openWrite(j.place.name)
	if err != nil {
		return err
	}
	defer f.Close()
	now, _, err := readAll(ctx, f, 1<<40)
	if err != nil {
		return err
	}
	if !j.change.Unread && !bytes.Equal(now, j.change.Before) {
		return errDisplaced
	}
	// Should the overwriting be interrupted, the next start has to know a mixture of both contents from anything else.
	if _, err := w.files.Store.PutBlob(ctx, j.change.After); err != nil {
		return err
	}
	j.change.Notes = append(j.change.Notes, "written in place (hard links or a mount point do not allow a swap)")
	if err := w.overwrite(f, j.change.After); err != nil {
		if back := overwriteFile(f, now); back != nil {
			return errors.Join(errHalfDone, err, back)
		}
		return err
	}
	if j.change.Mode != j.was.mode {
		return setMode(f, j.change.Mode)
	}
	return nil
}

func (w *Workspace) overwrite(f *os.File, data []byte) error {
	if err := w.step("in-place"); err != nil {
		return err
	}
	if err := overwriteFile(f, data); err != nil {
		return err
	}
	return w.step("swapped")
}

// overwriteFile writes the longer of old and new first and cuts at the end, so that a full disk is met before
// anything is lost.
func overwriteFile(f *os.File, data []byte) error {
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	if err := f.Truncate(int64(len(data))); err != nil {
		return err
	}
	return again(f.Sync)
}

// done records the change as made, and tells everybody who needs to know.
func (w *Workspace) done(ctx context.Context, j *job) error {
	c := j.change
	if err := w.files.Store.Finish(ctx, j.result.ID, w.event(j)); err != nil {
		w.opts.Log.Error("the journal could not be closed; the next start does it", "edit", j.result.ID, "err", err)
	}
	if c.Delete {
		w.files.Saw(c.Actor.Agent, j.key, "", nil)
	} else {
		w.files.Saw(c.Actor.Agent, j.key, j.result.Revision, c.After)
	}
	if w.opts.Changed != nil {
		w.opts.Changed(string(c.Real))
	}
	w.files.Asks.Spend(run.Ask{Agent: c.Actor.Agent, Run: c.Actor.Run, Path: j.key})
	for _, k := range w.opts.Checkers {
		if s, ok := k.(Settler); ok {
			s.Settled(c)
		}
	}
	return w.step("done")
}

// Settler is a Checker that wants to know which of the changes that it let through were made.
type Settler interface{ Settled(*Change) }
