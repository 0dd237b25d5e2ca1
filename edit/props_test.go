package edit

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toold/toold/edit/lines"
)

// aText draws a text of the kinds of lines that make edits go wrong: repeated ones, blanks of all sorts, any ending.
func aText(endings ...string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		words := []string{"", "a", "b", "a b", "a  b", "ab", "}", "‘a’", "'a'", "1| a", "caf\xe9", "é", "a\rb", "a\u2028b", "# T"}
		var out strings.Builder
		for range rapid.IntRange(0, 8).Draw(t, "lines") {
			out.WriteString(rapid.SampledFrom([]string{"", "", "\t", "  ", "    ", "\u00a0"}).Draw(t, "lead"))
			out.WriteString(rapid.SampledFrom(words).Draw(t, "words"))
			out.WriteString(rapid.SampledFrom([]string{"", "", "", " ", "\t"}).Draw(t, "trail"))
			out.WriteString(rapid.SampledFrom(endings).Draw(t, "ending"))
		}
		return out.String() + rapid.SampledFrom([]string{"", "", "a", "\tb"}).Draw(t, "open line")
	})
}

// aSearch draws something to look for: a piece of the text, with or without its blanks, or anything.
func aSearch(text string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		split := lines.Split([]byte(text))
		if len(split) == 0 || rapid.IntRange(0, 9).Draw(t, "any") == 0 {
			return aText("\n", "\r\n").Draw(t, "search")
		}
		from := rapid.IntRange(0, len(split)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(split)).Draw(t, "to")
		piece := string(bytes.Join(split[from:to], nil))
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			piece = strings.ReplaceAll(piece, "\t", "    ")
		case 1:
			piece = strings.TrimSuffix(piece, "\n")
		case 2:
			piece = strings.ReplaceAll(piece, " ", "")
		case 3:
			piece = strings.ReplaceAll(piece, "\r\n", "\n")
		case 4:
			piece = strings.TrimSpace(piece)
		}
		return piece
	})
}

func aRequest(t *rapid.T, text string) Request {
	req := Request{Path: "f.txt", Search: aSearch(text).Draw(t, "search"), Replace: aText("\n", "\r\n").Draw(t, "replace")}
	if rapid.IntRange(0, 3).Draw(t, "ranged") == 0 {
		start, end := rapid.IntRange(-1, 9).Draw(t, "start"), rapid.IntRange(-1, 12).Draw(t, "end")
		if rapid.Bool().Draw(t, "has start") {
			req.Start = &start
		}
		if rapid.Bool().Draw(t, "has end") {
			req.End = &end
		}
		if rapid.Bool().Draw(t, "no search") {
			req.Search = ""
		}
	}
	return req
}

// propApply holds every outcome to what it may be: a refusal has a known code, a text and no plan; an accepted edit
// changes no byte outside of its hunks, and the hunks lie inside the range.
func propApply(t *rapid.T) {
	text := aText("\n", "\n", "\r\n").Draw(t, "text")
	req := aRequest(t, text)
	req.Missed = rapid.Bool().Draw(t, "missed")
	if rapid.IntRange(0, 3).Draw(t, "follow") == 0 {
		req.Seen = &Seen{Text: []byte(aText("\n").Draw(t, "seen")), By: "B"}
	}
	if rapid.IntRange(0, 3).Draw(t, "history") == 0 {
		old := []byte(aText("\n").Draw(t, "old"))
		req.History = func() []Version { return []Version{{Text: old, By: "B", When: "14:02"}} }
	}
	before := []byte(text)
	p, err := Apply(before, true, req)
	if string(before) != text {
		t.Fatalf("the text before was written to")
	}
	if err != nil {
		e, ok := err.(*Error)
		if !ok || e.Code == "" || e.Text == "" || strings.Contains(e.Text, "%!") {
			t.Fatalf("refusal %#v", err)
		}
		if diff := cmp.Diff(Plan{}, p); diff != "" {
			t.Fatalf("refused, and yet a plan:\n%s", diff)
		}
		return
	}
	if p.Status == "" || strings.Contains(p.Status, "%!") {
		t.Fatalf("status %q", p.Status)
	}
	checkHunks(t, text, p)
	if len(p.Hunks) == 0 != (string(p.After) == text) {
		t.Fatalf("hunks %v for %q → %q", p.Hunks, text, p.After)
	}
	for _, h := range p.Hunks {
		end := p.End
		if req.Search != "" && !strings.HasSuffix(req.Replace, "\n") {
			end++ // taking the newline of the last line away joins the next one to it
		}
		if p.Start > 0 && p.End >= p.Start && (h.OldStart < p.Start || h.OldStart+h.OldLines-1 > end) {
			t.Fatalf("hunk %+v outside of %d-%d", h, p.Start, p.End)
		}
	}
}

func TestApplyTouchesNothingElse(t *testing.T) { rapid.Check(t, propApply) }
func FuzzApply(f *testing.F)                   { f.Fuzz(rapid.MakeFuzz(propApply)) }

