package edit

import "testing"

func TestCreate(t *testing.T) {
	runSpots(t, []spot{
		{name: "missing file", missing: true, replace: "a\n", after: "a\n", match: Create},
		{name: "no newline is added", missing: true, replace: "a", after: "a", match: Create},
		{name: "an empty one", missing: true, replace: "", after: "", match: Create},
		{name: "with a range from 1", missing: true, replace: "a\n", start: 1, end: 1, after: "a\n", match: Create},
		{name: "with a range from 1 on", missing: true, replace: "a\n", start: 1, after: "a\n", match: Create},
		{name: "with a range to any line", missing: true, replace: "a\nb\n", start: 1, end: 99, after: "a\nb\n", match: Create},
		{name: "with an end only", missing: true, replace: "a\n", end: 5, after: "a\n", match: Create},
		{name: "with a range that begins later", missing: true, replace: "a\n", start: 2, end: 3, code: OutOfRange},
		{name: "with a search", missing: true, search: "a", replace: "b", code: NotFound},
		{name: "with a search and a range", missing: true, search: "a", replace: "b", start: 1, end: 1, code: NotFound},
		{name: "empty file", before: "", replace: "a\n", after: "a\n", match: Create},
		{name: "empty file with a range", before: "", replace: "a", start: 1, end: 4, after: "a", match: Create},
		{name: "empty file with a search", before: "", search: "a", replace: "b", code: NoMatch},
		{name: "empty file, nothing given", before: "", replace: "", after: "", match: NoChange},
		{name: "existing file", before: "keep\n", replace: "a\n", code: InvalidArgument},
		{name: "existing file, nothing given", before: "keep\n", replace: "", code: InvalidArgument},
		{name: "existing file of blanks", before: " \n", replace: "a\n", code: InvalidArgument},
		{name: "existing file of one newline", before: "\n", replace: "a\n", code: InvalidArgument},
	})
}

func TestRange(t *testing.T) {
	runSpots(t, []spot{
		{name: "newline supplied", before: "a\nb\nc\n", replace: "B", start: 2, end: 2, after: "a\nB\nc\n", match: Range},
		{name: "newline given", before: "a\nb\nc\n", replace: "B\n", start: 2, end: 2, after: "a\nB\nc\n"},
		{name: "more lines", before: "a\nb\nc\nd\n", replace: "X\nY\nZ", start: 2, end: 3, after: "a\nX\nY\nZ\nd\n"},
		{name: "fewer lines", before: "a\nb\nc\nd\n", replace: "X", start: 2, end: 3, after: "a\nX\nd\n"},
		{name: "deletion", before: "a\nb\nc\nd\n", replace: "", start: 2, end: 3, after: "a\nd\n"},
		{name: "a blank line instead", before: "a\nb\nc\n", replace: "\n", start: 2, end: 2, after: "a\n\nc\n"},
		{name: "a blank line behind", before: "a\nb\nc\n", replace: "B\n\n", start: 2, end: 2, after: "a\nB\n\nc\n"},
		{name: "start only", before: "a\nb\nc\n", replace: "B", start: 2, after: "a\nB\nc\n"},
		{name: "end only", before: "a\nb\nc\n", replace: "X", end: 2, after: "X\nc\n"},
		{name: "the last line", before: "a\nb\nc\n", replace: "C", start: 3, end: 3, after: "a\nb\nC\n"},
		{name: "the last, open line stays open", before: "a\nb", replace: "B", start: 2, end: 2, after: "a\nB"},
		{name: "also with a newline given", before: "a\nb", replace: "B\nC\n", start: 2, end: 2, after: "a\nB\nC"},
		{name: "the last, open line deleted", before: "a\nb", replace: "", start: 2, end: 2, after: "a\n"},
		{name: "past the end is the last line", before: "a\nb\nc\n", replace: "X\n", start: 2, end: 99, after: "a\nX\n"},
		{name: "end before start", before: "a\nb\nc\n", replace: "X", start: 3, end: 2, code: OutOfRange},
		{name: "start past the end", before: "a\nb\n", replace: "X", start: 3, code: OutOfRange},
		{name: "start past the end of a search", before: "a\nb\n", search: "a", replace: "X", start: 3, code: OutOfRange},
		{name: "negative start", before: "a\nb\n", replace: "X", start: -1, end: 1, code: OutOfRange},
		{name: "negative end", before: "a\nb\n", replace: "X", start: 1, end: -1, code: OutOfRange},
		{name: "a blank last line counts", before: "a\n\n", replace: "b", start: 2, end: 2, after: "a\nb\n"},
		{name: "a final newline starts no line", before: "a\n", replace: "b", start: 2, end: 2, code: OutOfRange},
		{name: "only LF ends a line", before: "a\u2028a\fa\u0085a\vb\nb\nc\n", replace: "B", start: 2, end: 2, after: "a\u2028a\fa\u0085a\vb\nB\nc\n"},
		{name: "no new indentation", before: "f {\n\ta\n}\n", replace: "  b", start: 2, end: 2, after: "f {\n  b\n}\n"},
		{name: "line numbers are text here", before: "a\nb\n", replace: "2| B", start: 2, end: 2, after: "a\n2| B\n"},
		{name: "the same text", before: "a\nb\n", replace: "b", start: 2, end: 2, after: "a\nb\n", match: NoChange},
	})
}

