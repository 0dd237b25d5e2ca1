package watch_test

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/toold/toold/watch"
)

// outsideRoot makes the test binary be the outside process that changes the folder named by it.
const outsideRoot = "TOOLD_TEST_OUTSIDE"

func TestMain(m *testing.M) {
	if root := os.Getenv(outsideRoot); root != "" {
		outside(root)
		return
	}
	goleak.VerifyTestMain(m)
}

// outside does bursts of hostile operations: for each line "seed count" on stdin one burst, and a line when it is over.
func outside(root string) {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var seed uint64
		var n int
		var ignores bool
		if _, err := fmt.Sscan(in.Text(), &seed, &n, &ignores); err != nil {
			fmt.Println("bad command:", err)
			return
		}
		h := hostile{root, rand.New(rand.NewPCG(seed, 1)), seed, ignores}
		for i := range n {
			h.operate(i)
		}
		fmt.Println("done")
	}
}

// hostile changes a folder the way that defeats a naive watcher.
type hostile struct {
	root string
	*rand.Rand
	burst   uint64
	ignores bool // it changes ignore files too
}

func (h hostile) name() string { return string(rune('a' + h.IntN(4))) }

// place gives a random path, of existing folders as often as not.
func (h hostile) place() string {
	parts := []string{h.root}
	for range 1 + h.IntN(3) {
		parts = append(parts, h.name())
	}
	return filepath.Join(parts...)
}

// operate does one operation. Whether it works does not matter.
func (h hostile) operate(i int) {
	text := fmt.Sprintf("token-%d-%d\n", h.burst, i)
	p, q := h.place(), h.place()
	file := p + ".txt"
	kinds := 16
	if h.ignores {
		kinds = 22
	}
	switch h.IntN(kinds) {
	case 0, 1, 2:
		_ = os.MkdirAll(filepath.Dir(file), 0o755)
		_ = os.WriteFile(file, []byte(text), 0o644)
	case 3: // save as editors do
		_ = os.MkdirAll(filepath.Dir(file), 0o755)
		if os.WriteFile(file+".tmp", []byte(text), 0o644) == nil {
			_ = os.Rename(file+".tmp", file)
		}
	case 4:
		if f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			_, _ = f.WriteString(text)
			f.Close()
		}
	case 5:
		_ = os.Remove(file)
	case 6:
		_ = os.RemoveAll(p)
	case 7, 8: // move a folder
		_ = os.Rename(p, q)
	case 9: // move a folder, and make another one at once where it was
		if os.Rename(p, q) == nil {
			_ = os.MkdirAll(filepath.Join(p, h.name()), 0o755)
			_ = os.WriteFile(filepath.Join(p, "new.txt"), []byte(text), 0o644)
		}
	case 10: // swap two folders
		t := filepath.Join(h.root, "swap")
		if os.Rename(p, t) == nil {
			_ = os.Rename(q, p)
			_ = os.Rename(t, q)
			_ = os.WriteFile(filepath.Join(q, "swapped.txt"), []byte(text), 0o644)
		}
	case 11: // a deep tree in one go
		deep := filepath.Join(p, h.name(), h.name())
		_ = os.MkdirAll(deep, 0o755)
		_ = os.WriteFile(filepath.Join(deep, "deep.txt"), []byte(text), 0o644)
	case 12: // out of the workspace and back in
		t := h.root + ".out"
		if os.Rename(p, t) == nil {
			_ = os.WriteFile(filepath.Join(t, "away.txt"), []byte(text), 0o644)
			_ = os.MkdirAll(filepath.Dir(q), 0o755)
			if os.Rename(t, q) != nil {
				_ = os.RemoveAll(t)
			}
		}
	case 13:
		_ = os.Link(file, q+".txt")
	case 14:
		_ = os.Symlink(p, q+".txt")
	case 15: // a folder becomes a file, and the other way
		_ = os.RemoveAll(p)
		if h.IntN(2) == 0 {
			_ = os.WriteFile(p, []byte(text), 0o644)
		} else {
			_ = os.MkdirAll(p, 0o755)
		}
	case 16, 17, 18:
		patterns := []string{"a", "b/", "*.txt", "!a.txt", "/c", "d/**", "!*", "**/new.txt", "!b/", ".gitignore"}
		name := []string{".gitignore", ".gitignore", ".ignore", ".git/info/exclude"}[h.IntN(4)]
		_ = os.WriteFile(filepath.Join(filepath.Dir(p), name), []byte(patterns[h.IntN(10)]+"\n"+patterns[h.IntN(10)]+"\n"), 0o644)
	case 19: // a repository comes or goes
		if dir := filepath.Dir(p); h.IntN(2) == 0 {
			_ = os.MkdirAll(filepath.Join(dir, ".git", "info"), 0o755)
			_ = os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: x\n"), 0o644)
		} else {
			_ = os.RemoveAll(filepath.Join(dir, ".git"))
		}
	case 20, 21: // the index of a repository changes
		args := []string{"add", "-f", "--", p}
		if h.IntN(2) == 0 {
			args = []string{"rm", "-r", "-q", "--cached", "--ignore-unmatch", "--", p}
		}
		cmd := exec.Command("git", args...)
		if cmd.Dir = h.root; h.IntN(3) == 0 {
			cmd.Dir = filepath.Dir(p)
			_ = exec.Command("git", "init", "-q", cmd.Dir).Run()
		}
		_ = cmd.Run()
	}
}

