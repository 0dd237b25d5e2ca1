package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/toold/toold/rpc/tool"
	"github.com/toold/toold/workspace"
	"github.com/toold/toold/workspace/run"
	"github.com/toold/toold/workspace/store"
)

// normalise gives the paths of stages and outputs the form that the workspace uses.
func (s *Space) normalise(path string) (string, error) {
	p, err := s.W.ParsePath(path)
	return string(p), err
}

// declared gives what a run has declared of its stages.
func (e *Engine) declared(ctx context.Context, s *Space, id string) (*run.Run, error) {
	r, err := e.opts.Store.Run(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, &Fault{Code: CodeUnknownRun, Message: fmt.Sprintf("there is no run %q; run/open makes one", id)}
	}
	if err != nil {
		return nil, err
	}
	team, err := run.ParseTeam(r.Team)
	if err != nil {
		return nil, invalidParams("%v", err)
	}
	stages, err := run.ParseStages(r.Stages, s.normalise)
	if err != nil {
		return nil, invalidParams("%v", err)
	}
	return &run.Run{ID: r.ID, Team: team, Stages: stages}, nil
}

// toolset gives what a turn of this connection may call.
func (e *Engine) toolset(h hello) run.Toolset {
	ts := run.Toolset{Research: slices.Clone(h.Research), Writes: []string{"write_file", "edit_file", "edit_files"}, Makers: e.makers(h)}
	for _, t := range e.opts.Tools.All() {
		if !h.visible(t.Spec) {
			continue
		}
		ts.Tools = append(ts.Tools, t.Spec.Name)
		if t.Spec.Research {
			ts.Research = append(ts.Research, t.Spec.Name)
		}
	}
	return ts
}

// makers gives the tools that make binary files: the engine's own where it names them, else the configured ones.
func (e *Engine) makers(h hello) map[run.Class][]string {
	m := map[run.Class][]string{}
	for class, tools := range e.opts.Makers {
		m[class] = tools
	}
	for class, tools := range h.Makers {
		m[run.Class(class)] = tools
	}
	return m
}

func turnBegin(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	p, err := read[struct {
		Run      string   `json:"run"`
		Agent    string   `json:"agent"`
		Stage    string   `json:"stage"`
		Required []string `json:"required_output"`
		Rounds   int      `json:"rounds"`
		Kind     run.Kind `json:"kind"`
		Why      string   `json:"why"`
	}](raw)
	if err != nil {
		return nil, err
	}
	h, space := c.state()
	if err := e.knownRun(ctx, p.Run); err != nil {
		return nil, err
	}
	declared, err := e.declared(ctx, space, p.Run)
	if err != nil {
		return nil, err
	}
	outputs, err := run.ParseOutputs(p.Required, space.normalise)
	if err != nil {
		return nil, invalidParams("turn/begin: required_output: %v", err)
	}
	if p.Agent == "" {
		p.Agent = c.agent()
	}
	t, err := run.Begin(run.Plan{
		ID: e.opts.Store.NewID(), Run: declared, Stage: p.Stage, Agent: p.Agent, Outputs: outputs, Rounds: p.Rounds, Kind: p.Kind, Why: p.Why, Tools: e.toolset(h),
	})
	if err != nil {
		return nil, invalidParams("turn/begin: %v", err)
	}
	e.turns.Add(p.Run, t)
	e.emit(ctx, "turn", space, map[string]any{"turn": t.ID(), "run": p.Run, "agent": p.Agent, "stage": p.Stage, "what": "begin"})
	return map[string]any{"turn": t.ID(), "tools": t.State().Tools}, nil
}

// turn finds the turn that a method names.
func (e *Engine) turn(id string) (*run.Turn, error) {
	t, ok := e.turns.Turn(id)
	if !ok {
		return nil, &Fault{Code: CodeUnknownRun, Message: fmt.Sprintf("there is no turn %q; turn/begin opens one. Turns do not outlive the daemon", id)}
	}
	return t, nil
}

// results judges files against what is asked of them.
func (e *Engine) results(ctx context.Context, s *Space, outputs []run.Output) ([]run.Result, error) {
	out := make([]run.Result, 0, len(outputs))
	for _, o := range outputs {
		content, existed, err := s.W.Content(ctx, workspace.Path(o.Path))
		if err != nil {
			return nil, faultOf(err)
		}
		out = append(out, run.Check(o, content, existed))
	}
	return out, nil
}

func turnRound(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	t, space, results, err := e.turnState(ctx, c, raw)
	if err != nil {
		return nil, err
	}
	before := t.State().Phase
	r := t.Round(results)
	if r.Phase != before {
		e.emit(ctx, "turn", space, map[string]any{"turn": t.ID(), "agent": t.Agent(), "what": string(r.Phase)})
	}
	reply := map[string]any{"round": r.Round, "phase": r.Phase, "tools": list(r.Tools), "withdrawn": list(r.Withdrawn)}
	if r.Message != "" {
		reply["message"] = r.Message
	}
	if r.Ended != "" {
		reply["ended"] = r.Ended
	}
	return reply, nil
}

// turnState reads the parameter {turn} and judges what the turn owes.
func (e *Engine) turnState(ctx context.Context, c *Conn, raw json.RawMessage) (*run.Turn, *Space, []run.Result, error) {
	p, err := read[struct {
		Turn   string `json:"turn"`
		Reason string `json:"reason"`
	}](raw)
	if err != nil {
		return nil, nil, nil, err
	}
	t, err := e.turn(p.Turn)
	if err != nil {
		return nil, nil, nil, err
	}
	_, space := c.state()
	results, err := e.results(ctx, space, t.Owed())
	return t, space, results, err
}

