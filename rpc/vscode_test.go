//go:build unix

package rpc

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestVSCodeClient connects the client library that editors use. Its npm package is installed when it is missing.
func TestVSCodeClient(t *testing.T) {
	dir := filepath.Join("testdata", "vscode")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "vscode-jsonrpc")); err != nil {
		c := exec.Command("npm", "ci", "--no-audit", "--no-fund")
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("npm ci: %v: %s", err, out)
		}
	}
	r := newRig(t, Options{})
	out, err := exec.Command("node", filepath.Join(dir, "client.js"), r.path).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "ok" {
		t.Errorf("%v: %s", err, out)
	}
}
