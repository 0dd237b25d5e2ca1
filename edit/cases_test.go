package edit

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// spot is one edit of one text and what must come of it.
type spot struct {
	name            string
	before          string
	missing         bool // the file does not exist
	search, replace string
	start, end      int    // 0: not given
	after           string // the outcome, when it is accepted
	match           Match  // how the place was found; "" when that does not matter
	code            Code   // the refusal, when it is not accepted
}

func (c spot) request() Request {
	r := Request{Path: "f.txt", Search: c.search, Replace: c.replace}
	if c.start != 0 {
		r.Start = &c.start
	}
	if c.end != 0 {
		r.End = &c.end
	}
	return r
}

func runSpots(t *testing.T, spots []spot) {
	t.Helper()
	for _, c := range spots {
		t.Run(c.name, func(t *testing.T) {
			p, err := Apply([]byte(c.before), !c.missing, c.request())
			if c.code != "" {
				wantRefusal(t, p, err, c.code)
				return
			}
			if err != nil {
				t.Fatalf("refused: %v", err)
			}
			if diff := cmp.Diff(c.after, string(p.After)); diff != "" {
				t.Fatalf("text (-want +got):\n%s\n%s", diff, p.Status)
			}
			if c.match != "" && p.Match != c.match {
				t.Errorf("match %q, want %q", p.Match, c.match)
			}
			checkHunks(t, c.before, p)
		})
	}
}

func wantRefusal(t *testing.T, p Plan, err error, code Code) {
	t.Helper()
	var refusal *Error
	if !errors.As(err, &refusal) {
		t.Fatalf("accepted: %q, error %v", p.After, err)
	}
	if refusal.Code != code {
		t.Errorf("code %q, want %q: %s", refusal.Code, code, refusal.Text)
	}
	if diff := cmp.Diff(Plan{}, p); diff != "" {
		t.Errorf("a refused edit has a plan:\n%s", diff)
	}
}

func TestExact(t *testing.T) {
	runSpots(t, []spot{
		{name: "part of a line", before: "one two\nthree\n", search: "two", replace: "2", after: "one 2\nthree\n", match: Exact},
		{name: "no newline at the end", before: "one\ntwo", search: "two", replace: "2", after: "one\n2", match: Exact},
		{name: "newline added at the end as given", before: "one\ntwo", search: "two", replace: "2\n", after: "one\n2\n", match: Exact},
		{name: "newline taken from the end as given", before: "one\ntwo\n", search: "two\n", replace: "2", after: "one\n2", match: Exact},
		{name: "deletion is literal", before: "x\ny\nz\n", search: "y", replace: "", after: "x\n\nz\n"},
		{name: "deletion of a whole line", before: "x\ny\nz\n", search: "y\n", replace: "", after: "x\nz\n"},
		{name: "deletion of the last line", before: "x\ny", search: "\ny", replace: "", after: "x"},
		{name: "several lines to one", before: "call(\n\tx,\n)\n", search: "call(\n\tx,\n)", replace: "call(x)", after: "call(x)\n"},
		{name: "no new indentation", before: "\t\tf(x)\n", search: "f(x)", replace: "f(x)\nf(y)", after: "\t\tf(x)\nf(y)\n"},
		{name: "runs of blank lines", before: "top\n\n\n\nend\n", search: "top\n\n\n\nend", replace: "top\nend", after: "top\nend\n"},
		{name: "wins over a twin with other blanks", before: "for {\n\tgo()\n}\nfor {\n    go()\n}\n", search: "for {\n    go()\n}", replace: "go()", after: "for {\n\tgo()\n}\ngo()\n", match: Exact},
		{name: "letter case counts", before: "Alpha\n", search: "alpha", replace: "x", code: NoMatch},
		{name: "form feed, NEL and line separator are text", before: "a\f\u0085\u2028b\n", search: "\f\u0085\u2028", replace: "-", after: "a-b\n"},
		{name: "zero bytes are text", before: "a\x00b\n", search: "\x00", replace: "0", after: "a0b\n"},
		{name: "overlapping occurrences are taken from the left", before: "aaaa a long enough rest\n", search: "aaa", replace: "b", after: "ba a long enough rest\n"},
		{name: "search longer than the file", before: "ab\n", search: "ab\ncd\nef\n", replace: "x", code: NoMatch},
		{name: "the whole file as search", before: "ab\ncd\n", search: "ab\ncd\n", replace: "x\n", after: "x\n"},
		{name: "to nothing", before: "ab\n", search: "ab\n", replace: "", after: ""},
	})
}

