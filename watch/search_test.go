package watch_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toold/toold/watch"
	"github.com/toold/toold/watch/ignore"
)

// plant writes files below a folder; names that end with a slash become folders, contents that begin with -> links.
func plant(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(text, "->"); ok {
			err = os.Symlink(target, p)
		} else if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(p, 0o755)
		} else {
			err = os.WriteFile(p, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// open opens a tree that this machine's configuration does not influence.
func open(t testing.TB, root string) *watch.Tree {
	t.Helper()
	return openWith(t, root, watch.Trouble{})
}

func openWith(t testing.TB, root string, trouble watch.Trouble) *watch.Tree {
	t.Helper()
	tr, err := watch.Open(root, watch.Options{Surroundings: &ignore.Surroundings{Root: root}, RuntimeDir: t.TempDir()}.With(trouble))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	return tr
}

// ready opens a tree and waits until it knows the workspace.
func ready(t testing.TB, root string) *watch.Tree {
	t.Helper()
	return readyWith(t, root, watch.Trouble{})
}

func readyWith(t testing.TB, root string, trouble watch.Trouble) *watch.Tree {
	t.Helper()
	tr := openWith(t, root, trouble)
	if err := tr.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return tr
}

func search(t testing.TB, tr *watch.Tree, q watch.Query) watch.Answer {
	t.Helper()
	a, err := tr.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("search %+v: %v", q, err)
	}
	return a
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+"\n", i+1)
	}
	return b.String()
}

