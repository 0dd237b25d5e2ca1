package edit

import "testing"

func TestLineEndings(t *testing.T) {
	runSpots(t, []spot{
		{name: "LF call on a CRLF file", before: "a\r\nb\r\nc\r\n", search: "a\nb\n", replace: "A\nx\nB\n", after: "A\r\nx\r\nB\r\nc\r\n", match: LineEndings},
		{name: "CRLF call on an LF file", before: "a\nb\nc\n", search: "a\r\nb", replace: "A\r\nB", after: "A\nB\nc\n", match: LineEndings},
		{name: "mixed call on a CRLF file", before: "a\r\nb\r\nc\r\n", search: "a\r\nb\nc", replace: "A\nB\r\nC", after: "A\r\nB\r\nC\r\n"},
		{name: "CRLF as given, LF in the replacement", before: "a\r\nb\r\n", search: "a\r\nb\r\n", replace: "A\nB\n", after: "A\r\nB\r\n", match: Exact},
		{name: "one line to several in CRLF", before: "a\r\nb\r\n", search: "a", replace: "A\nx", after: "A\r\nx\r\nb\r\n", match: Exact},
		{name: "one line to several in the last, open line", before: "a\r\nb", search: "b", replace: "B\nx", after: "a\r\nB\r\nx"},
		{name: "with tabs at the same time", before: "f:\r\n\ta\r\n\tb\r\n", search: "    a\n    b", replace: "    a\n    x\n    b", after: "f:\r\n\ta\r\n\tx\r\n\tb\r\n", match: Indentation},
		{name: "tolerant, CRLF in the call, LF file", before: "\ta\n\tb\n", search: "    a\r\n    b\r\n", replace: "    A\r\n    x\r\n    B\r\n", after: "\tA\n\tx\n\tB\n"},
		{name: "range in CRLF", before: "a\r\nb\r\nc\r\n", replace: "B\nx", start: 2, end: 2, after: "a\r\nB\r\nx\r\nc\r\n"},
		{name: "whole file in CRLF", before: "a\r\nb\r\n", replace: "x\ny\nz\n", start: 1, end: 2, after: "x\r\ny\r\nz\r\n"},
		{name: "whole file in CRLF without a last newline", before: "a\r\nb\r\n", replace: "x\ny", start: 1, end: 2, after: "x\r\ny"},
		{name: "only endings differ: nothing to do", before: "a\r\nb\r\n", search: "a\r\nb\r\n", replace: "a\nb\n", after: "a\r\nb\r\n", match: NoChange},
		{name: "deletion across CRLF", before: "a\r\nb\r\nc\r\n", search: "a\nb\n", replace: "", after: "c\r\n"},
		{name: "a file without any ending takes the call's", before: "ab", search: "ab", replace: "a\r\nb", after: "a\r\nb"},
		{name: "an empty file takes the call's", before: "", replace: "a\r\nb\n", after: "a\r\nb\n", match: Create},
		{name: "many CRLF before the hit", before: "1\r\n2\r\n3\r\n4\r\nx\r\ny\r\nz\r\n", search: "x\ny", replace: "X\nY", after: "1\r\n2\r\n3\r\n4\r\nX\r\nY\r\nz\r\n"},
	})
}

