package edit

import (
	"hash/maphash"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// near is the line of a text that comes nearest to what was searched for.
type near struct {
	at     int // index of the line in the text; len(text) when the search goes on past the end
	search int // index of the line of the search that it is held against
}

// nearest finds the line at which the search stops matching in the place where most of its lines do match; where none
// does, the line that has most in common with the first line of the search. It ignores blanks and look-alikes.
func nearest(text, search [][]byte) (near, bool) {
	k := newKeys(text)
	if n, ok := k.byLines(search); ok {
		return n, true
	}
	for i, line := range search {
		if !loosest.blank(line) {
			at, ok := k.bySimilarity(line)
			return near{at, i}, ok
		}
	}
	return near{}, false
}

// keys holds the loosest key of each line of a text, one behind the other.
type keys struct {
	seed   maphash.Seed
	all    []byte
	ends   []int
	hashes []uint64
}

func newKeys(text [][]byte) *keys {
	k := &keys{seed: maphash.MakeSeed(), ends: make([]int, len(text)), hashes: make([]uint64, len(text))}
	size := 0
	for _, line := range text {
		size += len(line)
	}
	k.all = make([]byte, 0, size)
	for i, line := range text {
		start := len(k.all)
		k.all = loosest.key(k.all, line)
		k.ends[i] = len(k.all)
		k.hashes[i] = maphash.Bytes(k.seed, k.all[start:])
	}
	return k
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
// rarer it is, and there the first that does not.
func (k *keys) byLines(search [][]byte) (near, bool) {
	want := make([]uint64, len(search))
	weight := make(map[uint64]int) // length of the key
	inSearch := make(map[uint64][]int)
	for i, line := range search {
		key := loosest.key(nil, line)
		want[i] = maphash.Bytes(k.seed, key)
		if len(key) > 0 {
			weight[want[i]] = len(key)
			inSearch[want[i]] = append(inSearch[want[i]], i)
		}
	}
	inText := make(map[uint64]int)
	for _, h := range k.hashes {
		if weight[h] > 0 {
			inText[h]++
		}
	}
	score := make([]int, len(k.hashes)+len(search)) // by offset + len(search)
	best := -1
	for i, h := range k.hashes {
		if inText[h]*len(inSearch[h]) > maxPairs {
			continue
		}
		for _, j := range inSearch[h] {
			at := i - j + len(search)
			score[at] += 1 + 64*min(weight[h], 64)/inText[h]
			if best < 0 || score[at] > score[best] || score[at] == score[best] && at < best {
				best = at
			}
		}
	}
	if best < 0 {
		return near{}, false
	}
	return k.firstMiss(best-len(search), want), true
}

// firstMiss gives the first line of the search that does not stand where it should when the search begins at offset.
func (k *keys) firstMiss(offset int, want []uint64) near {
	for j, h := range want {
		at := offset + j
		if at < 0 {
			continue
		}
		if at >= len(k.hashes) {
			return near{len(k.hashes), j}
		}
		if k.hashes[at] != h {
			return near{at, j}
		}
	}
	// Only lines before the first one of the text are missing.
	return near{0, -offset - 1}
}

// gram is how many characters are compared at a time.
const gram = 3

// bySimilarity finds the line that shares the largest part of its three-character pieces with the wanted one, letter
// case aside. With less than a quarter of the wanted pieces there is no such line.
func (k *keys) bySimilarity(line []byte) (int, bool) {
	want := bare(loosest.key(nil, line))
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
	for i := range k.hashes {
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
