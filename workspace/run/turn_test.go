package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func tools() Toolset {
	return Toolset{
		Tools:    []string{"read_file", "write_file", "edit_file", "search_files", "list_files", "revert_file", "run_shell", "read_logs", "edit_files"},
		Research: []string{"read_file", "read", "search_files", "list_files", "read_logs", "web_search"},
		Writes:   []string{"write_file", "edit_file", "edit_files"},
		Makers:   map[Class][]string{Image: {"comfyui_generate"}, PDF: {"download_pdf"}},
	}
}

func begin(t testing.TB, p Plan) *Turn {
	t.Helper()
	if p.Tools.Tools == nil {
		p.Tools = tools()
	}
	if p.Rounds == 0 {
		p.Rounds = 14
	}
	turn, err := Begin(p)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

// outputs gives the state of owed files: the named ones are as asked for, the others missing.
func outputs(turn *Turn, there ...string) []Result {
	var all []Result
	for _, o := range turn.Owed() {
		r := Result{Output: o, Status: Missing}
		if slices.Contains(there, o.Path) {
			r.Status = OK
		}
		all = append(all, r)
	}
	return all
}

func owing(paths ...string) []Output {
	var all []Output
	for _, p := range paths {
		all = append(all, Output{Path: p})
	}
	return all
}

func TestBegin(t *testing.T) {
	r := &Run{Team: Sequential, Stages: []Stage{{Name: "one", Outputs: owing("a.md")}}}
	turn := begin(t, Plan{ID: "t1", Run: r, Stage: "one", Outputs: []Output{{Path: "b.md"}, {Path: "a.md", Words: true, Min: 1, Max: 9}}})
	want := []Output{{Path: "a.md", Words: true, Min: 1, Max: 9}, {Path: "b.md"}}
	if diff := cmp.Diff(want, turn.Owed()); diff != "" {
		t.Errorf("owed are the stage's and the turn's together:\n%s", diff)
	}
	for hint, p := range map[string]Plan{
		`no stage "two"; it has: one`: {Run: r, Stage: "two", Rounds: 5},
		`it has: none`:                {Stage: "one", Rounds: 5},
		"rounds":                      {Rounds: 0},
		"kind is":                     {Rounds: 5, Kind: "play"},
	} {
		if _, err := Begin(p); err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%v; want a hint at %q", err, hint)
		}
	}
}

func TestWritePhaseBeginsByRounds(t *testing.T) {
	for rounds, from := range map[int]int{5: 5, 6: 5, 12: 5, 13: 5, 14: 6, 20: 12, 50: 42} {
		turn := begin(t, Plan{Rounds: rounds, Outputs: owing("a.md")})
		for want := 1; want <= rounds; want++ {
			r := turn.Round(outputs(turn))
			phase := PhaseWork
			if want >= from {
				phase = PhaseWrite
			}
			if r.Round != want || r.Phase != phase {
				t.Fatalf("%d rounds: round %d is %d, %s; want %s", rounds, want, r.Round, r.Phase, phase)
			}
			if (r.Message != "") != (want == from) {
				t.Errorf("%d rounds, round %d: message %q", rounds, want, r.Message)
			}
		}
	}
	turn := begin(t, Plan{Rounds: 4, Outputs: owing("a.md")})
	for range 4 {
		if r := turn.Round(outputs(turn)); r.Phase != PhaseWork {
			t.Fatalf("a turn of four rounds is in %s at round %d", r.Phase, r.Round)
		}
	}
	if v, _ := turn.Stop(Done, outputs(turn)); v.Verdict != StartWritePhase {
		t.Errorf("it begins when the turn tries to stop, not %s", v.Verdict)
	}
}

