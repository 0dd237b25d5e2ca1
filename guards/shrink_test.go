package guards

import (
	"fmt"
	"go/build"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toold/toold/workspace"
)

func TestShrinkBorders(t *testing.T) {
	k := func(n int) string { return strings.Repeat("k", n) }
	for _, tt := range []struct {
		name, before, after string
		refused             bool
	}{
		{"399 bytes are not protected", k(399), "x", false},
		{"400 bytes are", k(400), "x", true},
		{"just below half", k(1000), k(499), true},
		{"half", k(1000), k(500), false},
		{"just below half of a long line", k(5000), k(2499), true},
		{"half of a long line", k(5000), k(2500), false},
		{"just below half of the lines", numbered(100), numbered(49), true},
		{"half of equal lines", strings.Repeat("0123456789\n", 100), strings.Repeat("0123456789\n", 50), false},
		{"nothing left", numbered(100), "", true},
		{"characters, not bytes", strings.Repeat("é", 100) + strings.Repeat("x", 300), strings.Repeat("é", 100) + strings.Repeat("x", 100), false},
		{"a new text of the same length", prose(1), prose(2), true},
		{"a new text that is far longer", prose(1), strings.Repeat(prose(2), 20), true},
		{"appended to", numbered(100), numbered(300), false},
		{"a fragment in the middle of new text", numbered(100), prose(3) + numbered(20) + prose(4), true},
	} {
		d := newDoor(t)
		d.put("a.md", tt.before)
		err := d.write("a.md", tt.after)
		if tt.refused {
			d.refused(err, "shrink_guard", "discard")
		} else {
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
	}
}

// prose gives an English text of about 2,000 characters, a different one for each seed.
func prose(seed uint64) string {
	vocabulary := strings.Fields(`the of and to a in is it that for was on are with as his they be at one have this from or had by hot word but what
		some we can out other were all there when up use your how said an each she which do their time if will way about many then them write would like so
		these her long make thing see him two has look more day could go come did number sound no most people my over know water than call first who may
		down side been now find any new work part take get place made live where after back little only round man year came show every good me give our under
		name very through just form sentence great think say help low line differ turn cause much mean before move right boy old too same tell does set three
		want air well also play small end put home read hand port large spell add even land here must big high such follow act why ask men change went light
		kind off need house picture try us again animal point mother world near build self earth father head stand own page should country found answer school`)
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for b.Len() < 2000 {
		n := 6 + r.IntN(12)
		for i := range n {
			// Frequent words are frequent: the square of a uniform number leans to the front.
			f := r.Float64()
			b.WriteString(vocabulary[int(f*f*float64(len(vocabulary)))])
			b.WriteString([]string{" ", " ", ".\n"}[boolean(i == n-1)*2])
		}
	}
	return b.String()
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestRetention(t *testing.T) {
	text := numbered(200)
	lines := strings.SplitAfter(text, "\n")
	reversed := slices.Clone(lines)
	slices.Reverse(reversed)
	each := func(f func(string) string) string {
		var b strings.Builder
		for _, l := range strings.SplitAfter(text, "\n") {
			if l != "" {
				b.WriteString(f(l))
			}
		}
		return b.String()
	}
	words := strings.Fields(prose(1))
	for _, tt := range []struct {
		name, before, after string
		low, high           float64
	}{
		{"nothing before", "", "x", 1, 1},
		{"identical", text, text, 1, 1},
		{"all lines moved", strings.Join(lines, ""), strings.Join(reversed, ""), 1, 1},
		{"indented anew", text, each(func(l string) string { return "\t\t" + l }), 1, 1},
		{"CRLF", text, strings.ReplaceAll(text, "\n", "\r\n"), 1, 1},
		{"spaced anew", text, strings.ReplaceAll(text, " ", "  "), 1, 1},
		{"wrapped anew", strings.Join(words, " "), strings.ReplaceAll(wrap(words, 11), " ", " "), 0.999, 1},
		{"wrapped from one width to another", wrap(words, 11), wrap(words, 7), 0.999, 1},
		{"a word replaced on every line", text, strings.ReplaceAll(text, "original", "new"), 0.65, 0.75},
		{"every line a comment", text, each(func(l string) string { return "// " + l }), 0.99, 1},
		{"a letter changed in a word of every line", text, strings.ReplaceAll(text, "original", "originel"), 0.85, 1},
		{"other prose", prose(1), prose(2), 0, 0.2},
		{"other prose, far longer", prose(1), strings.Repeat(prose(2), 10) + prose(5), 0, 0.3},
		{"other Chinese", strings.Repeat("春眠不觉晓处处闻啼鸟夜来风雨声花落知多少", 30), strings.Repeat("床前明月光疑是地上霜举头望明月低头思故乡", 30), 0, 0.1},
		{"Chinese with one clause in three gone", strings.Repeat("春眠不觉晓处处闻啼鸟夜来风雨声", 30), strings.Repeat("春眠不觉晓夜来风雨声", 30), 0.6, 0.7},
		{"a long line with an insertion in front", strings.Repeat("key: value; ", 300), "new: thing; " + strings.Repeat("key: value; ", 300), 0.99, 1},
		{"a third of a long line", words3(words, 3), words3(words, 1), 0.3, 0.37},
	} {
		got := Retention([]byte(tt.before), []byte(tt.after))
		if got < tt.low || got > tt.high {
			t.Errorf("%s: %.3f, want %.2f to %.2f", tt.name, got, tt.low, tt.high)
		}
	}
}

func wrap(words []string, width int) string {
	var b strings.Builder
	for chunk := range slices.Chunk(words, width) {
		b.WriteString(strings.Join(chunk, " ") + "\n")
	}
	return b.String()
}

// words3 gives the first n thirds of a text as one line.
func words3(words []string, n int) string {
	return strings.Join(words[:len(words)*n/3], " ")
}

// TestRetentionOfOtherSources compares source files of the standard library with their neighbours: what unrelated
// files share does not pass for a rewrite that keeps the half.
func TestRetentionOfOtherSources(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(build.Default.GOROOT, "src", "go", "types", "*.go"))
	if len(files) < 20 {
		t.Fatalf("the standard library's sources are not there: %d files", len(files))
	}
	sum, n := 0.0, 0
	for i := 1; i < len(files); i++ {
		a, b := read(t, files[i-1]), read(t, files[i])
		if len(a) < 4000 || len(b) < 4000 {
			continue
		}
		r := Retention(a, b)
		if sum, n = sum+r, n+1; r >= shrinkShare {
			t.Errorf("%s and %s: %.2f", filepath.Base(files[i-1]), filepath.Base(files[i]), r)
		}
	}
	t.Logf("%d pairs, mean %.3f", n, sum/float64(n))
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestShrinkNamesWhatIsLost(t *testing.T) {
	d := newDoor(t)
	before := "# Guide\nkept line of some length here\n" + numbered(40) + "tail that is kept\n"
	d.put("a.md", before)
	r := d.refused(d.write("a.md", "# Guide\nkept line of some length here\ntail that is kept\n"), "shrink_guard", "40 of 43 lines", "3: line 1 of the original file", "edit_file")
	facts := r.Evidence.([]*Objection)[0].Facts.(Shrinkage)
	if facts.LostLines != 40 || len(facts.Lost) != 1 || facts.Lost[0] != (LineSpan{3, 42}) || facts.Kept > 0.1 {
		t.Errorf("%+v", facts)
	}
}

func TestShrinkIsOfWritesOnly(t *testing.T) {
	d := newDoor(t)
	d.put("a.md", numbered(100))
	d.passes(d.apply(d.change(workspace.OpEdit, "a.md", "a line range says itself what it replaces"))) // the whole-file rewrite
	d.passes(d.write("new.md", "x"))
}

func TestRetentionProperties(t *testing.T) { rapid.Check(t, retentionProperties) }

func FuzzRetention(f *testing.F) { f.Fuzz(rapid.MakeFuzz(retentionProperties)) }

// retentionProperties: within 0 and 1; 1 for the same text, for moved and re-indented lines; never more when lines are
// removed from the new text; and never a fault, whatever the bytes.
func retentionProperties(t *rapid.T) {
	line := rapid.OneOf(
		rapid.SampledFrom([]string{"", "}", "return nil", "the same line", "\tfoo(bar)", "é", "你好世界", strings.Repeat("x", 300), strings.Repeat("ab; ", 200), "\xff\xfe"}),
		rapid.StringMatching(`[a-z ]{0,40}`),
		rapid.String(),
	)
	old := rapid.SliceOf(line).Draw(t, "old")
	for i := range old {
		old[i] = strings.NewReplacer("\n", "", "\ufeff", "").Replace(old[i])
	}
	text := func(lines []string) []byte {
		var b strings.Builder
		for _, l := range lines {
			b.WriteString(l + "\n")
		}
		return []byte(b.String())
	}
	before := text(old)
	if r := Retention(before, before); r != 1 {
		t.Fatalf("the same text: %v", r)
	}
	if r := Retention(before, text(rapid.Permutation(old).Draw(t, "moved"))); r != 1 {
		t.Fatalf("moved lines: %v", r)
	}
	other := text(rapid.SliceOf(line).Draw(t, "new"))
	if r := Retention(before, other); r < 0 || r > 1 {
		t.Fatalf("out of range: %v", r)
	}
	keep := rapid.SliceOfN(rapid.IntRange(0, 2), len(old), len(old)).Draw(t, "keep")
	var some, fewer []string
	for i, l := range old {
		if keep[i] > 0 {
			some = append(some, l)
		}
		if keep[i] > 1 {
			fewer = append(fewer, l)
		}
	}
	if more, less := Retention(before, text(some)), Retention(before, text(fewer)); less > more {
		t.Fatalf("removing lines raises it from %v to %v", more, less)
	}
}

// big gives a text of about 10 MB.
func big(line func(i int) string) []byte {
	var b strings.Builder
	for i := 0; b.Len() < 10<<20; i++ {
		b.WriteString(line(i))
	}
	return []byte(b.String())
}

func BenchmarkRetention10MB(b *testing.B) {
	text := big(func(i int) string { return fmt.Sprintf("line %d of the original file\n", i) })
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(int) string { return fmt.Sprintf("%x %x\n", random.Uint64(), random.Uint64()) }
	oneLine := big(func(i int) string { return fmt.Sprintf(`{"id":%d,"name":"item %d"},`, i, i) })
	shuffled := strings.SplitAfter(string(text), "\n")
	random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for _, bench := range []struct {
		name          string
		before, after []byte
	}{
		{"same", text, slices.Clone(text)},
		{"head", text, text[:len(text)/10]},
		{"every-line-changed", text, []byte(strings.ReplaceAll(string(text), "original", "new"))},
		{"all-new", big(noise), big(noise)},
		{"shuffled", text, []byte(strings.Join(shuffled, ""))},
		{"one-line-changed-all-over", oneLine, []byte(strings.ReplaceAll(string(oneLine), "name", "label"))},
		{"one-line-of-one-letter", []byte(strings.Repeat("k", 10<<20)), []byte(strings.Repeat("k", 5<<20))},
		{"empty-lines", []byte(strings.Repeat("\n", 10<<20)), []byte(strings.Repeat("\n", 9<<20) + "x")},
		{"not-utf8", append([]byte{0xff}, text...), text},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.before)))
			for b.Loop() {
				Retention(bench.before, bench.after)
			}
		})
	}
}
