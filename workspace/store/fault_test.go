package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// filled makes a closed store with a few changes in it and gives its folder and the changes' ids.
func filled(t *testing.T) (dir string, ids []string) {
	t.Helper()
	dir = t.TempDir()
	s := openStore(t, dir, nil)
	for i := range 50 {
		ids = append(ids, change(t, s, intent("r", fmt.Sprint("f", i), strings.Repeat("b", 3000)+fmt.Sprint(i), strings.Repeat("a", inlineLimit-10)+fmt.Sprint(i))))
	}
	ok(t, s.Close())
	return dir, ids
}

func TestDamagedStoreIsRefusedAndLeftAlone(t *testing.T) {
	tests := map[string]func(db string) error{
		"garbage":  func(db string) error { return os.WriteFile(db, []byte(strings.Repeat("not a database ", 1000)), 0o600) },
		"empty":    func(db string) error { return os.Truncate(db, 0) },
		"missing":  os.Remove,
		"cut":      func(db string) error { return os.Truncate(db, 8192) },
		"header":   func(db string) error { return scribble(db, 0, 100) },
		"schema":   func(db string) error { return scribble(db, 100, 4000) },
		"folder":   func(db string) error { return errors.Join(os.Remove(db), os.Mkdir(db, 0o700)) },
		"other":    func(db string) error { return scribbleBytes(db, 68, []byte{1, 2, 3, 4}) },
		"too new":  func(db string) error { return scribbleBytes(db, 60, []byte{0, 0, 0, 99}) },
		"old blob": func(db string) error { return errors.Join(os.Remove(db), os.WriteFile(db+"-wal", []byte("x"), 0o600)) },
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := openStore(t, dir, nil)
			change(t, s, intent("r", "f", "before", strings.Repeat("a", inlineLimit+1)))
			ok(t, s.Close())
			db := s.database()
			ok(t, damage(db))
			was, _ := os.ReadFile(db)
			_, err := Open(dir, Options{})
			if err == nil {
				t.Fatal("it was opened")
			}
			if name != "too new" && name != "folder" && !errors.Is(err, ErrCorrupt) {
				t.Error("not ErrCorrupt:", err)
			}
			if now, _ := os.ReadFile(db); string(now) != string(was) {
				t.Error("the damaged database was changed")
			}
			// The lock is given back: after the folder was moved away a new store begins.
			ok(t, os.Rename(dir, dir+".damaged"))
			ok(t, openStore(t, dir, nil).Close())
		})
	}
}

func scribble(path string, at, n int64) error { return scribbleBytes(path, at, randomBytes(int(n))) }

func scribbleBytes(path string, at int64, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, at)
	return errors.Join(err, f.Close())
}

func TestDamageInsideIsNeverServed(t *testing.T) {
	source, ids := filled(t)
	template := must[[]byte](t)(os.ReadFile(filepath.Join(source, databaseName)))
	dir := t.TempDir()
	db := filepath.Join(dir, databaseName)
	rapid.Check(t, func(rt *rapid.T) {
		data := append([]byte{}, template...)
		for range rapid.IntRange(1, 20).Draw(rt, "places") {
			data[rapid.IntRange(0, len(data)-1).Draw(rt, "at")] ^= byte(rapid.IntRange(1, 255).Draw(rt, "bits"))
		}
		for _, p := range []string{db + "-wal", db + "-shm"} {
			_ = os.Remove(p)
		}
		if err := os.WriteFile(db, data, 0o600); err != nil {
			rt.Fatal(err)
		}
		s, err := Open(dir, Options{})
		if err != nil {
			return
		}
		defer s.Close()
		// Whatever it gives is right, or an error. That content has the right hash is all that Blob promises.
		for _, id := range ids {
			e, err := s.Edit(t.Context(), id)
			if err != nil {
				continue
			}
			if data, err := s.Blob(t.Context(), e.Before); err == nil && HashOf(data) != e.Before {
				rt.Fatal("wrong content was given for", id)
			}
		}
	})
}

