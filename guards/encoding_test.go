package guards

import (
	"strings"
	"testing"

	"github.com/toold/toold/workspace"
)

func TestLossyEncoding(t *testing.T) {
	d := newDoor(t)
	d.put("old.cfg", "name = caf\xe9\nflag = False\n")
	damaged := "name = caf\uFFFD\nflag = True\n"
	r := d.refused(d.write("old.cfg", damaged), "lossy_guard", "0xe9", "line 1", "edit_file", "iconv", "again")
	if !r.Again {
		t.Error("it is refused once")
	}
	d.passes(d.write("old.cfg", damaged))

	d.put("ok.cfg", "name = café\n")
	d.passes(d.write("ok.cfg", damaged)) // the old file is UTF-8
	d.put("latin.cfg", "name = caf\xe9\n")
	d.passes(d.write("latin.cfg", "name = café\n")) // nothing lost: converted
	d.put("mixed.cfg", "\xe9 \uFFFD\n")
	d.passes(d.write("mixed.cfg", "e \uFFFD\n")) // the mark was there before
	d.passes(d.write("new.cfg", "\uFFFD"))
	d.passes(d.edit("mixed.cfg", "e", "\uFFFD")) // an edit keeps the other bytes
}

func TestStale(t *testing.T) {
	d := newDoor(t)
	d.put("a.go", "package a\n\nfunc New() {}\n")
	d.passes(d.write("a.go", "package a\n\nfunc Old() {}\n")) // nothing that the agent has not seen
	d.stale = &Stale{By: "B", When: "14:02", Seen: []byte("package a\n"), Hash: "h1"}
	r := d.refused(d.write("a.go", "package b\n"), "stale", "B at 14:02", "+func Old() {}", "edit_file")
	if !r.Again || r.Tag != "STALE" {
		t.Errorf("%+v", r)
	}
	d.passes(d.edit("a.go", "Old", "Older")) // an edit by search text is not refused for that
	d.refused(d.write("a.go", "package c\n"), "stale")
	d.passes(d.write("a.go", "package c\n"))
	d.stale = &Stale{By: "an outside program", Hash: "h2"} // the version that was seen is no longer known
	d.refused(d.write("a.go", "package d\n"), "stale", "changed by an outside program, after you last saw it")
	d.passes(d.write("b.go", "a new file"))
}

func TestStaleDiffIsShort(t *testing.T) {
	d := newDoor(t)
	d.put("a.md", numbered(500))
	d.stale = &Stale{By: "B", Seen: []byte(strings.Repeat("x", 5000) + "\n"), Hash: "h"}
	r := d.refused(d.write("a.md", numbered(500)+"more\n"), "stale", "more lines of this diff")
	if len(r.Text) > 4000 {
		t.Errorf("%d bytes", len(r.Text))
	}
}

func TestElision(t *testing.T) {
	d := newDoor(t)
	d.put("a.go", "package a\n\nfunc A() {}\n\nfunc B() {}\n")
	r := d.refused(d.write("a.go", "package a\n\n// ... existing code ...\n\nfunc C() {}\n"), "elision_guard", "line 3 of the content", "// ... existing code ...", "edit_file")
	if !r.Again || r.Tag != "ELISION" {
		t.Errorf("%+v", r)
	}
	d.passes(d.write("a.go", "package a\n\n// ... existing code ...\n\nfunc C() {}\n"))
	d.passes(d.write("a.go", "package a\n\n// ... existing code ...\n\nfunc D() {}\n")) // the file has it now
	d.refused(d.edit("a.go", "func D() {}", "func D() {\n\t# rest unchanged\n}"), "elision_guard", "line 2 of the replacement")
	d.passes(d.edit("a.go", "func D() {}", "func D() {\n\t# rest unchanged\n}"))
	d.passes(d.write("b.py", "def f():\n    ...\n")) // Python
	d.refused(d.write("new.js", "// ... rest of the file ...\n"), "elision_guard")
}

func TestRefusalsNeverLoseTheFile(t *testing.T) {
	d := newDoor(t)
	d.put("a.md", numbered(100))
	c := d.change(workspace.OpWrite, "a.md", "x")
	before := string(c.Before)
	d.refused(d.apply(c), "shrink_guard")
	if string(c.Before) != before || string(c.After) != "x" {
		t.Error("a refusal has changed the change")
	}
}

func TestDotsInExamplesAreNoElision(t *testing.T) {
	for _, tt := range []struct {
		name, path, content string
		refused             bool
	}{
		{"dots alone", "a.go", "func A() {\n\t// ...\n}\n", true},
		{"an example in a comment", "a.go", "// Use it so:\n//\n//\tA()\n//\t...\n//\tB()\nfunc A() {}\n", false},
		{"words in a comment", "a.go", "// one\n// ... rest unchanged ...\n// two\n", true},
		{"the last line of a comment", "a.go", "// one\n// ...\nfunc A() {}\n", true},
		{"the first line", "a.go", "// ...\n", true},
		{"a code block of a page", "a.md", "text\n```go\nf()\n// ...\n```\n", false},
		{"words in a code block of a page", "a.md", "```go\n// ... existing code ...\n```\n", true},
		{"dots outside of it", "a.md", "```go\nf()\n```\n<!-- ... -->\n", true},
		{"one after another", "a.py", "# a\n# ...\n# b\n# ...\n# c\nx = 1\n# ...\n", true},
	} {
		d := newDoor(t)
		err := d.write(tt.path, tt.content)
		if (err != nil) != tt.refused {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	d := newDoor(t)
	d.refused(d.write("a.py", "# a\n# ...\n# b\nx = 1\n# ...\n"), "elision_guard", "line 5")
}