func TestWritePhaseWithdrawsResearch(t *testing.T) {
	turn := begin(t, Plan{Rounds: 5, Outputs: owing("a.md", "b.png")})
	for range 4 {
		if r := turn.Round(outputs(turn)); len(r.Withdrawn) > 0 || !slices.Equal(r.Tools, tools().Tools) {
			t.Fatalf("round %d: tools %v, withdrawn %v", r.Round, r.Tools, r.Withdrawn)
		}
	}
	r := turn.Round(outputs(turn))
	if diff := cmp.Diff([]string{"write_file", "edit_file", "revert_file", "run_shell", "edit_files"}, r.Tools); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"read_file", "search_files", "list_files", "read_logs", "read", "web_search"}, r.Withdrawn); diff != "" {
		t.Error(diff)
	}
	for _, part := range []string{"a.md", "b.png", "comfyui_generate"} {
		if !strings.Contains(r.Message, part) {
			t.Errorf("the message does not name %s: %s", part, r.Message)
		}
	}
	err := turn.Admit(Action{Tool: "read_file", ReadOnly: true})
	var d *Denial
	if !errors.As(err, &d) || d.Code != "withdrawn" || !strings.Contains(d.Text, "a.md") {
		t.Errorf("read_file: %v", err)
	}
	if err := turn.Admit(Action{Tool: "run_shell"}); err != nil {
		t.Errorf("run_shell: %v", err)
	}
	if !turn.Withdrawn("web_search") || turn.Withdrawn("write_file") {
		t.Error("listings are told otherwise")
	}
}

func TestWhoHasNoWritePhase(t *testing.T) {
	checker := &Run{Stages: []Stage{{Name: "c", Checker: true, Outputs: owing("r.md")}}}
	for name, tt := range map[string]struct {
		plan  Plan
		there []string
		want  Phase
	}{
		"owes files":                    {Plan{Outputs: owing("a")}, nil, PhaseWrite},
		"owes nothing":                  {Plan{}, nil, PhaseWork},
		"check turn":                    {Plan{Kind: KindCheck, Outputs: owing("a")}, nil, PhaseWork},
		"re-plan turn":                  {Plan{Kind: KindReplan, Outputs: owing("a")}, nil, PhaseWork},
		"checking stage":                {Plan{Run: checker, Stage: "c"}, nil, PhaseWork},
		"repair, all there":             {Plan{Kind: KindRepair, Outputs: owing("a", "b")}, []string{"a", "b"}, PhaseWork},
		"repair, one missing":           {Plan{Kind: KindRepair, Outputs: owing("a", "b")}, []string{"a"}, PhaseWrite},
		"work, all there at that round": {Plan{Outputs: owing("a")}, []string{"a"}, PhaseWrite},
	} {
		tt.plan.Rounds = 14
		turn := begin(t, tt.plan)
		var r Round
		for range 10 {
			r = turn.Round(outputs(turn, tt.there...))
		}
		if r.Phase != tt.want {
			t.Errorf("%s: %s, want %s", name, r.Phase, tt.want)
		}
	}
}

