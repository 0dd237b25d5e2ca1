package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestRuns(t *testing.T) {
	ctx, c := t.Context(), newClock()
	s := openStore(t, t.TempDir(), c)
	want := Run{ID: "mine", Workspace: "/w", Agent: "ann", Team: "sequential", Stages: []byte(`[]`), Meta: []byte(`{"k":1}`), Opened: c.at, Touched: c.at}
	in := want
	in.Opened = time.Time{}
	must[string](t)(s.OpenRun(ctx, in, Event{Kind: "run"}))
	if diff := cmp.Diff(want, must[Run](t)(s.Run(ctx, "mine"))); diff != "" {
		t.Error("(-want +got)\n", diff)
	}
	if _, err := s.OpenRun(ctx, in); !errors.Is(err, ErrExists) {
		t.Error("the same id again:", err)
	}
	c.forward(time.Minute)
	ok(t, s.CloseRun(ctx, "mine"))
	c.forward(time.Minute)
	ok(t, s.CloseRun(ctx, "mine"))
	if got := must[Run](t)(s.Run(ctx, "mine")).Closed; !got.Equal(want.Opened.Add(time.Minute)) {
		t.Error("closed at", got)
	}
	if err := s.CloseRun(ctx, "other"); !errors.Is(err, ErrNotFound) {
		t.Error("closing no run:", err)
	}
	for i := range 3 {
		must[string](t)(s.OpenRun(ctx, Run{ID: fmt.Sprint("r", i), Workspace: "/w", Agent: "bob"}))
	}
	must[string](t)(s.OpenRun(ctx, Run{Workspace: "/elsewhere", Agent: "bob"}))
	runs, next, err := s.Runs(ctx, Filter{Workspace: "/w", Limit: 3})
	ok(t, err)
	rest, end, err := s.Runs(ctx, Filter{Workspace: "/w", Limit: 3, Before: next})
	ok(t, err)
	var ids []string
	for _, r := range append(runs, rest...) {
		ids = append(ids, r.ID)
	}
	if diff := cmp.Diff([]string{"r2", "r1", "r0", "mine"}, ids); diff != "" || end != "" {
		t.Error(end, diff)
	}
	if n := must[int](t)(s.OpenRuns(ctx)); n != 4 {
		t.Errorf("%d runs are open", n)
	}
}

func TestStandingRuns(t *testing.T) {
	ctx, c := t.Context(), newClock()
	s := openStore(t, t.TempDir(), c)
	const idle = 8 * time.Hour
	of := func(agent string) string { return must[string](t)(s.StandingRun(ctx, "/w", agent, idle)) }
	first := of("ann")
	if of("bob") == first {
		t.Error("two agents share a standing run")
	}
	c.forward(7 * time.Hour)
	if of("ann") != first {
		t.Error("it ended early")
	}
	c.forward(7 * time.Hour)
	ok(t, s.TouchRun(ctx, first))
	c.forward(7 * time.Hour)
	if of("ann") != first {
		t.Error("a use of it by id did not count")
	}
	c.forward(idle)
	if r := must[Run](t)(s.Run(ctx, first)); !r.Closed.Equal(c.at) {
		t.Error("it has not ended by itself:", r.Closed)
	}
	if n := must[int](t)(s.OpenRuns(ctx)); n != 0 {
		t.Errorf("%d runs are open", n)
	}
	ok(t, s.TouchRun(ctx, first))
	second := of("ann")
	if second == first {
		t.Error("a run that had ended came back")
	}
	ok(t, s.CloseRun(ctx, second))
	if of("ann") == second {
		t.Error("a closed run came back")
	}
}

