package logs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toold/toold/shell"
)

// plainly does in memory what tailOf does from the end.
func plainly(text string, q Query) (lines []string, total int) {
	match := func(s string) bool { return strings.Contains(s, q.Filter) }
	if re, err := regexp.Compile(q.Filter); err == nil {
		match = re.MatchString
	}
	if text == "" {
		return nil, 0
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if line = strings.TrimSuffix(line, "\r"); match(line) {
			lines = append(lines, shell.Clean(line))
		}
	}
	return lines[max(0, len(lines)-q.Lines):], len(lines)
}

func tailHolds(t *rapid.T) {
	line := rapid.OneOf(rapid.StringMatching(`[ab\[ü≤]{0,12}`), rapid.StringMatching(`[ab]{0,80}`))
	text := strings.Join(rapid.SliceOfN(line, 0, 40).Draw(t, "lines"), rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "break"))
	if rapid.Bool().Draw(t, "ended") {
		text += "\n"
	}
	q := Query{
		Lines:  rapid.IntRange(1, 45).Draw(t, "n"),
		Filter: rapid.SampledFrom([]string{"", "a", "ab", "[", "^b", "a$", "^$", "a.b", "(?i)A", "ü", "a|≤", "abab.*a"}).Draw(t, "filter"),
	}.withDefaults()
	// Windows overlap by more than any match is long, and anchors are not looked for in windows.
	s := sizes{block: rapid.IntRange(1, 70).Draw(t, "block"), maxLine: 1000, overlap: 100}
	got, err := tailIn(context.Background(), strings.NewReader(text), int64(len(text)), q, s)
	if err != nil {
		t.Fatal(err)
	}
	lines, total := plainly(text, q)
	if diff := cmp.Diff(slices.Concat(lines), slices.Concat(got.Lines)); diff != "" || got.Total != int64(total) || !got.Counted || got.Partial {
		t.Fatalf("%q: %s total %d, want %d", text, diff, got.Total, total)
	}
}

func TestTailHolds(t *testing.T) { rapid.Check(t, tailHolds) }

func FuzzTail(f *testing.F) { f.Fuzz(rapid.MakeFuzz(tailHolds)) }

// Lines that are too long to be held are found, counted and cut.
func TestGiantLines(t *testing.T) {
	giant := strings.Repeat("é", 500) + "needle" + strings.Repeat("z", 500)
	text := "first\n" + giant + "\nneedle here\n" + giant + "\nlast"
	for _, c := range []struct {
		filter string
		want   []string
	}{
		{"", []string{"first", "éééé [… the line has 1506 bytes]", "needle here", "éééé [… the line has 1506 bytes]", "last"}},
		{"needle", []string{"éééé [… the line has 1506 bytes]", "needle here", "éééé [… the line has 1506 bytes]"}},
		{"n[e]edle", []string{"éééé [… the line has 1506 bytes]", "needle here", "éééé [… the line has 1506 bytes]"}},
		{"last", []string{"last"}},
	} {
		for block := 1; block < 600; block += 7 {
			q := Query{Filter: c.filter, Limits: Limits{Line: 9}}.withDefaults()
			q.Limits.Line = 9
			for i, w := range c.want { // cut lines are cut between characters
				if len(w) > 9 && !strings.Contains(w, "…") {
					c.want[i] = w[:9] + fmt.Sprintf(" [… the line has %d bytes]", len(w))
				}
			}
			got, err := tailIn(t.Context(), strings.NewReader(text), int64(len(text)), q, sizes{block, 100, 20})
			if diff := cmp.Diff(c.want, got.Lines); diff != "" || err != nil || got.Total != int64(len(c.want)) {
				t.Fatalf("block %d, filter %q: %s %v, total %d", block, c.filter, diff, err, got.Total)
			}
		}
	}
}

func TestTailIsBounded(t *testing.T) {
	text := strings.Repeat(strings.Repeat("x", 99)+"\n", 5000)
	got, err := tailOf(t.Context(), strings.NewReader(text), int64(len(text)), Query{Lines: 2000}.withDefaults())
	if err != nil || len(got.Lines) != 655 || !got.Full || got.Total != 5000 || !got.Counted {
		t.Errorf("%d lines, full %v, %d of them, %v", len(got.Lines), got.Full, got.Total, err)
	}
	giant := strings.Repeat("y", 1<<20)
	got, err = tailOf(t.Context(), strings.NewReader(giant), int64(len(giant)), Query{Lines: 2000, Limits: Limits{Bytes: 1000}}.withDefaults())
	if err != nil || len(got.Lines) != 1 || got.Full {
		t.Errorf("%d lines, full %v, %v", len(got.Lines), got.Full, err)
	}
}

// hole makes a file of size bytes that holds only its end.
func hole(t *testing.T, size int64, end string) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "hole.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.WriteAt([]byte(end), size-int64(len(end))); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestHugeFilesCostNoMemory(t *testing.T) {
	f := hole(t, 10<<30, "\nfirst\nsecond\nthird\n")
	for filter, limits := range map[string]Limits{"": {Count: 1}, "i": {Count: 1}, "s.c": {Search: 1}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := TailFile(t.Context(), f, Query{Target: "hole.log", Lines: 2, Filter: filter, Limits: limits})
		runtime.ReadMemStats(&after)
		if err != nil || len(got.Lines) == 0 || got.Counted || got.Partial != (limits.Search == 1) {
			t.Errorf("%+v %v", got, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
			t.Errorf("%d bytes allocated", used)
		}
	}
}

func TestWhatIsNoFile(t *testing.T) {
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if _, err := TailFile(t.Context(), dir, Query{Target: "x"}); shell.Code(err) != shell.NotRegular {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := TailFile(ctx, hole(t, 1<<20, "x"), Query{}); shell.Code(err) != shell.Cancelled {
		t.Error(err)
	}
}
