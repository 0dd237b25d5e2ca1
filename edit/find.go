package edit

import (
	"fmt"
	"strings"

	"github.com/toold/toold/edit/lines"
)

// find looks for the request's search in the region, from the strictest way to the loosest().
func (d *doc) find(r region) (found, error) {
	if hits, match := d.exact(r, d.req.Search); len(hits) > 0 {
		return d.everywhere(hits, match), nil
	}
	w, f := d.window(r), found{search: d.req.Search, replace: d.req.Replace}
	if len(d.bom) > 0 && strings.HasPrefix(f.search, string(d.bom)) {
		f.search = f.search[len(d.bom):]
		w = w.firstLines(len(searchLines(f.search)))
	}
	places := wholeLines(w, searchLines(f.search), ladder())
	if len(places) == 0 {
		var err error
		if places, f, err = d.numbered(w, f); err != nil {
			return found{}, err
		}
	}
	switch {
	case len(places) == 0:
		return found{}, d.miss(r, w)
	case len(places) > 1:
		return found{}, d.ambiguous(w, places, f)
	}
	return d.fitLines(w, places[0], f), nil
}

// everywhere replaces every exact hit.
func (d *doc) everywhere(hits []span, match Match) found {
	f := found{match: match, search: d.req.Search, replace: d.req.Replace}
	for _, h := range hits {
		f.patches = append(f.patches, patch{h.from, h.to, d.fitEndings(h, d.unmarked(h.from, f.replace))})
	}
	return f
}

// unmarked drops a byte order mark from text that goes behind the file's own.
func (d *doc) unmarked(at int, text string) []byte {
	if at == 0 && len(d.bom) > 0 {
		text = strings.TrimPrefix(text, string(d.bom))
	}
	return []byte(text)
}

func searchLines(search string) [][]byte { return contents(lines.Split([]byte(search))) }

// numbered looks for a search whose lines all carry line numbers as read_file shows them.
func (d *doc) numbered(w window, f found) ([]place, found, error) {
	search, carried, total := stripNumbers(f.search)
	if carried == 0 || carried < total {
		return nil, f, nil
	}
	places := wholeLines(w, searchLines(search), append([]rung{{LineNumbers, allCount, false}}, ladder()...))
	if len(places) == 0 {
		return nil, f, nil
	}
	f.search = search
	f.notes = append(f.notes, "line numbers in front of the search removed")
	replace, carried, total := stripNumbers(f.replace)
	switch {
	case carried == 0:
	case carried < total:
		return nil, f, d.halfNumbered(carried, total)
	default:
		f.replace = replace
		f.notes[0] = "line numbers in front of the search and of the replacement removed"
	}
	for i := range places {
		places[i].rung.match = LineNumbers
	}
	return places, f, nil
}

func (d *doc) halfNumbered(carried, total int) *Error {
	return fail(InvalidArgument, "%s: every line of the search begins with a line number such as \"12| \", but only %s of "+
		"the replacement. Nothing was changed. Send both without line numbers.", d.req.Path, fmt.Sprintf("%d of %d lines", carried, total))
}