func TestCommandLog(t *testing.T) {
	ctx, c := t.Context(), newClock()
	dir := t.TempDir()
	s := openStore(t, dir, c)
	code := 3
	cmd := Command{
		Time: c.at, Run: "r", Turn: "t", Agent: "ann", Client: "test", Workspace: "/w", Container: "box", Command: "go TEST ./…", Background: true, Approval: "ap",
	}
	cmd.ID = must[string](t)(s.StartCommand(ctx, cmd, Event{Kind: "command"}))
	cmd.Outcome = CommandRunning
	if diff := cmp.Diff(cmd, must[Command](t)(s.Command(ctx, cmd.ID))); diff != "" {
		t.Error("running (-want +got)\n", diff)
	}
	cmd.Exit, cmd.Duration, cmd.Stdout, cmd.Stderr, cmd.StdoutHead, cmd.StderrHead, cmd.Outcome = &code, time.Second, 10, 20, "out\x00\xff", "err", "ok"
	ok(t, s.EndCommand(ctx, cmd))
	if diff := cmp.Diff(cmd, must[Command](t)(s.Command(ctx, cmd.ID))); diff != "" {
		t.Error("ended (-want +got)\n", diff)
	}
	c.forward(time.Hour)
	must[string](t)(s.StartCommand(ctx, Command{Run: "r2", Agent: "bob", Workspace: "/w", Command: "ls 100%_"}))
	for name, tc := range map[string]struct {
		f    Filter
		want []string
	}{
		"all": {Filter{}, []string{"ls 100%_", "go TEST ./…"}}, "run": {Filter{Run: "r2"}, []string{"ls 100%_"}}, "agent": {Filter{Agent: "ann"}, []string{"go TEST ./…"}},
		"text": {Filter{Text: "go test"}, []string{"go TEST ./…"}}, "literal": {Filter{Text: "%_"}, []string{"ls 100%_"}}, "no text": {Filter{Text: "x%"}, nil},
		"since": {Filter{Since: c.at}, []string{"ls 100%_"}}, "until": {Filter{Until: c.at}, []string{"go TEST ./…"}},
	} {
		all, _, err := s.Commands(ctx, tc.f)
		ok(t, err)
		var got []string
		for _, c := range all {
			got = append(got, c.Command)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	if err := s.EndCommand(ctx, Command{ID: "none"}); !errors.Is(err, ErrNotFound) {
		t.Error("ending no command:", err)
	}
	ok(t, s.Close())
	s = openStore(t, dir, c)
	all, _, err := s.Commands(ctx, Filter{})
	ok(t, err)
	if all[0].Outcome != CommandUnknown || all[1].Outcome != "ok" {
		t.Errorf("after a restart: %q and %q", all[0].Outcome, all[1].Outcome)
	}
}

func TestApprovalLog(t *testing.T) {
	ctx, c := t.Context(), newClock()
	dir := t.TempDir()
	s := openStore(t, dir, c)
	a := Approval{
		Time: c.at, Workspace: "/w", Run: "r", Turn: "t", Agent: "ann", Client: "test", Tool: "write", Arguments: []byte(`{"path":"x"}`), Path: "/w/x", Digest: "d", Detail: []byte(`{"reasons":[]}`),
	}
	a.ID = must[string](t)(s.RecordApproval(ctx, a, Event{Kind: "approval"}))
	a.Outcome = ApprovalPending
	if diff := cmp.Diff(a, must[Approval](t)(s.Approval(ctx, a.ID))); diff != "" {
		t.Error("pending (-want +got)\n", diff)
	}
	c.forward(time.Minute)
	a.Outcome, a.Answered, a.By, a.Reason, a.Rule = "denied", c.at, "alice", "no", "write({})"
	must[string](t)(s.RecordApproval(ctx, a))
	pending := must[string](t)(s.RecordApproval(ctx, Approval{Tool: "read"}))
	ok(t, s.Close())
	s = openStore(t, dir, c)
	all, _, err := s.Approvals(ctx, Filter{})
	ok(t, err)
	want := []Approval{{ID: pending, Time: c.at, Tool: "read", Outcome: ApprovalCancelled, Answered: c.at}, a}
	if diff := cmp.Diff(want, all, cmpopts.IgnoreFields(Approval{}, "Reason")); diff != "" {
		t.Error("after a restart (-want +got)\n", diff)
	}
}

func TestEvents(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, t.TempDir(), nil)
	wake, stop := s.Watch()
	for i := range 10 {
		ok(t, s.AddEvents(ctx, Event{Kind: []string{"even", "odd"}[i%2], Workspace: "/w"}))
	}
	<-wake
	select {
	case <-wake:
	default: // what came meanwhile is one more wake-up, or none
	}
	if last := must[int64](t)(s.LastEvent(ctx)); last != 10 {
		t.Error("last", last)
	}
	var got []int64
	for _, e := range must[[]Event](t)(s.EventsSince(ctx, 3, []string{"odd", "other"}, 3)) {
		got = append(got, e.Seq)
	}
	if diff := cmp.Diff([]int64{4, 6, 8}, got); diff != "" {
		t.Error(diff)
	}
	stop()
	ok(t, s.AddEvents(ctx, Event{Kind: "odd"}))
	select {
	case <-wake:
		t.Error("woken after the end")
	default:
	}
	// A change that fails tells nobody.
	if err := s.Finish(ctx, "1nothing0000", Event{Kind: "edit"}); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if last := must[int64](t)(s.LastEvent(ctx)); last != 11 {
		t.Error("last", last)
	}
}

func TestEventNumbersNeverComeBack(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	s := openStore(t, dir, nil)
	ok(t, s.AddEvents(ctx, Event{Kind: "a"}, Event{Kind: "a"}))
	s.writer.closed = true // as after a power cut: the store was not closed and cannot know what is lost
	ok(t, s.shutdown())
	s = openStore(t, dir, nil)
	ok(t, s.AddEvents(ctx, Event{Kind: "b"}))
	events := must[[]Event](t)(s.EventsSince(ctx, 2, []string{"b"}, 10))
	if len(events) != 1 || events[0].Seq <= 2+lostEvents {
		t.Errorf("%+v", events)
	}
}

func TestIDs(t *testing.T) {
	rapid.Check(t, rapidIDs)
}

func FuzzEditID(f *testing.F) { f.Fuzz(rapid.MakeFuzz(rapidIDs)) }

func rapidIDs(t *rapid.T) {
	seq := rapid.Int64Range(1, 1<<62).Draw(t, "seq")
	tag := newTag()
	if gotSeq, gotTag := parseEditID(editID(seq, tag)); gotSeq != seq || gotTag != tag {
		t.Fatalf("%d %s came back as %d %s", seq, tag, gotSeq, gotTag)
	}
	parseEditID(rapid.String().Draw(t, "id"))
	a, b := newClock().at.Add(time.Duration(rapid.Int64Range(0, 1<<55).Draw(t, "ms"))*time.Nanosecond), newClock().at
	if a.Sub(b) >= time.Millisecond && newID(a) <= newID(b) {
		t.Fatal("ids do not sort by time")
	}
}
