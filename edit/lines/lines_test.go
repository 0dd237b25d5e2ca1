package lines

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCount(t *testing.T) {
	for text, want := range map[string]int{
		"":                     0,
		"a":                    1,
		"a\n":                  1,
		"a\nb":                 2,
		"\n":                   1,
		"\n\n":                 2,
		"a\r\nb\r\n":           2,
		"a\rb\rc":              1,
		"a\fb\vc\u0085d\u2028": 1,
	} {
		if got := Count([]byte(text)); got != want {
			t.Errorf("Count(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestContentAndEnding(t *testing.T) {
	for _, c := range []struct{ line, content, ending string }{
		{"a\n", "a", "\n"},
		{"a\r\n", "a", "\r\n"},
		{"a\r\r\n", "a\r", "\r\n"},
		{"a\r", "a\r", ""},
		{"\n", "", "\n"},
		{"\r\n", "", "\r\n"},
		{"", "", ""},
	} {
		if got := string(Content([]byte(c.line))); got != c.content {
			t.Errorf("Content(%q) = %q, want %q", c.line, got, c.content)
		}
		if got := string(Ending([]byte(c.line))); got != c.ending {
			t.Errorf("Ending(%q) = %q, want %q", c.line, got, c.ending)
		}
	}
}

func TestSplitAgreesWithCountOffsetAndAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(rapid.StringOf(rapid.RuneFrom([]rune("ab\r\n\u2028"))).Draw(t, "text"))
		split := Split(b)
		if len(split) != Count(b) {
			t.Fatalf("%d lines, Count says %d", len(split), Count(b))
		}
		if diff := cmp.Diff(string(b), string(bytes.Join(split, nil))); diff != "" {
			t.Fatal(diff)
		}
		at := 0
		for i, line := range split {
			if got := Offset(b, i+1); got != at {
				t.Fatalf("Offset(%d) = %d, want %d", i+1, got, at)
			}
			if got := At(b, at); got != i+1 {
				t.Fatalf("At(%d) = %d, want %d", at, got, i+1)
			}
			from, to := Span(b, i+1, i+1)
			if from != at || to != at+len(line) {
				t.Fatalf("Span(%d) = %d-%d, want %d-%d", i+1, from, to, at, at+len(line))
			}
			at += len(line)
		}
	})
}
