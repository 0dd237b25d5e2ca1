package guards

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toold/toold/workspace"
)

const (
	escapedBlock = "# Title\n\n\\`\\`\\`go\nfunc main() {}\n\\`\\`\\`\nend\n"
	realBlock    = "# Title\n\n```go\nfunc main() {}\n```\nend\n"
)

func TestEscapedFence(t *testing.T) {
	for _, path := range []string{"a.md", "b.mdx", "c.markdown", "D.MD"} {
		d := newDoor(t)
		for i := range 2 {
			r := d.refused(d.write(path, escapedBlock), "fence_guard", "line 3", "\\`\\`\\`go", "```go")
			if r.Again || r.Tag != "ESCAPED-FENCE" {
				t.Errorf("%s, refusal %d: %+v", path, i+1, r)
			}
		}
		c := d.change(workspace.OpWrite, path, escapedBlock)
		d.passes(d.apply(c))
		if diff := cmp.Diff(realBlock, d.has(path)); diff != "" {
			t.Errorf("%s:\n%s", path, diff)
		}
		if len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "2 escaped code fences") || !strings.Contains(c.Notes[0], "line 3") {
			t.Errorf("%s: the status says %q", path, c.Notes)
		}
		d.passes(d.write(path, "other\n"+escapedBlock)) // later ones are repaired at once
		if d.has(path) != "other\n"+realBlock {
			t.Errorf("%s: %q", path, d.has(path))
		}
		d.refused(d.write("other.md", escapedBlock), "fence_guard") // per path
	}
	d := newDoor(t)
	d.passes(d.write("a.txt", escapedBlock))
	d.passes(d.write("a.go", escapedBlock))
}

func TestEscapedFenceForms(t *testing.T) {
	for _, tt := range []struct{ name, text, repaired string }{ // repaired "" means: no objection
		{"all marks escaped", "\\`\\`\\`\n", "```\n"},
		{"the first mark escaped", "\\```js\n", "```js\n"},
		{"four marks", "\\`\\`\\`\\`\n", "````\n"},
		{"tildes", "\\~\\~\\~\n", "~~~\n"},
		{"after blanks", "   \\`\\`\\`\n", "   ```\n"},
		{"after a tab", "\t\\`\\`\\`\n", "\t```\n"},
		{"in a quote", "> \\`\\`\\`sh\n> ls\n> \\`\\`\\`\n", "> ```sh\n> ls\n> ```\n"},
		{"in a nested quote", ">> \\`\\`\\`\n", ">> ```\n"},
		{"CRLF", "a\r\n\\`\\`\\`\r\n", "a\r\n```\r\n"},
		{"no final newline", "\\`\\`\\`", "```"},
		{"only the closing one", "```go\nx\n\\`\\`\\`\n", "```go\nx\n```\n"},
		{"each closing one", "```go\nx\n\\`\\`\\`\ntext\n```go\ny\n```\n", "```go\nx\n```\ntext\n```go\ny\n```\n"},
		{"only the opening one", "\\`\\`\\`go\nx\n```\nend\n", "```go\nx\n```\nend\n"},
		{"its text keeps backslashes", "\\`\\`\\`a\\b\n", "```a\\b\n"},
		{"a real fence", "```\nx\n```\n", ""},
		{"in the middle of a line", "write \\`\\`\\` to open one\n", ""},
		{"escaped inline code", "\\`not code\\`\n", ""},
		{"two marks", "\\`\\`\n", ""},
		{"an example in a real block", "````md\n\\`\\`\\`go\n````\n", ""},
		{"an example in tildes", "~~~\n\\`\\`\\`\n~~~\n", ""},
		{"after a real block", "```\n\\`\\`\\`\n```\n\\`\\`\\`\n", "```\n\\`\\`\\`\n```\n```\n"},
	} {
		d := newDoor(t)
		if tt.repaired == "" {
			d.passes(d.write("a.md", tt.text))
			continue
		}
		for range 2 {
			d.refused(d.write("a.md", tt.text), "fence_guard")
		}
		d.passes(d.write("a.md", tt.text))
		if diff := cmp.Diff(tt.repaired, d.has("a.md")); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
}

func TestEscapedFenceInAnEdit(t *testing.T) {
	d := newDoor(t)
	d.put("a.md", "one\n\\`\\`\\`\nTODO\nTODO\n")
	d.passes(d.edit("a.md", "one", "uno")) // the file's own line is not the edit's
	replacement := "\\`\\`\\`sh\nls\n\\`\\`\\`"
	for range 2 {
		d.refused(d.edit("a.md", "TODO", replacement), "fence_guard", "not edited", "line 3")
	}
	d.passes(d.edit("a.md", "TODO", replacement))
	want := "uno\n\\`\\`\\`\n```sh\nls\n```\n```sh\nls\n```\n"
	if diff := cmp.Diff(want, d.has("a.md")); diff != "" {
		t.Error(diff)
	}
	d.put("b.md", "````md\nEXAMPLE\n````\n")
	d.passes(d.edit("b.md", "EXAMPLE", replacement)) // an example within a real block
}

func TestRacingEscapedFences(t *testing.T) {
	d := newDoor(t)
	first, second, third := d.change(workspace.OpWrite, "a.md", escapedBlock), d.change(workspace.OpWrite, "a.md", escapedBlock), d.change(workspace.OpWrite, "a.md", escapedBlock)
	for _, c := range []*workspace.Change{first, second, third} {
		d.refused(d.apply(c), "fence_guard")
	}
	d.refused(d.write("a.md", escapedBlock), "fence_guard")
	d.passes(d.write("a.md", escapedBlock))
}

func TestRepairedFenceStillHasToPassTheOthers(t *testing.T) {
	d := newDoor(t)
	d.put("a.md", numbered(100))
	d.refused(d.write("a.md", escapedBlock), "fence_guard")
	d.refused(d.write("a.md", escapedBlock), "fence_guard")
	d.refused(d.write("a.md", escapedBlock), "shrink_guard")
	d.passes(d.write("a.md", escapedBlock))
	if d.has("a.md") != realBlock {
		t.Errorf("%q", d.has("a.md"))
	}
}

func TestFenceRepairIsIdempotent(t *testing.T) { rapid.Check(t, fenceRepair) }

func FuzzFenceRepair(f *testing.F) { f.Fuzz(rapid.MakeFuzz(fenceRepair)) }

// fenceRepair: a repaired text has no objection left, repairing it again changes nothing, and only backslashes go.
func fenceRepair(t *rapid.T) {
	line := rapid.OneOf(
		rapid.SampledFrom([]string{"\\`\\`\\`", "```", "````", "~~~", "\\~~~", "> \\```go", "text", "", "\\", "`\\`\\`"}),
		rapid.StringMatching("[ >]{0,2}[\\\\`~]{0,8}[a-z]{0,2}"),
	)
	text := strings.Join(rapid.SliceOf(line).Draw(t, "lines"), "\n")
	c := &workspace.Change{Op: workspace.OpWrite, Path: "a.md", Real: "a.md", After: []byte(text)}
	repairFences(c)
	once := bytes.Clone(c.After)
	if strings.ReplaceAll(string(once), `\`, "") != strings.ReplaceAll(text, `\`, "") {
		t.Fatalf("%q became %q", text, once)
	}
	if !escapedInput(&workspace.Change{After: []byte(text)}) && text != string(once) {
		t.Fatalf("%q was repaired without need: %q", text, once)
	}
	repairFences(c)
	if !bytes.Equal(once, c.After) {
		t.Fatalf("%q, repaired %q, repaired again %q", text, once, c.After)
	}
}
