package edit

import (
	"fmt"
	"strings"

	"github.com/toold/toold/edit/lines"
)

// miss explains that the search is nowhere in the region: what comes nearest and in what it differs, and what else is
// known about where the text went.
func (d *doc) miss(r region, w window) *Error {
	m := missing{doc: d, r: r, w: w, search: searchLines(string(d.unmarked(0, d.req.Search)))}
	where := ""
	if r.given {
		where = " in " + linesWord(r.start, r.end)
	}
	m.say("%s: the search (%s) was not found%s. Nothing was changed.", d.req.Path, plural(len(m.search), "line"), where)
	switch {
	case d.total == 0:
		m.say(" The file is empty.")
	case blankText(m.search):
		m.say(" A search of blanks or newlines only is never matched tolerantly; it must stand in the file exactly so.")
	default:
		m.explain()
	}
	if d.total == 0 || 2*len(d.req.Search) >= len(d.body) {
		m.say(d.wholeFileForm())
	}
	return &Error{Code: NoMatch, Text: strings.TrimSpace(m.text.String()), Line: m.line}
}

// missing gathers the message about a search that was not found.
type missing struct {
	doc    *doc
	r      region
	w      window
	search [][]byte
	text   strings.Builder
	line   int // the line the message is about
}

// say adds a sentence; behind shown lines it begins a line.
func (m *missing) say(format string, args ...any) {
	if strings.HasSuffix(m.text.String(), "\n") {
		format = strings.TrimPrefix(format, " ")
	}
	fmt.Fprintf(&m.text, format, args...)
}

func (m *missing) explain() {
	outside := m.outside()
	gone := !outside && m.gone()
	m.replaced()
	if !outside && !gone && !m.escaped() {
		m.nearest()
	}
	if m.doc.req.Missed {
		m.around()
	}
}

// outside tells that the text is there, but not inside the range.
func (m *missing) outside() bool {
	if !m.r.given {
		return false
	}
	s, ok := locate(m.doc.body, m.doc.req.Search)
	if !ok {
		return false
	}
	m.line = s.OldStart
	end := s.OldStart + s.OldLines - 1
	if s.OldStart <= m.r.end && end >= m.r.start {
		m.say(" It is found at %s, of which the range covers only a part.", linesWord(s.OldStart, end))
	} else {
		m.say(" It is found, but outside the range: %s.", linesWord(s.OldStart, end))
	}
	return true
}

// locate gives the lines of the first place where the search stands in body, exactly or else tolerantly.
func locate(body []byte, search string) (Hunk, bool) {
	d := open(body, true, Request{Search: search})
	if h, ok := d.locateExact(); ok {
		return h, true
	}
	return d.locateTolerant()
}

func (d *doc) locateExact() (Hunk, bool) {
	hits, _ := d.exact(d.whole(), d.req.Search)
	if len(hits) == 0 {
		return Hunk{}, false
	}
	h := hits[0]
	return Hunk{OldStart: lines.At(d.body, h.from), OldLines: countLines(d.body[lineStart(d.body, h.from):h.to])}, true
}

func (d *doc) locateTolerant() (Hunk, bool) {
	want := searchLines(d.req.Search)
	places := wholeLines(d.window(d.whole()), want, ladder())
	if len(places) == 0 {
		return Hunk{}, false
	}
	return Hunk{OldStart: places[0].at + 1, OldLines: len(want)}, true
}

// gone tells which change took the text away and what stands in its place.
func (m *missing) gone() bool {
	if m.doc.req.History == nil {
		return false
	}
	v, s, ok := lastWith(m.doc.req.History(), m.doc.req.Search)
	if !ok {
		return false
	}
	start, end, _ := Diff(v.Text, m.doc.text()).Rebase(s.OldStart, s.OldStart+s.OldLines-1)
	m.line = min(max(start, 1), m.doc.total)
	m.say(" That text was there until %s%s;", edits(v.By), at(v.When))
	if end < start {
		m.say(" its lines are gone now.")
	} else {
		m.say(" it now reads:\n%s", m.doc.numberedLines(start, min(end, start+maxRows-1)))
	}
	return true
}

// tolerantVersions is how many of the last versions are searched tolerantly, which takes longer.
const tolerantVersions = 5

// lastWith gives the newest version that has the text, and where.
func lastWith(versions []Version, search string) (Version, Hunk, bool) {
	docs := make([]*doc, len(versions))
	for i, v := range versions {
		docs[i] = open(v.Text, true, Request{Search: search})
		if h, ok := docs[i].locateExact(); ok {
			return v, h, true
		}
	}
	for i, d := range docs[:min(len(docs), tolerantVersions)] {
		if h, ok := d.locateTolerant(); ok {
			return versions[i], h, true
		}
	}
	return Version{}, Hunk{}, false
}

func edits(by string) string {
	if by == "" {
		return "an edit"
	}
	return by + "'s edit"
}

