package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toold/toold/rpc/tool"
)

// TestSessions are several clients on one file: whose line numbers count, and who is told what.
func TestSessions(t *testing.T) {
	h := newHome(t)
	h.start()
	type step struct {
		agent string // "" is another program, which writes the text of replace
		args  map[string]any
		fails string // a part of the refusal
		says  string // a part of the status
	}
	read := func(from, to int) map[string]any { return map[string]any{"start_line": from, "end_line": to} }
	lines := func(from, to int, text string) map[string]any {
		return map[string]any{"search": "", "replace": text, "start_line": from, "end_line": to}
	}
	text := func(search, replace string) map[string]any {
		return map[string]any{"search": search, "replace": replace}
	}
	for name, c := range map[string]struct {
		before string
		steps  []step
		after  string
	}{
		"own edits are not followed: their status told the numbers": {
			"one\ntwo\nthree\n", []step{{"A", read(1, 3), "", ""}, {"A", text("one", "one\n1a\n1b"), "", "later lines +2"}, {"A", lines(2, 2, "1A"), "", ""}}, "one\n1A\n1b\ntwo\nthree\n",
		},
		"another agent put lines above": {
			"one\ntwo\nthree\n", []step{{"A", read(1, 3), "", ""}, {"B", text("one", "zero\none"), "", ""}, {"A", lines(2, 2, "TWO"), "", "3"}}, "zero\none\nTWO\nthree\n",
		},
		"another agent took lines away above": {
			"one\ntwo\nthree\nfour\n", []step{{"A", read(1, 4), "", ""}, {"B", text("one\ntwo\n", ""), "", ""}, {"A", lines(4, 4, "FOUR"), "", ""}}, "three\nFOUR\n",
		},
		"another program put lines above": {
			"one\ntwo\n", []step{{"A", read(1, 2), "", ""}, {"", text("", "new\none\ntwo\n"), "", ""}, {"A", lines(2, 2, "TWO"), "", ""}}, "new\none\nTWO\n",
		},
		"the very lines were changed": {
			"one\ntwo\nthree\n", []step{{"A", read(1, 3), "", ""}, {"B", text("two", "zwei"), "", ""}, {"A", lines(2, 2, "TWO"), "zwei", ""}}, "one\nzwei\nthree\n",
		},
		"the very lines were deleted": {
			"one\ntwo\nthree\n", []step{{"A", read(1, 3), "", ""}, {"B", text("two\n", ""), "", ""}, {"A", lines(2, 2, "TWO"), "", ""}}, "",
		},
		"an agent that saw nothing counts in the present text": {
			"one\ntwo\n", []step{{"B", text("one", "zero\none"), "", ""}, {"A", lines(2, 2, "ONE"), "", ""}}, "zero\nONE\ntwo\n",
		},
		"a search is not refused for staleness": {
			"one\ntwo\nthree\n", []step{{"A", read(1, 3), "", ""}, {"B", text("three", "3"), "", ""}, {"A", text("one", "1"), "", ""}}, "1\ntwo\n3\n",
		},
		"a touch is no change": {
			"one\ntwo\n", []step{{"A", read(1, 2), "", ""}, {"", text("", "one\ntwo\n"), "", ""}, {"A", lines(2, 2, "TWO"), "", ""}}, "one\nTWO\n",
		},
		"the same place: the second learns what happened": {
			"one\ntwo\n", []step{{"A", read(1, 2), "", ""}, {"B", text("two", "zwei"), "", ""}, {"A", text("two", "deux"), "B", ""}}, "one\nzwei\n",
		},
		"the same edit twice would apply twice": {
			"one\n", []step{{"A", text("one", "one\nx"), "", ""}, {"A", text("one", "one\nx"), "already applied", ""}, {"A", text("one", "one\nx"), "", ""}}, "one\nx\nx\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := strings.ReplaceAll(strings.ReplaceAll(t.Name(), "/", "-"), ":", "") + ".txt"
			path := filepath.Join(h.ws, file)
			if err := os.WriteFile(path, []byte(c.before), 0o666); err != nil {
				t.Fatal(err)
			}
			clients := map[string]*client{}
			for i, s := range c.steps {
				if s.agent == "" {
					if err := os.WriteFile(path, []byte(s.args["replace"].(string)), 0o666); err != nil {
						t.Fatal(err)
					}
					continue
				}
				if clients[s.agent] == nil {
					clients[s.agent] = h.client(s.agent + "-" + file)
				}
				args := map[string]any{"path": file}
				for k, v := range s.args {
					args[k] = v
				}
				name := "edit_file"
				if _, edits := args["search"]; !edits {
					name = "read_file"
				}
				r := clients[s.agent].tool(name, args)
				last := i == len(c.steps)-1
				switch {
				case last && c.after == "":
					if !r.IsError {
						t.Errorf("step %d was not refused: %s", i, r.Text)
					}
				case r.IsError != (s.fails != ""):
					t.Fatalf("step %d: %s", i, r.Text)
				case !strings.Contains(r.Text, s.fails) || !strings.Contains(r.Text, s.says):
					t.Errorf("step %d says %q", i, r.Text)
				}
			}
			if got := h.read(file); c.after != "" && got != c.after {
				t.Errorf("the file is %q, want %q", got, c.after)
			}
		})
	}
}

