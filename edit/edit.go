// Package edit turns a text and a request to change it into a new text and an account of what changed. It is pure: no
// files, no clock. Bytes that the request does not reach are never decoded, never re-encoded and never touched, and a
// request that does not say clearly what it means is refused with the reason and the way out; it never guesses.
package edit

import "bytes"

// Request is one edit as an agent asks for it.
type Request struct {
	Path    string // as messages name the file
	Search  string // the text to find; empty replaces the range, or creates the file
	Replace string // the text to put in its place, taken literally
	Start   *int   // 1-based first line of the range, nil when not given
	End     *int   // 1-based last line, nil when not given

	// Seen is the version whose line numbers the agent knows, when somebody else has changed the file since. Nil means
	// that the numbers are those of the text being edited.
	Seen *Seen
	// History gives what the file held before its recent changes, newest first. It is called only when the search is
	// not found. May be nil.
	History func() []Version
	// Missed says that the agent's last edit of this path was not found either; the message then shows the lines.
	Missed bool
}

// Seen is a version of a file that an agent has looked at and that somebody changed afterwards.
type Seen struct {
	Text []byte
	By   string // who changed it since, such as "B"
	When string // when, such as "14:02"
}

// Version is what a file held before one change.
type Version struct {
	Text []byte // the whole text before the change
	By   string // who made the change
	When string // when, such as "14:02"
}

// Match is the word that says how the place to edit was found.
type Match string

// The ways to find a place, from the strictest on.
const (
	Exact          Match = "exact"           // the search as given
	LineEndings    Match = "line-endings"    // exact, but for LF against CRLF
	TrailingBlanks Match = "trailing-blanks" // whole lines, but for blanks at their ends
	Indentation    Match = "indentation"     // and at their beginnings
	Spacing        Match = "spacing"         // and the length of the runs of blanks inside
	NoBlanks       Match = "no-blanks"       // all blanks removed
	LookAlikes     Match = "look-alikes"     // quotes, dashes and spaces that look alike taken as the same
	LineNumbers    Match = "line-numbers"    // the "12| " in front of each line of the search removed
	Range          Match = "range"           // the lines of the range, with an empty search
	WholeFile      Match = "whole-file"      // a range of all lines, with an empty search
	Create         Match = "create"          // the file was missing or empty
	NoChange       Match = "no-change"       // the file already reads so
)

// Plan is the outcome of an accepted request.
type Plan struct {
	After  []byte   // the whole new text
	Match  Match    // how the place was found
	Hunks  []Hunk   // the lines that are replaced, in order; empty when nothing changes
	Count  int      // the number of places replaced
	Start  int      // the first line of the range that was edited or searched, after clamping and following; 0 for none
	End    int      // its last line
	Lines  int      // the number of lines of After
	Status string   // what the agent reads, a whole sentence or several
	Notes  []string // the sentences of Status after the first
}

// Hunk says that OldLines lines from OldStart on were replaced by NewLines lines from NewStart on. Numbers are 1-based;
// with no old (or new) lines, the start is the line before which they were put (or taken away).
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
}

// Apply works out what req makes of before. The error is an [*Error] that says why it is refused and what to do
// instead; then there is no plan.
func Apply(before []byte, existed bool, req Request) (Plan, error) {
	d := open(before, existed, req)
	if name := wideEncoding(before); name != "" {
		return Plan{}, d.refuseWide(name)
	}
	r, err := d.region()
	if err != nil {
		return Plan{}, err
	}
	if req.Search == "" {
		return d.fill(r)
	}
	if !existed {
		return Plan{}, fail(NotFound, "%s does not exist. To create it, send an empty search and its whole content as replace.", req.Path)
	}
	f, err := d.find(r)
	if err != nil {
		return Plan{}, err
	}
	if err := d.checkGrowth(r, f); err != nil {
		return Plan{}, err
	}
	return d.plan(r, f)
}

// bom is the byte order mark.
const bom = "\ufeff"

// doc is the text being edited, with the byte order mark set aside.
type doc struct {
	req     Request
	existed bool
	bom     []byte
	body    []byte
	total   int  // lines of body
	crlf    bool // body holds at least one CRLF
}

func open(before []byte, existed bool, req Request) *doc {
	d := &doc{req: req, existed: existed, body: before}
	if bytes.HasPrefix(before, []byte(bom)) {
		d.bom, d.body = before[:len(bom)], before[len(bom):]
	}
	d.total = countLines(d.body)
	d.crlf = indexCRLF(d.body) >= 0
	return d
}

// patch replaces the bytes from..to of the body by text.
type patch struct {
	from, to int
	text     []byte
}

// found is where an edit goes and what it writes there.
type found struct {
	match   Match
	patches []patch
	search  string   // as it was matched
	replace string   // as it is written, before it is fitted in
	notes   []string // what differed
}
