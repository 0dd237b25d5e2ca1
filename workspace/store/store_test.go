package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// clock is a time that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time          { return c.at }
func (c *clock) forward(d time.Duration) { c.at = c.at.Add(d) }

func newClock() *clock { return &clock{time.Date(2026, 11, 30, 21, 0, 0, 0, time.UTC)} }

func openStore(t testing.TB, dir string, c *clock) *Store {
	t.Helper()
	opts := Options{}
	if c != nil {
		opts.Clock = c.now
	}
	s, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func intent(run, path, before, after string) Intent {
	in := Intent{Edit: Edit{
		Workspace: "/w", Path: path, FileKey: "/w/" + path, Op: "edit", Tool: "edit_file", Agent: "ann", Client: "test", Run: run, Turn: "t1",
		Existed: before != "", ModeBefore: 0o644, ModeAfter: 0o644, Temp: ".toold-0.tmp", Added: 1, Removed: 2,
	}, AfterBytes: []byte(after)}
	if before != "" {
		in.BeforeBytes = []byte(before)
	}
	if run != "" {
		in.Snapshot = &Snapshot{Mode: 0o644, Absent: before == "", Generation: 1}
	}
	return in
}

func TestBeginFinish(t *testing.T) {
	ctx, c := t.Context(), newClock()
	s := openStore(t, t.TempDir(), c)
	in := intent("r1", "a.go", "old", "new")
	in.Snapshot.Folders = []string{"x", "y"}
	id := must[string](t)(s.Begin(ctx, in))

	want := in.Edit
	want.ID, want.Seq, want.Time, want.State = id, 1, c.at, StateOpen
	want.Before, want.After = HashOf([]byte("old")), HashOf([]byte("new"))
	if diff := cmp.Diff([]Edit{want}, must[[]Edit](t)(s.OpenIntents(ctx))); diff != "" {
		t.Error("open (-want +got)\n", diff)
	}
	wake, stop := s.Watch()
	defer stop()
	ok(t, s.Finish(ctx, id, Event{Kind: "edit", Workspace: "/w", Data: []byte(`{"id":1}`)}))
	<-wake
	want.State = StateDone
	if diff := cmp.Diff(want, must[Edit](t)(s.Edit(ctx, id))); diff != "" {
		t.Error("done (-want +got)\n", diff)
	}
	if open := must[[]Edit](t)(s.OpenIntents(ctx)); len(open) != 0 {
		t.Error("still open:", open)
	}
	if err := s.Finish(ctx, id); !errors.Is(err, ErrNotFound) {
		t.Error("finishing twice:", err)
	}
	for _, text := range []string{"old", "new"} {
		if got := must[[]byte](t)(s.Blob(ctx, HashOf([]byte(text)))); string(got) != text {
			t.Errorf("content %q is %q", text, got)
		}
	}
	snap := Snapshot{Run: "r1", FileKey: "/w/a.go", Workspace: "/w", Time: c.at, Hash: HashOf([]byte("old")), Mode: 0o644, Generation: 1, Folders: []string{"x", "y"}}
	if diff := cmp.Diff(snap, must[Snapshot](t)(s.Snapshot(ctx, "r1", "/w/a.go"))); diff != "" {
		t.Error("snapshot (-want +got)\n", diff)
	}
	events := must[[]Event](t)(s.EventsSince(ctx, 0, nil, 10))
	if diff := cmp.Diff([]Event{{Seq: 1, Time: c.at, Kind: "edit", Workspace: "/w", Data: []byte(`{"id":1}`)}}, events); diff != "" {
		t.Error("events (-want +got)\n", diff)
	}
}

func TestSnapshotIsOfTheFirstWrite(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, t.TempDir(), nil)
	for _, step := range [][2]string{{"one", "two"}, {"two", "three"}} {
		ok(t, s.Finish(ctx, must[string](t)(s.Begin(ctx, intent("r1", "a", step[0], step[1])))))
	}
	ok(t, s.Finish(ctx, must[string](t)(s.Begin(ctx, intent("r2", "a", "three", "four")))))
	for run, text := range map[string]string{"r1": "one", "r2": "three"} {
		if got := must[Snapshot](t)(s.Snapshot(ctx, run, "/w/a")).Hash; got != HashOf([]byte(text)) {
			t.Errorf("the snapshot of %s is not %q", run, text)
		}
	}
	if _, err := s.Snapshot(ctx, "r3", "/w/a"); !errors.Is(err, ErrNotFound) {
		t.Error("snapshot of a run that wrote nothing:", err)
	}
}

