package guards

import (
	"bytes"
	"unicode/utf8"
)

const (
	stepBudget  = 3_000_000 // steps of all word by word comparisons of one survey
	byteBudget  = 2 << 20   // text that they look at
	gapBytes    = 256 << 10 // text of a gap that is compared as a whole
	maxDistance = 1000      // differing words that one comparison looks for
	blockUnits  = 32        // units of a block when a gap is too large to compare as a whole
	shortRun    = 12        // characters: a run of equal words this long has not met by chance
	nearRun     = 8         // a shorter one counts when what is new around it is at most this many times as long
	shortPart   = 3         // characters that the ends of two words must share to count
)

// word is a word or a mark with the blanks behind it.
type word struct {
	from, to int
	chars    int
	key      uint64
	unit     int // index of the unit that it is of
}

// comparer compares gaps word by word, with bounded work. A gap is given by the indices of its units on both sides.
type comparer struct {
	*survival
	steps, bytes int // what is left of the budgets
	a, b         []word
}

// compare compares one gap. One that is too large, or differs too much, is compared in blocks; when the budget is used
// up, unit by unit, by what they begin and end with.
func (c *comparer) compare(old, fresh []int32) {
	if length(c.old, old)+length(c.new, fresh) <= gapBytes && c.diff(old, fresh) {
		return
	}
	blocks := (len(old) + blockUnits - 1) / blockUnits
	for k := range blocks {
		o, f := share(old, k, blocks), share(fresh, k, blocks)
		if len(f) > 0 && !c.diff(o, f) {
			c.pair(o, f)
		}
	}
}

// share gives the k-th of n equal parts.
func share(all []int32, k, n int) []int32 { return all[k*len(all)/n : (k+1)*len(all)/n] }

// pair compares units one to one by what they begin and end with.
func (c *comparer) pair(old, fresh []int32) {
	for i, index := range old {
		o, f := c.old[index], c.new[fresh[i*len(fresh)/len(old)]]
		a, b := trimBlanks(c.before[o.from:o.to]), trimBlanks(c.after[f.from:f.to])
		if len(a) == 0 {
			continue
		}
		n := prefix(a, b)
		n += suffix(a[n:], b[n:])
		if n >= shortRun || 2*n >= len(a) {
			c.kept[index] += int(o.chars) * n / len(a)
		}
	}
}

func length(units []unit, indices []int32) int {
	n := 0
	for _, i := range indices {
		n += int(units[i].to - units[i].from)
	}
	return n
}

// words splits units into words.
func words(list []word, text []byte, units []unit, indices []int32) []word {
	list = list[:0]
	for _, i := range indices {
		u := units[i]
		for pos := int(u.from); pos < int(u.to); {
			w := word{from: pos, unit: int(i), key: hashSeed}
			pos = w.scan(text, pos, int(u.to))
			list = append(list, w)
		}
	}
	return list
}

// scan reads one word that begins at pos: blanks before it (at the beginning of a unit), its letters or its mark, and
// the blanks behind it.
func (w *word) scan(text []byte, pos, end int) int {
	pos = w.blanks(text, pos, end)
	kind := byte(0)
	for pos < end && text[pos] > ' ' {
		size := 1
		k := kindOf(text[pos])
		if k == wide {
			var r rune
			if r, size = utf8.DecodeRune(text[pos:end]); r < 0x2e80 {
				k = letter
			}
		}
		if kind != 0 && (k != kind || k == wide || k == mark && text[pos] != text[pos-1]) {
			break
		}
		kind = k
		for _, b := range text[pos : pos+size] {
			w.key = (w.key ^ uint64(b)) * hashPrime
		}
		w.chars++
		pos += size
	}
	pos = w.blanks(text, pos, end)
	w.to = pos
	return pos
}

func (w *word) blanks(text []byte, pos, end int) int {
	for pos < end && text[pos] <= ' ' {
		w.chars++
		pos++
	}
	return pos
}

// The hash is FNV-1a with 64 bits.
const (
	hashSeed  uint64 = 14695981039346656037
	hashPrime uint64 = 1099511628211
)

// The kinds of characters that make up words.
const (
	letter byte = iota + 1
	mark
	wide // a character of a script that sets no blanks is a word of its own
)

func kindOf(b byte) byte {
	switch {
	case b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_':
		return letter
	case b >= utf8.RuneSelf:
		return wide
	}
	return mark
}

