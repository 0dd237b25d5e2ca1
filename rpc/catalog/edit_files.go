package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/toold/toold/edit"
	"github.com/toold/toold/rpc/tool"
	"github.com/toold/toold/workspace"
)

type editFilesParams struct {
	Edits  []editFileParams `json:"edits" required:"true" desc:"The edits, each with the parameters of edit_file; several of one file are applied in order"`
	DryRun bool             `json:"dry_run" desc:"Compute and check everything, write nothing, return the unified diff" default:"false"`
}

func editFiles() Tool {
	return tool.Define(tool.Spec{
		Name: "edit_files", Title: "Edit several files", Group: "workspace", Tier: tool.Standard, Effect: tool.Writes,
		Aliases: map[string]string{"file_path": "path", "find": "search"},
		Description: "Make several edits in one or more files, all or nothing: everything is computed and checked first, and when one edit fails nothing is changed. " +
			"Each edit works as in edit_file. With dry_run only the unified diff is returned.",
	}, func(ctx context.Context, e *Env, p editFilesParams) (tool.Result, error) {
		if len(p.Edits) == 0 {
			return tool.Result{}, &tool.Error{Code: "invalid_argument", Text: "edits is empty; give at least one {path, search, replace}"}
		}
		eds := make([]*editing, len(p.Edits))
		reqs := make([]workspace.Request, len(p.Edits))
		before := &earlier{texts: map[string][]byte{}}
		seen := map[string]bool{}
		for i, one := range p.Edits {
			path, err := e.parseFile(one.Path)
			if err != nil {
				return tool.Result{}, numbered(i, err)
			}
			eds[i] = &editing{e: e, path: path, params: one, earlier: before}
			reqs[i] = eds[i].request(ctx)
			eds[i].first = !seen[eds[i].key]
			seen[eds[i].key] = true
			compute := reqs[i].Compute
			reqs[i].Compute = func(c *workspace.Change) error { return numbered(i, compute(c)) }
		}
		if p.DryRun {
			return dryRun(ctx, e, reqs)
		}
		rs, err := e.Workspace.ApplyAll(ctx, reqs)
		if err != nil {
			return tool.Result{}, err
		}
		return editFilesResult(eds, rs), nil
	})
}

// numbered says which of the edits an error is about, keeping its code.
func numbered(i int, err error) error {
	var ee *edit.Error
	var we *workspace.Error
	var te *tool.Error
	prefix := fmt.Sprintf("edit %d (counted from 1); nothing was changed in any file: ", i+1)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ee):
		return &edit.Error{Code: ee.Code, Text: prefix + ee.Text, Line: ee.Line}
	case errors.As(err, &we):
		return &workspace.Error{Code: we.Code, Text: prefix + we.Text, Err: we.Err}
	case errors.As(err, &te):
		return &tool.Error{Code: te.Code, Text: prefix + te.Text}
	}
	return err
}

func dryRun(ctx context.Context, e *Env, reqs []workspace.Request) (tool.Result, error) {
	changes, err := e.Workspace.Preview(ctx, reqs)
	if err != nil {
		return tool.Result{}, err
	}
	var b strings.Builder
	for _, c := range changes {
		if !bytes.Equal(c.Before, c.After) {
			b.WriteString(edit.Unified(string(c.Path), c.Before, c.After))
		}
	}
	if b.Len() == 0 {
		b.WriteString("No change: all files already read so.\n")
	}
	return tool.Result{Text: b.String(), Meta: map[string]any{"dry_run": true, "files": len(changes)}}, nil
}

func editFilesResult(eds []*editing, rs []*workspace.Result) tool.Result {
	var lines []string
	for _, ed := range eds {
		lines = append(lines, ed.plan.Status)
	}
	var files []map[string]any
	var notes []string
	for _, r := range rs {
		files = append(files, changeMeta(r))
		notes = append(notes, r.Notes...)
		if note := edit.ParseNote(string(r.Path), r.Before, r.After); note != "" {
			notes = append(notes, workspace.ShowName(string(r.Path))+": "+note)
		}
	}
	return tool.Result{Text: withNotes(strings.Join(lines, "\n"), notes), Meta: map[string]any{"files": files, "edits": len(eds)}}
}

// earlier keeps what each file of a call was before the call, so that the line numbers of all its edits are those of
// that text.
type earlier struct{ texts map[string][]byte }

func (b *earlier) after(ed *editing, c *workspace.Change, seen *edit.Seen) *edit.Seen {
	if ed.first {
		b.texts[ed.key] = c.Before
		return seen
	}
	if v, ok := ed.e.Files.Seen(ed.e.Actor.Agent, ed.key); ok && v.Text != nil && !bytes.Equal(v.Text, b.texts[ed.key]) {
		return seen // others changed it too: the agent's own view is the one to follow from
	}
	return &edit.Seen{Text: b.texts[ed.key], By: "an earlier edit of this call"}
}