func TestLiteral(t *testing.T) {
	for _, s := range []string{"$1", "$&", "$'x' `$`", `\1\g<0>`, `\n\t`, "&", "&lt;&amp;", "100%d %s %!", "{{.X}}", "${HOME}", "$$", `"`, "\\", "\x01", "%n", "`", "<b>"} {
		runSpots(t, []spot{
			{name: "exact " + s, before: "k = OLD\nrest = keep\n", search: "OLD", replace: s, after: "k = " + s + "\nrest = keep\n"},
			{name: "tolerant " + s, before: "\tOLD\nrest\n", search: "  OLD", replace: "  " + s, after: "\t" + s + "\nrest\n"},
			{name: "range " + s, before: "a\nb\nc\n", replace: s, start: 2, end: 2, after: "a\n" + s + "\nc\n"},
			{name: "searched " + s, before: "k(" + s + ")\nrest = keep\n", search: "(" + s + ")", replace: "()", after: "k()\nrest = keep\n"},
		})
	}
}

func TestEverywhere(t *testing.T) {
	runSpots(t, []spot{
		{name: "all of them", before: "ab cd ab ef ab gh\n", search: "ab", replace: "xy", after: "xy cd xy ef xy gh\n"},
		{name: "as much as the file is allowed", before: "k=1\nk=1\n", search: "k=1", replace: "k=22", after: "k=22\nk=22\n"},
		{name: "one byte more is refused", before: "k=1\nk=1", search: "k=1", replace: "k=22", code: OversizedReplacement},
		{name: "a document for every bullet", before: "# D\n- x\n- y\n", search: "- ", replace: "# D\n- x\n- y\n", code: OversizedReplacement},
		{name: "the mark does not count", before: "\ufeffk=1\nk=1", search: "k=1", replace: "k=22", code: OversizedReplacement},
		{name: "endings count as they are written", before: "k\r\nk\r\n", search: "k\n", replace: "a\nb\n", code: OversizedReplacement},
		{name: "and fit when they just do", before: "kk\r\nkk\r\n", search: "kk", replace: "abcd", after: "abcd\r\nabcd\r\n"},
		{name: "the range is the measure", before: "v\nv\na long line of other text\n", search: "v", replace: "www", start: 1, end: 2, code: OversizedReplacement},
		{name: "replacement holds the search", before: "id id and quite some more words\n", search: "id", replace: "idid", after: "idid idid and quite some more words\n"},
		{name: "everywhere in the range only", before: "v\nv\nv\nv\n", search: "v", replace: "w", start: 2, end: 3, after: "v\nw\nw\nv\n"},
		{name: "deleted everywhere", before: "a-b-c\n", search: "-", replace: "", after: "abc\n"},
		{name: "across CRLF", before: "a\r\nb\r\n--\r\na\r\nb\r\n----------\r\n", search: "a\nb\n", replace: "A\nB\n", after: "A\r\nB\r\n--\r\nA\r\nB\r\n----------\r\n", match: LineEndings},
		{name: "as given wins over the other ending", before: "a\nb\n--------\na\r\nb\r\n", search: "a\nb", replace: "X\nY", after: "X\nY\n--------\na\r\nb\r\n", match: Exact},
	})
}

