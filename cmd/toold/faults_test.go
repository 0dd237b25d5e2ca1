package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// faulty builds the daemon that fails or dies at a step of a write.
func faulty(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "toold")
	c := exec.Command("go", "build", "-tags", "faults", "-o", binary, ".")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("build with faults: %v: %s", err, out)
	}
	return binary
}

// steps are the points of a write at which it can be interrupted.
var steps = []string{"intent", "temp", "sync", "linked", "swapped", "removed", "in-place", "done"}

// TestCrashAtStep kills the daemon at each step of a write, of a new file, of an existing one, of one with two names,
// and of a removal: each file is old or new afterwards, nothing is left behind, and the journal is closed.
func TestCrashAtStep(t *testing.T) {
	binary := faulty(t)
	for _, step := range steps {
		for _, kind := range []string{"new", "existing", "hard link", "delete"} {
			t.Run(step+"/"+kind, func(t *testing.T) {
				f := newFault(t, binary, kind)
				f.run(fmt.Sprintf("%s:%d:kill", step, f.passed))
				f.settled()
			})
		}
	}
}

// TestErrorAtStep lets each step of a write fail: the old content is intact or the new one whole, the reply says what
// happened, and nothing is left behind.
func TestErrorAtStep(t *testing.T) {
	binary := faulty(t)
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EROFS} {
		for _, step := range []string{"intent", "temp", "sync", "linked", "in-place"} {
			for _, kind := range []string{"new", "existing", "hard link"} {
				t.Run(fmt.Sprintf("%v/%s/%s", errno, step, kind), func(t *testing.T) {
					f := newFault(t, binary, kind)
					text := f.run(fmt.Sprintf("%s:%d:%d", step, f.passed, int(errno)))
					if !f.reached {
						return
					}
					if f.now() != f.old {
						t.Errorf("the write failed and the file has changed: %.60q", f.now())
					}
					if errno == syscall.ENOSPC && !strings.Contains(text, "disk is full") {
						t.Errorf("the reply does not name the cause: %s", text)
					}
					f.settled()
				})
			}
		}
	}
}

// fault is one write that is going to be interrupted.
type fault struct {
	t        *testing.T
	h        *home
	kind     string
	old, new string
	passed   int  // how many writes come before the one that is interrupted
	reached  bool // the fault happened
}

const absent = "\x00absent"

func newFault(t *testing.T, binary, kind string) *fault {
	f := &fault{t: t, h: newHome(t), kind: kind, old: draft(1, 1, 60), new: draft(1, 2, 60), passed: 1}
	f.h.binary = binary
	switch kind {
	case "new":
		f.old = absent
	case "delete":
		f.old, f.new, f.passed = f.new, absent, 2
	}
	if kind == "existing" || kind == "hard link" {
		f.write("f.txt", f.old)
	}
	if kind == "hard link" {
		if err := os.Link(filepath.Join(f.h.ws, "f.txt"), filepath.Join(f.h.ws, "g.txt")); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func (f *fault) write(name, text string) {
	if err := os.WriteFile(filepath.Join(f.h.ws, name), []byte(text), 0o666); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fault) now() string {
	b, err := os.ReadFile(filepath.Join(f.h.ws, "f.txt"))
	if err != nil {
		return absent
	}
	return string(b)
}

// run makes the write under the fault and gives what the agent was told.
func (f *fault) run(spec string) string {
	f.t.Helper()
	p := f.h.start("TOOLD_FAULT=" + spec)
	defer p.kill()
	c, err := f.h.dial("agent")
	if err != nil {
		f.t.Fatal(err)
	}
	defer c.Close()
	told := ""
	calls := []map[string]any{{"path": "f.txt", "content": f.new}}
	if f.kind == "delete" {
		calls = []map[string]any{{"path": "f.txt", "content": f.old}, {"path": "f.txt"}}
	}
	for _, args := range calls {
		name := "write_file"
		if args["content"] == nil {
			name = "revert_file"
		}
		r, err := callTool2(c, name, args)
		if err != nil {
			told, f.reached = err.Error(), true
			break
		}
		told = r.Text
		f.reached = f.reached || r.IsError
	}
	return told
}

// settled starts a sound daemon and looks at what it finds and makes of it.
func (f *fault) settled() {
	f.t.Helper()
	f.h.binary = "toold"
	f.h.start()
	if now := f.now(); now != f.old && now != f.new && !(f.kind == "delete" && now == absent) {
		f.t.Errorf("torn: %.80q", now)
	}
	if left := f.h.temps(); len(left) > 0 {
		f.t.Errorf("left behind: %v", left)
	}
	c := f.h.client("looker")
	var page struct{ Edits []struct{ State string } }
	c.ask("edits/list", map[string]any{}, &page)
	for _, e := range page.Edits {
		if e.State != "done" && e.State != "aborted" {
			f.t.Errorf("a change is still %s", e.State)
		}
	}
}

// TestDiskFull fills a small file system: what does not fit is refused, what was there stays, and space makes it work
// again.
func TestDiskFull(t *testing.T) {
	h := newHome(t)
	if err := syscall.Mount("tmpfs", h.ws, "tmpfs", 0, "size=512k"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("a small file system is needed: %v", err)
		}
		t.Skipf("needs the right to mount: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(h.ws, syscall.MNT_DETACH) })
	h.start()
	c := h.client("agent")
	old := draft(1, 1, 2000)
	c.must("write_file", map[string]any{"path": "f.txt", "content": old})
	if err := os.WriteFile(filepath.Join(h.ws, "filler"), make([]byte, 400<<10), 0o666); err != nil {
		t.Logf("the filler does not fit whole: %v", err)
	}
	big := draft(1, 2, 9000)
	r := c.tool("write_file", map[string]any{"path": "f.txt", "content": big})
	if !r.IsError || r.Code != "disk_full" {
		t.Errorf("got %q: %s", r.Code, r.Text)
	}
	if h.read("f.txt") != old {
		t.Error("the old content is not intact")
	}
	if left := h.temps(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := os.Remove(filepath.Join(h.ws, "filler")); err != nil {
		t.Fatal(err)
	}
	small := draft(1, 3, 1900)
	c.must("write_file", map[string]any{"path": "f.txt", "content": small})
	if h.read("f.txt") != small {
		t.Error("the write did not work after there was space")
	}
}
