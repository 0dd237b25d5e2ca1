package edit

import (
	"github.com/toold/toold/edit/lines"
)

// fitLines puts the replacement in the place of the whole lines that the search stands for. Lines that search and
// replacement share stay byte for byte as the file has them; the others take the file's indentation and endings.
func (d *doc) fitLines(w window, p place, f found) found {
	search := searchLines(f.search)
	n := len(search)
	s := span{w.from[p.at], w.from[p.at+n]}
	file := w.text[p.at : p.at+n]
	fresh := contents(lines.Split(d.unmarked(s.from, f.replace)))
	kept := align(search, fresh)
	fresh = d.reindent(p.rung, search, file, fresh, kept)
	f.match = p.rung.match
	f.notes = append(f.notes, differences(p.rung, w.start+p.at, search, file)...)
	f.patches = []patch{{s.from, s.to, d.joinLines(s, fresh, kept)}}
	return f
}

// joinLines gives whole lines the endings of the lines in s, which they replace. Where s ends without a newline so
// does the outcome: the shape of the file's last line is kept.
func (d *doc) joinLines(s span, fresh [][]byte, kept []int) []byte {
	old := lines.Split(d.body[s.from:s.to])
	endings := d.endings(s, old)
	open := len(old) > 0 && len(lines.Ending(old[len(old)-1])) == 0
	var out []byte
	for i, line := range fresh {
		out = append(out, line...)
		if i == len(fresh)-1 && open {
			break
		}
		e := endingFor([]byte("\n"), i, kept[i], endings)
		out = append(out, e...)
	}
	return out
}
