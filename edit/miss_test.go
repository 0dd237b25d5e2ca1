package edit

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func missText(t *testing.T, before string, req Request) *Error {
	t.Helper()
	req.Path = "f.txt"
	_, err := Apply([]byte(before), true, req)
	e, ok := err.(*Error)
	if !ok || e.Code != NoMatch {
		t.Fatalf("no miss: %v", err)
	}
	return e
}

func TestNearestLine(t *testing.T) {
	filler := strings.Repeat("some other line\n}\n\n", 30)
	for _, c := range []struct {
		name, before, search string
		line                 int
	}{
		{"a letter off", filler + "total := price + tax\n" + filler, "total := price + tix", 91},
		{"letter case", filler + "SELECT * FROM users\n" + filler, "select * from users", 91},
		{"accents", filler + "cre\u0300me bru\u0302le\u0301e\n" + filler, "crème brûlée", 91},
		{"second line of three", filler + "one(1)\ntwo(2)\nthree(3)\n" + filler, "one(1)\ntwo(22)\nthree(3)\n", 92},
		{"first line of three", filler + "one(1)\ntwo(2)\nthree(3)\n" + filler, "one(11)\ntwo(2)\nthree(3)\n", 91},
		{"indentation aside", filler + "\tone(1)\n\ttwo(2)\n" + filler, "one(1)\nthree(3)", 92},
		{"part of a line", filler + "before total := 1 after\n" + filler, "total  :=  1", 91},
		{"common lines tell little", "}\n\nx\n" + filler + "}\n\nrare(1)\n" + filler, "}\n\nrare(1)\nrare(2)\n", 97},
		{"past the end", "a(1)\nb(2)\n", "a(1)\nb(2)\nc(3)\n", 2},
		{"in front of the first line", "bbbb(2)\ncccc(3)\n", "aaaa(1)\nbbbb(2)\ncccc(3)\n", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if e := missText(t, c.before, Request{Search: c.search}); e.Line != c.line {
				t.Errorf("line %d, want %d: %s", e.Line, c.line, e.Text)
			}
		})
	}
}

func TestMissSays(t *testing.T) {
	start, end := 2, 3
	for _, c := range []struct {
		name, before string
		req          Request
		says         string
	}{
		{"that the file is empty", "", Request{Search: "a"}, "The file is empty."},
		{"how to replace everything when the search is half the file", "abcd\nefgh\n", Request{Search: "abcx\n"}, "start_line 1, end_line 2"},
		{"which bytes are no text", "caf\xe9 = 1\n", Request{Search: "caf\ufffd = 1"}, "the byte 0xE9, which is no UTF-8 where"},
		{"which lines are left out", "a(1)\nb(2)\nc(3)\nd(4)\n", Request{Search: "a(1)\nd(4)"}, "The search leaves out lines 2-3 of the file, which begins with \"b(2)\""},
		{"which lines are too many", "a(1)\nd(4)\n", Request{Search: "a(1)\nb(2)\nd(4)"}, "Before line 2 of the file the search has line 2, which begins with \"b(2)\""},
		{"that the file has entities undone", "if a < b {\n", Request{Search: "if a &lt; b {"}, "without the entities such as &lt;"},
		{"that blanks match exactly only", "a\nb\n", Request{Search: "\u00a0\n\t"}, "only is never matched tolerantly"},
		{"nothing about a mark that both have", "\ufeffalpha\nb\n", Request{Search: "\ufeffalphx\nb"}, "The file has \"a\" where the search has \"x\"."},
		{"which range was searched", "k\nl\nm\n", Request{Search: "xyz", Start: &start, End: &end}, "was not found in lines 2-3."},
		{"that the replacement is there, in other blanks", "\tnew(1)\n", Request{Search: "old(1)", Replace: "    new(1)"}, "Your replacement is already there (line 1)."},
	} {
		t.Run(c.name, func(t *testing.T) {
			if e := missText(t, c.before, c.req); !strings.Contains(e.Text, c.says) {
				t.Errorf("%q does not say %q", e.Text, c.says)
			}
		})
	}
}