// process is the outside process, or one in this process when it is nil.
type process struct {
	in  io.Writer
	out *bufio.Scanner
}

func startOutside(t *testing.T, root string) process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), outsideRoot+"="+root)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return process{in, bufio.NewScanner(out)}
}

func (p process) burst(t *testing.T, seed uint64, n int, ignores bool) {
	t.Helper()
	fmt.Fprintln(p.in, seed, n, ignores)
	if !p.out.Scan() || p.out.Text() != "done" {
		t.Fatalf("outside process: %q, %v", p.out.Text(), p.out.Err())
	}
}

// onDisk gives what is there, in the order of answers: every file, and every line as search shows it.
func onDisk(t *testing.T, root string) (files, lines []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		files = append(files, rel)
		data, err := os.ReadFile(p)
		for i, l := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
			if strings.HasPrefix(l, "token-") {
				lines = append(lines, fmt.Sprintf("%s:%d: %s", rel, i+1, l))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	slices.SortFunc(lines, func(a, b string) int {
		pa, ra, _ := strings.Cut(a, ":")
		pb, rb, _ := strings.Cut(b, ":")
		if pa != pb {
			return strings.Compare(pa, pb)
		}
		na, _, _ := strings.Cut(ra, ":")
		nb, _, _ := strings.Cut(rb, ":")
		x, _ := strconv.Atoi(na)
		y, _ := strconv.Atoi(nb)
		return x - y
	})
	return files, lines
}

// compareWithDisk asks for all files and all lines and compares them with what is there.
func compareWithDisk(t *testing.T, tr *watch.Tree, root, when string) {
	t.Helper()
	a := search(t, tr, watch.Query{Text: "token-", Max: 1 << 20})
	b := search(t, tr, watch.Query{Max: 1 << 20})
	files, lines := onDisk(t, root)
	if diff := cmp.Diff(files, b.Files); diff != "" {
		t.Fatalf("%s: files (-disk +answer):\n%s", when, diff)
	}
	got := []string{}
	for _, m := range a.Matches {
		got = append(got, fmt.Sprintf("%s:%d: %s", m.Path, m.Line, m.Text))
	}
	if diff := cmp.Diff(append([]string{}, lines...), got); diff != "" {
		t.Fatalf("%s: lines (-disk +answer):\n%s", when, diff)
	}
}

// rounds is n, or many times more in the long variant.
func rounds(n int) int {
	if os.Getenv("TOOLD_TORTURE") != "" {
		return n * 100
	}
	return n
}

func TestFreshAfterHostileBursts(t *testing.T) {
	var watches atomic.Int64
	for name, trouble := range map[string]watch.Trouble{
		"events":    {},
		"no events": {Silent: true},
		"watch limit": {Watches: func() error {
			if watches.Add(1)%3 == 0 {
				return syscall.ENOSPC
			}
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(t.TempDir(), "w")
			plant(t, root, map[string]string{"a/b/c.txt": "token-0\n", "b/a.txt": "token-0\n"})
			tr := readyWith(t, root, trouble)
			p := startOutside(t, root)
			for i := range rounds(50) {
				p.burst(t, uint64(i), 30, false)
				compareWithDisk(t, tr, root, fmt.Sprintf("burst %d", i))
			}
		})
	}
}

// More events than the system keeps: some are lost, the answer is right all the same.
func TestFreshAfterOverflow(t *testing.T) {
	root := filepath.Join(t.TempDir(), "w")
	plant(t, root, map[string]string{"a/b/c.txt": "token-0\n", "d/": ""})
	gate := make(chan struct{}, 1) // holds a token while events may be taken
	gate <- struct{}{}
	tr := readyWith(t, root, watch.Trouble{Event: func() { gate <- <-gate }})
	for i := range rounds(2) {
		<-gate
		for j := range 8_000 {
			p := filepath.Join(root, "d", strconv.Itoa(j%10))
			if err := os.WriteFile(p, []byte(fmt.Sprintf("token-%d-%d\n", i, j)), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(p); err != nil {
				t.Fatal(err)
			}
		}
		plant(t, root, map[string]string{fmt.Sprintf("new%d/x/y.txt", i): "token-x\n", "a/b/c.txt": "token-y\n"})
		gate <- struct{}{}
		compareWithDisk(t, tr, root, "after the overflow")
		plant(t, root, map[string]string{fmt.Sprintf("new%d/x/z.txt", i): "token-z\n"})
		compareWithDisk(t, tr, root, "after a change after the overflow")
	}
	if s := tr.Status(); s.Overflows == 0 {
		t.Errorf("no overflow was noticed: %+v", s)
	}
}

// Ignore files change too: what follows from events has to be what one gets by reading everything.
func TestFreshIgnoreRules(t *testing.T) {
	root := filepath.Join(t.TempDir(), "w")
	if out, err := exec.Command("git", "init", "-q", root).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v %s", err, out)
	}
	plant(t, root, map[string]string{"a/b/c.txt": "token-0\n", "b/a.txt": "token-0\n"})
	tr := ready(t, root)
	p := startOutside(t, root)
	for i := range rounds(100) {
		p.burst(t, uint64(i), 20, true)
		for _, q := range []watch.Query{{Text: "token-", Max: 1 << 20}, {Glob: "*.txt", Max: 1 << 20}, {Path: "a", Max: 1 << 20}, {IncludeIgnored: true}, {Glob: "a/b/*", Max: 1 << 20}} {
			got, err := tr.Search(t.Context(), q)
			want, werr := tr.Read(t.Context(), q)
			if diff := cmp.Diff([]any{want, fmt.Sprint(werr)}, []any{got, fmt.Sprint(err)}); diff != "" {
				t.Fatalf("burst %d, %+v (-read +answer):\n%s", i, q, diff)
			}
		}
	}
}

// A write by another process and then a question, without a moment between.
func TestFreshAtOnce(t *testing.T) {
	root := filepath.Join(t.TempDir(), "w")
	plant(t, root, map[string]string{"a/b/": ""})
	tr := ready(t, root)
	p := startOutside(t, root)
	for i := range rounds(100) {
		p.burst(t, uint64(i), 1, false)
		compareWithDisk(t, tr, root, fmt.Sprintf("operation %d", i))
	}
}
