package shell_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/toold/toold/shell"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain text", "a\tb\nc", "a\tb\nc"},
		{"colours", "\x1b[1;31mred\x1b[0m \x1b[38;2;1;2;3mx\x1b[m", "red x"},
		{"a title", "\x1b]0;title\aafter", "after"},
		{"a link", "\x1b]8;;https://x\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"a character set", "\x1b(Bx\x1b=y\x1b>", "xy"},
		{"eight-bit controls", "a\u009b31mb\u009d0;t\u009cc", "abc"},
		{"a string that never ends stops at the line", "\x1b]0;title\nnext", "\nnext"},
		{"a sequence that never ends", "x\x1b[31", "x"},
		{"a sequence that is broken off", "\x1b[31\x1b[32mx", "x"},
		{"progress", " 10%\r 50%\r100%\ndone\n", "100%\ndone\n"},
		{"progress that clears its line", "10%\r\x1b[K20%\r\x1b[Kdone\n", "done\n"},
		{"line ends of Windows", "a\r\nb\r\n", "a\nb\n"},
		{"two returns before the break", "a\r\r\nb", "a\nb"},
		{"a return at the end", "10%\r", "10%"},
		{"backspaces", "abc\b\bxé\b!", "ax!"},
		{"a bell", "a\ab", "ab"},
		{"bytes that are not UTF-8", "\xffx\xc3(\xe2\x89", `\xffx\xc3(\xe2\x89`},
		{"a surrogate", "\xed\xa0\x80", `\xed\xa0\x80`},
		{"a NUL", "a\x00b\x7f", `a\x00b\x7f`},
		{"the replacement character itself", "\ufffd", "\ufffd"},
		{"wide characters", "≤ 😀 é", "≤ 😀 é"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shell.Clean(c.in); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// cleanHolds are the rules that hold for any output, in any pieces.
func cleanHolds(t *rapid.T) {
	parts := rapid.SliceOf(rapid.OneOf(
		rapid.SampledFrom([]string{"\x1b[", "\x1b]", "\x1b", "\r", "\n", "\r\n", "\b", "31m", "\a", "\x9b", "\xc2\x9b", "é", "😀", "\xf0\x9f", "\x00", "text"}),
		rapid.String(),
		rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) }),
	)).Draw(t, "parts")
	whole := strings.Join(parts, "")
	want := shell.Clean(whole)
	var b strings.Builder
	c := shell.NewCleaner(func(p []byte) {
		if !utf8.Valid(p) {
			t.Fatalf("%q is not whole text", p)
		}
		b.Write(p)
	})
	for _, p := range parts {
		_, _ = c.Write([]byte(p))
	}
	c.Close()
	if b.String() != want {
		t.Fatalf("in pieces %q, at once %q", b.String(), want)
	}
	if i := strings.IndexFunc(want, func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }); i >= 0 {
		t.Fatalf("a control character is left: %q", want)
	}
	if again := shell.Clean(want); again != want {
		t.Fatalf("cleaned again %q becomes %q", want, again)
	}
}

func TestCleanHolds(t *testing.T) { rapid.Check(t, cleanHolds) }

func FuzzClean(f *testing.F) { f.Fuzz(rapid.MakeFuzz(cleanHolds)) }
