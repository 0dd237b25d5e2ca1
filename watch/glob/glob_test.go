package glob_test

import (
	"errors"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toold/toold/watch/glob"
)

func TestMatch(t *testing.T) {
	files := []string{"a.py", "pkg/sub/b.py", "docs/x.md", "docs/a/y.md", "src/docs/z.md", ".hid/c.py", "web/app.min.js", "web/app.js", "web/app.ts", "-x", "a,b", "A.PY", "docs/[x].md"}
	tests := []struct {
		glob, folder string
		want         string
	}{
		{"*.py", "", "a.py pkg/sub/b.py .hid/c.py"},
		{"*.PY", "", "A.PY"},
		{"docs/**/*.md", "", "docs/x.md docs/a/y.md docs/[x].md"},
		{"docs/*", "", "docs/x.md docs/[x].md"},
		{"docs/", "", "docs/x.md docs/a/y.md docs/[x].md"},
		{"/docs/*.md", "", "docs/x.md docs/[x].md"},
		{"/*.py", "", "a.py"},
		{"./*.py", "", "a.py"},
		{"./pkg/*", "", ""},
		{"./pkg//sub/*.py", "", "pkg/sub/b.py"},
		{"**/*.md", "", "docs/x.md docs/a/y.md src/docs/z.md docs/[x].md"},
		{"docs/*.md", "src", "docs/x.md src/docs/z.md docs/[x].md"},
		{"*.{js,ts}", "", "web/app.min.js web/app.js web/app.ts"},
		{"*.js, !*.min.js", "", "web/app.js"},
		{"!*.md,!*.{py,PY}", "", "web/app.min.js web/app.js web/app.ts -x a,b"},
		{"{*.py,docs/*.md}", "", "a.py pkg/sub/b.py docs/x.md .hid/c.py docs/[x].md"},
		{"{a,{x,y}}.{md,py}", "", "a.py docs/x.md docs/a/y.md"},
		{"-*", "", "-x"},
		{`a\,b`, "", "a,b"},
		{`docs/\[x\].md`, "", "docs/[x].md"},
		{"[ab].py", "", "a.py pkg/sub/b.py"},
		{"app.[!t]*", "", "web/app.min.js web/app.js"},
		{"?.md", "", "docs/x.md docs/a/y.md src/docs/z.md"},
		{"docs", "", ""},
		{"b.py", "", "pkg/sub/b.py"},
		{"", "", strings.Join(files, " ")},
		{" , ", "", strings.Join(files, " ")},
		{"*", "", strings.Join(files, " ")},
		{"**", "", strings.Join(files, " ")},
	}
	for _, tt := range tests {
		t.Run(tt.glob+" "+tt.folder, func(t *testing.T) {
			g, err := glob.Parse(tt.glob)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range files {
				if g.Match(f, tt.folder) {
					got = append(got, f)
				}
				if name := path.Base(f); g.ByName() && g.Match(f, tt.folder) != g.Match(name, "") {
					t.Errorf("ByName, but %q and %q are not selected alike", f, name)
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("selected (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct {
		glob   string
		offset int
		reason string
	}{
		{"[a", 0, "the [ at byte 1 is not closed"},
		{"*.md,{a", 5, "a { is not closed"},
		{"a}", 0, "the } at byte 2 closes no {"},
		{`a\`, 0, "ends with a lone backslash"},
		{"[]", 0, "malformed"},
		{"!", 0, "nothing stands after the !"},
		{strings.Repeat("{a,b}", 9), 0, "more than 256 patterns"},
		{strings.Repeat("a", 5000), 0, "longer than 4096 bytes"},
	}
	for _, tt := range tests {
		var ge *glob.Error
		_, err := glob.Parse(tt.glob)
		if !errors.As(err, &ge) {
			t.Errorf("%q: error %v, want a *glob.Error", tt.glob, err)
			continue
		}
		if ge.Offset != tt.offset || !strings.Contains(ge.Error(), tt.reason) {
			t.Errorf("%q: offset %d, %q; want %d, %q", tt.glob, ge.Offset, ge, tt.offset, tt.reason)
		}
	}
}

func TestPrefixes(t *testing.T) {
	tests := []struct {
		glob, folder string
		want         []string
	}{
		{"dist/*.js", "", []string{"dist"}},
		{"dist/a/b.js", "", []string{"dist/a/b.js"}},
		{"dist/*.js", "web", []string{"dist", "web/dist"}},
		{"{dist,out}/x*.js", "", []string{"dist", "out"}},
		{".env", "", []string{".env"}},
		{"*.js,!dist/*", "", nil},
		{"dist*/x", "", nil},
	}
	for _, tt := range tests {
		g, err := glob.Parse(tt.glob)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, g.Prefixes(tt.folder)); diff != "" {
			t.Errorf("%q in %q (-want +got):\n%s", tt.glob, tt.folder, diff)
		}
	}
}

// agreesWithModel compares globs of letters, stars and slashes with the same rule said as a regular expression.
func agreesWithModel(t *rapid.T) {
	segment := rapid.StringMatching(`[ab]{0,2}[*?]?[ab]{1,2}|\*|\*\*`)
	pattern := strings.Join(rapid.SliceOfN(segment, 1, 4).Draw(t, "pattern"), "/")
	file := strings.Join(rapid.SliceOfN(rapid.StringMatching(`[ab]{1,3}`), 1, 4).Draw(t, "file"), "/")
	g, err := glob.Parse(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var re strings.Builder
	re.WriteString("^")
	if !strings.Contains(pattern, "/") {
		re.WriteString("(?:.*/)?")
	}
	parts := strings.Split(pattern, "/")
	for i, p := range parts {
		last := i == len(parts)-1
		switch {
		case p == "**" && last:
			re.WriteString(".*")
		case p == "**":
			re.WriteString("(?:[^/]+/)*")
		default:
			p = strings.NewReplacer("*", "[^/]*", "?", "[^/]").Replace(p)
			re.WriteString(p)
			if !last {
				re.WriteString("/")
			}
		}
	}
	want := regexp.MustCompile(re.String() + "$").MatchString(file)
	if got := g.Match(file, ""); got != want {
		// doublestar also lets "a/**" select the file a.
		if base, ok := strings.CutSuffix(pattern, "/**"); ok && got {
			if h, err := glob.Parse("/" + base); err == nil && h.Match(file, "") {
				return
			}
		}
		t.Fatalf("glob %q selects %q: %v, want %v (%s)", pattern, file, got, want, re.String())
	}
}

func TestAgreesWithModel(t *testing.T) { rapid.Check(t, agreesWithModel) }

// FuzzParse feeds globs that nobody meant: none may panic or take long, and a valid one must answer.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"*.py", "docs/**/*.md", "{a,b}", "!x,[a-", `\`, "{{{{", "**/**/**/*a*b*c", "[!]]"} {
		f.Add(s, "docs/a/b.py")
	}
	f.Fuzz(func(t *testing.T, pattern, file string) {
		g, err := glob.Parse(pattern)
		if err != nil {
			var ge *glob.Error
			if !errors.As(err, &ge) || ge.Reason == "" {
				t.Fatalf("%q: %v has no reason", pattern, err)
			}
			return
		}
		g.Match(file, "docs")
		g.Prefixes("docs")
	})
}