func TestStop(t *testing.T) {
	for name, tt := range map[string]struct {
		plan   Plan
		there  []string
		reason Reason
		want   Decision
	}{
		"done, nothing owed":                {Plan{}, nil, Done, End},
		"done, all there":                   {Plan{Outputs: owing("a")}, []string{"a"}, Done, End},
		"done, one missing":                 {Plan{Outputs: owing("a", "b")}, []string{"a"}, Done, StartWritePhase},
		"done, repair, all there":           {Plan{Kind: KindRepair, Outputs: owing("a")}, []string{"a"}, Done, End},
		"done, repair, missing":             {Plan{Kind: KindRepair, Outputs: owing("a")}, nil, Done, StartWritePhase},
		"done, check":                       {Plan{Kind: KindCheck, Outputs: owing("a")}, nil, Done, End},
		"round cap, missing":                {Plan{Outputs: owing("a")}, nil, RoundCap, StartFinalWrite},
		"read only, missing":                {Plan{Outputs: owing("a")}, nil, ReadOnly, StartFinalWrite},
		"tool streak, missing":              {Plan{Outputs: owing("a")}, nil, ToolStreak, StartFinalWrite},
		"duplicate, missing":                {Plan{Outputs: owing("a")}, nil, Duplicate, StartFinalWrite},
		"round cap, all there":              {Plan{Outputs: owing("a")}, []string{"a"}, RoundCap, End},
		"round cap, nothing owed":           {Plan{}, nil, RoundCap, End},
		"round cap, repair, all there":      {Plan{Kind: KindRepair, Outputs: owing("a")}, []string{"a"}, RoundCap, StartFinalWrite},
		"round cap, repair, nothing owed":   {Plan{Kind: KindRepair}, nil, RoundCap, StartFinalWrite},
		"round cap, check, report missing":  {Plan{Kind: KindCheck, Outputs: owing("a")}, nil, RoundCap, End},
		"round cap, re-plan, plan missing":  {Plan{Kind: KindReplan, Outputs: owing("a")}, nil, RoundCap, End},
		"duplicate, checking stage, report": {Plan{Run: &Run{Stages: []Stage{{Name: "c", Checker: true}}}, Stage: "c", Outputs: owing("a")}, nil, Duplicate, End},
	} {
		turn := begin(t, tt.plan)
		turn.Round(outputs(turn, tt.there...))
		v, err := turn.Stop(tt.reason, outputs(turn, tt.there...))
		if err != nil || v.Verdict != tt.want {
			t.Errorf("%s: %s (%v), want %s", name, v.Verdict, err, tt.want)
		}
		if ended := turn.State().Ended != ""; ended != (tt.want == End) {
			t.Errorf("%s: ended is %v", name, ended)
		}
	}
	if _, err := begin(t, Plan{}).Stop("bored", nil); err == nil {
		t.Error("an unknown reason passes")
	}
}

func TestStopTwice(t *testing.T) {
	turn := begin(t, Plan{Outputs: owing("a.md")})
	first, _ := turn.Stop(Done, outputs(turn))
	if first.Verdict != StartWritePhase || !strings.Contains(first.Message, "a.md") || slices.Contains(first.Tools, "read_file") {
		t.Errorf("first: %+v", first)
	}
	if second, _ := turn.Stop(Done, outputs(turn)); second.Verdict != End || len(second.Owed) != 1 {
		t.Errorf("second: %+v", second)
	}
	turn = begin(t, Plan{Outputs: owing("a.md")})
	_, _ = turn.Stop(Done, outputs(turn))
	if v, _ := turn.Stop(RoundCap, outputs(turn)); v.Verdict != StartFinalWrite {
		t.Errorf("a write phase that ends at the round cap gets its final calls, not %s", v.Verdict)
	}
	if v, _ := turn.Stop(RoundCap, outputs(turn)); v.Verdict != End {
		t.Errorf("the final write phase is given once, then %s", v.Verdict)
	}
}

func TestFinalWritePhase(t *testing.T) {
	turn := begin(t, Plan{Kind: KindRepair, Why: "the cover is blurred", Outputs: owing("a.md", "cover.png", "b.md")})
	there := outputs(turn, "b.md")
	there[1] = Result{Output: there[1].Output, Status: HeaderWrong, Detail: "cover.png is not a PNG image"}
	v, err := turn.Stop(ToolStreak, there)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"write_file", "edit_file", "edit_files", "comfyui_generate"}, v.Tools); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(owing("a.md", "cover.png"), v.Owed); diff != "" {
		t.Error(diff)
	}
	if v.Calls != 2 {
		t.Errorf("%d calls", v.Calls)
	}
	for _, part := range []string{"a.md", "cover.png is not a PNG image", "the cover is blurred", "comfyui_generate"} {
		if !strings.Contains(v.Message, part) {
			t.Errorf("the message lacks %q: %s", part, v.Message)
		}
	}
	admit := func(tool string) string {
		t.Helper()
		var d *Denial
		if err := turn.Admit(Action{Tool: tool}); errors.As(err, &d) {
			return d.Code
		}
		return ""
	}
	for _, step := range []struct{ tool, code string }{
		{"read_file", "withdrawn"},
		{"run_shell", "withdrawn"},
		{"revert_file", "withdrawn"},
		{"write_file", ""},
		{"list_files", "withdrawn"},
		{"edit_files", ""},
		{"write_file", "turn_ended"},
		{"read_file", "turn_ended"},
	} {
		got := admit(step.tool)
		if got != step.code {
			t.Errorf("%s: %q, want %q", step.tool, got, step.code)
		}
		if got == "" {
			turn.Settle(Action{Tool: step.tool}, Outcome{})
		}
	}
	if s := turn.State(); s.Ended != FinalWrite {
		t.Errorf("ended: %q", s.Ended)
	}
}

