package store

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// change makes one change and gives its id.
func change(t testing.TB, s *Store, in Intent) string {
	t.Helper()
	id := must[string](t)(s.Begin(t.Context(), in))
	ok(t, s.Finish(t.Context(), id, Event{Kind: "edit"}))
	return id
}

func has(t testing.TB, s *Store, text string) bool {
	t.Helper()
	_, err := s.Blob(t.Context(), HashOf([]byte(text)))
	if err != nil && !errors.Is(err, ErrCollected) {
		t.Fatal(err)
	}
	return err == nil
}

func TestGCByAge(t *testing.T) {
	ctx, c := t.Context(), newClock()
	s := openStore(t, t.TempDir(), c)
	openRun := must[string](t)(s.OpenRun(ctx, Run{Workspace: "/w", Agent: "ann"}))
	closed := must[string](t)(s.OpenRun(ctx, Run{Workspace: "/w", Agent: "ann"}))
	standing := must[string](t)(s.StandingRun(ctx, "/w", "bob", 8*time.Hour))
	change(t, s, intent(openRun, "a", "open-old", "open-new"))
	change(t, s, intent(closed, "b", "closed-old", "closed-new"))
	change(t, s, intent(standing, "c", "standing-old", "standing-new"))
	change(t, s, intent("", "d", "none-old", "none-new"))
	stuck := must[string](t)(s.Begin(ctx, intent(closed, "e", "stuck-old", "stuck-new")))
	ok(t, s.CloseRun(ctx, closed))
	must[string](t)(s.StartCommand(ctx, Command{Command: "sleep"}))
	ok(t, s.EndCommand(ctx, Command{ID: must[string](t)(s.StartCommand(ctx, Command{Command: "ls"})), Outcome: "ok"}))
	must[string](t)(s.RecordApproval(ctx, Approval{Outcome: "allowed"}))
	must[string](t)(s.RecordApproval(ctx, Approval{}))

	c.forward(31 * day)
	change(t, s, intent(openRun, "f", "late-old", "late-new"))
	got := must[Collected](t)(s.GC(ctx, Budgets{JournalDays: 30, CommandLogDays: 90}))
	want := Collected{Edits: 3, Runs: 2, Events: 4, Blobs: 6, Bytes: 60}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("first collection (-want +got)\n", diff)
	}
	for text, want := range map[string]bool{
		"open-old": true, "open-new": true, "late-old": true, "late-new": true, "stuck-old": true, "stuck-new": true,
		"closed-old": false, "closed-new": false, "standing-old": false, "standing-new": false, "none-old": false, "none-new": false,
	} {
		if has(t, s, text) != want {
			t.Errorf("%s is stored: %v, want %v", text, !want, want)
		}
	}
	must[Snapshot](t)(s.Snapshot(ctx, openRun, "/w/a"))
	if _, err := s.Snapshot(ctx, closed, "/w/b"); !errors.Is(err, ErrNotFound) {
		t.Error("the snapshot of a collected run:", err)
	}
	if _, err := s.Run(ctx, closed); !errors.Is(err, ErrNotFound) {
		t.Error("the collected run:", err)
	}
	ok(t, s.Finish(ctx, stuck))
	if last := must[int64](t)(s.LastEvent(ctx)); last != 5 {
		t.Error("the last event was collected:", last)
	}

	c.forward(60 * day)
	got = must[Collected](t)(s.GC(ctx, Budgets{CommandLogDays: 90}))
	if diff := cmp.Diff(Collected{Commands: 1, Approvals: 1}, got); diff != "" {
		t.Error("second collection (-want +got)\n", diff)
	}
}

func TestGCByBytes(t *testing.T) {
	ctx, c := t.Context(), newClock()
	s := openStore(t, t.TempDir(), c)
	run := must[string](t)(s.OpenRun(ctx, Run{Workspace: "/w", Agent: "ann"}))
	text := func(k string, n int) string { return k + strings.Repeat("x", n-len(k)) }
	first, second := text("first", inlineLimit+1), text("second", 200_000)
	change(t, s, intent(run, "a", "kept for the open run", first))
	change(t, s, intent(run, "a", first, second))
	for _, k := range []string{"three", "four", "five"} {
		change(t, s, intent("", "b", text(k, 100_000), text(k, 100_001)))
	}
	must[Collected](t)(s.GC(ctx, Budgets{Blobs: 450_000}))
	for k, want := range map[string]bool{
		"kept for the open run": true, first: false, second: false,
		text("three", 100_000): false, text("three", 100_001): false, text("four", 100_000): true, text("five", 100_001): true,
	} {
		if has(t, s, k) != want {
			t.Errorf("%.8s is stored: %v, want %v", k, !want, want)
		}
	}
	if _, err := os.Stat(s.blobFile(HashOf([]byte(first)))); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the file of collected content:", err)
	}
	// What was collected can be stored again.
	change(t, s, intent(run, "a", first, second))
	if !has(t, s, first) || !has(t, s, second) {
		t.Error("content that came back is not stored")
	}
}

