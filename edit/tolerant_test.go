package edit

import "testing"

func TestTolerantTrailing(t *testing.T) {
	runSpots(t, []spot{
		{name: "blanks in the search only", before: "a\nkey\nb\n", search: "key \t\n", replace: "KEY\n", after: "a\nKEY\nb\n", match: TrailingBlanks},
		{name: "blanks in the file only", before: "a\nkey \t\nb\n", search: "a\nkey\nb", replace: "a\nKEY\nb", after: "a\nKEY\nb\n", match: TrailingBlanks},
		{name: "shared lines keep the file's", before: "a  \nkey \nb\n", search: "a\nkey\n", replace: "a\nkey\nnew\n", after: "a  \nkey \nnew\nb\n", match: TrailingBlanks},
		{name: "blanks on a blank line", before: "a\n\t\nb\n", search: "a\n\nb", replace: "a\n\nc", after: "a\n\t\nc\n", match: TrailingBlanks},
		{name: "newline missing in the file", before: "a\nb", search: "a\nb\n", replace: "a\nc\nd\n", after: "a\nc\nd", match: TrailingBlanks},
		{name: "wins over a looser twin", before: "\tkey\nkey \n", search: "key  ", replace: "K", after: "\tkey\nK\n", match: TrailingBlanks},
		{name: "two on one step", before: "key \nx\nkey\t\n", search: "key  ", replace: "K", code: Ambiguous},
		{name: "two overlapping places", before: "a \na \na \nb\n", search: "a\na", replace: "c", code: Ambiguous},
		{name: "a lone CR is no blank", before: "key\r\r\nb\n", search: "key\nb", replace: "x", code: NoMatch},
	})
}

func TestTolerantIndentation(t *testing.T) {
	runSpots(t, []spot{
		{name: "spaces for a tab", before: "if x {\n\tstop()\n}\n", search: "    stop()", replace: "    halt()", after: "if x {\n\thalt()\n}\n", match: Indentation},
		{name: "two places", before: "if x {\n\tstop()\n}\nif y {\n\tstop()\n}\n", search: "    stop()", replace: "    halt()", code: Ambiguous},
		{name: "two places of different depth", before: "\tstop()\n\t\tstop()\n", search: "    stop()", replace: "x", code: Ambiguous},
		{name: "the range decides", before: "if x {\n\tstop()\n}\nif y {\n\tstop()\n}\n", search: "    stop()", replace: "    halt()", start: 1, end: 3, after: "if x {\n\thalt()\n}\nif y {\n\tstop()\n}\n"},
		{name: "next line is not glued on", before: "\ta\n\tb\n\tc\n", search: "    a\n    b", replace: "    A", after: "\tA\n\tc\n"},
		{name: "surplus newline makes no blank line", before: "\ta\n\tb\n", search: "    a", replace: "    A\n", after: "\tA\n\tb\n"},
		{name: "end of the file keeps its shape", before: "\ta\n\tb", search: "    b", replace: "    B\n    C\n", after: "\ta\n\tB\n\tC"},
		{name: "empty replacement removes the lines", before: "x {\n\ta\n\tb\n}\n", search: "    a\n    b", replace: "", after: "x {\n}\n"},
		{name: "also the last one", before: "x\n\ta", search: "    a", replace: "", after: "x\n"},
		{name: "also all of them", before: "\ta\n", search: "    a", replace: "", after: ""},
		{name: "a blank line instead", before: "x\n\ta\ny\n", search: "    a", replace: "\n", after: "x\n\ny\n"},
		{name: "part of a line is no match", before: "x = f(a) + 1\n", search: "  f(a)", replace: "g(a)", code: NoMatch},
		{name: "part of the last line is no match", before: "\ta\n\tbc\n", search: "    a\n    b", replace: "x", code: NoMatch},
		{name: "a missing blank line is a miss", before: "a\nb\n", search: "a\n\n  b", replace: "x", code: NoMatch},
		{name: "a blank line too many is a miss", before: "a\n\nb\n", search: "a\n  b", replace: "x", code: NoMatch},
		{name: "a leading blank line must be there", before: "a\n\tb\n", search: "\n    b", replace: "x", code: NoMatch},
		{name: "and is replaced with the rest", before: "a\n\n\tb\n", search: "\n    b", replace: "\n    c", after: "a\n\n\tc\n"},
	})
}

