package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toold/toold/edit"
	"github.com/toold/toold/rpc/catalog"
	"github.com/toold/toold/rpc/tool"
	"github.com/toold/toold/workspace"
	"github.com/toold/toold/workspace/run"
	"github.com/toold/toold/workspace/store"
)

// standingTime is how long the run of an agent that opened none lives without calls.
const standingTime = 8 * time.Hour

// standingRuns are the runs of agents that opened none, by agent and workspace. The store has them too; this spares
// it a write for every call.
type standingRuns struct {
	mu   sync.Mutex // guards runs
	runs map[string]standingRun
}

type standingRun struct {
	id      string
	touched time.Time
}

func (s *standingRuns) of(ctx context.Context, e *Engine, agent, ws string) (string, error) {
	key, now := agent+"\x00"+ws, e.opts.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.runs[key]; ok && now.Sub(r.touched) < time.Minute {
		return r.id, nil
	}
	id, err := e.opts.Store.StandingRun(ctx, ws, agent, standingTime)
	if err != nil {
		return "", fmt.Errorf("open the standing run of %s: %w", agent, err)
	}
	s.runs[key] = standingRun{id, now}
	return id, nil
}

// knownRun refuses a run that does not exist or has been closed.
func (e *Engine) knownRun(ctx context.Context, id string) error {
	r, err := e.opts.Store.Run(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return &Fault{Code: CodeUnknownRun, Message: fmt.Sprintf("there is no run %q; open one with run/open, or leave run out", id)}
	}
	if err != nil {
		return err
	}
	if !r.Closed.IsZero() {
		return &Fault{Code: CodeUnknownRun, Message: fmt.Sprintf("the run %q was closed at %s; open a new one with run/open", id, stamp(r.Closed))}
	}
	return nil
}

func runOpen(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	p, err := read[struct {
		ID     string          `json:"id"`
		Team   string          `json:"team"`
		Stages json.RawMessage `json:"stages"`
		Meta   json.RawMessage `json:"meta"`
	}](raw)
	if err != nil {
		return nil, err
	}
	_, space := c.state()
	if p.Team != "" && p.Team != "parallel" && p.Team != "sequential" {
		return nil, invalidParams("run/open: team is \"parallel\" or \"sequential\", not %q", p.Team)
	}
	if _, err := run.ParseStages(p.Stages, space.normalise); err != nil {
		return nil, invalidParams("run/open: %v", err)
	}
	id, err := e.opts.Store.OpenRun(ctx, store.Run{ID: p.ID, Workspace: space.W.Real(), Agent: c.agent(), Team: p.Team, Stages: p.Stages, Meta: p.Meta})
	if errors.Is(err, store.ErrExists) {
		return nil, invalidParams("run/open: there is a run %q already; choose another id or leave it out", p.ID)
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"run": id}, nil
}

type runParam struct {
	Run string `json:"run"`
}

func (e *Engine) run(ctx context.Context, raw json.RawMessage) (store.Run, error) {
	p, err := read[runParam](raw)
	if err != nil {
		return store.Run{}, err
	}
	r, err := e.opts.Store.Run(ctx, p.Run)
	if errors.Is(err, store.ErrNotFound) {
		return r, &Fault{Code: CodeUnknownRun, Message: fmt.Sprintf("there is no run %q; run/list has them", p.Run)}
	}
	return r, err
}

func runClose(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	r, err := e.run(ctx, raw)
	if err != nil {
		return nil, err
	}
	e.standing.forget(r.ID)
	e.turns.Forget(r.ID)
	e.opts.Files.Asks.Forget(r.ID)
	if err := e.opts.Store.CloseRun(ctx, r.ID); err != nil {
		return nil, err
	}
	return map[string]any{"run": r.ID}, nil
}

func (s *standingRuns) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, r := range s.runs {
		if r.id == id {
			delete(s.runs, key)
		}
	}
}

