package watch_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toold/toold/watch"
)

// gitGrep gives what git finds in a folder that need not be a repository, as "path:line:".
func gitGrep(t interface{ Fatal(...any) }, root string, args ...string) []string {
	cmd := exec.Command("git", append([]string{"-c", "core.quotePath=false", "grep", "--no-index", "--no-color", "-nI", "-z"}, args...)...)
	cmd.Dir = root
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C.UTF-8", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(root)}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatal(args, err, errs.String())
	}
	lines := []string{}
	for _, l := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		if parts := strings.SplitN(l, "\x00", 3); len(parts) == 3 {
			lines = append(lines, parts[0]+":"+parts[1]+":")
		}
	}
	return lines
}

func answered(a watch.Answer) []string {
	lines := []string{}
	for _, m := range a.Matches {
		lines = append(lines, fmt.Sprintf("%s:%d:", m.Path, m.Line))
	}
	return lines
}

// Random small texts: every line that git finds is found, and no other, in the same order.
func sameAsGit(t *rapid.T) {
	root, err := os.MkdirTemp("", "grep")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(root)
	piece := rapid.SampledFrom([]string{"a", "b", "ab", "B", "é", "_", "1", " ", "\n", "\n", "\r\n", "\xe9", "\t", ".", "foo", "\u2028", "\x0b"})
	text := rapid.Custom(func(t *rapid.T) string {
		s := strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "pieces"), "")
		if rapid.IntRange(0, 9).Draw(t, "binary") == 0 {
			s += "\x00"
		}
		return s
	})
	for i, s := range rapid.SliceOfN(text, 1, 6).Draw(t, "files") {
		p := filepath.Join(root, rapid.SampledFrom([]string{"", "d/", "d-e/", "d/e/", ".h/"}).Draw(t, "folder"), fmt.Sprintf("f%d", i))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	q := watch.Query{Max: 1 << 20}
	q.Text = strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "B", "é", "_", "1", " ", ".", "foo"}), 1, 3).Draw(t, "query"), "")
	args := []string{"-F", "-e", q.Text}
	if rapid.Bool().Draw(t, "ignore case") {
		q.IgnoreCase = true
		args = append([]string{"-i"}, args...)
	}
	if rapid.Bool().Draw(t, "regex") {
		q.Regex = true
		q.Text = rapid.SampledFrom([]string{"a+b", "[ab]_", "^a", "(a|foo)b", "a{2,}", "[a-z]+[0-9]", "^ *b", "(ab|foo|1)_?", "(a|b){2}1", "fo+"}).Draw(t, "expression")
		args = []string{"-E", "-e", q.Text}
		if q.IgnoreCase {
			args = append([]string{"-i"}, args...)
		}
	}
	tr, err := watch.Open(root, watch.Options{RuntimeDir: os.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if rapid.Bool().Draw(t, "ready") {
		if err := tr.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	a, err := tr.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(gitGrep(t, root, args...), answered(a)); diff != "" {
		t.Fatalf("%+v: lines (-git +answer):\n%s", q, diff)
	}
}

func TestSameAsGit(t *testing.T) { rapid.Check(t, sameAsGit) }

func FuzzSameAsGit(f *testing.F) { f.Fuzz(rapid.MakeFuzz(sameAsGit)) }

// Real text: a part of Go's own sources.
func TestSameAsGitOnGo(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatalf("the sources of Go are needed: %v", err)
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "src", "runtime")
	tr := ready(t, root)
	for _, q := range []watch.Query{{Text: "bgscavenge"}, {Text: "index out of range"}, {Text: "deadlock", IgnoreCase: true}, {Text: `func \([a-z]+ \*m[a-z]+\) `, Regex: true}, {Text: "zz"}, {Text: "no such words anywhere"}} {
		q.Max = 1 << 20
		args := []string{"-F", "-e", q.Text}
		if q.Regex {
			args[0] = "-E"
		}
		if q.IgnoreCase {
			args = append([]string{"-i"}, args...)
		}
		if diff := cmp.Diff(gitGrep(t, root, args...), answered(search(t, tr, q))); diff != "" {
			t.Errorf("%+v: lines (-git +answer):\n%s", q, diff)
		}
	}
}
