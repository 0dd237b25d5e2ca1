package edit

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The reference ladder: the same steps written down the plain way, on strings.

func plainKeys() []func(string) string {
	trailing := func(s string) string { return strings.TrimRight(s, " \t") }
	outer := func(s string) string { return strings.Trim(s, " \t") }
	runs := func(s string) string {
		return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\t' }), " ")
	}
	none := strings.NewReplacer(" ", "", "\t", "").Replace
	alike := strings.NewReplacer("‘", "'", "’", "'", "\u00a0", " ").Replace
	fold := func(key func(string) string) func(string) string {
		return func(s string) string { return key(alike(s)) }
	}
	return []func(string) string{trailing, outer, runs, none, fold(trailing), fold(outer), fold(runs), fold(none)}
}

// plainPlaces gives the first step that finds the lines, and the indexes at which it does.
func plainPlaces(text, search []string) (step int, at []int) {
	blank := true
	for _, line := range search {
		blank = blank && plainKeys()[7](line) == ""
	}
	if blank {
		return -1, nil
	}
	for step, key := range plainKeys() {
		for i := 0; i+len(search) <= len(text); i++ {
			same := true
			for j, line := range search {
				same = same && key(text[i+j]) == key(line)
			}
			if same {
				at = append(at, i)
			}
		}
		if len(at) > 0 {
			return step, at
		}
	}
	return -1, nil
}

func plainLines(s string) []string {
	out := strings.Split(s, "\n")
	if out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	for i := range out {
		out[i] = strings.TrimSuffix(out[i], "\r")
	}
	return out
}

func propLadder(t *rapid.T) {
	text := aText("\n").Draw(t, "text")
	search := aSearch(text).Draw(t, "search")
	if strings.Contains(search, "‘") && rapid.Bool().Draw(t, "plain quotes") {
		search = strings.NewReplacer("‘", "'", "’", "'").Replace(search)
	}
	step, want := plainPlaces(plainLines(text), plainLines(search))
	d := open([]byte(text), true, Request{})
	places := wholeLines(d.window(d.whole()), searchLines(search), ladder())
	var got []int
	for _, p := range places {
		got = append(got, p.at)
		if p.rung != ladder()[step] {
			t.Fatalf("found on %v, not on step %d", p.rung, step)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("found at %v, not at %v", got, want)
	}
}

func TestLadder(t *testing.T) { rapid.Check(t, propLadder) }
func FuzzLadder(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propLadder)) }

func TestOccurrencesOverlap(t *testing.T) {
	for _, c := range []struct{ text, want []uint64 }{
		{[]uint64{1, 1, 1, 1}, []uint64{1, 1}},
		{[]uint64{1, 2, 1, 2, 1}, []uint64{1, 2, 1}},
		{[]uint64{1, 1, 2, 1, 1, 1, 2}, []uint64{1, 1, 2}},
		{[]uint64{1}, []uint64{1, 1}},
	} {
		var want []int
		for i := 0; i+len(c.want) <= len(c.text); i++ {
			if slices.Equal(c.text[i:i+len(c.want)], c.want) {
				want = append(want, i)
			}
		}
		if got := occurrences(c.text, c.want); !slices.Equal(got, want) {
			t.Errorf("%v in %v: %v, want %v", c.want, c.text, got, want)
		}
	}
}

func TestManyPlacesInARepetitiveText(t *testing.T) {
	text := strings.Repeat("\ta\n", 5000)
	_, err := Apply([]byte(text), true, Request{Path: "f", Search: strings.Repeat("  a\n", 100), Replace: "x"})
	if code(err) != Ambiguous || !strings.Contains(err.Error(), "4901 places") || !strings.Contains(err.Error(), "lines 1-100, 2-101") {
		t.Errorf("%v", err)
	}
	p, err := Apply([]byte(text+"\tb\n"+text), true, Request{Path: "f", Search: strings.Repeat("  a\n", 100) + "  b\n" + strings.Repeat("  a\n", 100), Replace: "x"})
	if err != nil || p.Hunks[0] != (Hunk{4901, 201, 4901, 1}) {
		t.Errorf("%v %v", p.Hunks, err)
	}
}