func TestSearchText(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		query watch.Query
		want  string
	}{
		{"dash", map[string]string{"t.txt": "temp -77 C\nplain\n", "d.md": "--pdf-engine=x\n"}, watch.Query{Text: "-77"}, "t.txt:1: temp -77 C"},
		{"option", map[string]string{"t.txt": "temp -77 C\nplain\n", "d.md": "--pdf-engine=x\n"}, watch.Query{Text: "--pdf-engine"}, "d.md:1: --pdf-engine=x"},
		{"dash e", map[string]string{"t.txt": "temp -77 C\nplain\n", "d.md": "--pdf-engine=x\n"}, watch.Query{Text: "-e"}, "d.md:1: --pdf-engine=x"},
		{"regex alternatives", map[string]string{"w": "color\ncolour\na+b(c)\n"}, watch.Query{Text: "colou?r|zzz", Regex: true}, "w:1: color\nw:2: colour"},
		{"plain text with signs", map[string]string{"w": "color\na+b(c)\n"}, watch.Query{Text: "a+b(c)"}, "w:2: a+b(c)"},
		{"path order", map[string]string{"a/x": "k", "a-b": "k", "a.c": "k", "a0/y": "k", "Z": "k"}, watch.Query{Text: "k"}, "Z:1: k\na-b:1: k\na.c:1: k\na/x:1: k\na0/y:1: k"},
		{"CR LF", map[string]string{"w": "one\r\ntwo\r\n"}, watch.Query{Text: "one$", Regex: true}, "w:1: one"},
		{"CR itself", map[string]string{"w": "one\r\ntwo\n"}, watch.Query{Text: `\r$`, Regex: true}, "w:1: one"},
		{"plain CR", map[string]string{"w": "one\r\ntwo\n"}, watch.Query{Text: "e\r"}, "w:1: one"},
		{"empty lines", map[string]string{"w": "a\n\nb\n"}, watch.Query{Text: "^$", Regex: true}, "w:2: "},
		{"no final newline", map[string]string{"w": "a\nb"}, watch.Query{Text: "b"}, "w:2: b"},
		{"case", map[string]string{"w": "Foo\nfoo\n"}, watch.Query{Text: "foo"}, "w:2: foo"},
		{"ignore case", map[string]string{"w": "Foo\nfOo.\n"}, watch.Query{Text: "foo", IgnoreCase: true}, "w:1: Foo\nw:2: fOo."},
		{"ignore case, regex", map[string]string{"w": "Foo\nbar\n"}, watch.Query{Text: "^f", Regex: true, IgnoreCase: true}, "w:1: Foo"},
		{"across lines", map[string]string{"w": "x\nalpha\nbeta\nalpha\n"}, watch.Query{Text: "alpha\nbeta"}, "w:2: alpha\nw:3: beta"},
		{"across lines with CR LF", map[string]string{"w": "alpha\r\nbeta\r\n"}, watch.Query{Text: "alpha\nbeta"}, "w:1: alpha\nw:2: beta"},
		{"line end", map[string]string{"w": "ab\nb\nabc\n"}, watch.Query{Text: "ab\n"}, "w:1: ab"},
		{"not UTF-8", map[string]string{"w": "first\ncaf\xe9 MARK\n"}, watch.Query{Text: "MARK"}, "w:2: caf\ufffd MARK"},
		{"bytes of no character", map[string]string{"w": "caf\xe9\n"}, watch.Query{Text: "caf.$", Regex: true}, "w:1: caf\ufffd"},
		{"context", map[string]string{"w": numbered("%d", 9)}, watch.Query{Text: "[37]", Regex: true, Context: 1}, "w-2- 2\nw:3: 3\nw-4- 4\n--\nw-6- 6\nw:7: 7\nw-8- 8"},
		{"context that meets", map[string]string{"w": numbered("%d", 9)}, watch.Query{Text: "[35]", Regex: true, Context: 2}, "w-1- 1\nw-2- 2\nw:3: 3\nw-4- 4\nw:5: 5\nw-6- 6\nw-7- 7"},
		{"hidden", map[string]string{".env": "k\n", ".x/y": "k"}, watch.Query{Text: "k"}, ".env:1: k\n.x/y:1: k"},
		{"a file as path", map[string]string{"a/x": "k", "a/y": "k"}, watch.Query{Text: "k", Path: "a/x"}, "a/x:1: k"},
		{"a folder as path", map[string]string{"a/x": "k", "b/y": "k"}, watch.Query{Text: "k", Path: "a/"}, "a/x:1: k"},
		{"name with a line break", map[string]string{"a\nb": "k"}, watch.Query{Text: "k"}, `"a\nb":1: k`},
		{"files", map[string]string{"a.py": "", "pkg/sub/b.py": "", "x.md": ""}, watch.Query{Glob: "*.py"}, "a.py\npkg/sub/b.py"},
		{"all files", map[string]string{"a.py": "", "b": "", "d": "\x00"}, watch.Query{}, "a.py\nb\nd"},
		{"glob of a dash", map[string]string{"-x": "", "y": ""}, watch.Query{Glob: "-*"}, "-x"},
		{"glob from path", map[string]string{"a/b/c.go": "k", "b/c.go": "k"}, watch.Query{Text: "k", Path: "a", Glob: "b/*.go"}, "a/b/c.go:1: k"},
		{"binary", map[string]string{"t": "MARK", "nul": "x\x00MARK", "u16": "\xff\xfeM\x00"}, watch.Query{Text: "MARK"}, "t:1: MARK\n[Not searched: 2 binary files]"},
		{"nothing", map[string]string{"t": "a", "nul": "x\x00MARK"}, watch.Query{Text: "MARK"}, "No line matches \"MARK\"; 1 file searched.\n[Not searched: 1 binary file]"},
		{"nothing, plain text", map[string]string{"t": "a"}, watch.Query{Text: "a|b"}, "No line matches \"a|b\"; 1 file searched. The query was taken as plain text; set regex to true to use it as a regular expression."},
		{"no such file", map[string]string{"t": "a"}, watch.Query{Text: "a", Glob: "*.go"}, "There is no file to search (glob \"*.go\"). A glob without a / is matched against the file's name, in every folder; case counts."},
		{"empty folder", map[string]string{"d/": ""}, watch.Query{Path: "d"}, "There is no file to search in d."},
		{"cap, more", map[string]string{"m": numbered("MARK %d", 12)}, watch.Query{Text: "MARK 1", Max: 2}, "m:1: MARK 1\nm:10: MARK 10\n[2 of 4 matches in 1 file are shown. Narrow the search with path, glob or a longer query, or raise max_results]"},
		{"cap, exactly", map[string]string{"m": numbered("MARK %d", 2)}, watch.Query{Text: "MARK", Max: 2}, "m:1: MARK 1\nm:2: MARK 2"},
		{"cap of files", map[string]string{"a": "", "b": "", "c": ""}, watch.Query{Glob: "*", Max: 2}, "a\nb\n[2 of 3 files are shown. Narrow it with path or glob, or raise max_results]"},
		{"cap in a later file", map[string]string{"a": "k", "b": "k\nk", "c": "k"}, watch.Query{Text: "k", Max: 2}, "a:1: k\nb:1: k\n[2 of 4 matches in 3 files are shown. Narrow the search with path, glob or a longer query, or raise max_results]"},
		{"links are not followed", map[string]string{"a/f": "k", "a/up": "->..", "self": "->.", "loop1": "->loop2", "loop2": "->loop1", "dangling": "->nowhere"}, watch.Query{Text: "k"}, "a/f:1: k"},
		{"a link as path", map[string]string{"real/f": "k", "other": "k", "link": "->real"}, watch.Query{Text: "k", Path: "link"}, "real/f:1: k"},
		{"a link to a file as path", map[string]string{"AGENTS.md": "k", "CLAUDE.md": "->AGENTS.md"}, watch.Query{Text: "k", Path: "CLAUDE.md"}, "AGENTS.md:1: k"},
		{"a folder that is never searched", map[string]string{".git/config": "k"}, watch.Query{Text: "k", Path: ".git"}, "There is no file to search in .git."},
		{"a long output", map[string]string{".tool-output/x": "k", ".hg/x": "k", "f": "k"}, watch.Query{Text: "k", IncludeIgnored: true}, "f:1: k"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			plant(t, root, tt.files)
			for when, tr := range map[string]*watch.Tree{"at once": open(t, root), "when ready": ready(t, root)} {
				if diff := cmp.Diff(tt.want, search(t, tr, tt.query).Text); diff != "" {
					t.Errorf("answer %s (-want +got):\n%s", when, diff)
				}
			}
		})
	}
}