// stretch is a run of equal words: a[a0:a1] and b[b0:b0+a1-a0].
type stretch struct{ a0, a1, b0 int }

// diff compares two sequences of units word by word and marks what survives. It gives up, and marks nothing, when they
// differ too much or a budget is used up.
func (c *comparer) diff(old, fresh []int32) bool {
	if c.bytes -= length(c.old, old) + length(c.new, fresh); c.bytes < 0 || c.steps < 0 {
		return false
	}
	c.a, c.b = words(c.a, c.before, c.old, old), words(c.b, c.after, c.new, fresh)
	a, b := c.a, c.b
	start, end := 0, 0
	for start < len(a) && start < len(b) && a[start].key == b[start].key {
		start++
	}
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end].key == b[len(b)-1-end].key {
		end++
	}
	runs := []stretch{{0, start, 0}}
	middle, ok := c.shortest(a[start:len(a)-end], b[start:len(b)-end])
	for _, r := range middle {
		runs = append(runs, stretch{r.a0 + start, r.a1 + start, r.b0 + start})
	}
	runs = append(runs, stretch{len(a) - end, len(a), len(b) - end})
	if !ok {
		return false
	}
	c.mark(a, b, runs)
	return true
}

// mark counts the characters of the runs as surviving, but for the short ones that stand alone between much that is
// new; between two runs it counts what the ends of the replaced text share.
func (c *comparer) mark(a, b []word, runs []stretch) {
	lastA, lastB := 0, 0
	for i, r := range runs {
		if i > 0 && i < len(runs)-1 && alone(a, b, runs, i) {
			continue
		}
		c.markEnds(a[lastA:r.a0], b[lastB:r.b0])
		for _, w := range a[r.a0:r.a1] {
			c.kept[w.unit] += w.chars
		}
		lastA, lastB = r.a1, r.b0+r.a1-r.a0
	}
}

// alone tells whether a run has most likely met by chance: a few characters amid much that is new.
func alone(a, b []word, runs []stretch, i int) bool {
	r, prev, next := runs[i], runs[i-1], runs[i+1]
	n := 0
	for _, w := range a[r.a0:r.a1] {
		n += w.chars
	}
	if n >= shortRun {
		return false
	}
	around := span(b[prev.b0+prev.a1-prev.a0:r.b0]) + span(b[r.b0+r.a1-r.a0:next.b0])
	return around > nearRun*n
}

func span(words []word) int {
	if len(words) == 0 {
		return 0
	}
	n := 0
	for _, w := range words {
		n += w.chars
	}
	return n
}

// markEnds counts what the beginnings and the ends of two replaced texts have in common.
func (c *comparer) markEnds(a, b []word) {
	old, fresh := spell(c.before, a), spell(c.after, b)
	n := 0
	for n < len(old) && n < len(fresh) && old[n] == fresh[n] {
		n++
	}
	old, fresh = old[n:], fresh[n:]
	m := 0
	for m < len(old) && m < len(fresh) && old[len(old)-1-m] == fresh[len(fresh)-1-m] {
		m++
	}
	if n >= shortPart {
		c.take(a, n)
	}
	if m >= shortPart {
		c.takeBack(a, m)
	}
}

// spell joins the text of words; within a unit they are adjacent.
func spell(text []byte, words []word) []byte {
	if len(words) == 0 {
		return nil
	}
	if first, last := words[0], words[len(words)-1]; first.unit == last.unit {
		return text[first.from:last.to]
	}
	var all [][]byte
	for _, w := range words {
		all = append(all, text[w.from:w.to])
	}
	return bytes.Join(all, nil)
}

// take counts the first n bytes of words as surviving.
func (c *comparer) take(words []word, n int) {
	for _, w := range words {
		if n <= 0 {
			return
		}
		c.kept[w.unit] += w.part(n)
		n -= w.to - w.from
	}
}

// takeBack counts the last n bytes of words as surviving.
func (c *comparer) takeBack(words []word, n int) {
	for i := len(words) - 1; i >= 0 && n > 0; i-- {
		c.kept[words[i].unit] += words[i].part(n)
		n -= words[i].to - words[i].from
	}
}

// part gives how many of a word's characters n of its bytes are.
func (w word) part(n int) int {
	size := w.to - w.from
	return w.chars * min(n, size) / size
}
