package guards

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/toold/toold/edit/lines"
)

const (
	longLine  = 256  // longer lines are cut into units
	shortUnit = 48   // at marks, but not shorter than this
	longUnit  = 1024 // and not longer than this
)

// survival is what of an old text is still there in a new one.
type survival struct {
	before, after []byte
	old, new      []unit // of the part that differs: what both begin and end with, in whole lines, is left out
	lines         int    // of the old text
	chars         int    // of the old text
	same          int    // characters of what both begin and end with
	kept          []int  // characters of each old unit that survive
}

// unit is a line, or a part of a long one.
type unit struct {
	from, to int32 // offsets in the text
	line     int32 // counted from 1
	chars    int32
	key      uint64 // equal for units that differ in the blanks around them only
}

// survey compares two texts in three steps: units that are somewhere in the new text survive as a whole; those that
// are unique and keep their order are anchors; and what lies changed between two anchors is compared word by word.
func survey(before, after []byte) *survival {
	bom := []byte("\xef\xbb\xbf")
	before, after = bytes.TrimPrefix(before, bom), bytes.TrimPrefix(after, bom)
	s := &survival{before: before, after: after, lines: lines.Count(before)}
	count := counter(before)
	s.chars = count(before)
	head, tail := common(before, after)
	old, fresh := before[head:len(before)-tail], after[head:len(after)-tail]
	s.same = s.chars - count(old)
	seed := maphash.MakeSeed()
	s.old = units(old, head, lines.Count(before[:head]), count, seed)
	s.new = units(fresh, head, 0, counter(after), seed)
	s.kept = make([]int, len(s.old))
	match, unique := s.matchUnits()
	for i, j := range match {
		if j >= 0 {
			s.kept[i] = int(s.old[i].chars)
		}
	}
	s.compareGaps(match, unique)
	return s
}

func (s *survival) retention() float64 {
	if s.chars == 0 {
		return 1
	}
	kept := s.same
	for _, k := range s.kept {
		kept += k
	}
	return float64(kept) / float64(s.chars)
}

// counter gives the function that counts the characters of parts of a text. A text that is not UTF-8 is counted in
// bytes.
func counter(text []byte) func([]byte) int {
	if isASCII(text) || !utf8.Valid(text) {
		return func(b []byte) int { return len(b) }
	}
	return utf8.RuneCount
}

