package shell

import (
	"slices"
	"strings"
)

// Nearest gives at most n of the names, those most like name first.
func Nearest(name string, names []string, n int) []string {
	type rated struct {
		name string
		far  int
	}
	list := make([]rated, len(names))
	want := strings.ToLower(name)
	for i, other := range names {
		low := strings.ToLower(other)
		far := distance(want, low)
		if want != "" && (strings.Contains(low, want) || strings.Contains(want, low)) {
			far = min(far, 1)
		}
		list[i] = rated{other, far}
	}
	slices.SortStableFunc(list, func(a, b rated) int { return a.far - b.far })
	var best []string
	for _, r := range list[:min(n, len(list))] {
		best = append(best, r.name)
	}
	return best
}

// distance counts the single-byte edits between two short names.
func distance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
