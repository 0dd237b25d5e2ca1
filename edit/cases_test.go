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
	match           Match
	code            Code // the refusal, when it is not
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
		{name: "everywhere", before: "ab cd ab ef ab gh\n", search: "ab", replace: "xy", after: "xy cd xy ef xy gh\n", match: Exact},
	})
}
