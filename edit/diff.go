package edit

import (
	"slices"

	"github.com/toold/toold/edit/lines"
)

// block says that a[a0:a1] was replaced by b[b0:b1].
type block struct{ a0, a1, b0, b1 int }

// maxEdits bounds the work of one exact comparison. Texts that differ more are first cut at lines that are unique in
// both; what has no such line counts as replaced.
const maxEdits = 400

// compare gives the blocks in which b differs from a, in order. Lines outside of the blocks are equal pairwise.
func compare(a, b []string) []block {
	lo := 0
	for lo < len(a) && lo < len(b) && a[lo] == b[lo] {
		lo++
	}
	hiA, hiB := len(a), len(b)
	for hiA > lo && hiB > lo && a[hiA-1] == b[hiB-1] {
		hiA--
		hiB--
	}
	ids := make(map[string]int32, hiA-lo)
	c := comparer{a: number(ids, a[lo:hiA]), b: number(ids, b[lo:hiB]), ids: len(ids)}
	c.run(0, len(c.a), 0, len(c.b))
	for i := range c.out {
		c.out[i].a0 += lo
		c.out[i].a1 += lo
		c.out[i].b0 += lo
		c.out[i].b1 += lo
	}
	return c.out
}

func number(ids map[string]int32, text []string) []int32 {
	out := make([]int32, len(text))
	for i, line := range text {
		id, ok := ids[line]
		if !ok {
			id = int32(len(ids))
			ids[line] = id
		}
		out[i] = id
	}
	return out
}

type comparer struct {
	a, b []int32
	ids  int
	out  []block
}

// run compares a[a0:a1] with b[b0:b1].
func (c *comparer) run(a0, a1, b0, b1 int) {
	for a0 < a1 && b0 < b1 && c.a[a0] == c.b[b0] {
		a0++
		b0++
	}
	for a0 < a1 && b0 < b1 && c.a[a1-1] == c.b[b1-1] {
		a1--
		b1--
	}
	if a0 == a1 || b0 == b1 {
		c.add(block{a0, a1, b0, b1})
		return
	}
	if c.shortest(a0, a1, b0, b1) {
		return
	}
	pairs := c.anchors(a0, a1, b0, b1)
	if len(pairs) == 0 {
		c.add(block{a0, a1, b0, b1})
		return
	}
	for _, p := range pairs {
		c.run(a0, p[0], b0, p[1])
		a0, b0 = p[0]+1, p[1]+1
	}
	c.run(a0, a1, b0, b1)
}

// add appends a block, joining it to the one before when they touch.
func (c *comparer) add(n block) {
	if n.a0 == n.a1 && n.b0 == n.b1 {
		return
	}
	if k := len(c.out) - 1; k >= 0 && c.out[k].a1 == n.a0 && c.out[k].b1 == n.b0 {
		c.out[k].a1, c.out[k].b1 = n.a1, n.b1
		return
	}
	c.out = append(c.out, n)
}

// shortest adds the blocks of a shortest edit script (Myers), or reports that it needs more than maxEdits edits.
func (c *comparer) shortest(a0, a1, b0, b1 int) bool {
	n, m := a1-a0, b1-b0
	limit := min(n+m, maxEdits)
	v := make([]int32, 2*limit+3)
	mid := limit + 1
	var trace [][]int32 // furthest points after each number of edits
	for e := 0; e <= limit; e++ {
		for k := -e; k <= e; k += 2 {
			x := c.step(v, mid, k, e)
			for x < n && x-k < m && c.a[a0+x] == c.b[b0+x-k] {
				x++
			}
			v[mid+k] = int32(x)
			if x >= n && x-k >= m {
				c.replay(trace, a0, b0, n, m)
				return true
			}
		}
		trace = append(trace, slices.Clone(v[mid-e:mid+e+1]))
	}
	return false
}