func TestTolerantSpacing(t *testing.T) {
	runSpots(t, []spot{
		{name: "longer run in the search", before: "\tn := 1\n", search: "n  :=  1", replace: "n := 2", after: "\tn := 2\n", match: Spacing},
		{name: "tabs between columns", before: "a\tb\tc\n", search: "a b c", replace: "a b d", after: "a b d\n", match: Spacing},
		{name: "aligned neighbour stays", before: "a     = 1\nbcd   = 2\n", search: "a = 1\nbcd = 2", replace: "a = 1\nbcd = 3", after: "a     = 1\nbcd = 3\n", match: Spacing},
		{name: "blanks that one side lacks", before: "f( a,b )\n", search: "f(a, b)", replace: "f(a, c)", after: "f(a, c)\n", match: NoBlanks},
		{name: "a unique stricter hit wins", before: "f(a,b)\nf( a, b )\n", search: " f( a,  b )", replace: "g", after: "f(a,b)\ng\n", match: Spacing},
		{name: "two on the loosest step", before: "f(a,b)\nf(a ,b)\n", search: "f(a, b)", replace: "g", code: Ambiguous},
		{name: "part of a line", before: "so n = 1 then\n", search: "n  =  1", replace: "n = 2", code: NoMatch},
		{name: "nothing else changes", before: "// “kept” — so  \nn  =  1\nm\u00a0= 2  \n", search: "n = 1", replace: "n = 3", after: "// “kept” — so  \nn = 3\nm\u00a0= 2  \n"},
		{name: "blanks at the seam of words", before: "int x\n", search: "intx ", replace: "y", after: "y\n", match: NoBlanks},
	})
}

func TestNoGuess(t *testing.T) {
	runSpots(t, []spot{
		{name: "one token", before: "f {\n\ta = 1\n\tb = 2\n}\n", search: "f {\n\ta = 1\n\tb = 3\n}", replace: "f {}", code: NoMatch},
		{name: "a middle line left out", before: "f {\n\twork()\n}\n", search: "f {\n}", replace: "g {\n}", code: NoMatch},
		{name: "one letter", before: "colour(x)\n", search: "color(x)", replace: "y", code: NoMatch},
		{name: "an ellipsis for the middle", before: "f {\n\ta\n\tb\n}\n", search: "f {\n\t...\n}", replace: "g {\n\t...\n}", code: NoMatch},
		{name: "first and last line right", before: "begin\none\ntwo\nend\n", search: "begin\nuno\ndue\nend\n", replace: "x\n", code: NoMatch},
		{name: "lines in another order", before: "a\nb\n", search: "b\na\n", replace: "x\n", code: NoMatch},
		{name: "search and replacement swapped", before: "the new words\n", search: "the old words\n", replace: "the new words\n", code: NoMatch},
		{name: "a prefix of a number", before: "n = 10\n", search: "n = 1\n", replace: "n = 2\n", code: NoMatch},
		{name: "a tab written as backslash t", before: "\tx\n", search: `\tx`, replace: "y", code: NoMatch},
		{name: "letter case in tolerant steps", before: "\tAlpha\n", search: "    alpha", replace: "x", code: NoMatch},
		{name: "composed against decomposed", before: "cafe\u0301\n", search: "caf\u00e9", replace: "x", code: NoMatch},
		{name: "a zero width space", before: "a\u200bb\n", search: "ab", replace: "x", code: NoMatch},
		{name: "ellipsis character against dots", before: "wait…\n", search: "wait...", replace: "x", code: NoMatch},
	})
}

