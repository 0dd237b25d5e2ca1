package edit

import (
	"bytes"
	"hash/maphash"
	"strings"

	"github.com/toold/toold/edit/lines"
)

// window is the lines of a region of the body.
type window struct {
	start int      // the number of its first line
	text  [][]byte // its lines without their endings
	from  []int    // the offset of each line in the body, and of what follows the last
}

func (d *doc) window(r region) window {
	split := lines.Split(d.body[r.from:r.to])
	w := window{start: r.start, text: contents(split), from: make([]int, len(split)+1)}
	at := r.from
	for i, line := range split {
		w.from[i] = at
		at += len(line)
	}
	w.from[len(split)] = at
	return w
}

// firstLines confines a window to the first n lines of the file, where a search that opens with the byte order mark
// must stand.
func (w window) firstLines(n int) window {
	if w.start > 1 {
		n = 0
	}
	n = min(n, len(w.text))
	return window{start: w.start, text: w.text[:n], from: w.from[:n+1]}
}

// place is where whole lines of the search stand in a window.
type place struct {
	rung rung
	at   int // index of the first line in the window
}

// wholeLines looks for the search as whole lines on each rung in turn. It gives the places of the first rung that
// finds any.
func wholeLines(w window, search [][]byte, rungs []rung) []place {
	if blankText(search) || len(search) > len(w.text) {
		return nil
	}
	seed := maphash.MakeSeed()
	candidates := occurrences(loosest().hashes(seed, w.text), loosest().hashes(seed, search))
	for _, g := range rungs {
		if len(candidates) == 0 {
			return nil
		}
		if out := g.places(w, search, candidates); len(out) > 0 {
			return out
		}
	}
	return nil
}

// places gives those of the candidates at which the search stands on this rung. Where there are very many, in a text
// that repeats itself, hashes sift them first.
func (g rung) places(w window, search [][]byte, candidates []int) []place {
	sifted := len(candidates)*len(search) > 2*len(w.text)
	if sifted {
		seed := maphash.MakeSeed()
		candidates = occurrences(g.hashes(seed, w.text), g.hashes(seed, search))
	}
	var out []place
	for _, at := range candidates {
		// Past the first few, which decide whether there is one place, the hash is trusted.
		if sifted && len(out) > maxListed || g.same(w.text[at:at+len(search)], search) {
			out = append(out, place{g, at})
		}
	}
	return out
}

// same compares lines by their keys, so that no hash has to be trusted.
func (g rung) same(a, b [][]byte) bool {
	var x, y []byte
	for i := range a {
		x, y = g.key(x[:0], a[i]), g.key(y[:0], b[i])
		if !bytes.Equal(x, y) {
			return false
		}
	}
	return true
}

// blankText says whether there is nothing but blanks to look for, counting look-alike spaces as blanks.
func blankText(text [][]byte) bool {
	for _, line := range text {
		if !loosest().blank(line) {
			return false
		}
	}
	return true
}

// occurrences gives every index at which want stands in text, overlapping ones too (Knuth, Morris, Pratt).
func occurrences(text, want []uint64) []int {
	back := make([]int, len(want)+1)
	for i, k := 1, 0; i < len(want); i++ {
		for k > 0 && want[i] != want[k] {
			k = back[k]
		}
		if want[i] == want[k] {
			k++
		}
		back[i+1] = k
	}
	var out []int
	k := 0
	for i, h := range text {
		for k > 0 && (k == len(want) || h != want[k]) {
			k = back[k]
		}
		if h == want[k] {
			k++
		}
		if k == len(want) {
			out = append(out, i-k+1)
		}
	}
	return out
}

// stripNumbers takes the "12| " that read_file puts in front of lines off each line. It says how many lines carried
// one.
func stripNumbers(text string) (stripped string, carried, total int) {
	var out strings.Builder
	for _, line := range lines.Split([]byte(text)) {
		total++
		rest, ok := cutNumber(string(line))
		if ok {
			carried++
		}
		out.WriteString(rest)
	}
	return out.String(), carried, total
}

func cutNumber(line string) (rest string, ok bool) {
	s := strings.TrimLeft(line, " \t")
	digits := strings.TrimLeft(s, "0123456789")
	bar, found := strings.CutPrefix(digits, "|")
	if len(digits) == len(s) || !found {
		return line, false
	}
	if rest, ok := strings.CutPrefix(bar, " "); ok {
		return rest, true
	}
	if bar == "" || bar[0] == '\n' || bar[0] == '\r' {
		return bar, true
	}
	return line, false
}