func TestSearchIgnored(t *testing.T) {
	root := t.TempDir()
	plant(t, root, map[string]string{
		".gitignore": "dist/\n*.log\n/src/gen.go\n", "dist/app.js": "bundle\n", "dist/x/y.js": "bundle\n", "src/gen.go": "bundle\n", "src/dist/z.js": "bundle\n", "a.log": "bundle\n", "main.go": "x\n",
	})
	tr := ready(t, root)
	const notice = "\n[Not searched: ignored a.log, dist/, src/dist/, src/gen.go (include_ignored searches them)]"
	tests := []struct {
		name  string
		query watch.Query
		want  string
	}{
		{"left out", watch.Query{Text: "bundle"}, "No line matches \"bundle\"; 2 files searched." + notice},
		{"by glob", watch.Query{Glob: "dist/*.js"}, "dist/app.js\n[Not searched: ignored src/dist/ (include_ignored searches them)]"},
		{"by glob, deep", watch.Query{Text: "bundle", Glob: "dist/**/*.js"}, "dist/app.js:1: bundle\ndist/x/y.js:1: bundle\n[Not searched: ignored src/dist/ (include_ignored searches them)]"},
		{"by glob, from path", watch.Query{Text: "bundle", Path: "src", Glob: "dist/*"}, "src/dist/z.js:1: bundle"},
		{"by path", watch.Query{Text: "bundle", Path: "dist"}, "dist/app.js:1: bundle\ndist/x/y.js:1: bundle"},
		{"by path in it", watch.Query{Text: "bundle", Path: "dist/x"}, "dist/x/y.js:1: bundle"},
		{"by path of a file", watch.Query{Text: "bundle", Path: "a.log"}, "a.log:1: bundle"},
		{"by exact glob", watch.Query{Text: "bundle", Glob: "a.log"}, "a.log:1: bundle\n[Not searched: ignored dist/, src/dist/ (include_ignored searches them)]"},
		{"a glob beside it", watch.Query{Text: "bundle", Glob: "src/*.go"}, "There is no file to search (glob \"src/*.go\"). A glob with a / is matched against the whole path, from the root or from path; ** stands for any folders.\n[Not searched: ignored dist/, src/dist/, src/gen.go (include_ignored searches them)]"},
		{"all", watch.Query{Text: "bundle", IncludeIgnored: true}, "a.log:1: bundle\ndist/app.js:1: bundle\ndist/x/y.js:1: bundle\nsrc/dist/z.js:1: bundle\nsrc/gen.go:1: bundle"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, search(t, tr, tt.query).Text); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
	for p, want := range map[string]bool{"dist": true, "src": false, "src/dist": true, "dist/x": false, ".": false, ".git": true} {
		if got := tr.Ignored(p, true); got != want {
			t.Errorf("Ignored(%q) is %v, want %v", p, got, want)
		}
	}
}

func TestSearchErrors(t *testing.T) {
	root := t.TempDir()
	outside := t.TempDir()
	plant(t, outside, map[string]string{"secret": "k"})
	plant(t, root, map[string]string{"docs/x.md": "k", "out": "->" + outside, "in": "->" + root + "/docs", "loop": "->loop"})
	tr := open(t, root)
	tests := []struct {
		name  string
		query watch.Query
		code  string
		text  string
	}{
		{"open bracket", watch.Query{Text: "a[b", Regex: true}, "invalid_pattern", `the regular expression "a[b" cannot be used at byte 2: "[b": missing closing ]`},
		{"open group", watch.Query{Text: "foo(", Regex: true}, "invalid_pattern", "missing closing )"},
		{"look-ahead", watch.Query{Text: "foo(?=bar)", Regex: true}, "invalid_pattern", "look-around is not supported"},
		{"look-behind", watch.Query{Text: "(?<!x)foo", Regex: true}, "invalid_pattern", "look-around is not supported"},
		{"back-reference", watch.Query{Text: `(a)\1`, Regex: true}, "invalid_pattern", `at byte 4: "\\1": back-references are not supported`},
		{"possessive", watch.Query{Text: `a++`, Regex: true}, "invalid_pattern", "possessive"},
		{"line break in regex", watch.Query{Text: `alpha\nbeta`, Regex: true}, "invalid_pattern", "line by line"},
		{"line break as character", watch.Query{Text: "alpha\nbeta", Regex: true}, "invalid_pattern", "line by line"},
		{"glob", watch.Query{Glob: "a,[b"}, "invalid_pattern", `the glob pattern "[b" cannot be used: the [ at byte 1 is not closed`},
		{"negative cap", watch.Query{Text: "k", Max: -1}, "invalid_argument", "max_results"},
		{"no such path", watch.Query{Text: "k", Path: "dosc"}, "not_found", "the nearest name in . is docs"},
		{"no such path at all", watch.Query{Text: "k", Path: "qqqqqqq/x"}, "not_found", "list_files shows what is in ."},
		{"below a file", watch.Query{Text: "k", Path: "docs/x.md/y"}, "not_found", "does not exist"},
		{"outside", watch.Query{Text: "k", Path: "../x"}, "outside_workspace", "outside the workspace"},
		{"absolute", watch.Query{Text: "k", Path: "/etc"}, "outside_workspace", "outside the workspace"},
		{"link to outside", watch.Query{Text: "k", Path: "out/secret"}, "outside_workspace", "outside the workspace"},
		{"circle", watch.Query{Text: "k", Path: "loop"}, "not_found", "circle"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := tr.Search(t.Context(), tt.query)
			var we *watch.Error
			if !errors.As(err, &we) {
				t.Fatalf("error %v and answer %q, want a *watch.Error", err, a.Text)
			}
			if we.Code != tt.code || !strings.Contains(we.Text, tt.text) {
				t.Errorf("%s: %s\nwant %s: …%s…", we.Code, we.Text, tt.code, tt.text)
			}
		})
	}
	if got := search(t, tr, watch.Query{Text: "k", Path: "in"}).Text; got != "docs/x.md:1: k" {
		t.Errorf("through an absolute link to the inside: %q", got)
	}
}

