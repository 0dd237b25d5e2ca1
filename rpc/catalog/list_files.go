package catalog

import (
	"context"

	"github.com/toold/toold/rpc/tool"
	"github.com/toold/toold/workspace"
)

type listFilesParams struct {
	Path  string `json:"path" desc:"Directory path relative to workspace root" default:". (root)"`
	Depth *int   `json:"depth" desc:"Max directory depth to list" default:"3" min:"1" max:"64"`
}

func listFiles() Tool {
	return tool.Define(tool.Spec{
		Name: "list_files", Title: "List files", Group: "workspace", Tier: tool.Standard, Effect: tool.Reads, Research: true,
		Description: "Show a folder as a tree, folders first, with sizes and counts. Do not call it before write_file: folders are created as needed. To find files by name or text use search_files.",
	}, func(ctx context.Context, e *Env, p listFilesParams) (tool.Result, error) {
		if p.Path == "" {
			p.Path = "."
		}
		path, err := e.Workspace.ParsePath(p.Path)
		if err != nil {
			return tool.Result{}, err
		}
		depth := workspace.DefaultDepth
		if p.Depth != nil {
			depth = *p.Depth
		}
		l, err := e.Workspace.List(ctx, path, depth)
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Text: l.Text, Meta: map[string]any{"path": path, "folders": l.Folders, "files": l.Files, "not_shown": l.Cut, "truncated": l.Cut > 0}}, nil
	})
}
