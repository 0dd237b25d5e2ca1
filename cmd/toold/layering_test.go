package main

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/toold/toold/"

// TestLayering holds the imports to one direction, as docs/architecture.md draws it.
func TestLayering(t *testing.T) {
	allowed := map[string][]string{
		"edit/lines":        {},
		"edit":              {"edit/lines"},
		"rpc/tool":          {},
		"rpc":               {},
		"workspace/store":   {},
		"workspace/run":     {},
		"workspace":         {"workspace/store", "workspace/run", "edit", "edit/lines"},
		"guards":            {"workspace", "workspace/run", "edit", "edit/lines"},
		"guards/approval":   {"shell/destructive"},
		"shell/destructive": {},
		"watch":             {"watch/", "edit/lines"},
		"rpc/catalog":       {"edit", "edit/lines", "watch", "workspace", "workspace/store", "workspace/run", "rpc/tool", "shell", "shell/", "guards/approval"},
		"rpc/engine":        {"rpc/catalog", "rpc/tool", "edit", "guards", "guards/approval", "watch", "workspace", "workspace/store", "workspace/run", "shell", "shell/"},
		"rpc/mcp":           {"rpc", "rpc/tool", "rpc/catalog"},
	}
	only := map[string]string{ // the one package that may import a library
		"go.lsp.dev/jsonrpc2":      "rpc",
		"modernc.org/sqlite":       "workspace/store",
		"github.com/docker/docker": "shell/docker",
	}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		for _, imported := range p.Imports {
			for lib, owner := range only {
				if strings.HasPrefix(imported, lib) && name != owner && !strings.HasPrefix(name, owner+"/") {
					t.Errorf("%s imports %s; only %s may", name, imported, owner)
				}
			}
			ours, ok := strings.CutPrefix(imported, module)
			may, limited := allowed[name]
			if ok && limited && !permitted(ours, may) {
				t.Errorf("%s imports %s; it may import %v", name, ours, may)
			}
		}
	}
}

func permitted(name string, may []string) bool {
	return slices.ContainsFunc(may, func(m string) bool {
		return name == m || strings.HasSuffix(m, "/") && strings.HasPrefix(name, m)
	})
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []goPackage {
	c := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	c.Dir = "../.."
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		err := d.Decode(&p)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}
