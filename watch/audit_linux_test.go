package watch_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toold/toold/watch"
)

// A write through a hard link outside of the workspace, or through a memory map, gives no event. The text found is right
// all the same, and the audit notices.
func TestAuditFindsWhatGaveNoEvent(t *testing.T) {
	top := t.TempDir()
	root := filepath.Join(top, "w")
	plant(t, root, map[string]string{"a/mapped.txt": "before\n", "a/linked.txt": "before\n", "b/x.txt": "before\n"})
	if err := os.Link(filepath.Join(root, "a/linked.txt"), filepath.Join(top, "outside.txt")); err != nil {
		t.Fatal(err)
	}
	tick := make(chan time.Time)
	tr := readyWith(t, root, watch.Trouble{Audit: tick})
	if err := os.WriteFile(filepath.Join(top, "outside.txt"), []byte("after, and longer\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	writeMapped(t, filepath.Join(root, "a/mapped.txt"), "after!\n")
	if got, want := search(t, tr, watch.Query{Text: "after"}).Text, "a/linked.txt:1: after, and longer\na/mapped.txt:1: after!"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for range 4 { // look, wait for the watcher, look again, apply
		tick <- time.Time{}
		search(t, tr, watch.Query{Text: "x"})
	}
	tick <- time.Time{}
	if s := tr.Status(); s.Diverged != 1 || s.Audits == 0 {
		t.Errorf("after the audit: %+v, want one folder that diverged", s)
	}
}

func writeMapped(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := unix.Mmap(int(f.Fd()), 0, len(text), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	copy(m, text)
	if err := unix.Msync(m, unix.MS_SYNC); err != nil {
		t.Fatal(err)
	}
	if err := unix.Munmap(m); err != nil {
		t.Fatal(err)
	}
}

// Changes that the events tell are no divergence, however they fall in with an audit.
func TestAuditDoesNotMistakeChanges(t *testing.T) {
	root := t.TempDir()
	plant(t, root, map[string]string{"a/x.txt": "1\n"})
	tick, rest := make(chan time.Time), make(chan time.Time)
	tr := readyWith(t, root, watch.Trouble{Audit: tick, Rest: rest})
	for i := range 20 {
		plant(t, root, map[string]string{"a/x.txt": fmt.Sprint(i), fmt.Sprintf("a/d%d/y", i): ""})
		tick <- time.Time{}
	}
	search(t, tr, watch.Query{Text: "x"})
	for range 4 {
		tick <- time.Time{}
	}
	if s := tr.Status(); s.Diverged != 0 {
		t.Errorf("status %+v, want nothing that diverged", s)
	}
}

func TestParkAndComeBack(t *testing.T) {
	root := t.TempDir()
	plant(t, root, map[string]string{"a/x": "k\n"})
	tr := ready(t, root)
	tr.Park()
	if s := tr.Status(); s.State != "idle" || s.Files != 0 {
		t.Errorf("parked: %+v", s)
	}
	plant(t, root, map[string]string{"a/y": "k\n"})
	for range 2 {
		if got := search(t, tr, watch.Query{Text: "k"}).Text; got != "a/x:1: k\na/y:1: k" {
			t.Errorf("after parking: %q", got)
		}
		if err := tr.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// The folder at the root's path is another one, or is not there for a while.
func TestRootIsReplaced(t *testing.T) {
	root := filepath.Join(t.TempDir(), "w")
	plant(t, root, map[string]string{"old": "k\n"})
	tr := ready(t, root)
	if err := os.Rename(root, root+".away"); err != nil {
		t.Fatal(err)
	}
	if a, err := tr.Search(t.Context(), watch.Query{Text: "k"}); err == nil {
		t.Errorf("without a root: %q", a.Text)
	}
	plant(t, root, map[string]string{"new": "k\n"})
	if got := search(t, tr, watch.Query{Text: "k"}).Text; got != "new:1: k" {
		t.Errorf("another root: %q", got)
	}
}

// toold's own writes tell the tree themselves, where there are no events too.
func TestChanged(t *testing.T) {
	root := t.TempDir()
	tr := ready(t, root)
	for i := range 10 {
		p := fmt.Sprintf("d/%d.txt", i)
		plant(t, root, map[string]string{p: fmt.Sprintf("word%d\n", i)})
		tr.Changed(p)
		if got, want := search(t, tr, watch.Query{Text: fmt.Sprintf("word%d", i)}).Text, fmt.Sprintf("%s:1: word%d", p, i); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
