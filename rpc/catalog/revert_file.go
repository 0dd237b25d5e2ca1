package catalog

import (
	"context"
	"fmt"
	"time"

	"github.com/toold/toold/edit/lines"
	"github.com/toold/toold/rpc/tool"
	"github.com/toold/toold/workspace"
	"github.com/toold/toold/workspace/store"
)

type revertFileParams struct {
	Path string `json:"path" required:"true" desc:"Same path passed to the original write_file/edit_file"`
}

func revertFile() Tool {
	return tool.Define(tool.Spec{
		Name: "revert_file", Title: "Revert file", Group: "workspace", Tier: tool.Standard, Effect: tool.Writes, Idempotent: true,
		Aliases: map[string]string{"file_path": "path"},
		Description: "Put a file back to what it was before this run first wrote it (bytes and mode), or delete it when this run created it. " +
			"It acts on exactly this file. When somebody else has changed the file since, it refuses once and says who. The revert itself is journalled and can be undone.",
	}, func(ctx context.Context, e *Env, p revertFileParams) (tool.Result, error) {
		path, err := e.parseFile(p.Path)
		if err != nil {
			return tool.Result{}, err
		}
		r, snap, err := e.Workspace.Revert(ctx, e.Actor, e.Tool, path)
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Text: withNotes(revertStatus(e, r, snap), r.Notes), Meta: changeMeta(r)}, nil
	})
}

func revertStatus(e *Env, r *workspace.Result, snap store.Snapshot) string {
	name := workspace.ShowName(string(r.Path))
	age := fmt.Sprintf("the snapshot of %s, %s old", e.Workspace.Clock(snap.Time), ago(r.At.Sub(snap.Time)))
	switch {
	case r.Unchanged, r.Delete && !r.Existed:
		return fmt.Sprintf("%s is already as it was before this run (%s); nothing was changed.", name, age)
	case r.Delete:
		return fmt.Sprintf("Reverted %s: deleted, as it did not exist before this run (%s).", name, age)
	case !r.Existed:
		return fmt.Sprintf("Reverted %s: brought back (%s; %s).", name, plural(lines.Count(r.After), "line"), age)
	}
	return fmt.Sprintf("Reverted %s: %s → %s (%s).", name, plural(lines.Count(r.Before), "line"), plural(lines.Count(r.After), "line"), age)
}

// ago gives a duration as a person says it.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return plural(int(d.Seconds()), "second")
	case d < time.Hour:
		return plural(int(d.Minutes()), "minute")
	case d < 48*time.Hour:
		return plural(int(d.Hours()), "hour")
	}
	return plural(int(d.Hours())/24, "day")
}
