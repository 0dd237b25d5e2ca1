package glob

// expand adds the patterns that p stands for, one for each way through its braces. Past maxAlternatives it stops: the
// caller refuses such a pattern.
func expand(out []string, p string) []string {
	start, end, commas := group(p)
	if start < 0 {
		return append(out, p)
	}
	cuts := append([]int{start}, append(commas, end)...)
	for i := 1; i < len(cuts) && len(out) <= maxAlternatives; i++ {
		out = expand(out, p[:start]+p[cuts[i-1]+1:cuts[i]]+p[end+1:])
	}
	return out
}

// group finds the first outermost pair of braces, and the commas directly in it. Without one start is -1.
func group(p string) (start, end int, commas []int) {
	start = -1
	depth := 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			i = classEnd(p, i)
		case '{':
			if depth++; depth == 1 {
				start = i
			}
		case ',':
			if depth == 1 {
				commas = append(commas, i)
			}
		case '}':
			if depth--; depth == 0 {
				return start, i, commas
			}
		}
	}
	return -1, 0, nil
}

// classEnd gives the index of the ] that closes the [ at i, or i when none does.
func classEnd(p string, i int) int {
	for j := i + 1; j < len(p); j++ {
		switch p[j] {
		case '\\':
			j++
		case ']':
			return j
		}
	}
	return i
}