// replaced tells that the replacement is in the file already. One that is a part of the search tells nothing by that.
func (m *missing) replaced() {
	text := strings.TrimSpace(m.doc.req.Replace)
	if len(text) < 3 || strings.Contains(m.doc.req.Search, text) {
		return
	}
	places := wholeLines(m.doc.window(m.doc.whole()), searchLines(m.doc.req.Replace), ladder()[:2])
	if len(places) == 0 {
		return
	}
	n := places[0].at + 1
	if m.line == 0 {
		m.line = n
	}
	m.say(" Your replacement is already there (%s).", linesWord(n, n+countLines([]byte(m.doc.req.Replace))-1))
}

// escaped tells that the search would be found if its backslash escapes or entities were undone.
func (m *missing) escaped() bool {
	for _, u := range []struct {
		what string
		undo *strings.Replacer
	}{
		{"backslash escapes such as \\n or \\\"", strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\'`, `'`, `\\`, `\`)},
		{"entities such as &lt;", strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'", "&amp;", "&")},
	} {
		undone := u.undo.Replace(m.doc.req.Search)
		if undone == m.doc.req.Search || undone == "" {
			continue
		}
		if s, ok := locate(m.doc.body, undone); ok {
			m.say(" It would match %s without the %s in it: send the text as it stands in the file, in the replacement too.",
				linesWord(s.OldStart, s.OldStart+s.OldLines-1), u.what)
			m.line = s.OldStart
			return true
		}
	}
	return false
}

// nearest shows in what the nearest lines differ from the search's.
func (m *missing) nearest() {
	n, ok := nearest(m.w.text, m.search)
	if !ok {
		m.say(" No line resembles it.")
		return
	}
	m.line = min(m.w.start+n.at, m.doc.total)
	switch {
	case n.have == 0 && n.at == len(m.w.text):
		text, _ := visible(m.search[n.search], 0)
		m.say(" It matches up to line %d and then goes on past the end: line %d of the search is %q.", m.line, n.search+1, text)
	case n.have == 0:
		m.say(" Before line %d of the file the search has %s, %s, and the file does not.", m.line, linesWord(n.search+1, n.search+n.want), opening(m.search[n.search]))
	case n.want == 0:
		m.say(" The search leaves out %s of the file, %s.", linesWord(m.w.start+n.at, m.w.start+n.at+n.have-1), opening(m.w.text[n.at]))
	default:
		m.compare(n, m.w.text[n.at], m.search[n.search])
	}
	if n.want > 0 && isGap(m.search[n.search]) {
		m.say("\nAn ellipsis in the search stands for itself; send the whole text, or several edits.")
	}
}

// opening shows how a run of lines begins.
func opening(line []byte) string {
	if len(line) == 0 {
		return "which begins with a blank line"
	}
	text, _ := visible(line, 0)
	return fmt.Sprintf("which begins with \"%s\" (· is a space, → a tab)", text)
}

// isGap says whether a line of a search seems to stand for others.
func isGap(line []byte) bool {
	s := strings.TrimSpace(string(line))
	return isElision(s) || s != "" && strings.Trim(s, ".…") == ""
}

// compare puts the two lines under each other and points at the first difference.
func (m *missing) compare(n near, have, want []byte) {
	start, i, j := difference(have, want)
	what := fmt.Sprintf("The nearest is line %d, against line %d of the search", m.w.start+n.at, n.search+1)
	if j == len(want) && len(m.search) == 1 {
		what = fmt.Sprintf("Line %d holds it but for blanks or look-alike characters, and a part of a line must match exactly", m.w.start+n.at)
		i, j = literal(have, want[skipBlanks(want, 0):], start)
		j += skipBlanks(want, 0)
	}
	file, a := visible(have, i)
	search, b := visible(want, j)
	m.say(" %s (· is a space, → a tab):\n", what)
	m.say("  file:   %s\n", file)
	if a != b {
		m.say("          %s^\n", strings.Repeat(" ", a))
	}
	m.say("  search: %s\n          %s^\n", search, strings.Repeat(" ", b))
	codes := !plain(have, i) || !plain(want, j)
	m.say("The file has %s where the search has %s.", charAt(have, i, codes), charAt(want, j, codes))
	if composedAlike(have, want) {
		m.say(" The two are the same letters, composed in one and decomposed in the other.")
	}
}

// maxRows is how many lines a message shows at most.
const maxRows = 40

// around shows the lines around the nearest place, as read_file would.
func (m *missing) around() {
	start := max(1, min(m.line-maxRows/2, m.doc.total-maxRows+1))
	end := min(m.doc.total, start+maxRows-1)
	if !strings.HasSuffix(m.text.String(), "\n") {
		m.say("\n")
	}
	m.say("Lines %d-%d of %d:\n%s", start, end, m.doc.total, m.doc.numberedLines(start, end))
}

// numberedLines shows lines as read_file does, long ones cut.
func (d *doc) numberedLines(start, end int) string {
	from, to := lines.Span(d.body, start, end)
	var out strings.Builder
	for i, line := range lines.Split(d.body[from:to]) {
		fmt.Fprintf(&out, "%d| %s\n", start+i, clip(string(lines.Content(line)), 3*maxShown))
	}
	return out.String()
}
