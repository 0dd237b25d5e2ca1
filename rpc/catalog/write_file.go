package catalog

import (
	"bytes"
	"context"
	"fmt"

	"github.com/toold/toold/edit/lines"
	"github.com/toold/toold/rpc/tool"
	"github.com/toold/toold/workspace"
)

type writeFileParams struct {
	Path    string `json:"path" required:"true" desc:"File path relative to workspace root"`
	Content string `json:"content" required:"true" desc:"Full file content to write"`
}

func writeFile() Tool {
	return tool.Define(tool.Spec{
		Name: "write_file", Title: "Write file", Group: "workspace", Tier: tool.Standard, Effect: tool.Writes, Idempotent: true,
		Aliases: map[string]string{"file_path": "path", "text": "content"},
		Description: "Create a file or replace its whole content. Folders on the way are created. To change a part of an existing file use edit_file instead: it keeps the rest byte for byte. " +
			"A write that would discard most of an existing file, or break a script that depends on it, is refused once and says what would be lost; the same call again goes through. " +
			"There is no need to list or read the folder before. revert_file takes the changes of this run back.",
	}, func(ctx context.Context, e *Env, p writeFileParams) (tool.Result, error) {
		path, err := e.parseFile(p.Path)
		if err != nil {
			return tool.Result{}, err
		}
		r, err := e.Workspace.Apply(ctx, e.request(workspace.OpWrite, path, p.Content, func(c *workspace.Change) error {
			c.After = []byte(p.Content)
			return nil
		}))
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Text: withNotes(writeStatus(r), append(r.Notes, nulNote(r.After)...)), Meta: changeMeta(r)}, nil
	})
}

func writeStatus(r *workspace.Result) string {
	what := fmt.Sprintf("%s, %s", plural(lines.Count(r.After), "line"), plural(len(r.After), "byte"))
	name := workspace.ShowName(string(r.Path))
	switch {
	case r.Unchanged:
		return fmt.Sprintf("%s already has exactly this content (%s); nothing was written.", name, what)
	case !r.Existed:
		return fmt.Sprintf("Created %s (%s).", name, what)
	}
	return fmt.Sprintf("Wrote %s (%s; before: %s).", name, what, plural(lines.Count(r.Before), "line"))
}

// nulNote warns of a NUL in what was written: git and search take such a file for binary.
func nulNote(content []byte) []string {
	i := bytes.IndexByte(content, 0)
	if i < 0 {
		return nil
	}
	return []string{fmt.Sprintf("the content has a NUL byte at offset %d; git and search will take the file for binary", i)}
}

// changeMeta gives the facts of a change for programs.
func changeMeta(r *workspace.Result) map[string]any {
	meta := map[string]any{
		"path": r.Path, "revision": string(r.Revision), "bytes": len(r.After), "lines": lines.Count(r.After),
		"created": !r.Existed, "changed": !r.Unchanged, "mode": fmt.Sprintf("%04o", r.Mode.Perm()),
	}
	if r.ID != "" {
		meta["edit"] = r.ID
	}
	if r.Delete {
		meta["deleted"] = true
	}
	return meta
}
