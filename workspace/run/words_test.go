package run

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCountWords(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"a.txt", "", 0},
		{"a.txt", "one", 1},
		{"a.txt", "one two\n\tthree  four ", 4},
		{"a.txt", "don't stop: it's well-known, e.g. here", 6},
		{"a.txt", "3.14 is 1/3 of https://example.org/a-b?c=d", 5},
		{"a.txt", "before—after the – dash… and more", 6},
		{"a.txt", "# - * > | --- ...", 0},
		{"a.txt", "\ufeffmarked start", 2},
		{"a.txt", "hard\u00a0space", 2},
		{"a.txt", "naïve Füße Ελληνικά слово", 4},
		{"a.txt", "한국어 문장 입니다", 3},
		{"a.txt", "你好世界", 4},
		{"a.txt", "你好，世界。", 4},
		{"a.txt", "カタカナ", 1},
		{"a.txt", "GPT 模型 v2", 4},
		{"a.txt", "a👍b 👍", 1},
		{"a.txt", "[text](http://example.org)", 1},

		{"a.md", "# Title\n\nSome **bold** and _slanted_ text.", 6},
		{"a.md", "---\ntitle: Not counted at all\n---\nreal words", 2},
		{"a.md", "+++\ntitle = 'no'\n+++\nreal words", 2},
		{"a.md", "---\nnot closed\n", 2},
		{"a.md", "text\n\n---\n\nmore", 2},
		{"a.md", "```go\nfunc main() {}\n```\nend", 3},
		{"a.md", "~~~\none two\n~~~", 2},
		{"a.md", "```\nopen to the end", 4},
		{"a.md", "````\n```\ncode\n```\n````\nend", 2},
		{"a.md", "- one\n* two\n+ three\n1. four\n2) five", 5},
		{"a.md", "- [x] done\n- [ ] open", 2},
		{"a.md", "> quoted words\n> - and a list", 5},
		{"a.md", "see [the page](https://example.org/x \"Title\") now", 4},
		{"a.md", "see [the page][ref] now\n\n[ref]: https://example.org", 4},
		{"a.md", "![an image of it](a.png) caption", 1},
		{"a.md", "a <!-- not\nseen --> b", 2},
		{"a.md", "one<br>two <b>three</b>", 3},
		{"a.md", "<https://example.org> is visible", 3},
		{"a.md", "| a | b |\n|---|:-:|\n| c d | e |", 5},
		{"a.md", "a|b", 2},
		{"a.md", "note[^1] here\n\n[^1]: the footnote text", 5},
		{"a.md", "3 < 5 and 7 > 2", 5},
		{"a.md", "| 第一章 | ok |", 4},
		{"a.MD", "## Heading words", 2},
		{"a.md", "2024. was a year", 3},

		{"a.html", "<p>one <b>tw</b>o</p><p>three</p><script>var x = 1</script><style>p {}</style><!-- no -->", 3},
		{"a.html", "<ul><li>a<li>b</ul>fish &amp; chips", 4},
	} {
		if got := CountWords(tt.name, []byte(tt.text)); got != tt.want {
			t.Errorf("%s %q: %d words, want %d", tt.name, tt.text, got, tt.want)
		}
	}
}

func TestCountWordsAddsUp(t *testing.T) { rapid.Check(t, countAddsUp) }

func FuzzCountWords(f *testing.F) { f.Fuzz(rapid.MakeFuzz(countAddsUp)) }

// countAddsUp: plain text counts as much as its paragraphs, and never more than it has characters.
func countAddsUp(t *rapid.T) {
	a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
	sum := CountWords("a.txt", []byte(a)) + CountWords("a.txt", []byte(b))
	if strings.HasPrefix(b, "\ufeff") {
		return // a mark at the beginning of a file only
	}
	if got := CountWords("a.txt", []byte(a+"\n\n"+b)); got != sum {
		t.Fatalf("%q and %q have %d words, together %d", a, b, sum, got)
	}
	for _, name := range []string{"a.txt", "a.md", "a.html"} {
		if n := CountWords(name, []byte(a)); n > len([]rune(a)) {
			t.Fatalf("%s %q: %d words", name, a, n)
		}
	}
}

func BenchmarkCountWords(b *testing.B) {
	text := []byte(strings.Repeat("Some **words** of a [page](x.md), and 模型 more.\n", 10_000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		CountWords("a.md", text)
	}
}
