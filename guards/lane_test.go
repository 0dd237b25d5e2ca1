package guards

import (
	"context"
	"io/fs"
	"log/slog"
	"strings"
	"testing"

	"github.com/toold/toold/workspace"
	"github.com/toold/toold/workspace/run"
)

func (d *door) begin(id string, p run.Plan) *run.Turn {
	d.t.Helper()
	p.ID, p.Agent = id, d.actor.Agent
	if p.Rounds == 0 {
		p.Rounds = 14
	}
	turn, err := run.Begin(p)
	if err != nil {
		d.t.Fatal(err)
	}
	d.turns.Add(d.actor.Run, turn)
	d.actor.Turn = id
	return turn
}

func sequential() *run.Run {
	return &run.Run{ID: "r1", Team: run.Sequential, Stages: []run.Stage{
		{Name: "plot", Outputs: []run.Output{{Path: "plot.md"}, {Path: "cast.md"}}},
		{Name: "script", Outputs: []run.Output{{Path: "script.md"}}},
		{Name: "check", Checker: true, Report: "report.md"},
	}}
}

func TestStageLane(t *testing.T) {
	d := newDoor(t)
	d.put("plot.md", "old")
	turn := d.begin("t1", run.Plan{Run: sequential(), Stage: "script"})
	d.passes(d.write("script.md", "mine"))
	d.passes(d.write("notes.md", "nobody's"))
	r := d.refused(d.write("plot.md", "x"), "stage_lane", "plot.md", "stage plot", "script owes script.md")
	if r.EndsTurn || r.Again || r.Tag != "STAGE-LANE" {
		t.Errorf("%+v", r)
	}
	d.refused(d.edit("plot.md", "old", "new"), "stage_lane")
	d.refused(d.apply(d.change(workspace.OpRevert, "cast.md", "x")), "stage_lane", "not reverted")
	r = d.refused(d.write("plot.md", "x"), "stage_lane", "turn has ended")
	if !r.EndsTurn || turn.State().Ended != run.Lane {
		t.Errorf("the fourth refusal: %+v, turn %+v", r, turn.State())
	}
	if d.has("plot.md") != "old" || d.has("cast.md") != "(absent)" {
		t.Error("a refused change was made")
	}
	if n := strings.Count(d.log.String(), "[STAGE-LANE]"); n != 4 {
		t.Errorf("%d lines in the log", n)
	}
}

func TestLaneIsCountedByTurn(t *testing.T) {
	d := newDoor(t)
	d.begin("t1", run.Plan{Run: sequential(), Stage: "script"})
	for range 3 {
		d.refused(d.write("plot.md", "x"), "stage_lane")
	}
	d.begin("t2", run.Plan{Run: sequential(), Stage: "script"})
	if r := d.refused(d.write("plot.md", "x"), "stage_lane"); r.EndsTurn {
		t.Error("the refusals of another turn are counted")
	}
}

func TestCheckerWritesItsReportOnly(t *testing.T) {
	d := newDoor(t)
	d.begin("t1", run.Plan{Run: sequential(), Stage: "check", Kind: run.KindCheck})
	d.passes(d.write("report.md", "fine"))
	d.refused(d.write("script.md", "x"), "stage_lane", "report.md")
	d.refused(d.write("notes.md", "x"), "stage_lane", "report.md")
}

func TestCallsWithoutATurnHaveNoLane(t *testing.T) {
	d := newDoor(t)
	d.passes(d.write("plot.md", "x"))
	d.actor.Turn = "unknown"
	d.passes(d.write("plot.md", "y"))
	if d.log.Len() > 0 {
		t.Errorf("logged without a lane to stand aside from: %s", &d.log)
	}
	d.set = New(Options{Asks: d.asks, Turns: d.turns, Log: slog.New(slog.NewTextHandler(&d.log, nil)), Sequential: func(context.Context, string) bool { return true }})
	d.passes(d.write("plot.md", "z"))
	if !strings.Contains(d.log.String(), "[STAGE-LANE] stands aside") {
		t.Error("in a sequential run that is logged")
	}
}

func TestOwedFile(t *testing.T) {
	d := newDoor(t)
	turn := d.begin("t1", run.Plan{Run: sequential(), Stage: "plot", Outputs: []run.Output{{Path: "more.md"}}})
	d.passes(d.write("notes.md", "before the write phase"))
	if _, err := turn.Stop(run.Done, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := d.refused(d.write("notes2.md", "x"), "not_owed", "That is not the file you owe", "plot.md", "cast.md", "more.md")
		if r.Again || r.Tag != "NOT-OWED" || r.EndsTurn {
			t.Errorf("%+v", r)
		}
		d.refused(d.edit("notes.md", "before", "after"), "not_owed")
	}
	d.passes(d.apply(d.change(workspace.OpRevert, "notes.md", "x"))) // not a write of new text
	batch := d.change(workspace.OpEdit, "notes3.md", "x")
	batch.With = []workspace.Path{"notes3.md", "cast.md"}
	d.passes(d.apply(batch)) // lands one of them
	d.put("cast.md", "")
	d.refused(d.write("notes2.md", "x"), "not_owed") // an empty file is not one
	d.passes(d.write("cast.md", "owed"))
	d.passes(d.write("notes2.md", "one of them is on the disk"))
}

func TestOwedFileFailsClosed(t *testing.T) {
	d := newDoor(t)
	turn := d.begin("t1", run.Plan{Run: sequential(), Stage: "plot"})
	_, _ = turn.Stop(run.Done, nil)
	c := d.change(workspace.OpWrite, "notes.md", "x")
	c.FS = brokenFS{d.files, map[string]error{"plot.md": fs.ErrPermission}}
	d.failed(d.apply(c), "owed file")
}

func TestShrinkStandsAsideForAFileOwedAtWords(t *testing.T) {
	d := newDoor(t)
	stages := &run.Run{Team: run.Sequential, Stages: []run.Stage{{Name: "s", Outputs: []run.Output{{Path: "ep.md", Words: true, Min: 1, Max: 9}, {Path: "page.md"}}}}}
	d.put("ep.md", numbered(100))
	d.put("page.md", numbered(100))
	d.refused(d.write("ep.md", "without a turn there is no step that owes it"), "shrink_guard")
	d.begin("t1", run.Plan{Run: stages, Stage: "s"})
	d.actor.Agent = "C"
	d.passes(d.write("ep.md", "a new draft"))
	if !strings.Contains(d.log.String(), "[SHRINK-GUARD] stands aside") {
		t.Error("the skip is not logged")
	}
	d.refused(d.write("page.md", "x"), "shrink_guard")
}
