package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toold/toold/edit"
	"github.com/toold/toold/rpc/tool"
	"github.com/toold/toold/workspace"
	"github.com/toold/toold/workspace/store"
)

// editInfo is a journalled change as clients see it.
type editInfo struct {
	ID       string `json:"id"`
	Seq      int64  `json:"seq"`
	Time     string `json:"time"`
	Path     string `json:"path"`
	File     string `json:"file"` // absolute real path
	Op       string `json:"op"`
	Tool     string `json:"tool,omitempty"`
	Agent    string `json:"agent"`
	Client   string `json:"client,omitempty"`
	Run      string `json:"run,omitempty"`
	Turn     string `json:"turn,omitempty"`
	Before   string `json:"before,omitempty"`
	After    string `json:"after,omitempty"`
	Created  bool   `json:"created,omitempty"`
	Deleted  bool   `json:"deleted,omitempty"`
	Added    int    `json:"added"`
	Removed  int    `json:"removed"`
	State    string `json:"state"`
	Note     string `json:"note,omitempty"`
	Undoes   string `json:"undoes,omitempty"`
	DiffText string `json:"diff,omitempty"`
}

func infoOf(e store.Edit) editInfo {
	return editInfo{
		ID: e.ID, Seq: e.Seq, Time: stamp(e.Time), Path: e.Path, File: e.FileKey, Op: e.Op, Tool: e.Tool, Agent: e.Agent, Client: e.Client,
		Run: e.Run, Turn: e.Turn, Before: string(e.Before), After: string(e.After), Created: !e.Existed, Deleted: e.Deleted,
		Added: e.Added, Removed: e.Removed, State: string(e.State), Note: e.Note, Undoes: e.Undoes,
	}
}

func editsList(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	p, err := read[struct {
		Run    string `json:"run"`
		Agent  string `json:"agent"`
		Path   string `json:"path"`
		Turn   string `json:"turn"`
		Limit  int    `json:"limit"`
		Before string `json:"before"`
		Diff   bool   `json:"diff"`
	}](raw)
	if err != nil {
		return nil, err
	}
	_, space := c.state()
	f := store.Filter{Workspace: space.W.Real(), Run: p.Run, Agent: p.Agent, Path: p.Path, Turn: p.Turn, Limit: limit(p.Limit), Before: p.Before}
	edits, next, err := e.opts.Store.Edits(ctx, f)
	if err != nil {
		return nil, err
	}
	out := make([]editInfo, 0, len(edits))
	for _, ed := range edits {
		info := infoOf(ed)
		if p.Diff {
			if info.DiffText, err = e.diffOf(ctx, ed); err != nil {
				return nil, err
			}
		}
		out = append(out, info)
	}
	return page("edits", out, next), nil
}

func (e *Engine) diffOf(ctx context.Context, ed store.Edit) (string, error) {
	before, after, err := e.contents(ctx, ed)
	if err != nil {
		return "", err
	}
	return edit.Unified(ed.Path, before, after), nil
}

// contents gives the bytes before and after a journalled change.
func (e *Engine) contents(ctx context.Context, ed store.Edit) (before, after []byte, err error) {
	if before, err = e.blob(ctx, ed.Before); err != nil {
		return nil, nil, err
	}
	after, err = e.blob(ctx, ed.After)
	return before, after, err
}

func (e *Engine) blob(ctx context.Context, h store.Hash) ([]byte, error) {
	if h == "" {
		return nil, nil
	}
	return e.opts.Store.Blob(ctx, h)
}

func (e *Engine) edit(ctx context.Context, id string) (store.Edit, error) {
	ed, err := e.opts.Store.Edit(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return ed, invalidParams("there is no edit %q; edits/list has the ids", id)
	}
	return ed, err
}

func editsGet(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	p, err := read[struct {
		ID string `json:"id"`
	}](raw)
	if err != nil {
		return nil, err
	}
	ed, err := e.edit(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	before, after, err := e.contents(ctx, ed)
	if err != nil {
		return nil, err
	}
	info := infoOf(ed)
	info.DiffText = edit.Unified(ed.Path, before, after)
	return map[string]any{
		"edit": info, "before": text(before), "after": text(after), "hunks": edit.Diff(before, after).Hunks(),
	}, nil
}

// text gives content as valid UTF-8 for a reply.
func text(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }

func editsUndo(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	p, err := read[struct {
		ID   string `json:"id"`
		Hunk *int   `json:"hunk"`
	}](raw)
	if err != nil {
		return nil, err
	}
	ed, err := e.edit(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	actor, err := e.actor(ctx, c, meta{Run: ed.Run})
	if err != nil {
		actor, err = e.actor(ctx, c, meta{})
		if err != nil {
			return nil, err
		}
	}
	_, space := c.state()
	r, err := space.W.Undo(ctx, actor, p.ID, func(before, after, now []byte) ([]byte, error) {
		return undo(before, after, now, p.Hunk)
	})
	if err != nil {
		return failure(err), nil
	}
	status := fmt.Sprintf("Undid %s of %s by %s.", ed.Op, workspace.ShowName(ed.Path), ed.Agent)
	if r.Unchanged {
		status = fmt.Sprintf("%s does not have that change any more; nothing was changed.", workspace.ShowName(ed.Path))
	}
	return tool.Result{Text: status, Meta: map[string]any{"edit": r.ID, "revision": string(r.Revision), "path": r.Path}}, nil
}

// undo merges the reverse of a change, or of one hunk of it, into the present bytes.
func undo(before, after, now []byte, hunk *int) ([]byte, error) {
	back := before
	if hunk != nil {
		one, ok := edit.RevertHunk(before, after, *hunk)
		if !ok {
			return nil, &tool.Error{Code: "out_of_range", Text: fmt.Sprintf("the edit has no hunk %d; edits/get lists its hunks, counted from 0", *hunk)}
		}
		back = one
	}
	merged, conflicts := edit.Merge3(after, now, back)
	if len(conflicts) > 0 {
		k := conflicts[0]
		return nil, &tool.Error{Code: "changed_since", Text: fmt.Sprintf(
			"the lines of this edit were changed again since, in %d place(s); nothing was undone. The first, at line %d, now reads:\n%s\nand undoing would make it:\n%s\nEdit the file by hand, or revert the whole file", len(conflicts), k.Line, clip(k.Ours), clip(k.Theirs))}
	}
	return merged, nil
}

func clip(b []byte) string {
	s := text(b)
	if len(s) > 600 {
		s = s[:600] + "…"
	}
	return s
}
