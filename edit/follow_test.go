package edit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRangeFollowsTheChangesOfOthers(t *testing.T) {
	for _, c := range []struct {
		name, seen, now string
		search, replace string
		start, end      int
		after           string
		code            Code
		says            string
	}{
		{name: "lines added above", seen: "a\nb\nc\n", now: "a\nx\ny\nb\nc\n", replace: "C", start: 3, end: 3, after: "a\nx\ny\nb\nC\n", says: "Line 3 is now 5 (B added 2 above at 14:02)."},
		{name: "lines removed above", seen: "a\nb\nc\nd\n", now: "c\nd\n", replace: "C\nD", start: 3, end: 4, after: "C\nD\n", says: "Lines 3-4 are now 1-2 (B removed 2 above at 14:02)."},
		{name: "lines added below", seen: "a\nb\nc\n", now: "a\nb\nc\nx\n", replace: "A", start: 1, end: 1, after: "A\nb\nc\nx\n"},
		{name: "added right in front", seen: "a\nb\n", now: "a\nx\nb\n", replace: "B", start: 2, end: 2, after: "a\nx\nB\n"},
		{name: "added right behind", seen: "a\nb\nc\n", now: "a\nb\nx\nc\n", replace: "B", start: 2, end: 2, after: "a\nB\nx\nc\n"},
		{name: "added inside", seen: "a\nb\nc\n", now: "a\nb\nx\nc\n", replace: "B", start: 2, end: 3, code: Stale, says: "2| b\n3| x\n4| c"},
		{name: "the line itself changed", seen: "a\nb\nc\n", now: "a\nB!\nc\n", replace: "bb", start: 2, end: 2, code: Stale, says: "line 2 was changed by B at 14:02"},
		{name: "and says what it is now", seen: "a\nb\nc\n", now: "x\na\nB!\nc\n", replace: "bb", start: 2, end: 2, code: Stale, says: "3| B!"},
		{name: "the line is gone", seen: "a\nb\nc\n", now: "a\nc\n", replace: "bb", start: 2, end: 2, code: Stale, says: "Nothing is left of it"},
		{name: "only endings changed", seen: "a\nb\nc\n", now: "x\r\na\r\nb\r\nc\r\n", replace: "B", start: 2, end: 2, after: "x\r\na\r\nB\r\nc\r\n"},
		{name: "whole file, lines added at the end", seen: "a\nb\n", now: "a\nb\nx\n", replace: "c\n", start: 1, end: 2, after: "c\nx\n", says: "Line 3, added below by B at 14:02, kept."},
		{name: "past the end, lines added at the end", seen: "a\nb\n", now: "a\nb\nx\n", replace: "c\n", start: 1, end: 9, after: "c\nx\n", says: "The given end_line 9 is past the end and was taken as 2."},
		{name: "whole file, nothing else changed", seen: "a\nb\n", now: "a\nb\n", replace: "c", start: 1, end: 2, after: "c"},
		{name: "whole file, a line changed", seen: "a\nb\n", now: "a\nB\n", replace: "c\n", start: 1, end: 2, code: Stale},
		{name: "an open last line was closed and added to", seen: "a\nb", now: "a\nb\nc", replace: "B", start: 2, end: 2, after: "a\nB\nc"},
		{name: "a number that the seen version does not have", seen: "a\n", now: "a\nb\nc\n", replace: "C", start: 3, end: 3, after: "a\nb\nC\n"},
		{name: "all lines gone", seen: "a\nb\n", now: "", replace: "x", start: 1, end: 1, code: Stale},
		{name: "seen empty", seen: "", now: "a\nb\n", replace: "B", start: 2, end: 2, after: "a\nB\n"},
		{name: "search in a moved range", seen: "k\nk\nk\n", now: "x\nk\nk\nk\n", search: "k", replace: "v", start: 2, end: 2, after: "x\nk\nv\nk\n", says: "Line 2 is now 3 (B added 1 above at 14:02)."},
		{name: "search in a range that changed", seen: "a\nb\nc\n", now: "a\nb!\nb\nc\n", search: "c", replace: "C", start: 2, end: 3, after: "a\nb!\nb\nC\n"},
		{name: "search from a line to the end", seen: "a\nb\n", now: "x\na\nb\nb2\n", search: "b", replace: "v", start: 2, after: "x\na\nv\nv2\n"},
		{name: "search to the end of a shorter file", seen: "a\nb\nc\nd\n", now: "a\nd\n", search: "d", replace: "v", start: 2, after: "a\nv\n"},
		{name: "search without a range", seen: "top\nmid\nend\n", now: "top\nmid\nEND\n", search: "top", replace: "TOP", after: "TOP\nmid\nEND\n"},
		{name: "behind a mark", seen: "\ufeffa\nb\n", now: "\ufeffx\na\nb\n", replace: "A", start: 1, end: 1, after: "\ufeffx\nA\nb\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := spot{search: c.search, replace: c.replace, start: c.start, end: c.end}.request()
			req.Seen = &Seen{Text: []byte(c.seen), By: "B", When: "14:02"}
			p, err := Apply([]byte(c.now), true, req)
			said := p.Status
			if c.code != "" {
				wantRefusal(t, p, err, c.code)
				said = err.Error()
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.after, string(p.After)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if !strings.Contains(said, c.says) {
				t.Errorf("%q does not say %q", said, c.says)
			}
		})
	}
}

func TestApplyAllCountsLinesOfTheTextBeforeIt(t *testing.T) {
	at := func(start, end int, replace string) Request {
		return spot{replace: replace, start: start, end: end}.request()
	}
	before := []byte("a\nb\nc\nd\n")
	plans, err := ApplyAll(before, true, []Request{at(1, 1, "A\nA2"), at(3, 3, "C"), {Path: "f.txt", Search: "d", Replace: "D"}, at(4, 4, "E")})
	if err == nil {
		t.Fatalf("the fourth edit replaces a line that the third has changed, and was accepted: %q", plans[3].After)
	}
	if want := "edit 4 of 4: "; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%q does not begin with %q", err, want)
	}
	plans, err = ApplyAll(before, true, []Request{at(1, 1, "A\nA2"), at(3, 3, "C"), {Path: "f.txt", Search: "d", Replace: "D"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("A\nA2\nb\nC\nD\n", string(plans[2].After)); diff != "" {
		t.Error(diff)
	}
	if string(before) != "a\nb\nc\nd\n" {
		t.Errorf("the text before was written to: %q", before)
	}
}

func TestApplyAllCreatesAndEdits(t *testing.T) {
	plans, err := ApplyAll(nil, false, []Request{{Path: "f", Replace: "a\nb\n"}, {Path: "f", Search: "b", Replace: "c"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("a\nc\n", string(plans[1].After)); diff != "" {
		t.Error(diff)
	}
}
