package edit

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toold/toold/edit/lines"
)

// maxListed is how many line numbers a message lists before it counts the rest.
const maxListed = 10

func itoa(n int) string { return strconv.Itoa(n) }

// span1 writes the lines start to end as a person would.
func span1(start, end int) string {
	if end <= start {
		return itoa(start)
	}
	return itoa(start) + "-" + itoa(end)
}

func linesWord(start, end int) string {
	if end <= start {
		return "line " + itoa(start)
	}
	return "lines " + span1(start, end)
}

// at puts a time behind a sentence: a clock time, or words such as "a moment ago".
func at(when string) string {
	switch {
	case when == "":
		return ""
	case when[0] >= '0' && when[0] <= '9':
		return " at " + when
	}
	return " " + when
}

// describe writes the status of an edit that changes something.
func (d *doc) describe(p *Plan, r region, f found) {
	var s string
	switch {
	case p.Match == Create && !d.existed:
		s = fmt.Sprintf("Created %s: %s.", d.req.Path, plural(p.Lines, "line"))
	case p.Match == Create:
		s = fmt.Sprintf("Edited %s: the empty file now has %s.", d.req.Path, plural(p.Lines, "line"))
	case p.Match == WholeFile:
		s = fmt.Sprintf("Edited %s: whole file replaced, %s.", d.req.Path, change(Hunk{1, d.total, 1, p.Lines}))
	case p.Match == Range:
		s = d.summary("range replaced", p)
	default:
		s = d.summary(plural(p.Count, "replacement"), p)
	}
	p.Notes = append(p.Notes, r.notes...)
	p.Notes = append(p.Notes, d.matchNotes(f)...)
	p.Notes = append(p.Notes, d.joined(f)...)
	p.Status = withNotes(s, p.Notes)
}

// summary tells where the edit landed and what that did to the lines behind it.
func (d *doc) summary(what string, p *Plan) string {
	list := make([]string, 0, maxListed)
	for _, h := range p.Hunks[:min(len(p.Hunks), maxListed)] {
		list = append(list, strings.TrimPrefix(strings.TrimPrefix(change(h), "line "), "lines "))
	}
	where := change(p.Hunks[0])
	if len(p.Hunks) > 1 {
		where = lineList(list, len(p.Hunks))
	}
	shift := ""
	if by := p.Lines - d.total; by != 0 {
		shift = fmt.Sprintf("; later lines %+d", by)
		if len(p.Hunks) > 1 {
			shift = fmt.Sprintf("; %+d lines in all", by)
		}
	}
	return fmt.Sprintf("Edited %s: %s, %s%s (%s).", d.req.Path, what, where, shift, plural(p.Lines, "line"))
}

// change writes one hunk: "line 4", "lines 10-12 → 10-15", "lines 4-5 removed".
func change(h Hunk) string {
	old := linesWord(h.OldStart, h.OldStart+h.OldLines-1)
	switch {
	case h.NewLines == 0:
		return old + " removed"
	case h.NewLines == h.OldLines && h.NewStart == h.OldStart:
		return old
	}
	return old + " → " + span1(h.NewStart, h.NewStart+h.NewLines-1)
}

func withNotes(s string, notes []string) string {
	for _, n := range notes {
		r, size := utf8.DecodeRuneInString(n)
		s += " " + string(unicode.ToUpper(r)) + n[size:] + "."
	}
	return s
}

func (d *doc) describeNoChange(p *Plan, r region, f found) {
	where := ""
	if len(f.patches) > 0 && d.total > 0 {
		from := lines.At(d.body, f.patches[0].from)
		where = " (" + linesWord(from, from+max(countLines([]byte(f.search)), 1)-1) + ")"
	}
	p.Notes = append(p.Notes, r.notes...)
	if f.replace != f.search && strings.Contains(f.search+f.replace, "\r\n") {
		p.Notes = append(p.Notes, "line endings stay as the file has them; to change them, send the whole file with write_file")
	}
	p.Status = withNotes(fmt.Sprintf("%s: no change, the text already reads so%s.", d.req.Path, where), p.Notes)
}

// matchNotes tells what a tolerant hit overlooked, and hits that lie inside a longer word.
func (d *doc) matchNotes(f found) []string {
	var out []string
	switch f.match {
	case Exact, LineEndings, Range, WholeFile, Create:
	default:
		out = append(out, "not an exact match ("+string(f.match)+"): "+strings.Join(f.notes, "; "))
	}
	if f.match != Exact && f.match != LineEndings {
		return out
	}
	return append(out, d.insideWords(f)...)
}

// insideWords names the hits that are part of a longer identifier.
func (d *doc) insideWords(f found) []string {
	var hits []string
	total := 0
	for _, p := range f.patches {
		word := d.wordAround(p.from, p.to)
		if word == "" {
			continue
		}
		if total++; total <= maxListed {
			hits = append(hits, fmt.Sprintf("line %d (%s)", lines.At(d.body, p.from), clip(word, 40)))
		}
	}
	if total == 0 {
		return nil
	}
	s := "inside a longer word: " + strings.Join(hits, ", ")
	if total > len(hits) {
		s += fmt.Sprintf(" and %d more", total-len(hits))
	}
	return []string{s}
}

// wordAround gives the identifier that the bytes from..to are a part of, or "" when they stand alone.
func (d *doc) wordAround(from, to int) string {
	a, b := from, to
	for first, _ := utf8.DecodeRune(d.body[from:]); isWord(first) && a > 0; {
		r, size := utf8.DecodeLastRune(d.body[:a])
		if !isWord(r) {
			break
		}
		a -= size
	}
	for last, _ := utf8.DecodeLastRune(d.body[:to]); isWord(last) && b < len(d.body); {
		r, size := utf8.DecodeRune(d.body[b:])
		if !isWord(r) {
			break
		}
		b += size
	}
	if a == from && b == to {
		return ""
	}
	return string(d.body[a:b])
}

func isWord(r rune) bool {
	return r == '_' || r == '$' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// joined tells when an exact replacement glued two lines together, left a blank line behind, or took the CR of a CRLF.
func (d *doc) joined(f found) []string {
	if f.match != Exact && f.match != LineEndings {
		return nil
	}
	for _, p := range f.patches {
		if bytes.HasSuffix(d.body[:p.to], []byte("\r")) && bytes.HasPrefix(d.body[p.to:], []byte("\n")) && !bytes.HasSuffix(p.text, []byte("\r")) {
			return []string{fmt.Sprintf("the search ended with the CR of a CRLF and the replacement does not: line %d ended with CRLF and now ends with LF", lines.At(d.body, p.to))}
		}
		had, has := bytes.HasSuffix(d.body[:p.to], []byte("\n")), bytes.HasSuffix(p.text, []byte("\n"))
		switch {
		case had && !has && len(p.text) > 0 && p.to < len(d.body):
			return []string{fmt.Sprintf("the search ended with a newline and the replacement does not: line %d now goes on with what was line %d",
				lines.At(d.body, p.from), lines.At(d.body, p.to))}
		case has && !had && len(lines.Content(firstLine(d.body[p.to:]))) == 0 && p.to < len(d.body):
			return []string{"the replacement ended with a newline and the search did not: a blank line follows it now"}
		}
	}
	return nil
}

func firstLine(b []byte) []byte {
	line, _ := lines.Cut(b)
	return line
}

// clip shortens s to n characters.
func clip(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}
