package catalog

import (
	"context"

	"github.com/toold/toold/rpc/tool"
	"github.com/toold/toold/watch"
)

type searchFilesParams struct {
	Query          string `json:"query" desc:"Text (or regex when regex=true) to find in file contents; omit to only list files"`
	Path           string `json:"path" desc:"Directory to search, relative to the workspace root" default:"root"`
	Glob           string `json:"glob" desc:"File name pattern such as *.py or docs/**/*.md" default:"every file"`
	Regex          bool   `json:"regex" desc:"Treat query as a regular expression" default:"false"`
	MaxResults     *int   `json:"max_results" desc:"Maximum matching lines or files to return" default:"200" min:"1" max:"100000"`
	IgnoreCase     bool   `json:"ignore_case" desc:"Find upper and lower case alike" default:"false"`
	Context        int    `json:"context" desc:"Lines to show before and after each match" default:"0" min:"0" max:"20"`
	IncludeIgnored bool   `json:"include_ignored" desc:"Search ignored files too" default:"false"`
}

const defaultMaxResults = 200

func searchFiles() Tool {
	return tool.Define(tool.Spec{
		Name: "search_files", Title: "Search files", Group: "workspace", Tier: tool.Standard, Effect: tool.Reads, Research: true,
		Description: "Find text in the files of the workspace, or list files by name. Use it instead of run_shell with ls, find or grep: it is faster and sees every change that finished before the call. " +
			"With a query the matching lines are returned as path:line: text, grouped by file; without one the files that match the glob. The query is plain text unless regex is true (RE2, line by line). " +
			"Case counts unless ignore_case is set. Files that .gitignore rules out and binary files are skipped and counted.",
	}, func(ctx context.Context, e *Env, p searchFilesParams) (tool.Result, error) {
		if p.Path == "" {
			p.Path = "."
		}
		path, err := e.Workspace.ParsePath(p.Path)
		if err != nil {
			return tool.Result{}, err
		}
		maxResults := defaultMaxResults
		if p.MaxResults != nil {
			maxResults = *p.MaxResults
		}
		if err := e.Workspace.Check(); err != nil {
			return tool.Result{}, err
		}
		a, err := e.Tree.Search(ctx, watch.Query{
			Text: p.Query, Path: string(path), Glob: p.Glob, Regex: p.Regex, IgnoreCase: p.IgnoreCase, IncludeIgnored: p.IncludeIgnored, Context: p.Context, Max: maxResults,
		})
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Text: a.Text, Meta: searchMeta(a)}, nil
	})
}

func searchMeta(a watch.Answer) map[string]any {
	meta := map[string]any{"matches": len(a.Matches), "files": len(a.Files), "truncated": a.Cut, "searched": a.SearchedFiles, "ignored": a.Ignored, "binary": a.Binary}
	if a.TotalKnown {
		meta["total"] = a.Total
	}
	return meta
}
