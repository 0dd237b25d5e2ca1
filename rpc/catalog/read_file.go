package catalog

import (
	"context"

	"github.com/toold/toold/rpc/tool"
	"github.com/toold/toold/workspace"
)

type readFileParams struct {
	Path      string `json:"path" required:"true" desc:"File path relative to workspace root"`
	StartLine *int   `json:"start_line" desc:"1-based first line to read" default:"1"`
	EndLine   *int   `json:"end_line" desc:"1-based last line to read; past the end means the last line" default:"the last line"`
}

func readFile() Tool {
	return tool.Define(tool.Spec{
		Name: "read_file", Title: "Read file", Group: "workspace", Tier: tool.Standard, Effect: tool.Reads, Research: true, Verbatim: true,
		Aliases: map[string]string{"file_path": "path"},
		Description: "Read a text file of the workspace. Without a range the whole raw text is returned; a file too large for the context is stored under .tool-output/ and the reply says how to read a part of it. " +
			"With start_line or end_line only those lines are returned, each prefixed with its number (990| …) under a [path: lines A-B of N] header; lines are counted as edit_file counts them. " +
			"Do not call this before edit_file: edit_file reads the file itself, and a miss shows the nearest lines. Images, archives, documents and other binary formats cannot be read; list_files shows that they are there.",
	}, func(ctx context.Context, e *Env, p readFileParams) (tool.Result, error) {
		path, err := e.Workspace.ParsePath(p.Path)
		if err != nil {
			return tool.Result{}, err
		}
		r, err := e.Workspace.Read(ctx, workspace.ReadRequest{
			Path: path, Start: p.StartLine, End: p.EndLine, Agent: e.Actor.Agent,
			MaxContext: e.Limits.MaxContext, MaxReply: e.Limits.MaxReply,
		})
		if err != nil {
			return tool.Result{}, err
		}
		meta := map[string]any{
			"path": path, "revision": r.Revision, "lines": r.Lines, "bytes": r.Bytes, "encoding": r.Encoding, "eol": r.EOL, "mode": r.Mode, "truncated": r.Cut,
		}
		if r.From > 0 {
			meta["start_line"], meta["end_line"] = r.From, r.To
		}
		if r.Stored != "" {
			meta["stored"] = r.Stored
		}
		return tool.Result{Text: r.Text, Meta: meta}, nil
	})
}
