// Package guardtest builds a guard for tests.
package guardtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Build builds a static guard in dir and gives its path.
func Build(dir string) (string, error) {
	path := filepath.Join(dir, "guard")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "github.com/toold/toold/shell/guard/guardtest/guard")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the guard: %w\n%s", err, out)
	}
	return path, nil
}