func TestDamagedContentFile(t *testing.T) {
	s := openStore(t, t.TempDir(), nil)
	h := must[Hash](t)(s.PutBlob(t.Context(), randomBytes(inlineLimit+1)))
	ok(t, scribbleBytes(s.blobFile(h), 1000, []byte("!!!!")))
	if _, err := s.Blob(t.Context(), h); !errors.Is(err, ErrCorrupt) {
		t.Error("changed bytes:", err)
	}
	ok(t, os.Remove(s.blobFile(h)))
	if _, err := s.Blob(t.Context(), h); !errors.Is(err, ErrCorrupt) {
		t.Error("missing file:", err)
	}
}

// fill lets the database grow by no more pages.
func fill(t *testing.T, s *Store) {
	t.Helper()
	ok(t, s.writer.do(&task{run: func(tx *tx) error {
		n, err := tx.number(`PRAGMA page_count`)
		if err != nil {
			return err
		}
		return tx.once(fmt.Sprintf(`PRAGMA max_page_count = %d`, n))
	}}))
}

func TestFullDisk(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, t.TempDir(), nil)
	id := must[string](t)(s.Begin(ctx, intent("", "a", "b", "c")))
	fill(t, s)
	in := intent("", "a", "b", "c")
	in.BeforeBytes = randomBytes(100_000)
	_, err := s.Begin(ctx, in)
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal("a full disk:", err)
	}
	if open := must[[]Edit](t)(s.OpenIntents(ctx)); len(open) != 1 {
		t.Errorf("%d changes are open; the one that did not fit was kept", len(open))
	}
	ok(t, s.Abort(ctx, id, "the disk is full"))
	ok(t, s.writer.do(&task{run: func(tx *tx) error { return tx.once(`PRAGMA max_page_count = 1000000`) }}))
	ok(t, s.Finish(ctx, must[string](t)(s.Begin(ctx, in))))
}

func TestOneThatDoesNotFitFailsAlone(t *testing.T) {
	s := openStore(t, t.TempDir(), nil)
	gate := make(chan struct{})
	results := make(chan error, 10)
	submit := func(run func(*tx) error) { go func() { results <- s.writer.do(&task{run: run}) }() }
	held := make(chan struct{})
	submit(func(*tx) error { close(held); <-gate; return nil }) // holds the writer until all others have queued up
	<-held
	wrong := errors.New("wrong")
	for i := range 9 {
		submit(func(t *tx) error {
			if i == 4 {
				return wrong
			}
			return t.addEvents(s.now(), []Event{{Kind: "k"}})
		})
	}
	for queued := 0; queued < 9; {
		s.writer.mu.Lock()
		queued = len(s.writer.queue)
		s.writer.mu.Unlock()
		runtime.Gosched()
	}
	close(gate)
	failed := 0
	for range 10 {
		if err := <-results; err != nil {
			failed++
			if !errors.Is(err, wrong) {
				t.Error(err)
			}
		}
	}
	if n := len(must[[]Event](t)(s.EventsSince(t.Context(), 0, nil, 100))); failed != 1 || n != 8 {
		t.Errorf("%d failed and %d were written, want 1 and 8", failed, n)
	}
}

func TestAPanicLeavesTheStoreUsable(t *testing.T) {
	s := openStore(t, t.TempDir(), nil)
	func() {
		defer func() { _ = recover() }()
		_ = s.writer.do(&task{run: func(*tx) error { panic("a fault of ours") }})
	}()
	change(t, s, intent("r", "a", "b", "c"))
}

func TestUnusableFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	ok(t, os.WriteFile(file, nil, 0o600))
	if _, err := Open(file, Options{}); !errors.Is(err, syscall.ENOTDIR) {
		t.Error("a file in the folder's place:", err)
	}
	dir := filepath.Join(t.TempDir(), "odd ?name%20#&=")
	s := openStore(t, dir, nil)
	change(t, s, intent("r", "a", "b", "c"))
	if _, err := os.Stat(filepath.Join(dir, databaseName)); errors.Is(err, fs.ErrNotExist) {
		t.Error("the database is not in its folder")
	}
}