func TestDuplicatedDocument(t *testing.T) {
	const doc = "# Guide\n\nold text\n"
	runSpots(t, []spot{
		{name: "four lines for one", before: doc, search: "# Guide", replace: "# Guide\n1\n2\n3", after: "# Guide\n1\n2\n3\n\nold text\n"},
		{name: "five lines for one", before: doc, search: "# Guide", replace: "# Guide\n1\n2\n3\n4", code: DuplicatedDocument},
		{name: "a final newline starts no line", before: doc, search: "# Guide\n", replace: "# Guide\n1\n2\n3\n", after: "# Guide\n1\n2\n3\n\nold text\n"},
		{name: "found elsewhere", before: doc, search: "old text", replace: "# Guide\n1\n2\n3\n4", code: DuplicatedDocument},
		{name: "found by indentation", before: doc, search: "\told text", replace: "# Guide\n1\n2\n3\n4", code: DuplicatedDocument},
		{name: "found by line number", before: doc, search: "1| # Guide", replace: "1| # Guide\n2| 1\n3| 2\n4| 3\n5| 4", code: DuplicatedDocument},
		{name: "in a range", before: doc, search: "old", replace: "# Guide\n1\n2\n3\n4", start: 3, end: 3, code: DuplicatedDocument},
		{name: "behind a mark", before: "\ufeff" + doc, search: "# Guide", replace: "# Guide\n1\n2\n3\n4", code: DuplicatedDocument},
		{name: "mark in the replacement", before: "\ufeff" + doc, search: "# Guide", replace: "\ufeff# Guide\n1\n2\n3\n4", code: DuplicatedDocument},
		{name: "with CRLF", before: "# Guide\r\n\r\nold text\r\n", search: "# Guide", replace: "# Guide\n1\n2\n3\n4", code: DuplicatedDocument},
		{name: "another first line", before: doc, search: "# Guide", replace: "# Guides\n1\n2\n3\n4", after: "# Guides\n1\n2\n3\n4\n\nold text\n"},
		{name: "blank first line", before: "\nbody\n", search: "body", replace: "\n1\n2\n3\n4", after: "\n\n1\n2\n3\n4\n"},
		{name: "first line of blanks", before: "  \nbody\n", search: "body", replace: "  \n1\n2\n3\n4", after: "  \n  \n1\n2\n3\n4\n"},
		{name: "the range form is not asked", before: doc, replace: "# Guide\n1\n2\n3\n4", start: 1, end: 1, after: "# Guide\n1\n2\n3\n4\n\nold text\n"},
		{name: "a long search", before: "a\nb\nc\n", search: "a\nb\n", replace: "a\n1\n2\n3\n4\n5\n6\nb\n", after: "a\n1\n2\n3\n4\n5\n6\nb\nc\n"},
	})
}

func TestNewlinesOnly(t *testing.T) {
	runSpots(t, []spot{
		{name: "two to one", before: "a\n\nb\n", search: "\n\n", replace: "\n", after: "a\nb\n", match: Exact},
		{name: "three hold one pair", before: "a\n\n\nb\n", search: "\n\n", replace: "\n", after: "a\n\nb\n"},
		{name: "in CRLF", before: "a\r\n\r\nb\r\n", search: "\n\n", replace: "\n", after: "a\r\nb\r\n", match: LineEndings},
		{name: "CRLF as given", before: "a\r\n\r\nb\r\n", search: "\r\n\r\n", replace: "\n", after: "a\r\nb\r\n", match: Exact},
		{name: "one newline everywhere", before: "a\nb\n", search: "\n", replace: "", after: "ab"},
		{name: "one newline in CRLF takes the CR along", before: "a\r\nb\r\n", search: "\n", replace: "", after: "ab"},
		{name: "not there", before: "a\nb\n", search: "\n\n\n", replace: "\n", code: NoMatch},
		{name: "blanks between are no match", before: "a\n \nb\n", search: "\n\n", replace: "\n", code: NoMatch},
		{name: "blank search exactly there", before: "a    b\n", search: "    ", replace: " ", after: "a b\n"},
		{name: "blank search not there", before: "a\nb\n", search: "    ", replace: "x", code: NoMatch},
		{name: "look-alike blank search not there", before: "a b\n", search: "\u00a0", replace: "x", code: NoMatch},
		{name: "blank lines never match tolerantly", before: "a\n\t\nb\n", search: "    \n", replace: "x\n", code: NoMatch},
		{name: "opening newline in CRLF", before: "a\r\nb\r\nc\r\n", search: "\nb", replace: "", after: "a\r\nc\r\n"},
		{name: "opening newline, replaced by more", before: "a\r\nb\r\nc\r\n", search: "\nb", replace: "\nx\ny", after: "a\r\nx\r\ny\r\nc\r\n"},
	})
}
