package logs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toold/toold/shell"
	"github.com/toold/toold/shell/logs"
)

// folder is a workspace: all relative paths are in it.
type folder string

func (f folder) OpenLog(_ context.Context, target string) (logs.ReadableFile, bool, error) {
	if filepath.IsAbs(target) {
		return nil, false, nil
	}
	file, err := os.Open(filepath.Join(string(f), target))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true, shell.Errorf(shell.NotFound, nil, "there is no %s", target)
	}
	return file, true, err
}

func workspace(t *testing.T, files map[string]string) *logs.Reader {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &logs.Reader{Workspace: folder(dir)}
}

func read(t *testing.T, r *logs.Reader, q logs.Query) string {
	t.Helper()
	tail, err := r.Read(t.Context(), q)
	if err != nil {
		return fmt.Sprintf("%s: %v", shell.Code(err), err)
	}
	return logs.Render(q, tail)
}

func TestFile(t *testing.T) {
	var long strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&long, "ünïcödé %d\n", i+1)
	}
	r := workspace(t, map[string]string{
		"x.log": "a b; c\n", "three.log": "one\ntwo\r\nthree", "empty.log": "", "long.log": long.String(), "-v": "dash\n",
		"fence.log": "```\n## Fake\n````\n", "bad.log": "\x1b[31mred\x1b[0m \xff\n10%\r100%\n",
	})
	for _, c := range []struct {
		q    logs.Query
		want string
	}{
		{logs.Query{Target: "three.log"}, "## File log: three.log (last 3 of 3 lines)\n\n```\none\ntwo\nthree\n```"},
		{logs.Query{Target: "three.log", Lines: 2}, "## File log: three.log (last 2 of 3 lines)\n\n```\ntwo\nthree\n```"},
		{logs.Query{Target: "three.log", Lines: -5}, "## File log: three.log (last 1 of 3 lines)\n\n```\nthree\n```"},
		{logs.Query{Target: "long.log", Lines: 2}, "## File log: long.log (last 2 of 5000 lines)\n\n```\nünïcödé 4999\nünïcödé 5000\n```"},
		{logs.Query{Target: "empty.log"}, "## File log: empty.log (last 0 of 0 lines)\nThe log is empty."},
		{logs.Query{Target: "fence.log"}, "## File log: fence.log (last 3 of 3 lines)\n\n`````\n```\n## Fake\n````\n`````"},
		{logs.Query{Target: "bad.log"}, "## File log: bad.log (last 2 of 2 lines)\n\n```\nred \\xff\n100%\n```"},
		{logs.Query{Target: "x.log", Filter: "b; c"}, "## File log: x.log (last 1 of 1 lines that match b; c)\n\n```\na b; c\n```"},
		{logs.Query{Target: "x.log", Filter: "^a.b"}, "## File log: x.log (last 1 of 1 lines that match ^a.b)\n\n```\na b; c\n```"},
		{logs.Query{Target: "x.log", Filter: "-v"}, "## File log: x.log (last 0 of 0 lines that match -v)\nNo line matches the filter."},
		{logs.Query{Target: "x.log", Filter: "$(touch pwned)"}, "## File log: x.log (last 0 of 0 lines that match $(touch pwned))\nNo line matches the filter."},
		{logs.Query{Target: "x.log", Filter: "["}, "## File log: x.log (last 0 of 0 lines that match [)\n" +
			"The filter is no regular expression (error parsing regexp: missing closing ]: `[`), so lines that hold it as text are given.\nNo line matches the filter."},
		{logs.Query{Target: "fence.log", Filter: "x\n## y"}, "## File log: fence.log (last 0 of 0 lines that match x?## y)\nNo line matches the filter."},
		{logs.Query{Target: "none.log"}, "not_found: there is no none.log"},
		{logs.Query{Target: "/tmp/server.log"}, "no_container: /tmp/server.log is not in the workspace, and there is no container to read it in: give a path of the workspace, or ask the user to configure a container"},
		{logs.Query{Target: "-v"}, `invalid_argument: the target "-v" begins with a dash, so it would be taken for an option; write ./-v for a file of that name`},
		{logs.Query{Target: "./-v"}, "## File log: ./-v (last 1 of 1 lines)\n\n```\ndash\n```"},
		{logs.Query{Target: " "}, "invalid_argument: target is missing: a container's name, a systemd unit or the path of a log file"},
		{logs.Query{Source: "syslog", Target: "x"}, `invalid_argument: unknown source "syslog": it is docker, systemd or file`},
		{logs.Query{Source: "docker", Target: "x"}, "engine_unreachable: no docker engine is configured"},
	} {
		if c.q.Source == "" {
			c.q.Source = logs.File
		}
		if diff := cmp.Diff(c.want, read(t, r, c.q)); diff != "" {
			t.Errorf("%+v: %s", c.q, diff)
		}
	}
	whole := read(t, r, logs.Query{Source: logs.File, Target: "long.log", Lines: 9999})
	if !strings.HasPrefix(whole, "## File log: long.log (last 2000 of 5000 lines)\n\n```\nünïcödé 3001\n") {
		t.Errorf("got %.80q", whole)
	}
}

// Nothing in a log ends its block.
func fenceHolds(t *rapid.T) {
	lines := rapid.SliceOfN(rapid.StringMatching("[`~# a]{0,9}"), 1, 8).Draw(t, "lines")
	q := logs.Query{Source: logs.File, Target: "x"}
	out := strings.Split(logs.Render(q, logs.Tail{Lines: lines, Counted: true}), "\n")
	fence := out[2]
	for _, line := range lines {
		if strings.Contains(line, fence) {
			t.Fatalf("%q closes the fence %q", line, fence)
		}
	}
	if out[len(out)-1] != fence || len(fence) < 3 {
		t.Fatalf("no fence at the end: %q", out)
	}
}

func TestFenceHolds(t *testing.T) { rapid.Check(t, fenceHolds) }
