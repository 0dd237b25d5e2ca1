package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/toold/toold/edit"
	"github.com/toold/toold/rpc/tool"
	"github.com/toold/toold/workspace"
	"github.com/toold/toold/workspace/store"
)

type editFileParams struct {
	Path      string `json:"path" required:"true" desc:"File path to edit"`
	Search    string `json:"search" required:"true" desc:"Text to find. Exact match preferred; whitespace differences are tolerated. Empty to create a missing file or when using a line range"`
	Replace   string `json:"replace" required:"true" desc:"Text to replace with (the whole file content when creating or replacing the whole file)"`
	StartLine *int   `json:"start_line" desc:"1-based first line of a range"`
	EndLine   *int   `json:"end_line" desc:"1-based last line of a range; past the end of the file means the last line" default:"with a search the last line of the file, with an empty search start_line"`
}

const editDescription = "Replace text in a file, or lines of it. The search text is matched exactly first, then tolerating differences of whitespace when that fits exactly one place; a search that matches several places replaces all of them. " +
	"Do not call read_file first: this tool reads the file itself, and a miss reports the nearest lines so that the search can be corrected without reading. " +
	"With start_line and end_line and an empty search the lines themselves are replaced; from line 1 to the last line that is the way to rewrite a whole file. " +
	"end_line defaults to the last line of the file when search is given, and to start_line when search is empty. With an empty search and no range a missing file is created."

func editFile() Tool {
	return tool.Define(tool.Spec{
		Name: "edit_file", Title: "Edit file", Group: "workspace", Tier: tool.Standard, Effect: tool.Writes,
		Aliases:     map[string]string{"file_path": "path", "find": "search"},
		Description: editDescription + " The status tells the new line numbers.",
	}, func(ctx context.Context, e *Env, p editFileParams) (tool.Result, error) {
		path, err := e.parseFile(p.Path)
		if err != nil {
			return tool.Result{}, err
		}
		ed := &editing{e: e, path: path, params: p}
		r, err := e.Workspace.Apply(ctx, ed.request(ctx))
		if err != nil {
			return tool.Result{}, ed.failed(err)
		}
		ed.succeeded(r)
		return tool.Result{Text: withNotes(ed.plan.Status, append(r.Notes, ed.parseNote(r)...)), Meta: ed.meta(r)}, nil
	})
}

// editing is one edit of one file on its way through the door.
type editing struct {
	e      *Env
	path   workspace.Path
	params editFileParams
	key    string
	plan   edit.Plan

	earlier *earlier // of the same call; nil for a single edit
	first   bool     // it is the first of its file in the call
}

func (ed *editing) request(ctx context.Context) workspace.Request {
	if _, key, err := ed.e.Workspace.RealPath(ed.path); err == nil {
		ed.key = key
	}
	q := ed.e.request(workspace.OpEdit, ed.path, ed.params.Replace, func(c *workspace.Change) error {
		plan, err := ed.apply(ctx, c)
		if err != nil {
			return err
		}
		ed.plan, c.After = plan, plan.After
		return nil
	})
	return q
}

func (ed *editing) apply(ctx context.Context, c *workspace.Change) (edit.Plan, error) {
	if c.Unread {
		return edit.Plan{}, &tool.Error{Code: "permission", Text: fmt.Sprintf("%s cannot be read by the user that runs toold, so it cannot be edited", workspace.ShowName(string(ed.path)))}
	}
	if err := ed.e.Misses.repeated(ed, c); err != nil {
		return edit.Plan{}, err
	}
	q := ed.ask()
	q.Seen = ed.seen(ctx, c)
	q.History = func() []edit.Version { return ed.history(ctx, c) }
	q.Missed = ed.e.Misses.missed(ed.e.Actor.Agent, ed.key)
	if ed.earlier != nil {
		q.Seen = ed.earlier.after(ed, c, q.Seen)
	}
	return edit.Apply(c.Before, c.Existed, q)
}

// ask is the edit as the agent asked for it.
func (ed *editing) ask() edit.Request {
	p := ed.params
	return edit.Request{Path: workspace.ShowName(string(ed.path)), Search: p.Search, Replace: p.Replace, Start: p.StartLine, End: p.EndLine}
}

// seen gives the version whose line numbers the agent knows, when others have changed the file since it looked.
func (ed *editing) seen(ctx context.Context, c *workspace.Change) *edit.Seen {
	v, ok := ed.e.Files.Seen(ed.e.Actor.Agent, ed.key)
	if !ok || ed.params.StartLine == nil && ed.params.EndLine == nil || v.Hash == store.HashOf(c.Before) || v.Text == nil {
		return nil
	}
	s := &edit.Seen{Text: v.Text, By: "an outside program"}
	if last, err := ed.e.Files.Store.EditsOf(ctx, ed.key, v.At); err == nil && len(last) > 0 {
		e := last[len(last)-1]
		s.By, s.When = e.Agent, ed.e.Workspace.Clock(e.Time)
		if e.After != store.HashOf(c.Before) {
			s.By, s.When = "an outside program", ""
		}
	}
	return s
}

// history gives what the file held before its recent changes, newest first.
func (ed *editing) history(ctx context.Context, c *workspace.Change) []edit.Version {
	edits, _, err := ed.e.Files.Store.Edits(ctx, store.Filter{FileKey: ed.key, Limit: 20})
	if err != nil {
		return nil
	}
	var versions []edit.Version
	if v, ok := ed.e.Files.Seen(ed.e.Actor.Agent, ed.key); ok && v.Text != nil && !bytes.Equal(v.Text, c.Before) {
		if len(edits) == 0 || edits[0].After != store.HashOf(c.Before) {
			versions = append(versions, edit.Version{Text: v.Text, By: "an outside program", When: "a moment ago"})
		}
	}
	for _, e := range edits {
		if e.Before == "" {
			continue
		}
		if text, err := ed.e.Files.Store.Blob(ctx, e.Before); err == nil {
			versions = append(versions, edit.Version{Text: text, By: e.Agent, When: ed.e.Workspace.Clock(e.Time)})
		}
	}
	return versions
}

func (ed *editing) failed(err error) error {
	var ee *edit.Error
	if errors.As(err, &ee) {
		ed.e.Misses.failed(ed.e.Actor.Agent, ed.key, ee.Code == edit.NoMatch)
	}
	return err
}

func (ed *editing) succeeded(r *workspace.Result) { ed.e.Misses.succeeded(ed, r) }

// parseNote says when the edit broke the syntax of a file that parsed before.
func (ed *editing) parseNote(r *workspace.Result) []string {
	if note := edit.ParseNote(string(r.Path), r.Before, r.After); note != "" {
		return []string{note}
	}
	return nil
}

func (ed *editing) meta(r *workspace.Result) map[string]any {
	meta := changeMeta(r)
	hunks := make([]map[string]int, len(ed.plan.Hunks))
	for i, h := range ed.plan.Hunks {
		hunks[i] = map[string]int{"old_start": h.OldStart, "old_lines": h.OldLines, "new_start": h.NewStart, "new_lines": h.NewLines}
	}
	meta["match"], meta["count"], meta["hunks"] = ed.plan.Match, ed.plan.Count, hunks
	return meta
}