func TestGCKeepsWhatWasJustPut(t *testing.T) {
	ctx, c := t.Context(), newClock()
	s := openStore(t, t.TempDir(), c)
	must[Hash](t)(s.PutBlob(ctx, []byte("put")))
	must[Collected](t)(s.GC(ctx, Budgets{}))
	if !has(t, s, "put") {
		t.Error("new content was collected")
	}
	c.forward(20 * time.Hour)
	must[Hash](t)(s.PutBlob(ctx, []byte("put")))
	c.forward(20 * time.Hour)
	must[Collected](t)(s.GC(ctx, Budgets{}))
	if !has(t, s, "put") {
		t.Error("content that was put again was collected")
	}
	c.forward(20 * time.Hour)
	must[Collected](t)(s.GC(ctx, Budgets{}))
	if has(t, s, "put") {
		t.Error("content that nothing names was kept")
	}
}

func TestGCRemovesStrayFilesAndGivesPagesBack(t *testing.T) {
	ctx, c := t.Context(), newClock()
	dir := t.TempDir()
	s := openStore(t, dir, c)
	stray := s.blobFile(HashOf([]byte("stray")))
	ok(t, os.MkdirAll(filepath.Dir(stray), 0o700))
	ok(t, os.WriteFile(stray, []byte("stray"), 0o600))
	for range 100 {
		in := intent("", "a", "", "")
		in.AfterBytes = randomBytes(100_000)
		change(t, s, in)
	}
	c.forward(100 * day)
	change(t, s, intent("", "a", "", "new"))
	must[Collected](t)(s.GC(ctx, Budgets{JournalDays: 30}))
	if _, err := os.Stat(stray); !errors.Is(err, fs.ErrNotExist) {
		t.Error("stray file:", err)
	}
	ok(t, s.Close())
	if st := must[fs.FileInfo](t)(os.Stat(s.database())); st.Size() > 2<<20 {
		t.Errorf("the database still has %d bytes", st.Size())
	}
}

func TestForget(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	s := openStore(t, dir, nil)
	run := must[string](t)(s.OpenRun(ctx, Run{Workspace: "/w"}))
	big := "BIGSECRET" + strings.Repeat("s", inlineLimit)
	id := change(t, s, intent(run, "conf/.env", "OLDSECRET=1", "NEWSECRET=2"))
	change(t, s, intent(run, "conf/big", "x", big))
	change(t, s, intent(run, "conf.go", "OLDSECRET=1", "other"))
	change(t, s, intent(run, "confx", "y", "z"))

	got := must[Forgotten](t)(s.Forget(ctx, "/w/conf"))
	if diff := cmp.Diff(Forgotten{Edits: 2, Blobs: 3, Kept: 1}, got); diff != "" {
		t.Error("(-want +got)\n", diff)
	}
	e := must[Edit](t)(s.Edit(ctx, id))
	if !e.Forgotten || e.Before != "" || e.After != "" {
		t.Errorf("%+v", e)
	}
	if p := must[Snapshot](t)(s.Snapshot(ctx, run, "/w/conf/.env")); !p.Unreadable || p.Hash != "" {
		t.Errorf("%+v", p)
	}
	for text, want := range map[string]bool{"NEWSECRET=2": false, big: false, "OLDSECRET=1": true, "other": true, "z": true} {
		if has(t, s, text) != want {
			t.Errorf("%.12s is stored: %v, want %v", text, !want, want)
		}
	}
	noBytes(t, dir, "NEWSECRET", "BIGSECRET")
	must[Forgotten](t)(s.Forget(ctx, "/w/conf.go"))
	noBytes(t, dir, "OLDSECRET")
}

// noBytes looks for texts in every file of the store.
func noBytes(t *testing.T, dir string, texts ...string) {
	t.Helper()
	ok(t, filepath.Walk(dir, func(p string, st fs.FileInfo, err error) error {
		if err != nil || !st.Mode().IsRegular() {
			return err
		}
		data, err := os.ReadFile(p)
		for _, text := range texts {
			if bytes.Contains(data, []byte(text)) {
				t.Errorf("%s still has %s", p, text)
			}
		}
		return err
	}))
}

func TestGCBesideWriters(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := openStore(t, t.TempDir(), nil)
	run := must[string](t)(s.OpenRun(ctx, Run{Workspace: "/w"}))
	done := make(chan error, 1)
	go func() {
		var err error
		for err == nil {
			_, err = s.GC(ctx, Budgets{Blobs: 100_000})
		}
		done <- err
	}()
	// The same few contents come and go: collecting one must never take it from a change that names it again.
	for i := range 300 {
		before := strings.Repeat(string(rune('a'+i%3)), 150_000)
		id := must[string](t)(s.Begin(ctx, intent(run, "f"+string(rune('a'+i%3))+string(rune('0'+i/100)), before, before+"!")))
		if !has(t, s, before) || !has(t, s, before+"!") {
			t.Fatal("content of an open change was collected")
		}
		ok(t, s.Finish(ctx, id))
		if !has(t, s, before) {
			t.Fatal("content of an open run's snapshot was collected")
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