func TestMissKnowsWhoTookTheTextAway(t *testing.T) {
	version := func(text, by, when string) Version { return Version{Text: []byte(text), By: by, When: when} }
	for _, c := range []struct {
		name, now, search string
		history           []Version
		says              string
	}{
		{"the last change", "a\nB\n", "b\n", []Version{version("a\nb\n", "B", "14:02")}, "That text was there until B's edit at 14:02; it now reads:\n2| B\n"},
		{"an older one", "x\na\nB\n", "b\n", []Version{version("a\nB\n", "C", "14:03"), version("a\nb\n", "B", "14:02")}, "until B's edit at 14:02; it now reads:\n3| B\n"},
		{"in other blanks", "a\nC\n", "    b", []Version{version("a\n\tb\n", "B", "14:02")}, "until B's edit at 14:02; it now reads:\n2| C\n"},
		{"deleted", "a\nc\n", "b\n", []Version{version("a\nb\nc\n", "B", "14:02")}, "until B's edit at 14:02; its lines are gone now."},
		{"an outside program", "a\nC\n", "b\n", []Version{version("a\nb\n", "", "")}, "until an edit; it now reads:\n2| C\n"},
		{"never there", "alpha\n", "alphx", []Version{version("alpha\n", "B", "14:02")}, "The nearest is line 1"},
		{"no versions", "alpha\n", "alphx", nil, "The nearest is line 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := missText(t, c.now, Request{Search: c.search, History: func() []Version { return c.history }})
			if !strings.Contains(e.Text+"\n", c.says) {
				t.Errorf("%q does not say %q", e.Text, c.says)
			}
		})
	}
}

func TestHistoryIsAskedForOnlyAfterAMiss(t *testing.T) {
	asked := func() []Version { t.Error("asked"); return nil }
	if _, err := Apply([]byte("a\n\tb\n"), true, Request{Path: "f", Search: "    b", Replace: "c", History: asked}); err != nil {
		t.Fatal(err)
	}
}

func TestSecondMissShowsForty(t *testing.T) {
	var before strings.Builder
	for n := 1; n <= 100; n++ {
		fmt.Fprintf(&before, "line number %d\n", n)
	}
	for search, first := range map[string]int{"line number 50x": 30, "line number 1x": 1, "line number 100x": 61, "qqqqqq": 1} {
		e := missText(t, before.String(), Request{Search: search, Missed: true})
		want := fmt.Sprintf("\nLines %d-%d of 100:\n%d| line number %d\n", first, first+39, first, first)
		if !strings.Contains(e.Text, want) || !strings.HasSuffix(e.Text, fmt.Sprintf("%d| line number %d", first+39, first+39)) {
			t.Errorf("%s: no %q in %q", search, want, e.Text)
		}
	}
}

func TestMessagesStaySmall(t *testing.T) {
	long := strings.Repeat("minified(); ", 100_000)
	for name, before := range map[string]string{
		"one line":         long,
		"many lines":       strings.Repeat(long[:5000]+"\n", 200),
		"no blanks at all": strings.Repeat("a", 1_000_000),
	} {
		for _, search := range []string{long[:3000] + "x", strings.Repeat("a", 5000) + "b", "minified() ;", strings.Repeat("nothing\n", 5000)} {
			req := Request{Search: search, Missed: true, History: func() []Version { return []Version{{Text: []byte(search), By: "B"}} }}
			if e := missText(t, before, req); len(e.Text) > 60_000 {
				t.Errorf("%s: %d bytes", name, len(e.Text))
			}
		}
	}
}

func TestVisible(t *testing.T) {
	for _, c := range []struct {
		line   string
		point  int
		text   string
		column int
	}{
		{"\t a b  c ", 3, "→·a b··c·", 3},
		{"a\u00a0b", 3, "a<U+00A0>b", 9},
		{"a\rb", 3, "a<U+000D>b", 10},
		{"\xe9", 1, "<0xE9>", 6},
		{"", 0, "", 0},
		{"é", 2, "é", 1},
		{strings.Repeat("a", 200), 100, "…" + strings.Repeat("a", 160) + "…", 81},
	} {
		text, column := visible([]byte(c.line), c.point)
		if text != c.text || column != c.column {
			t.Errorf("visible(%q, %d) = %q, %d", c.line, c.point, text, column)
		}
	}
}

func TestLikelyEncoding(t *testing.T) {
	for text, want := range map[string]string{
		"caf\xe9":         "ISO-8859-1 (Latin-1)",
		"\x93caf\xe9\x94": "Windows-1252",
		"é é é \xe9":      "UTF-8 with damaged bytes",
	} {
		if got := likelyEncoding([]byte(text)); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	if at := firstInvalid(bytes.Repeat([]byte("é"), 3)); at != 6 {
		t.Errorf("valid text is invalid at %d", at)
	}
}