func TestAbortTakesItsSnapshotBack(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, t.TempDir(), nil)
	ok(t, s.Abort(ctx, must[string](t)(s.Begin(ctx, intent("r1", "a", "stale", "x"))), "displaced"))
	if _, err := s.Snapshot(ctx, "r1", "/w/a"); !errors.Is(err, ErrNotFound) {
		t.Error("the snapshot of an aborted change stayed:", err)
	}
	ok(t, s.Finish(ctx, must[string](t)(s.Begin(ctx, intent("r1", "a", "fresh", "x")))))
	ok(t, s.Abort(ctx, must[string](t)(s.Begin(ctx, intent("r1", "a", "x", "y"))), "disk full"))
	if got := must[Snapshot](t)(s.Snapshot(ctx, "r1", "/w/a")).Hash; got != HashOf([]byte("fresh")) {
		t.Error("aborting a later change took the first one's snapshot")
	}
	edits, _, err := s.Edits(ctx, Filter{Workspace: "/w"})
	ok(t, err)
	all, _, err := s.Edits(ctx, Filter{Workspace: "/w", Aborted: true})
	ok(t, err)
	if len(edits) != 1 || len(all) != 3 || all[0].Note != "disk full" || all[0].State != StateAborted {
		t.Errorf("listed %d and %d changes: %+v", len(edits), len(all), all)
	}
}

func TestContentsOfAChange(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, t.TempDir(), nil)
	big := string(make([]byte, inlineLimit+1))
	tests := map[string]struct {
		in            Intent
		before, after Hash
	}{
		"created":    {Intent{AfterBytes: []byte("a")}, "", HashOf([]byte("a"))},
		"emptied":    {Intent{Edit: Edit{Existed: true}, BeforeBytes: []byte("a"), AfterBytes: nil}, HashOf([]byte("a")), HashOf(nil)},
		"from empty": {Intent{Edit: Edit{Existed: true}, BeforeBytes: []byte{}, AfterBytes: []byte("a")}, HashOf(nil), HashOf([]byte("a"))},
		"unreadable": {Intent{Edit: Edit{Existed: true}, AfterBytes: []byte("a"), Snapshot: &Snapshot{Unreadable: true}}, "", HashOf([]byte("a"))},
		"deleted":    {Intent{Edit: Edit{Existed: true, Deleted: true}, BeforeBytes: []byte("a")}, HashOf([]byte("a")), ""},
		"mode only":  {Intent{Edit: Edit{Existed: true}, BeforeBytes: []byte("a"), AfterBytes: []byte("a")}, HashOf([]byte("a")), HashOf([]byte("a"))},
		"large":      {Intent{Edit: Edit{Existed: true}, BeforeBytes: []byte(big), AfterBytes: []byte(big + "x")}, HashOf([]byte(big)), HashOf([]byte(big + "x"))},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e := must[Edit](t)(s.Edit(ctx, must[string](t)(s.Begin(ctx, tc.in))))
			if e.Before != tc.before || e.After != tc.after {
				t.Errorf("before %.8s after %.8s, want %.8s and %.8s", e.Before, e.After, tc.before, tc.after)
			}
			for _, h := range []Hash{e.Before, e.After} {
				if h != "" {
					must[[]byte](t)(s.Blob(ctx, h))
				}
			}
		})
	}
}

func TestDisplacedVersionStaysReachable(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, t.TempDir(), nil)
	id := must[string](t)(s.RecordDisplaced(ctx, Edit{Workspace: "/w", Path: "a", FileKey: "/w/a", Op: "displaced"}, []byte("theirs")))
	e := must[Edit](t)(s.Edit(ctx, id))
	if e.Agent != "outside" || e.State != StateDone || !e.Existed {
		t.Errorf("%+v", e)
	}
	if got := must[[]byte](t)(s.Blob(ctx, e.Before)); string(got) != "theirs" {
		t.Errorf("displaced content is %q", got)
	}
}

