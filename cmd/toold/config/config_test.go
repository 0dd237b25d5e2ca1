package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"
)

func TestParse(t *testing.T) {
	f, err := Parse([]byte(`
idle_shutdown: 1h30m
read: {max_context_bytes: 1MiB}
operator: {write_enabled: false}
workspaces:
  - root: /home/me
    protected: [".envrc"]
  - root: /home/me/proj
    ignore: ["*.min.js"]
    limits: {max_file_bytes: 2MiB}
`))
	if err != nil {
		t.Fatal(err)
	}
	if time.Duration(f.IdleShutdown) != 90*time.Minute || f.Read.MaxContextBytes != 1<<20 || *f.Operator.WriteEnabled || f.Budgets.JournalDays != 30 {
		t.Errorf("%+v", f)
	}
	w := f.For("/home/me/proj/sub")
	if w.Root != "/home/me/proj" || w.Limits.MaxFileBytes != 2<<20 || w.Executor != "none" || w.Container.Root != "/workspace" {
		t.Errorf("%+v", w)
	}
	if w := f.For("/home/me/project"); w.Root != "/home/me" || w.Limits.MaxFileBytes != 64<<20 {
		t.Errorf("%+v", w)
	}
	if w := f.For("/elsewhere"); w.Root != "/elsewhere" || w.Protected != nil {
		t.Errorf("%+v", w)
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"idle_shutdwn: 1h":                           `1:1: there is no key "idle_shutdwn"; did you mean "idle_shutdown"?`,
		"read:\n  max_contex_bytes: 1":               `2:3: there is no key "max_contex_bytes"`,
		"idle_shutdown: soon":                        `1:1: "soon" is no time`,
		"read: {max_context_bytes: 1 MB}":            `is no size`,
		"approvals: {mode: off}":                     `1:19: mode takes strict, default or auto`,
		"workspaces: [{root: proj}]":                 `absolute path`,
		"workspaces: [{root: /a, executor: podman}]": `docker, host or none`,
		"store: mysql":                               `1:8: store takes sqlite`,
		"a: [":                                       `1:1: `,
		"read: 5":                                    `1:1: `,
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestTemplateAndDefaults(t *testing.T) {
	f, err := Parse([]byte(Template))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), f); diff != "" {
		t.Errorf("the template changes something:\n%s", diff)
	}
	text, err := yaml.Marshal(Default())
	if err != nil {
		t.Fatal(err)
	}
	if back, err := Parse(text); err != nil || !cmp.Equal(Default(), back, cmpopts.EquateEmpty()) {
		t.Errorf("what is written is not what is read: %v\n%s", err, text)
	}
}

func TestLive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	write := func(text string, at int64) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Unix(at, 0), time.Unix(at, 0)); err != nil {
			t.Fatal(err)
		}
	}
	l, err := Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	write("idle_shutdown: 1m", 1)
	if f, err := l.Current(); err != nil || f.IdleShutdown.String() != "1m" {
		t.Errorf("%v %v", f.IdleShutdown, err)
	}
	write("idle_shutdown: [", 2)
	for range 2 {
		if f, err := l.Current(); err == nil || f.IdleShutdown.String() != "1m" {
			t.Errorf("a broken file: %v %v", f.IdleShutdown, err)
		}
	}
	write("idle_shutdown: 2m", 3)
	if f, err := l.Current(); err != nil || f.IdleShutdown.String() != "2m" {
		t.Errorf("%v %v", f.IdleShutdown, err)
	}
}

// TestDocs holds docs/configuration.md to the declarations.
func TestDocs(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), Markdown()) {
		t.Errorf("the table in docs/configuration.md is stale; it should be:\n%s", Markdown())
	}
}

func TestShow(t *testing.T) {
	text, err := Show([]byte("idle_shutdown: 1h\nread: {max_context_bytes: 0}\n"), map[string]string{"idle_shutdown": "5m0s"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"idle_shutdown: 5m # flag\n", "max_context_bytes: \"0\" # file\n", "journal_days: 30 # default\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
