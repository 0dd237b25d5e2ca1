// Package config is the configuration of the daemon: one YAML file of the user, never one inside a workspace, since an
// agent can write there.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// File is what the configuration file may hold. Every field has a default; docs/configuration.md is made from the tags.
type File struct {
	IdleShutdown Duration            `yaml:"idle_shutdown" doc:"end after this long without clients; 0 means never" default:"30m"`
	Store        string              `yaml:"store" doc:"where the history is kept; sqlite is the one that exists" default:"sqlite"`
	Read         Read                `yaml:"read"`
	Approvals    Approvals           `yaml:"approvals"`
	Operator     Operator            `yaml:"operator"`
	Logs         Logs                `yaml:"logs"`
	Makers       map[string][]string `yaml:"makers" doc:"the tools of the engine that make binary files, by class: image, pdf, …; refusals name them" default:"image: [comfyui_generate, capture_reference], pdf: [download_pdf]"`
	Budgets      Budgets             `yaml:"budgets"`
	Workspaces   []Workspace         `yaml:"workspaces"`
}

// Read bounds what a read shows.
type Read struct {
	MaxContextBytes Size `yaml:"max_context_bytes" doc:"a whole file or output above this size is stored under .tool-output and shown in part; 0 means never" default:"65536"`
}

// Approvals say how questions are asked.
type Approvals struct {
	Mode string   `yaml:"mode" doc:"strict, default or auto" default:"default"`
	Wait Duration `yaml:"wait" doc:"how long a call waits for an answer" default:"5m"`
	Keep Duration `yaml:"keep" doc:"how long a question stays answerable after its call ended" default:"1h"`
}

// Operator is for the tools read and write.
type Operator struct {
	WorkspaceDir string `yaml:"workspace_dir" doc:"the folder of the engagements' workspaces" default:"none"`
	WriteEnabled *bool  `yaml:"write_enabled" doc:"false refuses every write of the operator tools" default:"true"`
}

// Logs is for read_logs.
type Logs struct {
	JournalDir string `yaml:"journal_dir" doc:"a folder with journal files to read instead of the system's" default:"the system's journal"`
}

// Budgets bound what is kept.
type Budgets struct {
	Blobs          Size `yaml:"blobs" doc:"bytes of stored contents" default:"5GiB"`
	JournalDays    int  `yaml:"journal_days" doc:"days that closed runs and their snapshots are kept" default:"30"`
	CommandLogDays int  `yaml:"command_log_days" doc:"days that recorded commands are kept" default:"90"`
}

// Workspace are the settings of one root.
type Workspace struct {
	Root      string    `yaml:"root" doc:"the absolute path of the root that this entry is about" default:"required"`
	Executor  string    `yaml:"executor" doc:"where commands run: docker, host or none" default:"none"`
	Container Container `yaml:"container"`
	Ignore    []string  `yaml:"ignore" doc:"more patterns that searches leave out, as in .gitignore" default:"none"`
	Protected []string  `yaml:"protected" doc:"names or patterns that agents may not write, beside .git" default:"none"`
	Limits    Limits    `yaml:"limits"`
}

// Container says which container a workspace's commands run in.
type Container struct {
	Name  string `yaml:"name" doc:"a running container, by name or id" default:"none"`
	Image string `yaml:"image" doc:"an image to make a container of when it is needed" default:"none"`
	Root  string `yaml:"root" doc:"the workspace's path inside" default:"/workspace"`
	User  string `yaml:"user" doc:"who commands run as" default:"the owner of the root"`
}

// Limits bound one workspace's files.
type Limits struct {
	MaxFileBytes Size `yaml:"max_file_bytes" doc:"the largest file that a tool writes" default:"64MiB"`
}

// Default is the configuration without a file.
func Default() File {
	return File{
		IdleShutdown: Duration(30 * time.Minute), Store: "sqlite", Read: Read{MaxContextBytes: 64 << 10},
		Approvals: Approvals{Mode: "default", Wait: Duration(5 * time.Minute), Keep: Duration(time.Hour)},
		Makers:    map[string][]string{"image": {"comfyui_generate", "capture_reference"}, "pdf": {"download_pdf"}},
		Budgets:   Budgets{Blobs: 5 << 30, JournalDays: 30, CommandLogDays: 90},
	}
}

// Path gives the file's place: the given one, else in the user's configuration folder.
func Path(given string) (string, error) {
	if given != "" {
		return filepath.Abs(given)
	}
	base := os.Getenv("XDG_CONFIG_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the configuration folder: %w; set XDG_CONFIG_HOME", err)
		}
		base = filepath.Join(home, ".config")
	}
	return filepath.Join(base, "toold", "config.yaml"), nil
}

// Load reads the file at path. A file that is not there means the defaults, unless it was asked for by name.
func Load(path string, required bool) (File, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !required {
		return Default(), nil
	}
	if err != nil {
		return File{}, fmt.Errorf("read the configuration: %w", err)
	}
	f, err := Parse(text)
	if err != nil {
		return File{}, fmt.Errorf("%s:%w", path, err)
	}
	return f, nil
}

// Parse reads a configuration. Errors begin with line and column.
func Parse(text []byte) (File, error) {
	f := Default()
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return f, syntaxError(err)
	}
	if len(doc.Content) == 0 {
		return f, nil
	}
	if err := known(doc.Content[0], schemaOf(f)); err != nil {
		return f, err
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&f); err != nil {
		return f, syntaxError(err)
	}
	return f, f.check(doc.Content[0])
}

// syntaxError gives YAML's own errors the form line:column: text.
func syntaxError(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = strings.TrimPrefix(text, "unmarshal errors:\n  ")
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if line, what, ok := strings.Cut(rest, ": "); ok {
			return fmt.Errorf("%s:1: %s", line, what)
		}
	}
	return fmt.Errorf("1:1: %s", text)
}

// check looks at values that their types do not tell.
func (f *File) check(doc *yaml.Node) error {
	if f.Store != "sqlite" {
		return at(doc, []string{"store"}, "store takes sqlite, not %q", f.Store)
	}
	switch f.Approvals.Mode {
	case "strict", "default", "auto":
	default:
		return at(doc, []string{"approvals", "mode"}, "mode takes strict, default or auto, not %q", f.Approvals.Mode)
	}
	for i := range f.Workspaces {
		w := &f.Workspaces[i]
		if !filepath.IsAbs(w.Root) {
			return at(doc, []string{"workspaces"}, "root of workspace %d must be an absolute path, not %q", i+1, w.Root)
		}
		switch w.Executor {
		case "", "none", "docker", "host":
		default:
			return at(doc, []string{"workspaces"}, "executor of %s takes docker, host or none, not %q", w.Root, w.Executor)
		}
	}
	return nil
}

// For gives the settings of a root: those of the entry with the longest root that is it or lies above it.
func (f *File) For(root string) Workspace {
	best := Workspace{Root: root}
	found := -1
	for _, w := range f.Workspaces {
		clean := filepath.Clean(w.Root)
		if (root == clean || strings.HasPrefix(root, strings.TrimSuffix(clean, "/")+"/")) && len(clean) > found {
			best, found = w, len(clean)
		}
	}
	if best.Executor == "" {
		best.Executor = "none"
	}
	if best.Container.Root == "" {
		best.Container.Root = "/workspace"
	}
	if best.Limits.MaxFileBytes == 0 {
		best.Limits.MaxFileBytes = 64 << 20
	}
	return best
}
