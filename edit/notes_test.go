package edit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseNote(t *testing.T) {
	for _, c := range []struct{ path, good, bad, note string }{
		{"a.go", "package a\n\nfunc f() {\n}\n", "package a\n\nfunc f() {\n", "line 3: expected '}', found 'EOF'"},
		{"a.json", "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n}\n", "line 3: invalid character '}' looking for beginning of object key string"},
		{"a.json", "[1, 2]", "[1, 2", "line 1: unexpected end of JSON input"},
		{"a.xml", "<a>\n<b/>\n</a>\n", "<a>\n<b>\n</a>\n", "line 3: element <b> closed by </a>"},
		{"a.svg", "<svg></svg>", "<svg>", "line 1: unexpected EOF"},
		{"a.yaml", "a: 1\nb: 2\n", "a: 1\n b: 2\n", "line 2: mapping values are not allowed in this context"},
		{"a.yml", "a: 1\n---\nb: 2\n", "a: 1\n---\nb: [2\n", "line 3: did not find expected ',' or ']'"},
		{"a.yaml", "a: 1\n", "a: [1\n", "line 2: did not find expected ',' or ']'"},
		{"a.yaml", "a: 1\nb:\n  c: 1\n", "a: 1\nb:\n  - c\n  d\n", "line 4: could not find expected ':'"},
		{"a.yaml", "a: 1\n", "a: 1\nb: *x\n", "unknown anchor 'x' referenced"},
		{"a.toml", "[a]\nb = 1\n", "[a]\nb = \n", "line 2: expected value but found '\\n' instead"},
		{"a.toml", "b = 1\n", "b = 1\nb = 2\n", "line 2: Key 'b' has already been defined."},
		{"dir/A.JSON", "{}", "{", "line 1: unexpected end of JSON input"},
	} {
		if diff := cmp.Diff("parsed before, does not parse now: "+c.note, ParseNote(c.path, []byte(c.good), []byte(c.bad))); diff != "" {
			t.Errorf("%s: %s", c.path, diff)
		}
		if got := ParseNote(c.path, nil, []byte(c.bad)); got != "does not parse: "+c.note {
			t.Errorf("%s, new: %q", c.path, got)
		}
		for _, pair := range [][2]string{{c.good, c.good}, {c.bad, c.good}, {c.bad, c.bad}, {"", c.bad}} {
			if got := ParseNote(c.path, []byte(pair[0]), []byte(pair[1])); got != "" {
				t.Errorf("%s: %q → %q: %q", c.path, pair[0], pair[1], got)
			}
		}
		if got := ParseNote(c.path, []byte(bom), []byte(bom+c.good)); got != "" {
			t.Errorf("%s with a mark: %q", c.path, got)
		}
	}
}

func TestParseNoteOfOtherFiles(t *testing.T) {
	for _, path := range []string{"a.py", "Makefile", "a.md", "a.jsonc", ".gitignore", "go"} {
		if got := ParseNote(path, []byte("{}"), []byte("{")); got != "" {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestParseNoteGivesUpOnHostileTexts(t *testing.T) {
	const n = 300_000
	for path, text := range map[string]string{
		"nested.toml": "a = " + strings.Repeat("{b=", n),
		"dotted.toml": "a" + strings.Repeat(".a", n) + "=",
		"huge.json":   strings.Repeat("[", maxParsed+1),
	} {
		if got := ParseNote(path, nil, []byte(text)); got != "" {
			t.Errorf("%s: %q", path, got)
		}
	}
	for _, path := range []string{"a.json", "a.yaml", "a.go", "a.xml"} {
		if got := ParseNote(path, nil, []byte(strings.Repeat("[<(", n))); len(got) > 300 {
			t.Errorf("%s: %d bytes", path, len(got))
		}
	}
}

func FuzzParseNote(f *testing.F) {
	for _, text := range []string{"a: [1, {b: c}]\n", "[a]\nb = {c = 1}\n", "{\"a\": [1]}", "<a b='c'>&lt;</a>", "package a\nfunc f() {}\n"} {
		f.Add([]byte(text), []byte(text[:len(text)-2]))
	}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		for _, path := range []string{"a.go", "a.json", "a.xml", "a.yaml", "a.toml"} {
			ParseNote(path, before, after)
		}
	})
}

func TestUnified(t *testing.T) {
	before := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	after := "1\n2\n3\n4\nfive\n6\n7\n8\n9"
	want := strings.Join([]string{
		"--- a/x/y.txt", "+++ b/x/y.txt", "@@ -2,8 +2,8 @@",
		" 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8", "-9", "+9", `\ No newline at end of file`, "",
	}, "\n")
	if diff := cmp.Diff(want, Unified("x/y.txt", []byte(before), []byte(after))); diff != "" {
		t.Error(diff)
	}
	if got := Unified("x", []byte(before), []byte(before)); got != "" {
		t.Errorf("equal texts: %q", got)
	}
}

func TestAppliesTwice(t *testing.T) {
	one := 1
	for _, c := range []struct {
		name string
		req  Request
		want bool
	}{
		{"replacement holds the search", Request{Search: "a", Replace: "a\nb"}, true},
		{"with other endings", Request{Search: "a\r\nb", Replace: "a\nb\nc"}, true},
		{"with other blanks", Request{Search: "    a", Replace: "\ta\n\tb"}, true},
		{"replacement does not", Request{Search: "a", Replace: "b"}, false},
		{"replacement equals the search", Request{Search: "a", Replace: "a"}, false},
		{"and but for endings", Request{Search: "a\r\n", Replace: "a\n"}, false},
		{"deletion", Request{Search: "a"}, false},
		{"lines of a range", Request{Replace: "a\nb", Start: &one}, true},
		{"range deleted", Request{Start: &one}, false},
		{"creation", Request{Replace: "a"}, false},
	} {
		if got := c.req.AppliesTwice(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	e := Repeated("a.go", "14:02", Hunk{OldStart: 10, OldLines: 1, NewStart: 10, NewLines: 6})
	if e.Code != AlreadyApplied || !strings.Contains(e.Text, "already applied at 14:02, lines 10-15.") {
		t.Errorf("%+v", e)
	}
}