func isASCII(text []byte) bool {
	for len(text) >= 8 {
		if binary.LittleEndian.Uint64(text)&0x8080808080808080 != 0 {
			return false
		}
		text = text[8:]
	}
	for _, b := range text {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// common gives the lengths of what two texts begin and end with, in whole lines.
func common(a, b []byte) (head, tail int) {
	head = prefix(a, b)
	if head < len(a) || head < len(b) {
		head = bytes.LastIndexByte(a[:head], '\n') + 1
	}
	a, b = a[head:], b[head:]
	n := suffix(a, b)
	i := bytes.IndexByte(a[len(a)-n:], '\n')
	if i < 0 {
		return head, 0
	}
	return head, n - i - 1
}

const stride = 4096

func prefix(a, b []byte) int {
	limit := min(len(a), len(b))
	n := 0
	for n+stride <= limit && bytes.Equal(a[n:n+stride], b[n:n+stride]) {
		n += stride
	}
	for n < limit && a[n] == b[n] {
		n++
	}
	return n
}

func suffix(a, b []byte) int {
	limit := min(len(a), len(b))
	n := 0
	for n+stride <= limit && bytes.Equal(a[len(a)-n-stride:len(a)-n], b[len(b)-n-stride:len(b)-n]) {
		n += stride
	}
	for n < limit && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// lostLine is a line of the old text most of which is gone.
type lostLine struct {
	number int
	text   []byte
}

// lostLines gives the lines of which less than half survives.
func (s *survival) lostLines() []lostLine {
	var lost []lostLine
	for i := 0; i < len(s.old); {
		from, chars, kept := i, 0, 0
		for ; i < len(s.old) && s.old[i].line == s.old[from].line; i++ {
			chars += int(s.old[i].chars)
			kept += s.kept[i]
		}
		if 2*kept < chars {
			lost = append(lost, lostLine{int(s.old[from].line), s.before[s.old[from].from:s.old[i-1].to]})
		}
	}
	return lost
}

// units splits a part of a text, which begins at an offset and after some lines, into lines, and long lines into parts.
func units(text []byte, offset, line int, count func([]byte) int, seed maphash.Seed) []unit {
	all := make([]unit, 0, bytes.Count(text, []byte("\n"))+1)
	add := func(from, to int) {
		part := text[from:to]
		all = append(all, unit{
			from: int32(offset + from), to: int32(offset + to), line: int32(line),
			chars: int32(count(part)), key: maphash.Bytes(seed, trimBlanks(part)),
		})
	}
	for from := 0; from < len(text); {
		to := len(text)
		if i := bytes.IndexByte(text[from:], '\n'); i >= 0 {
			to = from + i + 1
		}
		line++
		for to-from > longLine {
			cut := from + cutAt(text[from:to])
			if cut == to {
				break
			}
			add(from, cut)
			from = cut
		}
		add(from, to)
		from = to
	}
	return all
}

func trimBlanks(b []byte) []byte {
	for len(b) > 0 && b[0] <= ' ' {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] <= ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// cutAt gives the length of a long line's first part. It ends after a mark that the text itself has, so that an
// insertion does not move all cuts behind it.
func cutAt(line []byte) int {
	limit := min(len(line), longUnit)
	for i := shortUnit; i < limit; i++ {
		switch line[i] {
		case '.', ';', ',', '{', '}', '>', '!', '?':
			return i + 1
		}
	}
	for limit < len(line) && line[limit]&0xc0 == 0x80 {
		limit++ // not within a character
	}
	return limit
}

// matchUnits gives for each old unit an equal new one, or -1; of equal units the first is matched with the first. It
// also gives the matches that tell places apart: of units that both texts have once, and that are more than a brace.
func (s *survival) matchUnits() (match, unique []int32) {
	match, unique = make([]int32, len(s.old)), make([]int32, len(s.old))
	t := tableOf(s.new)
	owner := make([]int32, len(s.new)) // the old unit that took a new one as the only one of its key
	for i, u := range s.old {
		j, only := t.take(u.key)
		match[i], unique[i] = j, -1
		switch {
		case j < 0 && only >= 0:
			unique[owner[only]] = -1
		case j >= 0 && only == j:
			owner[j] = int32(i)
			if u.chars > shortPart {
				unique[i] = j
			}
		}
	}
	return match, unique
}

// table finds units by their keys, equal ones in order, each once.
type table struct {
	units []unit
	mask  uint64
	slots []int32 // the first of the units with a key, counted from 1; 0 is free, and a negative one is used up
	next  []int32 // the one after a unit, with the same key
	later []bool  // a unit is not the first with its key
}

func tableOf(all []unit) *table {
	size := uint64(1) << bits.Len(uint(2*len(all)))
	t := &table{units: all, mask: size - 1, slots: make([]int32, size), next: make([]int32, len(all)), later: make([]bool, len(all))}
	for j := len(all) - 1; j >= 0; j-- {
		slot := t.slot(all[j].key)
		t.next[j] = t.slots[slot]
		t.slots[slot] = int32(j + 1)
	}
	return t
}

// slot gives the place of a key, or the free one where it would be.
func (t *table) slot(key uint64) uint64 {
	for i := key & t.mask; ; i = (i + 1) & t.mask {
		j := t.slots[i]
		if j < 0 {
			j = -j
		}
		if j == 0 || t.units[j-1].key == key {
			return i
		}
	}
}

// take gives the next unit with a key, or -1 when there is none left. only is the unit, if there never was another
// with its key, or else -1; it is given again when it is asked for again.
func (t *table) take(key uint64) (unit, only int32) {
	slot := t.slot(key)
	j := t.slots[slot]
	if j == 0 {
		return -1, -1
	}
	taken := j < 0
	if taken {
		j = -j
	}
	only = j - 1
	if t.later[j-1] {
		only = -1
	}
	if taken {
		return -1, only
	}
	t.slots[slot] = -j
	if next := t.next[j-1]; next > 0 {
		t.slots[slot], t.later[next-1], only = next, true, -1
	}
	return j - 1, only
}

// compareGaps compares the units without a match that lie between the same two anchors.
func (s *survival) compareGaps(match, unique []int32) {
	taken := make([]bool, len(s.new))
	for _, j := range match {
		if j >= 0 {
			taken[j] = true
		}
	}
	c := comparer{survival: s, steps: stepBudget, bytes: byteBudget}
	i, j := 0, 0
	var old, fresh []int32
	for _, anchor := range append(inOrder(unique), [2]int{len(s.old), len(s.new)}) {
		old, fresh = old[:0], fresh[:0]
		for ; i < anchor[0]; i++ {
			if match[i] < 0 {
				old = append(old, int32(i))
			}
		}
		for ; j < anchor[1]; j++ {
			if !taken[j] {
				fresh = append(fresh, int32(j))
			}
		}
		if len(old) > 0 && len(fresh) > 0 {
			c.compare(old, fresh)
		}
		i, j = anchor[0]+1, anchor[1]+1
	}
}

// inOrder gives the longest sequence of matches in which both sides rise.
func inOrder(match []int32) [][2]int {
	var tails []int32 // old indices: tails[n] ends a rising sequence of length n+1
	before := make([]int32, len(match))
	for i, j := range match {
		if j < 0 {
			continue
		}
		n, _ := slices.BinarySearchFunc(tails, j, func(t, j int32) int { return int(match[t] - j) })
		before[i] = -1
		if n > 0 {
			before[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, int32(i))
		} else {
			tails[n] = int32(i)
		}
	}
	sequence := make([][2]int, len(tails))
	if len(tails) == 0 {
		return sequence
	}
	for i, n := tails[len(tails)-1], len(tails)-1; n >= 0; i, n = before[i], n-1 {
		sequence[n] = [2]int{int(i), int(match[i])}
	}
	return sequence
}