func TestWholeFile(t *testing.T) {
	runSpots(t, []spot{
		{name: "as given", before: "a\nb\n", replace: "x\ny\nz\n", start: 1, end: 2, after: "x\ny\nz\n", match: WholeFile},
		{name: "without a last newline", before: "a\nb\n", replace: "x", start: 1, end: 2, after: "x", match: WholeFile},
		{name: "with one", before: "a\nb", replace: "x\n", start: 1, end: 2, after: "x\n", match: WholeFile},
		{name: "clamped", before: "a\nb\n", replace: "x\n", start: 1, end: 9999, after: "x\n", match: WholeFile},
		{name: "emptied", before: "a\nb\n", replace: "", start: 1, end: 2, after: "", match: WholeFile},
		{name: "end only", before: "a\nb\n", replace: "x\n", end: 2, after: "x\n", match: WholeFile},
		{name: "one line short is a range", before: "a\nb\n", replace: "x", start: 1, end: 1, after: "x\nb\n", match: Range},
		{name: "its own first line may open it", before: "# T\na\n", replace: "# T\n1\n2\n3\n4\n5\n", start: 1, end: 2, after: "# T\n1\n2\n3\n4\n5\n"},
	})
}

func TestSearchInRange(t *testing.T) {
	runSpots(t, []spot{
		{name: "confined", before: "k\nk\nk\n", search: "k", replace: "v", start: 2, end: 2, after: "k\nv\nk\n"},
		{name: "start only looks to the end", before: "k\nk\nk\n", search: "k", replace: "v", start: 2, after: "k\nv\nv\n"},
		{name: "end only looks from the beginning", before: "k\nk\nk\n", search: "k", replace: "v", end: 2, after: "v\nv\nk\n"},
		{name: "clamped", before: "k\nk\n", search: "k", replace: "v", start: 2, end: 50, after: "k\nv\n"},
		{name: "outside", before: "here\nnot\n", search: "here", replace: "x", start: 2, end: 2, code: NoMatch},
		{name: "across the border", before: "a\nb\nc\n", search: "a\nb", replace: "x", start: 2, end: 3, code: NoMatch},
		{name: "across the lower border", before: "a\nb\nc\n", search: "b\nc", replace: "x", start: 1, end: 2, code: NoMatch},
		{name: "the newline of the last line belongs to it", before: "a\nb\nc\n", search: "b\n", replace: "", start: 1, end: 2, after: "a\nc\n"},
		{name: "tolerantly", before: "\tk\n\tk\n", search: "    k", replace: "    v", start: 2, end: 2, after: "\tk\n\tv\n"},
		{name: "exact inside wins over nothing outside", before: "\tk\n    k\n", search: "    k", replace: "    v", start: 1, end: 1, after: "\tv\n    k\n"},
		{name: "an open end", before: "k\nk", search: "  k\n", replace: "  v\n", start: 2, after: "k\nv"},
	})
}
