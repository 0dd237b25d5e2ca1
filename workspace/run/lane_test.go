package run

import (
	"errors"
	"strings"
	"testing"
)

func team(kind Team) *Run {
	return &Run{Team: kind, Stages: []Stage{
		{Name: "plot", Outputs: owing("plot.md", "shared.md")},
		{Name: "script", Outputs: owing("script.md", "shared.md")},
		{Name: "check", Checker: true, Report: "report.md"},
		{Name: "mute", Checker: true},
	}}
}

func TestLane(t *testing.T) {
	real := func(p string) string { return strings.TrimPrefix(p, "link/") }
	for _, tt := range []struct {
		name  string
		team  Team
		plan  Plan
		paths []string
		hints []string // none: allowed
	}{
		{"own file", Sequential, Plan{Stage: "script"}, []string{"script.md"}, nil},
		{"file of another stage", Sequential, Plan{Stage: "script"}, []string{"plot.md"}, []string{"stage plot", "script.md, shared.md"}},
		{"file of both", Sequential, Plan{Stage: "script"}, []string{"shared.md"}, nil},
		{"file of nobody", Sequential, Plan{Stage: "script"}, []string{"notes.md"}, nil},
		{"the turn owes it too", Sequential, Plan{Stage: "script", Outputs: owing("plot.md")}, []string{"plot.md"}, nil},
		{"a link to a file of another stage", Sequential, Plan{Stage: "script"}, []string{"alias.md", "plot.md"}, []string{"stage plot"}},
		{"parallel team", Parallel, Plan{Stage: "script"}, []string{"plot.md"}, nil},
		{"turn without a stage", Sequential, Plan{}, []string{"plot.md"}, nil},
		{"checker: report", Sequential, Plan{Stage: "check"}, []string{"report.md"}, nil},
		{"checker: file of another stage", Sequential, Plan{Stage: "check"}, []string{"plot.md"}, []string{"only checks", "report.md"}},
		{"checker: file of nobody", Sequential, Plan{Stage: "check"}, []string{"notes.md"}, []string{"only checks", "report.md"}},
		{"checker in a parallel team", Parallel, Plan{Stage: "check"}, []string{"notes.md"}, []string{"only checks"}},
		{"checker: what its turn owes", Sequential, Plan{Stage: "check", Outputs: owing("findings.md")}, []string{"findings.md"}, nil},
		{"checker without a report", Sequential, Plan{Stage: "mute"}, []string{"notes.md"}, []string{"in your reply"}},
	} {
		tt.plan.Run = team(tt.team)
		got := begin(t, tt.plan).Trespass(tt.paths, real)
		if (got == "") != (len(tt.hints) == 0) {
			t.Errorf("%s: %q", tt.name, got)
		}
		for _, h := range tt.hints {
			if !strings.Contains(got, h) {
				t.Errorf("%s: %q lacks %q", tt.name, got, h)
			}
		}
	}
}

func TestLaneKnowsOwedLinks(t *testing.T) {
	r := &Run{Team: Sequential, Stages: []Stage{{Name: "a", Outputs: owing("link/x.md")}, {Name: "b", Outputs: owing("link/y.md")}}}
	real := func(p string) string { return strings.Replace(p, "link/", "target/", 1) }
	turn := begin(t, Plan{Run: r, Stage: "a"})
	if why := turn.Trespass([]string{"target/y.md"}, real); why == "" {
		t.Error("the real name of another stage's file passes")
	}
	if why := turn.Trespass([]string{"target/x.md"}, real); why != "" {
		t.Errorf("the real name of the own file: %s", why)
	}
}

func TestFourthTrespassEndsTheTurn(t *testing.T) {
	turn := begin(t, Plan{})
	for i, want := range []bool{false, false, false, true, true} {
		if got := turn.Trespassed(); got != want {
			t.Errorf("refusal %d: ended %v", i+1, got)
		}
	}
	if s := turn.State(); s.Ended != Lane || s.LaneRefusals != 5 {
		t.Errorf("%+v", s)
	}
	var d *Denial
	if err := turn.Admit(Action{Tool: "read_file"}); !errors.As(err, &d) || d.Code != "turn_ended" {
		t.Errorf("a later call: %v", err)
	}
}

func TestNotOwed(t *testing.T) {
	turn := begin(t, Plan{Rounds: 5, Outputs: owing("a.md", "b.md")})
	disk := map[string]bool{}
	judge := func(paths ...string) string {
		t.Helper()
		why, err := turn.NotOwed(paths, nil, func(p string) (bool, error) { return disk[p], nil })
		if err != nil {
			t.Fatal(err)
		}
		return why
	}
	if why := judge("notes.md"); why != "" {
		t.Errorf("before the write phase: %s", why)
	}
	_, _ = turn.Stop(Done, outputs(turn))
	why := judge("notes.md")
	for _, part := range []string{"That is not the file you owe", "a.md", "b.md", "notes.md"} {
		if !strings.Contains(why, part) {
			t.Errorf("%q lacks %q", why, part)
		}
	}
	if why := judge("b.md"); why != "" {
		t.Errorf("an owed file: %s", why)
	}
	if why := judge("notes.md", "a.md"); why != "" {
		t.Errorf("a call that lands one of them: %s", why)
	}
	disk["a.md"] = true
	if why := judge("notes.md"); why != "" {
		t.Errorf("one is on the disk: %s", why)
	}
	delete(disk, "a.md")
	_, _ = turn.Stop(RoundCap, outputs(turn))
	if judge("notes.md") == "" {
		t.Error("it holds in the final write phase too")
	}
	if _, err := turn.NotOwed([]string{"x"}, nil, func(string) (bool, error) { return false, errors.New("no disk") }); err == nil {
		t.Error("an error is lost")
	}
}

func TestOwesWords(t *testing.T) {
	turn := begin(t, Plan{Outputs: []Output{{Path: "ep.md", Words: true, Min: 1, Max: 2}, {Path: "page.html"}}})
	for p, want := range map[string]bool{"ep.md": true, "page.html": false, "other.md": false} {
		if got := turn.OwesWords([]string{p}, nil); got != want {
			t.Errorf("%s: %v", p, got)
		}
	}
}

func TestTurns(t *testing.T) {
	var book Turns
	book.Add("r1", begin(t, Plan{ID: "t1"}))
	book.Add("r2", begin(t, Plan{ID: "t2"}))
	if _, ok := book.Turn("t1"); !ok || book.RunOf("t2") != "r2" {
		t.Error("a turn is not found")
	}
	book.Forget("r1")
	if _, ok := book.Turn("t1"); ok {
		t.Error("a turn of a closed run is still there")
	}
	if _, ok := book.Turn("t2"); !ok {
		t.Error("a turn of another run is gone")
	}
}
