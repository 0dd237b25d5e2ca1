package edit

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMerge3(t *testing.T) {
	for _, c := range []struct {
		name, base, ours, theirs string
		merged                   string
		conflicts                []Conflict
	}{
		{name: "one side only", base: "a\nb\n", ours: "a\nb\n", theirs: "a\nB\n", merged: "a\nB\n"},
		{name: "the other side only", base: "a\nb\n", ours: "a\nB\n", theirs: "a\nb\n", merged: "a\nB\n"},
		{name: "different lines", base: "a\nb\nc\nd\n", ours: "A\nb\nc\nd\n", theirs: "a\nb\nc\nD\n", merged: "A\nb\nc\nD\n"},
		{name: "neighbouring lines", base: "a\nb\n", ours: "A\nb\n", theirs: "a\nB\n", merged: "A\nB\n"},
		{name: "the same change", base: "a\nb\n", ours: "a\nB\n", theirs: "a\nB\n", merged: "a\nB\n"},
		{name: "the same line", base: "a\nb\n", ours: "a\nx\n", theirs: "a\ny\n", conflicts: []Conflict{{2, []byte("b\n"), []byte("x\n"), []byte("y\n")}}},
		{name: "changed and deleted", base: "a\nb\nc\n", ours: "a\nB\nc\n", theirs: "a\nc\n", conflicts: []Conflict{{2, []byte("b\n"), []byte("B\n"), nil}}},
		{name: "put in at the same place", base: "a\nb\n", ours: "a\nx\nb\n", theirs: "a\ny\nb\n", conflicts: []Conflict{{2, nil, []byte("x\n"), []byte("y\n")}}},
		{name: "put in inside what is deleted", base: "a\nb\nc\nd\n", ours: "a\nb\nx\nc\nd\n", theirs: "a\nd\n", conflicts: []Conflict{{3, []byte("b\nc\n"), []byte("b\nx\nc\n"), nil}}},
		{name: "put in behind what is deleted", base: "a\nb\nc\n", ours: "a\nb\nx\nc\n", theirs: "a\nc\n", merged: "a\nx\nc\n"},
		{name: "open last line changed by both sides", base: "a\nb", ours: "a\nb\nc\n", theirs: "a\nB", conflicts: []Conflict{{2, []byte("b"), []byte("b\nc\n"), []byte("B")}}},
		{name: "from nothing", base: "", ours: "", theirs: "a\n", merged: "a\n"},
		{name: "to nothing", base: "a\n", ours: "a\n", theirs: "", merged: ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			merged, conflicts := Merge3([]byte(c.base), []byte(c.ours), []byte(c.theirs))
			if diff := cmp.Diff(c.merged, string(merged)); diff != "" {
				t.Errorf("merged (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.conflicts, conflicts); diff != "" {
				t.Errorf("conflicts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMergeNeverGluesLines(t *testing.T) {
	merged, conflicts := Merge3([]byte("a\nb\n"), []byte("a\nb\nc\n"), []byte("a\nB"))
	if len(conflicts) == 0 {
		t.Fatalf("an open line was put in front of another: %q", merged)
	}
}

// propMerge holds the two sides to what a merge may do: with one side unchanged the other wins, and the order of the
// sides does not matter.
func propMerge(t *rapid.T) {
	base, ours, theirs := []byte(fewLines(12).Draw(t, "base")), []byte(fewLines(12).Draw(t, "ours")), []byte(fewLines(12).Draw(t, "theirs"))
	if got, conflicts := Merge3(base, ours, base); len(conflicts) > 0 || !bytes.Equal(got, ours) {
		t.Fatalf("theirs unchanged: %q %v", got, conflicts)
	}
	if got, conflicts := Merge3(base, base, theirs); len(conflicts) > 0 || !bytes.Equal(got, theirs) {
		t.Fatalf("ours unchanged: %q %v", got, conflicts)
	}
	a, conflictsA := Merge3(base, ours, theirs)
	b, conflictsB := Merge3(base, theirs, ours)
	if !bytes.Equal(a, b) || len(conflictsA) != len(conflictsB) {
		t.Fatalf("%q %v one way, %q %v the other", a, conflictsA, b, conflictsB)
	}
	if got, conflicts := Merge3(base, ours, ours); len(conflicts) > 0 || !bytes.Equal(got, ours) {
		t.Fatalf("the same on both sides: %q %v", got, conflicts)
	}
}

// propMergeKeeps: with lines that are all unlike each other, a merge holds every line that either side put in and none
// that either took out.
func propMergeKeeps(t *rapid.T) {
	next := 0
	fresh := func() string {
		next++
		return fmt.Sprintf("line %d\n", next)
	}
	var base []string
	for range rapid.IntRange(0, 8).Draw(t, "lines") {
		base = append(base, fresh())
	}
	change := func(label string) []string {
		text := slices.Clone(base)
		for range rapid.IntRange(0, 3).Draw(t, label) {
			at := rapid.IntRange(0, len(text)).Draw(t, "at")
			drop := rapid.IntRange(0, min(2, len(text)-at)).Draw(t, "drop")
			var put []string
			for range rapid.IntRange(0, 2).Draw(t, "put") {
				put = append(put, fresh())
			}
			text = slices.Replace(text, at, at+drop, put...)
		}
		return text
	}
	ours, theirs := change("ours"), change("theirs")
	merged, conflicts := Merge3(join(base), join(ours), join(theirs))
	if len(conflicts) > 0 {
		return
	}
	got := splitText(merged)
	for _, side := range [][]string{ours, theirs} {
		for _, line := range side {
			if wanted := !slices.Contains(base, line) || slices.Contains(ours, line) && slices.Contains(theirs, line); wanted != slices.Contains(got, line) {
				t.Fatalf("%q: base %q, ours %q, theirs %q, merged %q", line, base, ours, theirs, got)
			}
		}
		order := slices.DeleteFunc(slices.Clone(side), func(line string) bool { return !slices.Contains(got, line) })
		of := slices.DeleteFunc(slices.Clone(got), func(line string) bool { return !slices.Contains(side, line) })
		if !slices.Equal(order, of) {
			t.Fatalf("order: base %q, ours %q, theirs %q, merged %q", base, ours, theirs, got)
		}
	}
}

func TestMergeKeepsBothSides(t *testing.T) { rapid.Check(t, propMergeKeeps) }

func TestMergeProperties(t *testing.T) { rapid.Check(t, propMerge) }
func FuzzMerge(f *testing.F)           { f.Fuzz(rapid.MakeFuzz(propMerge)) }

// propUndo takes an edit back, whole and hunk by hunk.
func propUndo(t *rapid.T) {
	before, after := []byte(fewLines(12).Draw(t, "before")), []byte(fewLines(12).Draw(t, "after"))
	if got, conflicts := Merge3(after, after, before); len(conflicts) > 0 || !bytes.Equal(got, before) {
		t.Fatalf("undo gives %q, conflicts %v", got, conflicts)
	}
	text := after
	for n := len(Diff(before, after).Hunks()) - 1; n >= 0; n-- {
		back, ok := RevertHunk(before, after, n)
		if !ok {
			t.Fatalf("no hunk %d", n)
		}
		merged, conflicts := Merge3(after, text, back)
		if len(conflicts) > 0 {
			t.Fatalf("hunk %d of %q → %q: conflicts %v in %q", n, before, after, conflicts, text)
		}
		text = merged
	}
	if !bytes.Equal(text, before) {
		t.Fatalf("all hunks undone: %q, want %q", text, before)
	}
	if _, ok := RevertHunk(before, after, len(Diff(before, after).Hunks())); ok {
		t.Fatal("a hunk too many")
	}
}

func TestUndoRestoresTheBytes(t *testing.T) { rapid.Check(t, propUndo) }
func FuzzUndo(f *testing.F)                 { f.Fuzz(rapid.MakeFuzz(propUndo)) }

func TestUndoKeepsWhatOthersDid(t *testing.T) {
	before, after := []byte("a\nb\nc\nd\ne\n"), []byte("a\nB\nB2\nc\nd\ne\n")
	now := []byte("top\na\nB\nB2\nc\nd\nE\n")
	merged, conflicts := Merge3(after, now, before)
	if len(conflicts) > 0 {
		t.Fatal(conflicts)
	}
	if diff := cmp.Diff("top\na\nb\nc\nd\nE\n", string(merged)); diff != "" {
		t.Error(diff)
	}
}
