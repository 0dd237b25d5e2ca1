package edit

import (
	"bytes"

	"github.com/toold/toold/edit/lines"
)

// fill handles an empty search: the range is replaced, or a missing or empty file gets its content.
func (d *doc) fill(r region) (Plan, error) {
	if d.total == 0 {
		text := d.unmarked(0, d.req.Replace)
		return d.plan(r, found{match: Create, replace: d.req.Replace, patches: []patch{{0, 0, text}}})
	}
	if !r.given {
		return Plan{}, fail(InvalidArgument, "%s exists and has %s: an empty search says nothing about where to edit. Nothing was changed. "+
			"To change a part, send the text to find as search, or the lines to replace as start_line and end_line.%s",
			d.req.Path, plural(d.total, "line"), d.wholeFileForm())
	}
	s := span{r.from, r.to}
	text := d.unmarked(s.from, d.req.Replace)
	f := found{match: Range, replace: d.req.Replace}
	if r.start == 1 && r.end == d.total && !r.part {
		f.match = WholeFile
		f.patches = []patch{{s.from, s.to, d.fitEndings(s, text)}}
		return d.plan(r, f)
	}
	fresh := contents(lines.Split(text))
	kept := align(contents(lines.Split(d.body[s.from:s.to])), fresh)
	f.patches = []patch{{s.from, s.to, d.joinLines(s, fresh, kept)}}
	return d.plan(r, f)
}

// plan carries out the patches and accounts for them.
func (d *doc) plan(r region, f found) (Plan, error) {
	after := d.patched(f.patches)
	p := Plan{After: after, Match: f.match, Count: len(f.patches), Lines: countLines(after[len(d.bom):])}
	if r.given {
		p.Start, p.End = r.start, r.end
	}
	if d.existed && bytes.Equal(after[len(d.bom):], d.body) {
		p.Match, p.Hunks, p.Count = NoChange, nil, 0
		d.describeNoChange(&p, r, f)
		return p, nil
	}
	if err := d.checkEncoding(f); err != nil {
		return Plan{}, err
	}
	p.Hunks = d.hunks(f.patches)
	d.describe(&p, r, f)
	return p, nil
}

// patched gives the whole new text.
func (d *doc) patched(patches []patch) []byte {
	size := len(d.bom) + len(d.body)
	for _, p := range patches {
		size += len(p.text) - (p.to - p.from)
	}
	out := make([]byte, 0, size)
	out = append(out, d.bom...)
	at := 0
	for _, p := range patches {
		out = append(out, d.body[at:p.from]...)
		out = append(out, p.text...)
		at = p.to
	}
	return append(out, d.body[at:]...)
}

// hunks gives the whole lines that the patches replace. Patches of one line make one hunk.
func (d *doc) hunks(patches []patch) []Hunk {
	var out []Hunk
	line, seen, delta := 1, 0, 0 // the line that begins at byte seen; how far the new numbers are ahead
	for i := 0; i < len(patches); {
		from := lineStart(d.body, patches[i].from)
		text := bytes.Clone(d.body[from:patches[i].from])
		at := patches[i].from
		for {
			text = append(append(text, d.body[at:patches[i].from]...), patches[i].text...)
			at = patches[i].to
			i++
			if end := d.hunkEnd(from, at, text); i == len(patches) || patches[i].from >= end {
				text = append(text, d.body[at:end]...)
				at = end
				break
			}
		}
		line += bytes.Count(d.body[seen:from], []byte{'\n'})
		h := Hunk{OldStart: line, OldLines: countLines(d.body[from:at]), NewStart: line + delta, NewLines: countLines(text)}
		seen = from
		delta += h.NewLines - h.OldLines
		out = append(out, h)
	}
	return out
}

// hunkEnd gives where the last line ends that a hunk from from, replaced up to at by text, takes part in.
func (d *doc) hunkEnd(from, at int, text []byte) int {
	whole := at == from || d.body[at-1] == '\n'
	if whole && (len(text) == 0 || text[len(text)-1] == '\n') {
		return at
	}
	if i := bytes.IndexByte(d.body[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(d.body)
}

func lineStart(b []byte, at int) int { return bytes.LastIndexByte(b[:at], '\n') + 1 }

// checkGrowth refuses what would put the document into itself.
func (d *doc) checkGrowth(r region, f found) error {
	if len(f.patches) > 1 {
		size := 0
		for _, p := range f.patches {
			size += len(p.text)
		}
		if size > r.to-r.from {
			return d.oversized(r, f, size)
		}
		return nil
	}
	first, _ := lines.Cut(d.body)
	first = lines.Content(first)
	if len(bytes.TrimSpace(first)) == 0 || !opensWith(d.unmarked(0, f.replace), first) && !opensWith(f.patches[0].text, first) {
		return nil
	}
	if countLines([]byte(f.replace)) > 4*countLines([]byte(f.search)) {
		return d.duplicated(f)
	}
	return nil
}

func opensWith(text, line []byte) bool {
	opening, _ := lines.Cut(text)
	return bytes.Equal(lines.Content(opening), line)
}