// propBytes feeds Apply any bytes at all.
func FuzzApplyBytes(f *testing.F) {
	f.Add([]byte("a\nb\n"), "a", "b", 0, 0)
	f.Add([]byte("\ufeffa\r\nb"), "1| a", "\xff", 1, 9)
	f.Add([]byte("\ta  b\n\xe9"), " a b", "c\n", 0, 1)
	f.Fuzz(func(t *testing.T, before []byte, search, replace string, start, end int) {
		req := spot{search: search, replace: replace, start: start, end: end}.request()
		if p, err := Apply(before, true, req); err == nil {
			checkHunks(t, string(before), p)
		}
	})
}

// propEndings: a text in CRLF is edited as the same text in LF would be, whatever endings the request is written in.
func propEndings(t *rapid.T) {
	text := strings.ReplaceAll(aText("\n").Draw(t, "text"), "\r", "")
	req := aRequest(t, text)
	req.Search, req.Replace = strings.ReplaceAll(req.Search, "\r", ""), strings.ReplaceAll(req.Replace, "\r", "")
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	if !strings.Contains(text, "\n") {
		return // nothing tells the file's ending
	}
	want, errWant := Apply([]byte(text), true, req)
	if rapid.Bool().Draw(t, "CRLF request") {
		req.Search, req.Replace = crlf(req.Search), crlf(req.Replace)
	}
	got, errGot := Apply([]byte(crlf(text)), true, req)
	if code(errWant) == OversizedReplacement || code(errGot) == OversizedReplacement {
		return // bytes are counted as they are written
	}
	if code(errGot) != code(errWant) {
		t.Fatalf("LF: %v\nCRLF: %v", errWant, errGot)
	}
	if diff := cmp.Diff(crlf(string(want.After)), string(got.After)); diff != "" {
		t.Fatalf("CRLF differs (%s, %s):\n%s", want.Match, got.Match, diff)
	}
}

func code(err error) Code {
	if e, ok := err.(*Error); ok {
		return e.Code
	}
	return ""
}

func TestCRLFIsEditedLikeLF(t *testing.T) { rapid.Check(t, propEndings) }
func FuzzEndings(f *testing.F)            { f.Fuzz(rapid.MakeFuzz(propEndings)) }

// propMark: a byte order mark changes nothing about an edit and stays.
func propMark(t *rapid.T) {
	text := aText("\n", "\r\n").Draw(t, "text")
	req := aRequest(t, text)
	want, errWant := Apply([]byte(text), true, req)
	got, errGot := Apply([]byte(bom+text), true, req)
	if code(errGot) != code(errWant) {
		t.Fatalf("without: %v\nwith: %v", errWant, errGot)
	}
	if errWant == nil && string(got.After) != bom+string(want.After) {
		t.Fatalf("without %q, with %q", want.After, got.After)
	}
}

func TestMarkChangesNothing(t *testing.T) { rapid.Check(t, propMark) }

// propExact: where the search stands as given, the outcome is what replacing strings gives.
func propExact(t *rapid.T) {
	text := strings.ReplaceAll(aText("\n").Draw(t, "text"), "\r", "")
	search := strings.ReplaceAll(aSearch(text).Draw(t, "search"), "\r", "")
	replace := strings.ReplaceAll(aText("\n").Draw(t, "replace"), "\r", "")
	if search == "" || !strings.Contains(text, search) {
		return
	}
	p, err := Apply([]byte(text), true, Request{Path: "f", Search: search, Replace: replace})
	hits := strings.Count(text, search)
	switch {
	case hits > 1 && hits*len(replace) > len(text):
		if code(err) != OversizedReplacement {
			t.Fatalf("%d times %d bytes in %d: %v", hits, len(replace), len(text), err)
		}
	case err == nil:
		if want := strings.ReplaceAll(text, search, replace); want != string(p.After) {
			t.Fatalf("got %q, want %q", p.After, want)
		}
	case code(err) != DuplicatedDocument && code(err) != NotUTF8:
		t.Fatal(err)
	}
}

func TestExactIsReplaceAll(t *testing.T) { rapid.Check(t, propExact) }

// propRange: a range edit is the lines before it, the new ones, and the lines behind it.
func propRange(t *rapid.T) {
	text := strings.ReplaceAll(aText("\n").Draw(t, "text"), "\r", "")
	split := splitText([]byte(text))
	if len(split) < 2 {
		return
	}
	start := rapid.IntRange(1, len(split)).Draw(t, "start")
	end := rapid.IntRange(start, len(split)).Draw(t, "end")
	if start == 1 && end == len(split) {
		return
	}
	fresh := rapid.SliceOf(rapid.SampledFrom([]string{"x", "", "\ty ", "z"})).Draw(t, "new lines")
	replace := strings.Join(fresh, "\n")
	if len(fresh) > 0 && (fresh[len(fresh)-1] == "" || rapid.Bool().Draw(t, "closed")) {
		replace += "\n"
	}
	p, err := Apply([]byte(text), true, Request{Path: "f", Replace: replace, Start: &start, End: &end})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join(split[:start-1], "")
	for _, line := range fresh {
		want += line + "\n"
	}
	if len(fresh) > 0 && !strings.HasSuffix(split[end-1], "\n") {
		want = strings.TrimSuffix(want, "\n")
	}
	want += strings.Join(split[end:], "")
	if diff := cmp.Diff(want, string(p.After)); diff != "" {
		t.Fatal(diff)
	}
}