func TestFinalWritePhaseEndsAfterManyDenials(t *testing.T) {
	turn := begin(t, Plan{Outputs: owing("a.md")})
	_, _ = turn.Stop(RoundCap, outputs(turn))
	for i := range finalDenials {
		if turn.State().Ended != "" {
			t.Fatalf("ended after %d denials", i)
		}
		_ = turn.Admit(Action{Tool: "read_file", ReadOnly: true})
	}
	if d := turn.Directive(); d.Ended != FinalWrite {
		t.Errorf("%+v", d)
	}
}

func TestFinalCallsUnderWay(t *testing.T) {
	turn := begin(t, Plan{Outputs: owing("a.md")})
	_, _ = turn.Stop(RoundCap, outputs(turn))
	write := Action{Tool: "write_file"}
	for i, want := range []bool{true, true, false} {
		if got := turn.Admit(write) == nil; got != want {
			t.Errorf("call %d at once with the others: admitted %v", i+1, got)
		}
	}
	turn.Settle(write, Outcome{Refused: true})
	if d := turn.Settle(write, Outcome{}); d.Ended != FinalWrite || d.Phase != PhaseFinal {
		t.Errorf("%+v", d)
	}
}

func TestReadOnlyStreak(t *testing.T) {
	read, write := Action{Tool: "read_file", ReadOnly: true}, Action{Tool: "write_file"}
	turn := begin(t, Plan{Outputs: owing("a.md")})
	settle := func(a Action, refused bool) Reason {
		t.Helper()
		if err := turn.Admit(a); err != nil {
			t.Fatal(err)
		}
		return turn.Settle(a, Outcome{Refused: refused}).Stop
	}
	for i := 1; i <= 7; i++ {
		read.Digest = fmt.Sprint(i)
		if stop := settle(read, false); stop != "" {
			t.Fatalf("call %d: %s", i, stop)
		}
		if stop := settle(write, true); stop != "" {
			t.Fatalf("a refused write: %s", stop)
		}
	}
	if stop := settle(read, true); stop != ReadOnly {
		t.Errorf("the eighth read-only call with refused writes between: %q", stop)
	}
	if d := turn.Directive(); d.Stop != ReadOnly || !strings.Contains(d.Message, "a.md") {
		t.Errorf("%+v", d)
	}
	if stop := settle(write, false); stop != "" {
		t.Errorf("a write ends the streak: %q", stop)
	}
	for range 8 {
		_ = settle(read, false)
	}
	if v, _ := turn.Stop(ReadOnly, outputs(turn)); v.Verdict != StartFinalWrite {
		t.Errorf("%+v", v)
	}
	if d := turn.Directive(); d.Stop != "" {
		t.Errorf("what has been answered is told again: %+v", d)
	}
}

func TestStreaks(t *testing.T) {
	turn := begin(t, Plan{})
	for _, tt := range []struct {
		action Action
		want   Streaks
	}{
		{Action{"read_file", true, "1"}, Streaks{1, 1, 1}},
		{Action{"read_file", true, "1"}, Streaks{2, 2, 2}},
		{Action{"read_file", true, "2"}, Streaks{3, 3, 1}},
		{Action{"run_shell", false, "2"}, Streaks{0, 1, 1}},
		{Action{"run_shell", false, "2"}, Streaks{0, 2, 2}},
		{Action{"search_files", true, "2"}, Streaks{1, 1, 1}},
	} {
		turn.Settle(tt.action, Outcome{})
		if diff := cmp.Diff(tt.want, turn.State().Streaks); diff != "" {
			t.Errorf("after %v:\n%s", tt.action, diff)
		}
	}
}