func TestMixedEndings(t *testing.T) {
	runSpots(t, []spot{
		{name: "elsewhere they stay", before: "a\r\nb\nc\r\nd\n", search: "c", replace: "C", after: "a\r\nb\nC\r\nd\n"},
		{name: "line by line", before: "a\r\nb\nc\r\nd\n", search: "a\nb\nc\n", replace: "A\nB\nC\n", after: "A\r\nB\nC\r\nd\n", match: LineEndings},
		{name: "surplus lines take the first's", before: "a\r\nb\nc\n", search: "a\nb\n", replace: "A\nB\nX\nY\n", after: "A\r\nB\nX\r\nY\r\nc\n"},
		{name: "lines that stay keep theirs", before: "a\r\nb\nc\r\n", search: "a\nb\nc\n", replace: "a\nx\nb\nc\n", after: "a\r\nx\nb\nc\r\n"},
		{name: "one line to two takes its line's", before: "a\nb\r\nc\n", search: "b", replace: "B\nx", after: "a\nB\r\nx\r\nc\n"},
		{name: "tolerantly", before: "\ta\r\n\tb\n\tc\r\n", search: "  a\n  b", replace: "  A\n  B", after: "\tA\r\n\tB\n\tc\r\n"},
		{name: "in a range", before: "a\r\nb\nc\r\n", replace: "A\nB\n", start: 1, end: 2, after: "A\r\nB\nc\r\n"},
		{name: "whole file", before: "a\r\nb\n", replace: "A\nB\nC\n", start: 1, end: 2, after: "A\r\nB\nC\r\n"},
		{name: "both kinds of place are hit by a line", before: "k\r\nk\nlong enough for two\n", search: "k", replace: "v", after: "v\r\nv\nlong enough for two\n"},
		{name: "each place keeps its own", before: "k\r\n;\r\nk\n;\nlong enough for two of them\n", search: "k", replace: "v\nw", after: "v\r\nw\r\n;\r\nv\nw\n;\nlong enough for two of them\n"},
	})
}

func TestLoneCR(t *testing.T) {
	runSpots(t, []spot{
		{name: "is text", before: "1%\r50%\r100%\nok\n", search: "ok", replace: "done", after: "1%\r50%\r100%\ndone\n"},
		{name: "can be searched", before: "1%\r50%\r100%\nok\n", search: "50%\r", replace: "", after: "1%\r100%\nok\n"},
		{name: "ends no line", before: "a\rb\nc\n", replace: "C", start: 2, end: 2, after: "a\rb\nC\n"},
		{name: "a file of nothing else is one line", before: "a\rb\rc\r", replace: "x", start: 2, end: 2, code: OutOfRange},
		{name: "is not taken for an ending", before: "a\rb\n", search: "a\nb", replace: "x", code: NoMatch},
		{name: "in front of a CRLF", before: "a\r\r\nb\r\n", search: "b", replace: "B", after: "a\r\r\nB\r\n"},
		{name: "in the replacement", before: "a\nb\n", search: "a", replace: "a\rA", after: "a\rA\nb\n"},
		{name: "CR of a CRLF asked for by itself", before: "a\r\nb\n", search: "\r", replace: "", after: "a\nb\n"},
	})
}

func TestByteOrderMark(t *testing.T) {
	runSpots(t, []spot{
		{name: "kept by an exact edit", before: "\ufeffa\nb\n", search: "a", replace: "A", after: "\ufeffA\nb\n"},
		{name: "kept by a tolerant one", before: "\ufeffuse  A;\nb\n", search: "use A;\nb", replace: "use B;\nc", after: "\ufeffuse B;\nc\n"},
		{name: "kept by a range", before: "\ufeffa\nb\n", replace: "A", start: 1, end: 1, after: "\ufeffA\nb\n"},
		{name: "kept by the whole file", before: "\ufeffa\nb\n", replace: "c\n", start: 1, end: 2, after: "\ufeffc\n"},
		{name: "kept when everything goes", before: "\ufeffa\n", replace: "", start: 1, end: 1, after: "\ufeff"},
		{name: "kept by a file that holds nothing else", before: "\ufeff", replace: "a\n", after: "\ufeffa\n", match: Create},
		{name: "not doubled by the whole file", before: "\ufeffa\nb\n", replace: "\ufeffc\n", start: 1, end: 2, after: "\ufeffc\n"},
		{name: "not doubled by a range", before: "\ufeffa\nb\n", replace: "\ufeffc\n", start: 1, end: 1, after: "\ufeffc\nb\n"},
		{name: "not doubled by a search", before: "\ufeffa\nb\n", search: "a", replace: "\ufeffc", after: "\ufeffc\nb\n"},
		{name: "in the search and the replacement", before: "\ufeffa\nb\n", search: "\ufeffa", replace: "\ufeffc", after: "\ufeffc\nb\n"},
		{name: "in the search only", before: "\ufeffa\nb\n", search: "\ufeffa", replace: "c", after: "\ufeffc\nb\n"},
		{name: "in a tolerant search", before: "\ufeff\ta\nb\n", search: "\ufeff    a\n", replace: "\ufeff    c\n", after: "\ufeff\tc\nb\n"},
		{name: "a search with a mark means the first line", before: "\ufeffa\nb\na\n", search: "\ufeffa", replace: "c", after: "\ufeffc\nb\na\n"},
		{name: "and no other", before: "\ufeffa\nb\n", search: "\ufeffb", replace: "c", code: NoMatch},
		{name: "not tolerantly either", before: "\ufeffa\n\tb\n", search: "\ufeff    b", replace: "c", code: NoMatch},
		{name: "with CRLF", before: "\ufeffa\r\nb\r\n", search: "\ufeffa\nb", replace: "\ufeffA\nB", after: "\ufeffA\r\nB\r\n"},
		{name: "a file without one can be given one", before: "a\n", replace: "\ufeffb\n", start: 1, end: 1, after: "\ufeffb\n"},
		{name: "created with one", missing: true, replace: "\ufeffb\n", after: "\ufeffb\n"},
	})
}

