package guards

// shortest finds the longest common subsequence of two sequences of words, as runs, by Myers' greedy algorithm. It
// gives up when they differ by more than maxDistance words or the budget is used up.
func (c *comparer) shortest(a, b []word) (runs []stretch, ok bool) {
	n, m := len(a), len(b)
	if n == 0 || m == 0 {
		return nil, true
	}
	if max(n-m, m-n) > maxDistance {
		return nil, false
	}
	limit := min(n+m, maxDistance)
	frontier := make([]int32, 2*limit+3)
	mid := limit + 1
	var trace [][]int32
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			x := step(frontier, mid, k, d)
			for y := x - k; x < n && y < m && x >= 0 && y >= 0 && a[x].key == b[y].key; y++ {
				x++
				c.steps--
			}
			frontier[mid+k] = int32(x)
			if x >= n && x-k >= m {
				return replay(append(trace, cut(frontier, mid, d)), n, m), true
			}
		}
		if c.steps -= d + 1; c.steps < 0 {
			return nil, false
		}
		trace = append(trace, cut(frontier, mid, d))
	}
	return nil, false
}

// step gives where diagonal k begins in round d: down from the diagonal above, or right from the one below.
func step(frontier []int32, mid, k, d int) int {
	if d == 0 {
		return 0
	}
	if k == -d || k != d && frontier[mid+k-1] < frontier[mid+k+1] {
		return int(frontier[mid+k+1])
	}
	return int(frontier[mid+k-1]) + 1
}

// cut keeps the diagonals of round d.
func cut(frontier []int32, mid, d int) []int32 {
	return append([]int32(nil), frontier[mid-d-1:mid+d+2]...)
}

// replay follows the path back from its end, and gives its runs in order.
func replay(trace [][]int32, x, y int) []stretch {
	var runs []stretch
	for d := len(trace) - 1; d > 0; d-- {
		k := x - y
		prev := trace[d-1]
		mid := d // of prev, which has the diagonals -d to d
		pk := k - 1
		if k == -d || k != d && prev[mid+k-1] < prev[mid+k+1] {
			pk = k + 1
		}
		px := int(prev[mid+pk])
		start := px // where the diagonal begins after the step
		if pk == k-1 {
			start = px + 1
		}
		if x > start {
			runs = append(runs, stretch{start, x, start - k})
		}
		x, y = px, px-pk
	}
	if x > 0 {
		runs = append(runs, stretch{0, x, 0})
	}
	for i, j := 0, len(runs)-1; i < j; i, j = i+1, j-1 {
		runs[i], runs[j] = runs[j], runs[i]
	}
	return runs
}
