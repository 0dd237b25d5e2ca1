package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGenerated holds the committed generated files to the declarations they come from.
func TestGenerated(t *testing.T) {
	for flag, file := range map[string]string{"--markdown": "../../docs/tools.md", "--typescript": "../../editors/vscode/src/tools.gen.ts"} {
		var out, errs bytes.Buffer
		if code := run(context.Background(), []string{"tools", flag}, strings.NewReader(""), &out, &errs); code != 0 {
			t.Fatalf("toold tools %s: %s", flag, errs.String())
		}
		have, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) && flag == "--typescript" {
			continue // the extension is not there yet
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(have), out.String()); diff != "" {
			t.Errorf("%s is stale; run: make generate\n%s", file, diff)
		}
	}
}
