package edit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toold/toold/edit/lines"
)

// fewLines draws texts whose lines repeat, with and without a last newline.
func fewLines(max int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		text := ""
		for _, line := range rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "}\n", "a\r\n"}), 0, max).Draw(t, "lines") {
			text += line
		}
		return text + rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "open line")
	})
}

// longestCommon gives the length of the longest common subsequence, the slow way.
func longestCommon(a, b []string) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			table[i][j] = max(table[i+1][j], table[i][j+1])
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			}
		}
	}
	return table[0][0]
}

func propDiff(t *rapid.T) {
	old, fresh := fewLines(30).Draw(t, "old"), fewLines(30).Draw(t, "new")
	a, b := splitText([]byte(old)), splitText([]byte(fresh))
	blocks := compare(a, b)
	kept := 0
	i, j := 0, 0
	for _, k := range append(blocks, block{len(a), len(a), len(b), len(b)}) {
		if !slices.Equal(a[i:k.a0], b[j:k.b0]) {
			t.Fatalf("lines %d-%d are not the same: %v", i+1, k.a0, blocks)
		}
		kept += k.a0 - i
		i, j = k.a1, k.b1
	}
	if want := longestCommon(a, b); kept != want {
		t.Fatalf("%d lines kept, %d could be: %v", kept, want, blocks)
	}
}

func TestDiffIsTheShortest(t *testing.T) { rapid.Check(t, propDiff) }
func FuzzDiff(f *testing.F)              { f.Fuzz(rapid.MakeFuzz(propDiff)) }

// propRebase edits a text of which every line is unlike all others, following each line by its name, and asks Rebase
// for every range.
func propRebase(t *rapid.T) {
	next := 0
	fresh := func() string {
		next++
		return fmt.Sprintf("line %d\n", next)
	}
	var old []string
	for range rapid.IntRange(0, 12).Draw(t, "lines") {
		old = append(old, fresh())
	}
	now := slices.Clone(old)
	for range rapid.IntRange(0, 6).Draw(t, "changes") {
		at := rapid.IntRange(0, len(now)).Draw(t, "at")
		drop := rapid.IntRange(0, min(3, len(now)-at)).Draw(t, "drop")
		var put []string
		for range rapid.IntRange(0, 3).Draw(t, "put") {
			put = append(put, fresh())
		}
		now = slices.Replace(now, at, at+drop, put...)
	}
	delta := Diff(join(old), join(now))
	for start := 1; start <= len(old); start++ {
		for end := start; end <= len(old); end++ {
			first := slices.Index(now, old[start-1])
			intact := first >= 0 && first+end-start < len(now) && slices.Equal(now[first:first+end-start+1], old[start-1:end])
			a, b, touched := delta.Rebase(start, end)
			switch {
			case touched == intact:
				t.Fatalf("lines %d-%d of %q in %q: touched %v", start, end, old, now, touched)
			case intact && (a != first+1 || b != first+1+end-start):
				t.Fatalf("lines %d-%d of %q in %q are %d-%d, not %d", start, end, old, now, a, b, first+1)
			case touched && (a < 1 || b < a-1 || b > len(now)):
				t.Fatalf("lines %d-%d of %q in %q: %d-%d is no range", start, end, old, now, a, b)
			}
		}
	}
}

func TestRebaseFollowsEveryLine(t *testing.T) { rapid.Check(t, propRebase) }
func FuzzRebase(f *testing.F)                 { f.Fuzz(rapid.MakeFuzz(propRebase)) }

// propRebaseSame holds for texts whose lines repeat: a range that is not touched reads the same where it is now.
func propRebaseSame(t *rapid.T) {
	old, now := []byte(fewLines(20).Draw(t, "old")), []byte(fewLines(20).Draw(t, "new"))
	n := lines.Count(old)
	if n == 0 {
		return
	}
	start := rapid.IntRange(1, n).Draw(t, "start")
	end := rapid.IntRange(start, n).Draw(t, "end")
	a, b, touched := Diff(old, now).Rebase(start, end)
	if touched {
		return
	}
	from, to := lines.Span(old, start, end)
	from2, to2 := lines.Span(now, a, b)
	if !bytes.Equal(old[from:to], now[from2:to2]) {
		t.Fatalf("lines %d-%d of %q are said to be %d-%d of %q", start, end, old, a, b, now)
	}
}

func TestRebasedLinesReadTheSame(t *testing.T) { rapid.Check(t, propRebaseSame) }

func TestDiffOfLargeTextsWithoutACommonLine(t *testing.T) {
	old := bytes.Repeat([]byte("x\n"), 3*maxEdits)
	fresh := bytes.Repeat([]byte("y\n"), 3*maxEdits)
	want := []Hunk{{1, 3 * maxEdits, 1, 3 * maxEdits}}
	if diff := cmp.Diff(want, Diff(old, fresh).Hunks()); diff != "" {
		t.Error(diff)
	}
}

func TestDiffOfLargeTextsIsCutAtUniqueLines(t *testing.T) {
	var old, fresh bytes.Buffer
	for i := range 3 * maxEdits {
		fmt.Fprintf(&old, "keep %d\nold\n", i)
		fmt.Fprintf(&fresh, "keep %d\nnew\n", i)
	}
	delta := Diff(old.Bytes(), fresh.Bytes())
	if got := len(delta.Hunks()); got != 3*maxEdits {
		t.Errorf("%d hunks, want %d", got, 3*maxEdits)
	}
	if _, _, touched := delta.Rebase(101, 101); touched {
		t.Error("a line that stayed counts as touched")
	}
	if _, _, touched := delta.Rebase(102, 102); !touched {
		t.Error("a line that was replaced does not count as touched")
	}
}

func TestDiffOfLargeTextsKeepsEqualLinesOnly(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		text := func() []string {
			out := make([]string, 1500+r.IntN(500))
			for i := range out {
				out[i] = fmt.Sprintf("%d\n", r.IntN(1200+int(seed)*400)) // many once, some often
			}
			return out
		}
		a, b := text(), text()
		i, j := 0, 0
		for _, k := range append(compare(a, b), block{len(a), len(a), len(b), len(b)}) {
			if !slices.Equal(a[i:k.a0], b[j:k.b0]) {
				t.Fatalf("seed %d: lines %d-%d are not the same", seed, i+1, k.a0)
			}
			i, j = k.a1, k.b1
		}
	}
}