// step gives how far diagonal k reaches with one more edit: down from k+1 or right from k-1.
func (c *comparer) step(v []int32, mid, k, e int) int {
	if e == 0 {
		return 0
	}
	if k == -e || k != e && v[mid+k-1] < v[mid+k+1] {
		return int(v[mid+k+1])
	}
	return int(v[mid+k-1]) + 1
}

// replay walks the trace back from the end and adds the blocks from the front.
func (c *comparer) replay(trace [][]int32, a0, b0, n, m int) {
	var back []block
	x, y := n, m
	for e := len(trace); e > 0; e-- {
		v, mid := trace[e-1], e-1
		at := func(k int) int32 {
			if k < -mid || k > mid {
				return -1
			}
			return v[mid+k]
		}
		k := x - y
		var px, py int
		if k == -e || k != e && at(k-1) < at(k+1) {
			px = int(at(k + 1))
			py = px - k - 1
			back = append(back, block{a0 + px, a0 + px, b0 + py, b0 + py + 1})
		} else {
			px = int(at(k - 1))
			py = px - k + 1
			back = append(back, block{a0 + px, a0 + px + 1, b0 + py, b0 + py})
		}
		x, y = px, py
	}
	for _, b := range slices.Backward(back) {
		c.add(b)
	}
}

// anchors pairs the lines that occur once in either side, keeping the longest run that is in order in both.
func (c *comparer) anchors(a0, a1, b0, b1 int) [][2]int {
	const many = -2
	inA, inB := make([]int, c.ids), make([]int, c.ids)
	mark := func(in []int, text []int32, from, to int) {
		for i := range in {
			in[i] = -1
		}
		for i := from; i < to; i++ {
			if in[text[i]] == -1 {
				in[text[i]] = i
			} else {
				in[text[i]] = many
			}
		}
	}
	mark(inA, c.a, a0, a1)
	mark(inB, c.b, b0, b1)
	var pairs [][2]int
	for i := a0; i < a1; i++ {
		if id := c.a[i]; inA[id] >= 0 && inB[id] >= 0 {
			pairs = append(pairs, [2]int{i, inB[id]})
		}
	}
	return increasing(pairs)
}

// increasing gives the longest subsequence whose second numbers rise.
func increasing(pairs [][2]int) [][2]int {
	var tails []int // tails[k]: the pair that ends the best run of length k+1
	before := make([]int, len(pairs))
	for i, p := range pairs {
		k, _ := slices.BinarySearchFunc(tails, p[1], func(t, want int) int { return pairs[t][1] - want })
		before[i] = -1
		if k > 0 {
			before[i] = tails[k-1]
		}
		if k == len(tails) {
			tails = append(tails, i)
		} else {
			tails[k] = i
		}
	}
	out := make([][2]int, len(tails))
	if len(tails) == 0 {
		return out
	}
	for i, k := tails[len(tails)-1], len(tails)-1; i >= 0; i, k = before[i], k-1 {
		out[k] = pairs[i]
	}
	return out
}

// align tells for each line of b which equal line of a it stands for, or -1.
func align(a, b [][]byte) []int {
	out := make([]int, len(b))
	i, j := 0, 0
	for _, h := range append(compare(texts(a), texts(b)), block{len(a), len(a), len(b), len(b)}) {
		for ; j < h.b0; i, j = i+1, j+1 {
			out[j] = i
		}
		for ; j < h.b1; j++ {
			out[j] = -1
		}
		i = h.a1
	}
	return out
}

func texts(split [][]byte) []string {
	out := make([]string, len(split))
	for i, line := range split {
		out[i] = string(line)
	}
	return out
}

// splitText cuts a text into lines that share one copy of it.
func splitText(b []byte) []string {
	out := make([]string, 0, lines.Count(b))
	s := string(b)
	at := 0
	for i := range len(s) {
		if s[i] == '\n' {
			out = append(out, s[at:i+1])
			at = i + 1
		}
	}
	if at < len(s) {
		out = append(out, s[at:])
	}
	return out
}