func TestEditsFilterAndPage(t *testing.T) {
	ctx, c := t.Context(), newClock()
	s := openStore(t, t.TempDir(), c)
	var ids []string
	for i := range 7 {
		in := intent("r", "a", "x", "y")
		if i%2 == 1 {
			in.Agent, in.FileKey, in.Path, in.Turn = "bob", "/w/b", "b", "t2"
		}
		ids = append(ids, must[string](t)(s.Begin(ctx, in)))
		c.forward(time.Second)
	}
	tests := map[string]struct {
		f    Filter
		want []int
	}{
		"all":          {Filter{}, []int{6, 5, 4, 3, 2, 1, 0}},
		"agent":        {Filter{Agent: "bob"}, []int{5, 3, 1}},
		"turn":         {Filter{Turn: "t2"}, []int{5, 3, 1}},
		"path":         {Filter{Path: "b"}, []int{5, 3, 1}},
		"real path":    {Filter{Path: "/w/b"}, []int{5, 3, 1}},
		"file":         {Filter{FileKey: "/w/a"}, []int{6, 4, 2, 0}},
		"run":          {Filter{Run: "other"}, nil},
		"workspace":    {Filter{Workspace: "/elsewhere"}, nil},
		"since, until": {Filter{Since: newClock().at.Add(2 * time.Second), Until: newClock().at.Add(4 * time.Second)}, []int{3, 2}},
		"limit":        {Filter{Limit: 3}, []int{6, 5, 4}},
		"next":         {Filter{Limit: 3, Before: ids[4]}, []int{3, 2, 1}},
		"last":         {Filter{Limit: 3, Before: ids[1]}, []int{0}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			edits, next, err := s.Edits(ctx, tc.f)
			ok(t, err)
			var got, want []string
			for _, e := range edits {
				got = append(got, e.ID)
			}
			for _, i := range tc.want {
				want = append(want, ids[i])
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error("(-want +got)\n", diff)
			}
			if (next != "") != (name == "limit" || name == "next") {
				t.Errorf("next is %q", next)
			}
		})
	}
	if _, _, err := s.Edits(ctx, Filter{Before: "nothing"}); !errors.Is(err, ErrNotFound) {
		t.Error("an unknown cursor:", err)
	}
}

func TestEditsOfSurvivesAClockThatIsSetBack(t *testing.T) {
	ctx, c := t.Context(), newClock()
	s := openStore(t, t.TempDir(), c)
	first := must[string](t)(s.Begin(ctx, intent("r", "a", "x", "y")))
	at := c.at
	c.forward(-time.Hour)
	second := must[string](t)(s.Begin(ctx, intent("r", "a", "y", "z")))
	ok(t, s.Abort(ctx, must[string](t)(s.Begin(ctx, intent("r", "a", "y", "q"))), "no"))
	must[string](t)(s.Begin(ctx, intent("r", "b", "y", "z")))
	var got []string
	for _, e := range must[[]Edit](t)(s.EditsOf(ctx, "/w/a", at)) {
		got = append(got, e.ID)
	}
	if diff := cmp.Diff([]string{first, second}, got); diff != "" {
		t.Error("(-want +got)\n", diff)
	}
	if late := must[[]Edit](t)(s.EditsOf(ctx, "/w/a", at.Add(time.Second))); len(late) != 0 {
		t.Error("changes after the last:", late)
	}
}

func TestReopenKeepsEverything(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	s := openStore(t, dir, nil)
	id := must[string](t)(s.Begin(ctx, intent("r", "a", "x", "y")))
	run := must[string](t)(s.OpenRun(ctx, Run{Workspace: "/w", Agent: "ann", Stages: []byte(`[1]`)}, Event{Kind: "run"}))
	ok(t, s.Close())
	if err := s.Finish(ctx, id); !errors.Is(err, ErrClosed) {
		t.Error("after Close:", err)
	}
	s = openStore(t, dir, nil)
	if open := must[[]Edit](t)(s.OpenIntents(ctx)); len(open) != 1 || open[0].ID != id {
		t.Error("open:", open)
	}
	want := Run{ID: run, Workspace: "/w", Agent: "ann", Stages: []byte(`[1]`)}
	if diff := cmp.Diff(want, must[Run](t)(s.Run(ctx, run)), cmpopts.IgnoreFields(Run{}, "Opened", "Touched")); diff != "" {
		t.Error("run (-want +got)\n", diff)
	}
	if last := must[int64](t)(s.LastEvent(ctx)); last != 1 {
		t.Error("last event", last)
	}
}

func TestOneProcessPerFolder(t *testing.T) {
	dir := t.TempDir()
	openStore(t, dir, nil)
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrInUse) {
		t.Error("second opening:", err)
	}
}

func TestOnlyTheOwnerCanLook(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	ok(t, os.Mkdir(dir, 0o777))
	ok(t, os.Chmod(dir, 0o777))
	s := openStore(t, dir, nil)
	must[string](t)(s.Begin(context.Background(), Intent{AfterBytes: make([]byte, inlineLimit+1)}))
	err := filepath.Walk(dir, func(p string, st os.FileInfo, err error) error {
		if err == nil && st.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", p, st.Mode())
		}
		return err
	})
	ok(t, err)
}
