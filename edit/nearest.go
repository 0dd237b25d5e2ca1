package edit

import (
	"hash/maphash"
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// near is where a text comes nearest to what was searched for, and there the first lines that differ: have lines of
// the text from at on stand where the search has want lines from search on. One of the two may be none.
type near struct{ at, have, search, want int }

// nearest finds the place at which most lines of the search stand, and there what differs first; where none stands
// anywhere, the line that has most in common with the first line of the search. It ignores blanks and look-alikes.
func nearest(text, search [][]byte) (near, bool) {
	k := newKeys(text)
	if n, ok := k.byLines(newKeys(search)); ok {
		return n, true
	}
	for i, line := range search {
		if !loosest().blank(line) {
			at, ok := k.bySimilarity(line)
			return near{at, 1, i, 1}, ok
		}
	}
	return near{}, false
}

// keys holds the loosest key of each line of a text, one behind the other.
type keys struct {
	all  []byte
	ends []int
}

func newKeys(text [][]byte) *keys {
	k := &keys{ends: make([]int, len(text))}
	size := 0
	for _, line := range text {
		size += len(line)
	}
	k.all = make([]byte, 0, size)
	for i, line := range text {
		k.all = loosest().key(k.all, line)
		k.ends[i] = len(k.all)
	}
	return k
}

func (k *keys) hashes(seed maphash.Seed) []uint64 {
	out := make([]uint64, len(k.ends))
	for i := range out {
		out[i] = maphash.Bytes(seed, k.line(i))
	}
	return out
}

func (k *keys) line(i int) []byte {
	if i == 0 {
		return k.all[:k.ends[0]]
	}
	return k.all[k.ends[i-1]:k.ends[i]]
}

// maxPairs bounds how often a line that occurs again and again is looked at; such lines tell little about the place.
const maxPairs = 1 << 14

// byLines finds the offset at which most of the search's lines stand, a line counting the more the longer and the
// rarer it is. Among equals the one wins where an earlier line of the search stands.
func (k *keys) byLines(search *keys) (near, bool) {
	seed := maphash.MakeSeed()
	have, want := k.hashes(seed), search.hashes(seed)
	inSearch, inText := make(map[uint64][]int), make(map[uint64]int)
	for j, h := range want {
		if len(search.line(j)) > 0 {
			inSearch[h] = append(inSearch[h], j)
		}
	}
	for _, h := range have {
		if inSearch[h] != nil {
			inText[h]++
		}
	}
	votes := make([]vote, len(have)+len(want)) // by offset + len(want)
	for i, h := range have {
		if inText[h]*len(inSearch[h]) > maxPairs {
			continue
		}
		for _, j := range inSearch[h] {
			votes[i-j+len(want)].add(j, 1+64*min(len(search.line(j)), 64)/inText[h])
		}
	}
	best := slices.IndexFunc(votes, func(v vote) bool { return v.weight > 0 })
	if best < 0 {
		return near{}, false
	}
	for at := best; at < len(votes); at++ {
		if votes[at].beats(votes[best]) {
			best = at
		}
	}
	j := votes[best].line
	return firstDifference(have, want, best-len(want)+j, j), true
}

// vote is what speaks for an offset.
type vote struct {
	weight int
	first  int // the first line of the search that stands there
	line   int // the one that tells most
	most   int // its weight
}

func (v *vote) add(line, weight int) {
	if v.weight == 0 {
		v.first = line
	}
	if weight > v.most {
		v.line, v.most = line, weight
	}
	v.weight += weight
}

func (v vote) beats(w vote) bool {
	return v.weight > w.weight || v.weight > 0 && v.weight == w.weight && v.first < w.first
}

// firstDifference starts from a line that both have, have[i] and want[j], and follows what they share upwards, and when
// that is all the search has there, downwards.
func firstDifference(have, want []uint64, i, j int) near {
	up, upWant := i-1, j-1
	for up >= 0 && upWant >= 0 && have[up] == want[upWant] {
		up, upWant = up-1, upWant-1
	}
	if upWant >= 0 {
		a, b := parted(reversed(have[:up+1]), reversed(want[:upWant+1]))
		return near{up + 1 - a, a, upWant + 1 - b, b}
	}
	for i < len(have) && j < len(want) && have[i] == want[j] {
		i, j = i+1, j+1
	}
	a, b := parted(have[i:], want[min(j, len(want)-1):])
	return near{i, a, min(j, len(want)-1), b}
}

func reversed(h []uint64) []uint64 {
	h = slices.Clone(h[max(0, len(h)-maxParted):])
	slices.Reverse(h)
	return h
}

// maxParted is how far on two texts that part are followed to see whether one only has some lines more.
const maxParted = 30

// parted tells how two texts differ that begin with different lines: by a lines that only the first has, by b that only
// the second has, or by one line on either side.
func parted(first, second []uint64) (a, b int) {
	if len(first) == 0 {
		return 0, len(second)
	}
	a = slices.Index(first[:min(len(first), maxParted)], second[0])
	b = slices.Index(second[:min(len(second), maxParted)], first[0])
	switch {
	case a > 0 && (b <= 0 || a <= b):
		return a, 0
	case b > 0:
		return 0, b
	}
	return 1, 1
}

// gram is how many characters are compared at a time.
const gram = 3

// bySimilarity finds the line that shares the largest part of its three-character pieces with the wanted one, letter
// case aside. With less than a quarter of the wanted pieces there is no such line.
func (k *keys) bySimilarity(line []byte) (int, bool) {
	want := bare(loosest().key(nil, line))
	n := min(gram, len(want))
	if n == 0 {
		return 0, false
	}
	var wanted [1 << 16]bool
	distinct := 0
	for i := 0; i+n <= len(want); i++ {
		if h := hashGram(want[i : i+n]); !wanted[h] {
			wanted[h] = true
			distinct++
		}
	}
	var seen [1 << 16]int32 // the last line, counted from 1, that held the piece
	best, bestShared, bestExtra := -1, 0, 0
	for i := range k.ends {
		text := bare(k.line(i))
		shared := 0
		for p := 0; p+n <= len(text); p++ {
			if h := hashGram(text[p : p+n]); wanted[h] && seen[h] != int32(i+1) {
				seen[h] = int32(i + 1)
				shared++
			}
		}
		extra := abs(len(text) - len(want))
		if shared > bestShared || shared > 0 && shared == bestShared && extra < bestExtra {
			best, bestShared, bestExtra = i, shared, extra
		}
	}
	return best, best >= 0 && bestShared*4 >= distinct
}

// bare takes accents off, so that composed and decomposed letters are alike.
func bare(key []byte) []byte {
	if isASCII(key) {
		return key
	}
	out := make([]byte, 0, len(key))
	for _, r := range string(norm.NFD.Bytes(key)) {
		if !unicode.Is(unicode.Mn, r) {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// hashGram mixes up to three bytes, ASCII letters in lower case.
func hashGram(b []byte) uint16 {
	h := uint32(0)
	for _, c := range b {
		if c-'A' < 26 {
			c += 'a' - 'A'
		}
		h = h*211 + uint32(c)
	}
	return uint16(h ^ h>>16)
}