func TestEncodings(t *testing.T) {
	runSpots(t, []spot{
		{name: "a foreign byte elsewhere stays", before: "# caf\xe9\nx = 1\n", search: "x = 1", replace: "x = 2", after: "# caf\xe9\nx = 2\n"},
		{name: "also on the line itself", before: "# caf\xe9 x\n", search: "x", replace: "y", after: "# caf\xe9 y\n"},
		{name: "also through a tolerant hit", before: "\t# caf\xe9\n\tx = 1\n", search: "    x = 1", replace: "    x = 2", after: "\t# caf\xe9\n\tx = 2\n"},
		{name: "also through a range", before: "# caf\xe9\nx\n", replace: "y", start: 2, end: 2, after: "# caf\xe9\ny\n"},
		{name: "foreign text into it", before: "# caf\xe9\nx = 1\n", search: "x = 1", replace: "x = 'é'", code: NotUTF8},
		{name: "by a range", before: "# caf\xe9\nx = 1\n", replace: "x = 'é'", start: 2, end: 2, code: NotUTF8},
		{name: "the replacement character", before: "# caf\xe9\nx = 1\n", replace: "# caf\ufffd", start: 1, end: 1, code: NotUTF8},
		{name: "by the whole file", before: "# caf\xe9\nx = 1\n", replace: "é\n", start: 1, end: 2, code: NotUTF8},
		{name: "what the lines hold already is no new text", before: "é = 1\nx\n\xe9\n", search: "é = 1\nx", replace: "é = 1\ny", after: "é = 1\ny\n\xe9\n"},
		{name: "a UTF-8 file takes any text", before: "a\n", search: "a", replace: "é漢😀", after: "é漢😀\n"},
		{name: "a search beyond ASCII does not match another encoding", before: "caf\xe9\n", search: "café", replace: "x", code: NoMatch},
		{name: "UTF-16 with a mark", before: "\xff\xfea\x00\n\x00", replace: "x", start: 1, end: 1, code: NotUTF8},
		{name: "UTF-16 big-endian with a mark", before: "\xfe\xff\x00a\x00\n", search: "a", replace: "b", code: NotUTF8},
		{name: "UTF-16 without a mark", before: "a\x00b\x00c\x00d\x00e\x00\n\x00", replace: "x", start: 1, end: 1, code: NotUTF8},
		{name: "UTF-32", before: "\xff\xfe\x00\x00a\x00\x00\x00", search: "a", replace: "b", code: NotUTF8},
		{name: "no file at all", missing: true, replace: "é\n", after: "é\n"},
	})
}