func turnStop(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	t, space, results, err := e.turnState(ctx, c, raw)
	if err != nil {
		return nil, err
	}
	var p struct {
		Reason run.Reason `json:"reason"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, invalidParams("turn/stop: %v", err)
	}
	v, err := t.Stop(p.Reason, results)
	if err != nil {
		return nil, invalidParams("turn/stop: %v", err)
	}
	e.emit(ctx, "turn", space, map[string]any{"turn": t.ID(), "agent": t.Agent(), "what": string(v.Verdict), "reason": p.Reason})
	reply := map[string]any{"verdict": v.Verdict}
	if v.Verdict != run.End {
		reply["tools"] = list(v.Tools)
	}
	if v.Calls > 0 {
		reply["calls"] = v.Calls
	}
	if len(v.Owed) > 0 {
		reply["owed"] = specs(v.Owed)
	}
	if v.Message != "" {
		reply["message"] = v.Message
	}
	return reply, nil
}

func turnGet(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	t, _, results, err := e.turnState(ctx, c, raw)
	if err != nil {
		return nil, err
	}
	s := t.State()
	return map[string]any{
		"turn": s.ID, "agent": s.Agent, "stage": s.Stage, "kind": s.Kind, "round": s.Round, "rounds": s.Rounds, "phase": s.Phase, "ended": s.Ended,
		"owed": specs(s.Owed), "outputs": resultInfos(results), "tools": list(s.Tools), "withdrawn": list(s.Withdrawn),
		"streaks": map[string]int{"read_only": s.Streaks.ReadOnly, "same_tool": s.Streaks.SameTool, "duplicate": s.Streaks.Duplicate}, "lane_refusals": s.LaneRefusals,
	}, nil
}

func outputsCheck(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	p, err := read[struct {
		Run   string   `json:"run"`
		Stage string   `json:"stage"`
		Paths []string `json:"paths"`
	}](raw)
	if err != nil {
		return nil, err
	}
	_, space := c.state()
	outputs, err := run.ParseOutputs(p.Paths, space.normalise)
	if err != nil {
		return nil, invalidParams("outputs/check: paths: %v", err)
	}
	if len(p.Paths) == 0 {
		declared, err := e.declared(ctx, space, p.Run)
		if err != nil {
			return nil, err
		}
		if outputs, err = outputsOf(declared, p.Stage); err != nil {
			return nil, err
		}
	}
	results, err := e.results(ctx, space, outputs)
	if err != nil {
		return nil, err
	}
	ok := true
	for _, r := range results {
		ok = ok && r.Status == run.OK
	}
	return map[string]any{"ok": ok, "outputs": resultInfos(results)}, nil
}

// outputsOf gives what one stage owes, or all of them.
func outputsOf(r *run.Run, stage string) ([]run.Output, error) {
	var out []run.Output
	for _, s := range r.Stages {
		if stage == "" || s.Name == stage {
			out = append(out, s.Outputs...)
		}
	}
	if _, ok := r.Stage(stage); stage != "" && !ok {
		return nil, invalidParams("the run has no stage %q", stage)
	}
	return out, nil
}

func resultInfos(results []run.Result) []map[string]any {
	out := make([]map[string]any, len(results))
	for i, r := range results {
		out[i] = map[string]any{"path": r.Output.Path, "status": r.Status, "detail": r.Detail}
		if r.Output.Words {
			out[i]["words"], out[i]["min"], out[i]["max"] = r.Words, r.Output.Min, r.Output.Max
		}
	}
	return out
}

func specs(outputs []run.Output) []string {
	out := make([]string, len(outputs))
	for i, o := range outputs {
		out[i] = o.String()
	}
	return out
}

func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// inTurn is a call on its way through its turn; it does nothing for a call outside of any.
type inTurn struct {
	turn   *run.Turn
	action run.Action
}

// admit asks the turn of a call whether it may run. The error is a *run.Denial.
func (e *Engine) admit(m meta, spec tool.Spec, digest string) (inTurn, error) {
	if m.Turn == "" {
		return inTurn{}, nil
	}
	t, err := e.turn(m.Turn)
	if err != nil {
		return inTurn{}, err
	}
	it := inTurn{t, run.Action{Tool: spec.Name, ReadOnly: spec.Effect == tool.Reads, Digest: digest}}
	return it, t.Admit(it.action)
}

// settle tells the turn how the call ended, and the result what follows.
func (it inTurn) settle(r *tool.Result, admitted bool) {
	if it.turn == nil {
		return
	}
	var d run.Directive
	if admitted {
		d = it.turn.Settle(it.action, run.Outcome{Refused: r.IsError})
	} else {
		d = it.turn.Directive()
	}
	info := map[string]any{"phase": d.Phase}
	directive := map[string]any{}
	if d.Stop != "" {
		directive["stop"] = d.Stop
	}
	if d.Message != "" {
		directive["message"] = d.Message
	}
	if len(directive) > 0 {
		info["directive"] = directive
	}
	if d.Ended != "" {
		info["ended"], info["reason"] = true, d.Ended
	}
	if r.Meta == nil {
		r.Meta = map[string]any{}
	}
	r.Meta["turn"] = info
}