func TestLongLines(t *testing.T) {
	long := strings.Repeat("ä", 5000)
	root := t.TempDir()
	plant(t, root, map[string]string{"middle": long + "MARK" + long, "start": "MARK" + long, "end": long + "MARK\n", "whole": long + "\n" + strings.Repeat("MARK", 100) + "\n"})
	a := search(t, open(t, root), watch.Query{Text: "MARK"})
	if len(a.Matches) != 4 {
		t.Fatalf("%d matches, want 4", len(a.Matches))
	}
	for _, m := range a.Matches {
		if len(m.Text) > 300 || len(m.Text) < 250 || !strings.Contains(m.Text, "MARK") || strings.Contains(m.Text, "\ufffd") {
			t.Errorf("%s: %d bytes: %q", m.Path, len(m.Text), m.Text)
		}
	}
}

func TestUnreadable(t *testing.T) {
	root := t.TempDir()
	plant(t, root, map[string]string{"a": "k", "b": "k", "c": "k", "gone": "k"})
	tr := openWith(t, root, watch.Trouble{Open: func(p string) error {
		switch p {
		case "b":
			return fs.ErrPermission
		case "c":
			return syscall.EIO
		case "gone":
			return fs.ErrNotExist
		}
		return nil
	}})
	want := "a:1: k\n[2 entries could not be read: b (permission denied), c (input/output error)]"
	if got := search(t, tr, watch.Query{Text: "k"}).Text; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestDeadline(t *testing.T) {
	root := t.TempDir()
	plant(t, root, map[string]string{"a": "k"})
	a := search(t, openWith(t, root, watch.Trouble{Late: true}), watch.Query{Text: "k"})
	want := "Nothing was found before the time ran out, after 0 files.\n[The search was stopped after 30 seconds with 0 files searched: this is not everything. Narrow it with path or glob]"
	if a.Text != want || !a.Deadline {
		t.Errorf("%q, want %q", a.Text, want)
	}
}

func TestCancelled(t *testing.T) {
	root := t.TempDir()
	plant(t, root, map[string]string{"a": "k"})
	tr := ready(t, root)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a, err := tr.Search(ctx, watch.Query{Text: "k"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v; want that it was cancelled", a.Text, err)
	}
}

// A file that does not fit into memory at once is searched in pieces. Nothing may differ from a small one.
func TestLargeFile(t *testing.T) {
	root := t.TempDir()
	var b strings.Builder
	for i := 1; b.Len() < 34<<20; i++ {
		fmt.Fprintf(&b, "line %d %s\n", i, strings.Repeat("x", 100))
	}
	last := strings.Count(b.String(), "\n")
	plant(t, root, map[string]string{"big": b.String()})
	tr := ready(t, root)
	a := search(t, tr, watch.Query{Text: "line ", Max: 1 << 20})
	if a.Total != last || !a.TotalKnown {
		t.Fatalf("%d matching lines, want %d", a.Total, last)
	}
	for i, m := range a.Matches {
		if m.Line != i+1 || !strings.HasPrefix(m.Text, fmt.Sprintf("line %d ", i+1)) {
			t.Fatalf("match %d is %d: %s", i, m.Line, m.Text)
		}
	}
	pairs := 0
	for i := 1; i < last; i += last / 6 {
		x := strings.Repeat("x", 100)
		a := search(t, tr, watch.Query{Text: fmt.Sprintf("line %d %s\nline %d %s\n", i, x, i+1, x), Context: 1})
		if len(a.Matches) != 2 || a.Matches[0].Line != i || len(a.Matches[0].Before) != min(1, i-1) || len(a.Matches[1].After) != min(1, last-i-1) {
			t.Fatalf("across lines %d and %d: %+v", i, i+1, a.Matches)
		}
		pairs++
	}
	if pairs < 6 {
		t.Errorf("only %d places were tried", pairs)
	}
}
