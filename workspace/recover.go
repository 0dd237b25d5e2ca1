package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"

	"github.com/toold/toold/workspace/store"
)

// Recover settles the changes that a killed process left open: each file is decided by its bytes, the process's
// strays are removed by the names in the journal, and whatever it displaced is kept in the store.
func (f *Files) Recover(ctx context.Context, log *slog.Logger) error {
	open, err := f.Store.OpenIntents(ctx)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	for _, e := range open {
		if err := f.recoverOne(ctx, e); err != nil {
			log.Error("an interrupted write could not be settled; it is tried again at the next start", "path", e.FileKey, "err", err)
			continue
		}
		log.Info("settled an interrupted write", "path", e.FileKey, "edit", e.ID)
	}
	return nil
}

func (f *Files) recoverOne(ctx context.Context, e store.Edit) error {
	d, err := openFolder(filepath.Dir(e.FileKey))
	if errors.Is(err, fs.ErrNotExist) {
		return f.Store.Abort(ctx, e.ID, "the folder is gone")
	}
	if err != nil {
		return err
	}
	defer d.close()
	if err := f.stray(ctx, d, e); err != nil {
		return err
	}
	name := filepath.Base(e.FileKey)
	now, exists, err := readName(ctx, d, name)
	if err != nil {
		return err
	}
	hash := store.HashOf(now)
	switch {
	case e.Deleted && !exists, !e.Deleted && exists && hash == e.After:
		if exists {
			// The process that died would have stored the content with the end of the change.
			if _, err := f.Store.PutBlob(ctx, now); err != nil {
				return err
			}
		}
		return f.Store.Finish(ctx, e.ID, store.Event{Kind: "edit", Workspace: e.Workspace, Data: fmt.Appendf(nil, `{"id":%q,"path":%q,"recovered":true}`, e.ID, e.Path)})
	case !exists && !e.Existed, exists && e.Existed && hash == e.Before:
		return f.Store.Abort(ctx, e.ID, "interrupted before the swap")
	}
	return f.settleOther(ctx, d, e, name, now, exists)
}

// settleOther decides a file that has neither the old nor the new bytes: an outside program saved it since, or an
// in-place write was torn. A mixture of old and new is put back to the old bytes; anything else is somebody's work
// and stays.
func (f *Files) settleOther(ctx context.Context, d folder, e store.Edit, name string, now []byte, exists bool) error {
	if !exists || !e.Existed || e.Before == "" {
		return f.Store.Abort(ctx, e.ID, "the file was changed by an outside program")
	}
	before, err := f.Store.Blob(ctx, e.Before)
	if err != nil {
		return err
	}
	after, err := f.Store.Blob(ctx, e.After)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCollected) {
		// Only a write in place stores it first, and only that can leave a mixture.
		return f.Store.Abort(ctx, e.ID, "the file was changed by an outside program")
	}
	if err != nil {
		return err
	}
	if !torn(now, before, after) {
		return f.Store.Abort(ctx, e.ID, "the file was changed by an outside program")
	}
	out, err := d.openWrite(name)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := overwriteFile(out, before); err != nil {
		return err
	}
	return f.Store.Abort(ctx, e.ID, "a torn write in place was undone")
}

// torn tells whether now is a mixture that an interrupted overwrite of before by after leaves: a start of after, then
// what before had, then perhaps more of after.
func torn(now, before, after []byte) bool {
	n := 0
	for n < len(now) && n < len(after) && now[n] == after[n] {
		n++
	}
	rest := now[n:]
	if len(rest) == 0 {
		return true
	}
	return n < len(before) && bytes.HasPrefix(before[n:], rest) || n <= len(before) && bytes.Equal(before[n:], rest)
}

// stray removes the temporary file of an interrupted write. Bytes in it that are neither the old nor the new ones are
// an outside version that the swap displaced: when the swap was not taken back they go into the store first.
func (f *Files) stray(ctx context.Context, d folder, e store.Edit) error {
	if !IsTemp(e.Temp) {
		return nil
	}
	data, exists, err := readName(ctx, d, e.Temp)
	if err != nil || !exists {
		return err
	}
	hash := store.HashOf(data)
	if hash != e.Before && hash != e.After {
		return f.strayOutside(ctx, d, e, data)
	}
	if e.Deleted && hash == e.Before {
		if _, there, err := readName(ctx, d, filepath.Base(e.FileKey)); err == nil && !there {
			// Renamed away but not yet removed: the removal was not acknowledged, so the file goes back.
			return d.renameNew(e.Temp, filepath.Base(e.FileKey))
		}
	}
	return d.remove(e.Temp)
}

func (f *Files) strayOutside(ctx context.Context, d folder, e store.Edit, data []byte) error {
	now, exists, err := readName(ctx, d, filepath.Base(e.FileKey))
	if err != nil {
		return err
	}
	half := len(data) < 1<<40 && !exists
	if exists && store.HashOf(now) == e.After {
		// The swap displaced an outside version and was not taken back: take it back now.
		if err := d.exchange(e.Temp, filepath.Base(e.FileKey)); err == nil {
			return d.remove(e.Temp)
		}
	}
	if exists && store.HashOf(now) == e.Before || half {
		return d.remove(e.Temp) // a new file that was not fully written yet
	}
	out := store.Edit{Workspace: e.Workspace, Path: e.Path, FileKey: e.FileKey, Op: "displaced", Agent: "outside", Note: "found beside the file after a crash"}
	if _, err := f.Store.RecordDisplaced(ctx, out, data); err != nil {
		return err
	}
	return d.remove(e.Temp)
}

func readName(ctx context.Context, d folder, name string) ([]byte, bool, error) {
	f, err := d.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	data, _, err := readAll(ctx, f, 1<<40)
	return data, true, err
}

func fsMode(m uint32) fs.FileMode { return fs.FileMode(m) & fs.ModePerm }
