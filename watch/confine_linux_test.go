package watch_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toold/toold/watch"
)

// Somebody swaps folders and files for links to the outside while searches run. None may show what is there.
func TestConfinementUnderSwapRace(t *testing.T) {
	top := t.TempDir()
	root, outside := filepath.Join(top, "w"), filepath.Join(top, "outside")
	plant(t, outside, map[string]string{"x": "SECRET\n", "d/x": "SECRET\n", ".gitignore": "ok\n"})
	plant(t, root, map[string]string{"d/x": "public\n", "d/d/x": "public\n", "f": "public\n", "ok": "public\n", ".gitignore": "ign\n", "ign/x": "public\n"})
	tr := ready(t, root)
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	defer swapper.Wait()
	defer close(stop)
	for name, target := range map[string]string{"d": outside, "f": filepath.Join(outside, "x"), "ign": outside} {
		p := filepath.Join(root, name)
		swapper.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_ = os.Rename(p, p+".away")
				_ = os.Symlink(target, p)
				_ = os.Remove(p)
				_ = os.Rename(p+".away", p)
			}
		})
	}
	for range rounds(100) {
		for _, q := range []watch.Query{{Text: "SECRET"}, {Text: "SECRET", IncludeIgnored: true}, {Text: "SECRET", Path: "d"}, {Text: "SECRET", Path: "d/d/x"}, {Text: "SECRET", Path: "ign", Context: 1}, {Text: "SECRET", Path: "f"}} {
			a, err := tr.Search(t.Context(), q)
			if err == nil && len(a.Matches) > 0 {
				t.Fatalf("%+v shows the outside: %q", q, a.Text)
			}
		}
		a, err := tr.Search(t.Context(), watch.Query{Text: "public"})
		if err != nil || !strings.Contains(a.Text, "ok:1: public") {
			t.Fatalf("%q, %v", a.Text, err)
		}
	}
}

// What is no regular file does not hold a search.
func TestSpecialFiles(t *testing.T) {
	root := t.TempDir()
	plant(t, root, map[string]string{"a": "k\n"})
	special(t, root)
	for range 2 {
		if got := search(t, ready(t, root), watch.Query{Text: "k"}).Text; got != "a:1: k" {
			t.Errorf("%q", got)
		}
	}
}

// special makes a FIFO and a socket.
func special(t *testing.T, root string) {
	t.Helper()
	if err := unix.Mkfifo(filepath.Join(root, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(root, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
}