// TestManyAgents lets agents count up lines of their own in one file while another program appends to it: every edit
// lands once, and no appended line is lost.
func TestManyAgents(t *testing.T) {
	agents, edits, appends := 6, 60, 100
	if torture() {
		edits, appends = 2000, 4000
	}
	h := newHome(t)
	h.start()
	path := filepath.Join(h.ws, "counts.txt")
	var b strings.Builder
	for a := range agents {
		fmt.Fprintf(&b, "agent %d: 0.\n", a)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for a := range agents {
		all.Go(func() { countUp(t, h, a, edits) })
	}
	all.Go(func() {
		for n := range appends {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Error(err)
				return
			}
			fmt.Fprintf(f, "appended %d.\n", n)
			f.Close()
		}
	})
	all.Wait()
	text := h.read("counts.txt")
	for a := range agents {
		if want := fmt.Sprintf("agent %d: %d.\n", a, edits); strings.Count(text, want) != 1 {
			t.Errorf("%q is %d times in the file", want, strings.Count(text, want))
		}
	}
	missing := 0
	for n := range appends {
		if strings.Count(text, fmt.Sprintf("appended %d.\n", n)) != 1 {
			missing++
		}
	}
	if missing > 0 {
		t.Errorf("%d of %d appended lines are missing or doubled", missing, appends)
	}
}

func countUp(t *testing.T, h *home, a, edits int) {
	c, err := h.dial(fmt.Sprintf("counter-%d", a))
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	for n := range edits {
		args := map[string]any{"path": "counts.txt", "search": fmt.Sprintf("agent %d: %d.", a, n), "replace": fmt.Sprintf("agent %d: %d.", a, n+1)}
		r, err := callTool2(c, "edit_file", args)
		if err != nil || r.IsError && !strings.Contains(r.Text, "already there") {
			t.Errorf("agent %d, edit %d: %v %s", a, n, err, r.Text)
			return
		}
	}
}

// TestKeyIsDoneOnce sends one call sixteen times under one key: it is done once, and all get its reply.
func TestKeyIsDoneOnce(t *testing.T) {
	h := newHome(t)
	h.start()
	c := h.client("agent")
	if err := os.WriteFile(filepath.Join(h.ws, "f.txt"), []byte("x\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			var r tool.Result
			err := c.Call(context.Background(), "edit_file", map[string]any{"path": "f.txt", "search": "x", "replace": "x x", "_meta": map[string]any{"key": "once"}}, &r)
			if err != nil || r.IsError {
				t.Errorf("%v %s", err, r.Text)
			}
		})
	}
	all.Wait()
	if got := h.read("f.txt"); got != "x x\n" {
		t.Errorf("the edit was done more than once: %q", got)
	}
}
