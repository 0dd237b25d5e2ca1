package guards

import (
	"context"
	"fmt"
	"strings"

	"github.com/toold/toold/workspace"
	"github.com/toold/toold/workspace/run"
)

// DefaultMakers are the tools that make binary files when the configuration names no others.
func DefaultMakers() map[run.Class][]string {
	return map[run.Class][]string{
		run.Image: {"comfyui_generate", "capture_reference"},
		run.PDF:   {"download_pdf"},
	}
}

// binaryPath refuses text under a name that promises a binary format. There is no second ask: a text tool never
// makes one.
func binaryPath(o Options) Guard {
	return Guard{
		Name: "binary path", Code: "binary_path_guard", Tag: "BINARY-PATH", Ops: workspace.OpWrite | workspace.OpEdit,
		Judge: func(_ context.Context, c *workspace.Change) (*Objection, error) {
			for _, p := range spellings(c) {
				f, ok := run.FormatOf(p)
				if !ok || f.Text {
					continue
				}
				makers := o.makers(c, f.Class)
				return &Objection{
					Lost:  fmt.Sprintf("%s is %s by its name, and text under that name is not one", workspace.ShowName(p), f.Name),
					Do:    makerText(f, makers),
					Facts: map[string]any{"format": f.Name, "class": f.Class, "makers": makers},
				}, nil
			}
			return nil, nil
		},
	}
}

// makers gives the tools that make a class of files: those of the turn, else of the actor's engine, else the
// configured ones, else the defaults.
func (o Options) makers(c *workspace.Change, class run.Class) []string {
	if t := o.turn(c); t != nil && len(t.Makers(class)) > 0 {
		return t.Makers(class)
	}
	if o.MakersOf != nil {
		if m := o.MakersOf(c.Actor)[class]; len(m) > 0 {
			return m
		}
	}
	if m, ok := o.Makers[class]; ok {
		return m
	}
	return DefaultMakers()[class]
}

// makerText names what does make the file.
func makerText(f run.Format, makers []string) string {
	if len(makers) > 0 {
		return "Make it with " + strings.Join(makers, " or ")
	}
	switch f.Class {
	case run.Scene:
		return "Nothing in the workspace makes a 3D file; a stand-in under its name is not the file. Say that it is missing, and write a description of it as .md if that helps"
	case run.Archive:
		return "Write the files that go into it, and pack them with run_shell (tar, zip, gzip)"
	case run.Object:
		return "Write its source, and build it with run_shell"
	case run.Database:
		return "Write an .sql file, and make the database from it with run_shell (sqlite3)"
	case run.Document, run.PDF:
		return "Write the text as .md, .html or .csv, and convert it with run_shell if a converter is there"
	case run.Image:
		return "Draw it as .svg, which is text, or make it with a program that you start with run_shell"
	}
	return "No tool for it is configured (makers); if a program in the workspace makes it, start that with run_shell"
}