func TestEndedTurn(t *testing.T) {
	turn := begin(t, Plan{ID: "t9", Agent: "A"})
	_, _ = turn.Stop(Done, nil)
	var d *Denial
	if err := turn.Admit(Action{Tool: "write_file"}); !errors.As(err, &d) || d.Code != "turn_ended" {
		t.Errorf("a call: %v", err)
	}
	if r := turn.Round(nil); r.Ended != Done || r.Round != 0 || r.Message == "" {
		t.Errorf("a round: %+v", r)
	}
	if v, _ := turn.Stop(RoundCap, nil); v.Verdict != End {
		t.Errorf("a stop: %+v", v)
	}
	if s := turn.State(); s.Ended != Done || s.ID != "t9" || s.Agent != "A" {
		t.Errorf("its state: %+v", s)
	}
}

// TestTurnAlwaysEnds plays engines that do what they like. A turn that is told to stop comes to its end within three
// stops; after its end nothing is admitted; and its phases only go forward.
func TestTurnAlwaysEnds(t *testing.T) { rapid.Check(t, turnAlwaysEnds) }

func FuzzTurn(f *testing.F) { f.Fuzz(rapid.MakeFuzz(turnAlwaysEnds)) }

func turnAlwaysEnds(t *rapid.T) {
	owed := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a.md", "b.png", "c.txt"}), 0, 3, rapid.ID).Draw(t, "owed")
	turn, err := Begin(Plan{
		Kind:    rapid.SampledFrom([]Kind{KindWork, KindRepair, KindCheck, KindReplan}).Draw(t, "kind"),
		Rounds:  rapid.IntRange(1, 20).Draw(t, "rounds"),
		Outputs: owing(owed...), Tools: tools(),
	})
	if err != nil {
		t.Fatal(err)
	}
	order := []Phase{PhaseWork, PhaseWrite, PhaseFinal}
	phase, stops, final := 0, 0, 0
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		there := outputs(turn, rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a.md", "b.png", "c.txt"}), rapid.ID).Draw(t, "there")...)
		before := turn.State()
		switch rapid.IntRange(0, 9).Draw(t, "step") {
		case 0:
			v, err := turn.Stop(rapid.SampledFrom([]Reason{Done, RoundCap, ReadOnly, ToolStreak, Duplicate}).Draw(t, "reason"), there)
			if err != nil {
				t.Fatal(err)
			}
			if stops++; stops > 2 && v.Verdict != End {
				t.Fatalf("stop %d: %s", stops, v.Verdict)
			}
		case 1:
			turn.Trespassed()
		case 2, 3:
			turn.Round(there)
		default:
			a := Action{Tool: rapid.SampledFrom(append(tools().Tools, "unknown")).Draw(t, "tool")}
			if err := turn.Admit(a); err == nil {
				if before.Ended != "" {
					t.Fatalf("%s is admitted after the end", a.Tool)
				}
				if before.Phase == PhaseFinal {
					final++
				}
				turn.Settle(a, Outcome{Refused: rapid.Bool().Draw(t, "refused")})
			}
		}
		s := turn.State()
		if now := slices.Index(order, s.Phase); now < phase {
			t.Fatalf("from %s back to %s", order[phase], s.Phase)
		} else {
			phase = now
		}
		if before.Ended != "" && s.Ended != before.Ended {
			t.Fatalf("ended by %s, then by %q", before.Ended, s.Ended)
		}
		if final > finalCalls {
			t.Fatalf("%d calls in the final write phase", final)
		}
	}
}