type runInfo struct {
	Run      string          `json:"run"`
	Root     string          `json:"root"`
	Agent    string          `json:"agent,omitempty"`
	Team     string          `json:"team,omitempty"`
	Standing bool            `json:"standing,omitempty"`
	Opened   string          `json:"opened"`
	Closed   string          `json:"closed,omitempty"`
	Stages   json.RawMessage `json:"stages,omitempty"`
	Meta     json.RawMessage `json:"meta,omitempty"`
	Files    []string        `json:"files,omitempty"`
}

func runInfoOf(r store.Run) runInfo {
	i := runInfo{Run: r.ID, Root: r.Workspace, Agent: r.Agent, Team: r.Team, Standing: r.Standing, Opened: stamp(r.Opened), Stages: r.Stages, Meta: r.Meta}
	if !r.Closed.IsZero() {
		i.Closed = stamp(r.Closed)
	}
	return i
}

func runList(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	p, err := read[struct {
		Limit  int    `json:"limit"`
		Before string `json:"before"`
	}](raw)
	if err != nil {
		return nil, err
	}
	_, space := c.state()
	runs, next, err := e.opts.Store.Runs(ctx, store.Filter{Workspace: space.W.Real(), Limit: limit(p.Limit), Before: p.Before})
	if err != nil {
		return nil, err
	}
	out := make([]runInfo, 0, len(runs))
	for _, r := range runs {
		out = append(out, runInfoOf(r))
	}
	return page("runs", out, next), nil
}

func runGet(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	r, err := e.run(ctx, raw)
	if err != nil {
		return nil, err
	}
	snaps, err := e.opts.Store.Snapshots(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	i := runInfoOf(r)
	for _, s := range snaps {
		i.Files = append(i.Files, s.FileKey)
	}
	return i, nil
}

func runDiff(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	r, err := e.run(ctx, raw)
	if err != nil {
		return nil, err
	}
	snaps, err := e.opts.Store.Snapshots(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	_, space := c.state()
	var b strings.Builder
	for _, s := range snaps {
		p, err := space.W.ParsePath(s.FileKey)
		if err != nil {
			continue // of another workspace
		}
		before, err := e.blob(ctx, s.Hash)
		if err != nil {
			return nil, err
		}
		now, _, err := space.W.Content(ctx, p)
		if err != nil {
			return nil, err
		}
		b.WriteString(edit.Unified(string(p), before, now))
	}
	return map[string]any{"diff": text([]byte(b.String()))}, nil
}

func runRevert(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	r, err := e.run(ctx, raw)
	if err != nil {
		return nil, err
	}
	snaps, err := e.opts.Store.Snapshots(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	_, space := c.state()
	h, _ := c.state()
	actor := workspace.Actor{Agent: r.Agent, Client: h.ClientInfo.Name, Run: r.ID, Conn: c.ID}
	var lines []string
	failed := false
	for _, s := range snaps {
		p, err := space.W.ParsePath(s.FileKey)
		if err != nil {
			continue
		}
		res, _, err := space.W.Revert(ctx, actor, "run/revert", p)
		switch {
		case err != nil:
			failed = true
			lines = append(lines, fmt.Sprintf("%s: not reverted: %v", p, err))
		case res.Unchanged || res.Delete && !res.Existed:
			lines = append(lines, fmt.Sprintf("%s: already as before the run", p))
		case res.Delete:
			lines = append(lines, fmt.Sprintf("%s: deleted, the run created it", p))
		default:
			lines = append(lines, fmt.Sprintf("%s: restored", p))
		}
	}
	if len(lines) == 0 {
		lines = []string{"The run changed no files; there is nothing to revert."}
	}
	out := tool.Result{Text: strings.Join(lines, "\n"), IsError: failed, Meta: map[string]any{"run": r.ID}}
	if failed {
		out.Code = "changed_since"
		out.Text = "Error: not all files were reverted; ask again for the ones that were refused.\n" + out.Text
	}
	return out, nil
}

func failure(err error) tool.Result { return catalog.Failure(err) }

func limit(n int) int {
	if n <= 0 {
		return 100
	}
	return min(n, 1000)
}

// page gives a list reply: newest first, with the cursor of the next page when there is one.
func page(name string, items any, next string) map[string]any {
	p := map[string]any{name: items}
	if next != "" {
		p["next"] = next
	}
	return p
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
