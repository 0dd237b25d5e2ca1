package guards

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/toold/toold/workspace"
)

// Reference is an element id that a script looks up and the new markup no longer declares.
type Reference struct {
	ID     string `json:"id"`
	Script string `json:"script"` // path of the script; the page's own path for an inline script
	Line   int    `json:"line"`
}

// reference finds a change of an HTML page that drops ids which scripts look up. Only regressions count: an id that
// the page did not declare before is not this change's doing.
func reference() Guard {
	return Guard{
		Name: "reference", Code: "reference_guard", Tag: "REF-GUARD", Ops: workspace.OpWrite | workspace.OpEdit, Refusals: 1,
		Judge: func(ctx context.Context, c *workspace.Change) (*Objection, error) {
			if !isHTML(c) || !c.Existed {
				return nil, nil
			}
			if c.Unread {
				return nil, errUnread
			}
			after := parsePage(c.After)
			gone := parsePage(c.Before).ids
			for id := range after.ids {
				delete(gone, id)
			}
			if len(gone) == 0 {
				return nil, nil
			}
			lost, err := lookups(ctx, c, after, gone)
			if err != nil || len(lost) == 0 {
				return nil, err
			}
			do := "Keep these ids in the markup, or change the scripts first; to change a part of the page use edit_file with just that part"
			if c.Op == workspace.OpEdit {
				do = "Keep these ids in the replacement, or change the scripts first"
			}
			return &Objection{
				Lost:  fmt.Sprintf("it would drop %s that scripts look up: %s", plural(countIDs(lost), "element id"), referenceList(lost)),
				Do:    do,
				Facts: lost,
			}, nil
		},
	}
}

func isHTML(c *workspace.Change) bool {
	for _, p := range spellings(c) {
		switch strings.ToLower(path.Ext(p)) {
		case ".html", ".htm":
			return true
		}
	}
	return false
}

func isScript(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".js", ".mjs", ".cjs", ".ts", ".jsx", ".tsx":
		return true
	}
	return false
}

// lookups gives the places where scripts look up one of the ids that are gone.
func lookups(ctx context.Context, c *workspace.Change, page page, gone map[string]bool) ([]Reference, error) {
	var lost []Reference
	for _, s := range page.inline {
		lost = append(lost, find(s.text, string(c.Path), s.line, gone)...)
	}
	scripts, err := scriptsOf(c, page)
	if err != nil {
		return nil, err
	}
	for _, p := range scripts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		text, err := fs.ReadFile(c.FS, p)
		if skipped(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the script %s: %w", p, err)
		}
		lost = append(lost, find(text, p, 1, gone)...)
	}
	slices.SortStableFunc(lost, func(a, b Reference) int { return strings.Compare(a.ID, b.ID) })
	return lost, nil
}

// scriptsOf gives the scripts that belong to a page: those in its folder, and those that it names by a relative path.
func scriptsOf(c *workspace.Change, page page) ([]string, error) {
	dir := path.Dir(string(c.Real))
	entries, err := fs.ReadDir(c.FS, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list %s for the scripts beside the page: %w", dir, err)
	}
	var scripts []string
	for _, e := range entries {
		if isScript(e.Name()) && (e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0) {
			scripts = append(scripts, path.Join(dir, e.Name()))
		}
	}
	for _, src := range page.sources {
		if p := sourcePath(dir, src); p != "" {
			scripts = append(scripts, p)
		}
	}
	slices.Sort(scripts)
	return slices.Compact(scripts), nil
}

// sourcePath resolves a script's address against the page's folder; "" when it is not a relative path that stays in
// the workspace.
func sourcePath(dir, src string) string {
	u, err := url.Parse(strings.TrimSpace(src))
	if err != nil || u.IsAbs() || u.Host != "" || u.Path == "" || strings.HasPrefix(u.Path, "/") {
		return ""
	}
	p := path.Join(dir, u.Path)
	if !fs.ValidPath(p) || p == "." {
		return ""
	}
	return p
}

// skipped tells whether a script is none of the workspace's: it is not there, or a link that leads elsewhere, or a
// folder.
func skipped(err error) bool {
	var known *workspace.Error
	if errors.As(err, &known) {
		switch known.Code {
		case "outside_workspace", "not_found", "is_directory", "not_regular":
			return true
		}
	}
	return errors.Is(err, fs.ErrNotExist)
}

func countIDs(lost []Reference) int {
	n := 0
	for i, r := range lost {
		if i == 0 || lost[i-1].ID != r.ID {
			n++
		}
	}
	return n
}

// referenceList names the ids with the places that look them up, a few of them.
func referenceList(lost []Reference) string {
	const shown = 12
	var parts []string
	for i, r := range lost {
		if i > 0 && lost[i-1].ID == r.ID {
			continue
		}
		if len(parts) == shown {
			parts = append(parts, "and more")
			break
		}
		parts = append(parts, fmt.Sprintf("#%s (%s line %d)", clip(r.ID, 60), workspace.ShowName(r.Script), r.Line))
	}
	return strings.Join(parts, ", ")
}