func TestLookAlikes(t *testing.T) {
	runSpots(t, []spot{
		{name: "single quotes", before: "say(‘hi’)\nend\n", search: "say('hi')", replace: "say('ho')", after: "say('ho')\nend\n", match: LookAlikes},
		{name: "double quotes", before: "say(“hi”)\n", search: `say("hi")`, replace: `say("ho")`, after: "say(\"ho\")\n", match: LookAlikes},
		{name: "the other way round", before: "say(\"hi\")\n", search: "say(“hi”)", replace: "say(“ho”)", after: "say(“ho”)\n", match: LookAlikes},
		{name: "dashes", before: "1 – 2 — 3\n", search: "1 - 2 - 3", replace: "0", after: "0\n", match: LookAlikes},
		{name: "no-break space", before: "a\u00a0= 1\n", search: "a = 1", replace: "a = 2", after: "a = 2\n", match: LookAlikes},
		{name: "no-break space in front", before: "f:\n\u00a0\u00a0a\n", search: "f:\n  a", replace: "f:\n  b", after: "f:\n\u00a0\u00a0b\n", match: LookAlikes},
		{name: "ideographic space", before: "a\u3000b\n", search: "a b", replace: "c", after: "c\n", match: LookAlikes},
		{name: "with other indentation", before: "\tsay(‘hi’)\n", search: "    say('hi')", replace: "    say('ho')\n    end()", after: "\tsay('ho')\n\tend()\n", match: LookAlikes},
		{name: "shared lines keep theirs", before: "‘a’\n‘b’\n", search: "'a'\n'b'", replace: "'a'\n'c'", after: "‘a’\n'c'\n", match: LookAlikes},
		{name: "blanks come first", before: "it ’s\nit  's\n", search: "it 's", replace: "x", after: "it ’s\nx\n", match: Spacing},
		{name: "two places", before: "say(‘hi’)\nsay(‛hi’)\n", search: "say('hi')", replace: "x", code: Ambiguous},
		{name: "part of a line", before: "do say(‘hi’) now\n", search: "say('hi')", replace: "x", code: NoMatch},
		{name: "backtick is no quote", before: "`a`\n", search: "'a'", replace: "x", code: NoMatch},
		{name: "Cyrillic letters are no look-alikes here", before: "сору\n", search: "copy", replace: "x", code: NoMatch},
		{name: "quotes exactly there", before: "‘a’ 'a'\n", search: "'a'", replace: "b", after: "‘a’ b\n", match: Exact},
	})
}

func TestLineNumbers(t *testing.T) {
	runSpots(t, []spot{
		{name: "on both", before: "a\nb\nc\n", search: "2| b", replace: "2| B", after: "a\nB\nc\n", match: LineNumbers},
		{name: "on the search only", before: "a\nb\nc\n", search: "2| b", replace: "B", after: "a\nB\nc\n", match: LineNumbers},
		{name: "several lines, indented", before: "f {\n\ta\n\n\tb\n}\n", search: "2| \ta\n3| \n4| \tb\n", replace: "2| \ta\n3| \tb\n", after: "f {\n\ta\n\tb\n}\n", match: LineNumbers},
		{name: "bar without a blank on an empty line", before: "a\n\nb\n", search: "1| a\n2|\n3| b", replace: "x", after: "x\n", match: LineNumbers},
		{name: "numbers of another version", before: "a\nb\n", search: "71| b", replace: "71| c", after: "a\nc\n", match: LineNumbers},
		{name: "padded", before: "a\nb\n", search: "   2| b", replace: "   2| c", after: "a\nc\n", match: LineNumbers},
		{name: "with other indentation", before: "\ta\n\tb\n", search: "2|     b", replace: "2|     c", after: "\ta\n\tc\n", match: LineNumbers},
		{name: "replacement of more lines", before: "a\nb\n", search: "1| a", replace: "1| a\n2| x\n3| y", after: "a\nx\ny\nb\n", match: LineNumbers},
		{name: "deleted", before: "a\nb\n", search: "1| a", replace: "", after: "b\n", match: LineNumbers},
		{name: "half of the replacement", before: "a\nb\nc\n", search: "2| b", replace: "2| B\nnew", code: InvalidArgument},
		{name: "half of the search", before: "a\nb\nc\n", search: "1| a\nb", replace: "x", code: NoMatch},
		{name: "two places", before: "b\nb\n", search: "2| b", replace: "x", code: Ambiguous},
		{name: "a whole line, not a part", before: "abc\n", search: "1| b", replace: "x", code: NoMatch},
		{name: "a table that really reads so", before: "1| a\n2| b\na\n", search: "1| a", replace: "1| x", after: "1| x\n2| b\na\n", match: Exact},
		{name: "nothing but a number", before: "a\nb\n", search: "2| ", replace: "x", code: NoMatch},
		{name: "CRLF file", before: "a\r\nb\r\n", search: "1| a\n2| b\n", replace: "1| a\n2| c\n", after: "a\r\nc\r\n", match: LineNumbers},
	})
}