func TestRangeIsASplice(t *testing.T) { rapid.Check(t, propRange) }

// propSame: replacing a text by itself changes nothing, however it is found.
func propSame(t *rapid.T) {
	text := aText("\n", "\r\n").Draw(t, "text")
	search := aSearch(text).Draw(t, "search")
	p, err := Apply([]byte(text), true, Request{Path: "f", Search: search, Replace: search})
	if err == nil && search != "" && string(p.After) != text {
		t.Fatalf("%s: %q became %q", p.Match, text, p.After)
	}
	if err == nil && search != "" && p.Match != NoChange {
		t.Fatalf("match %q", p.Match)
	}
}

func TestReplacingByItselfChangesNothing(t *testing.T) { rapid.Check(t, propSame) }

// propTolerantIsExact: whole lines that stand exactly so come out the same when they are put in the tolerant way.
func propTolerantIsExact(t *rapid.T) {
	text := aText("\n", "\r\n").Draw(t, "text")
	split := lines.Split([]byte(text))
	if len(split) == 0 || !strings.HasSuffix(text, "\n") {
		return
	}
	from := rapid.IntRange(0, len(split)-1).Draw(t, "from")
	to := rapid.IntRange(from+1, len(split)).Draw(t, "to")
	search := string(bytes.Join(split[from:to], nil))
	replace := aText("\n", "\r\n").Draw(t, "replace")
	if replace != "" && !strings.HasSuffix(replace, "\n") {
		replace += "\n"
	}
	d := open([]byte(text), true, Request{Path: "f", Search: search, Replace: replace})
	all := region{start: 1, end: d.total, to: len(d.body)}
	at := len(bytes.Join(split[:from], nil))
	exact := d.patched([]patch{{at, at + len(search), d.fitEndings(span{at, at + len(search)}, []byte(replace))}})
	for _, g := range ladder() {
		f := d.fitLines(d.window(all), place{g, from}, found{search: search, replace: replace})
		if got := d.patched(f.patches); !bytes.Equal(exact, got) {
			t.Fatalf("%s: %q, exactly %q", g.match, got, exact)
		}
	}
}

func TestTolerantIsExactOnExactLines(t *testing.T) { rapid.Check(t, propTolerantIsExact) }

// nested is a block of lines, each at a level of nesting.
type nested []int

func (n nested) write(prefix, base, unit string) string {
	var b strings.Builder
	for i, level := range n {
		fmt.Fprintf(&b, "%s%s%s%d\n", base, strings.Repeat(unit, level), prefix, i)
	}
	return b.String()
}

// aBlock begins at level 0 and goes down one level at a time.
func aBlock(t *rapid.T, label string) nested {
	n := nested{0}
	for range rapid.IntRange(0, 6).Draw(t, label) {
		n = append(n, rapid.IntRange(0, n[len(n)-1]+1).Draw(t, label+" level"))
	}
	return n
}

// propNesting: a replacement written in the search's indentation comes out with the same nesting in the file's.
func propNesting(t *rapid.T) {
	units := rapid.SampledFrom([]string{"\t", "  ", "    ", "   "})
	fileUnit, callUnit := units.Draw(t, "file unit"), units.Draw(t, "call unit")
	fileBase := strings.Repeat(fileUnit, rapid.IntRange(0, 3).Draw(t, "file depth"))
	callBase := strings.Repeat(callUnit, rapid.IntRange(0, 3).Draw(t, "call depth"))
	old, fresh := aBlock(t, "old"), aBlock(t, "new")
	head := "top\n" + fileUnit + "in\n" + fileUnit + fileUnit + "deep\n" + fileUnit + "in\ntop\n"
	text := head + old.write("old", fileBase, fileUnit) + "end\n"
	p, err := Apply([]byte(text), true, Request{Path: "f", Search: old.write("old", callBase, callUnit), Replace: fresh.write("new", callBase, callUnit)})
	if err != nil {
		t.Fatal(err)
	}
	if p.Match == Exact {
		return
	}
	if diff := cmp.Diff(head+fresh.write("new", fileBase, fileUnit)+"end\n", string(p.After)); diff != "" {
		t.Fatalf("file %q at %q, call %q at %q:\n%s", fileUnit, fileBase, callUnit, callBase, diff)
	}
}

func TestNestingIsKept(t *testing.T) { rapid.Check(t, propNesting) }
func FuzzNesting(f *testing.F)       { f.Fuzz(rapid.MakeFuzz(propNesting)) }
