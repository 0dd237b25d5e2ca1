package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toold/toold/rpc"
)

// TestLostUpdate lets two agents and an outside program save the same file at the same time, round after round. Every
// version that was acknowledged to an agent, and every outside version, can be had again after the round: it is in the
// file or in the journal.
func TestLostUpdate(t *testing.T) {
	rounds := 120
	if torture() {
		rounds = 5000
	}
	h := newHome(t)
	h.start()
	l := &lost{h: h, must: map[string]string{}, files: map[string]bool{}}
	var all sync.WaitGroup
	for f := range 3 {
		all.Go(func() { l.rounds(f, rounds) })
	}
	all.Wait()
	contents, open := h.history()
	missing := 0
	for text, who := range l.must {
		if !contents[text] && !l.files[text] {
			missing++
			t.Errorf("lost: %s: %.60q", who, text)
		}
	}
	t.Logf("%d versions had to be reachable, %d of them outside ones that an agent replaced, %d missing", len(l.must), l.displaced, missing)
	if open > 0 || len(h.temps()) > 0 {
		t.Errorf("%d open changes, temporary files %v", open, h.temps())
	}
	if l.displaced == 0 {
		t.Error("no outside version was replaced: the test tests too little")
	}
}

// lost keeps what must be reachable in the end.
type lost struct {
	h         *home
	mu        sync.Mutex        // guards what follows
	must      map[string]string // who wrote it, by content
	files     map[string]bool   // contents found in the files after a round
	displaced int
}

func (l *lost) need(text, who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.must[text] = who
}

// save writes a file as an outside program does: in place, or beside and renamed.
func (l *lost) save(name, text string, inPlace bool) {
	path := filepath.Join(l.h.ws, name)
	to := path
	if !inPlace {
		to = path + ".save"
	}
	if err := os.WriteFile(to, []byte(text), 0o666); err != nil {
		l.h.t.Error(err)
	}
	if !inPlace {
		if err := os.Rename(to, path); err != nil {
			l.h.t.Error(err)
		}
	}
}

// rounds plays one file: in each round the outside program and both agents write once, at the same time.
func (l *lost) rounds(f, rounds int) {
	name := fmt.Sprintf("f%d.txt", f)
	l.save(name, draft(100+f, 0, 20), true)
	var agents []*rpc.Client
	for a := range 2 {
		c, err := l.h.dial(fmt.Sprintf("agent-%d-%d", f, a))
		if err != nil {
			l.h.t.Error(err)
			return
		}
		defer c.Close()
		agents = append(agents, c)
	}
	for n := 1; n <= rounds; n++ {
		mine := draft(100+f, n, 20+rand.IntN(50))
		var all sync.WaitGroup
		all.Go(func() {
			time.Sleep(time.Duration(rand.IntN(4000)) * time.Microsecond) // somewhere in the agents' writes
			l.save(name, mine, n%2 == 0)
		})
		for a, c := range agents {
			all.Go(func() { l.agent(c, name, draft(10*f+a, n, 20+rand.IntN(50))) })
		}
		all.Wait()
		l.need(mine, "outside")
		now := l.h.read(name)
		l.mu.Lock()
		l.files[now] = true
		if now != mine {
			l.displaced++
		}
		l.mu.Unlock()
	}
}

func (l *lost) agent(c *rpc.Client, name, text string) {
	for range 5 {
		r, err := callTool2(c, "write_file", map[string]any{"path": name, "content": text})
		if err != nil {
			l.h.t.Error(err)
			return
		}
		if !r.IsError {
			l.need(text, "acknowledged")
			return
		}
	}
}

// TestStartRace lets twenty clients find a stale socket at once: they end up on one daemon.
func TestStartRace(t *testing.T) {
	rounds := 25
	for round := range rounds {
		h := newHome(t)
		h.start().kill() // leaves a stale socket
		pids := startTogether(t, h, 20)
		if len(pids) != 1 {
			t.Fatalf("round %d: %d daemons: %v", round, len(pids), pids)
		}
		stopHome(h)
	}
}

func startTogether(t *testing.T, h *home, n int) map[int]bool {
	var mu sync.Mutex
	pids := map[int]bool{}
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			c := exec.Command("toold", "call", "list_files", "--root", h.ws, "--agent", fmt.Sprint(i))
			c.Env = h.env
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("a client failed: %v: %s", err, out)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			client, err := rpc.Dial(ctx, h.socket)
			if err != nil {
				t.Error(err)
				return
			}
			defer client.Close()
			var s statusReply
			if err := client.Call(ctx, "daemon/status", nil, &s); err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			pids[s.PID] = true
			mu.Unlock()
		})
	}
	all.Wait()
	return pids
}

func stopHome(h *home) {
	c := exec.Command("toold", "stop")
	c.Env = h.env
	_ = c.Run()
}

// TestDrain ends the daemon by SIGTERM while clients write: every write whose file changed was answered, and nothing
// that was acknowledged is missing.
func TestDrain(t *testing.T) {
	rounds := 50
	h := newHome(t)
	total := 0
	for round := range rounds {
		p := h.start()
		var acked [8]atomic.Int64
		var sent [8]int
		var all sync.WaitGroup
		for client := range acked {
			all.Go(func() {
				c, err := h.dial(fmt.Sprintf("agent-%d", client))
				if err != nil {
					return
				}
				defer c.Close()
				for n := 1; ; n++ {
					sent[client] = n
					r, err := callTool2(c, "write_file", map[string]any{"path": fmt.Sprintf("r%d/c%d.txt", round, client), "content": draft(client, n, 30)})
					var re *rpc.Error
					if errors.As(err, &re) || err != nil {
						return
					}
					if r.IsError && r.Code != "cancelled" {
						t.Errorf("write: %s", r.Text)
					}
					if r.IsError {
						return
					}
					acked[client].Store(int64(n))
				}
			})
		}
		time.Sleep(time.Duration(5+rand.IntN(30)) * time.Millisecond) // the moment of the signal
		if err := p.term(); err != nil {
			t.Fatalf("round %d: the daemon ended with %v: %s", round, err, p.out.String())
		}
		all.Wait()
		for client := range acked {
			text, err := os.ReadFile(filepath.Join(h.ws, fmt.Sprintf("r%d/c%d.txt", round, client)))
			if err != nil {
				if acked[client].Load() > 0 {
					t.Fatal(err)
				}
				continue
			}
			_, n, err := parse(string(text))
			if err != nil || int64(n) != acked[client].Load() {
				t.Fatalf("round %d, client %d: version %d is in the file, version %d was the last acknowledged (%v)", round, client, n, acked[client].Load(), err)
			}
			total += n
		}
	}
	t.Logf("%d rounds, %d writes, 0 replies of accepted writes lost", rounds, total)
}

// TestConfinementRace swaps a folder for a link that leads outside, over and over, while every tool is used below it.
func TestConfinementRace(t *testing.T) {
	h := newHome(t)
	h.start()
	outside := filepath.Join(filepath.Dir(h.ws), "outside")
	for _, dir := range []string{outside, filepath.Join(h.ws, "sub")} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	decoy := strings.Repeat("DECOY line\n", 50)
	for path, text := range map[string]string{filepath.Join(outside, "f"): decoy, filepath.Join(h.ws, "sub", "f"): strings.Repeat("inside line\n", 50)} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	var swaps atomic.Int64
	swapping.Go(func() { swap(h.ws, outside, stop, &swaps) })
	var all sync.WaitGroup
	var calls atomic.Int64
	for a := range 4 {
		all.Go(func() { confined(t, h, a, &calls) })
	}
	all.Wait()
	close(stop)
	swapping.Wait()
	got, err := os.ReadFile(filepath.Join(outside, "f"))
	if err != nil || string(got) != decoy {
		t.Errorf("the file outside was changed: %v", err)
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("something was made outside: %v %v", entries, err)
	}
	t.Logf("%d calls during %d swaps, 0 escapes", calls.Load(), swaps.Load())
}

func swap(ws, outside string, stop <-chan struct{}, swaps *atomic.Int64) {
	sub, real := filepath.Join(ws, "sub"), filepath.Join(ws, "sub.real")
	for {
		select {
		case <-stop:
			return
		default:
		}
		_ = os.Rename(sub, real)
		_ = os.Symlink(outside, sub)
		_ = os.Remove(sub)
		_ = os.Rename(real, sub)
		swaps.Add(1)
	}
}

func confined(t *testing.T, h *home, a int, calls *atomic.Int64) {
	c, err := h.dial(fmt.Sprintf("agent-%d", a))
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	for n := range 250 {
		for tool, args := range map[string]map[string]any{
			"read_file":    {"path": "sub/f"},
			"write_file":   {"path": "sub/probe", "content": fmt.Sprintf("probe %d %d", a, n)},
			"edit_file":    {"path": "sub/f", "search": "inside line\ninside line\n", "replace": "inside line\ninside line\n"},
			"revert_file":  {"path": "sub/probe"},
			"list_files":   {"path": "sub"},
			"search_files": {"query": "DECOY"},
		} {
			r, err := callTool2(c, tool, args)
			if err != nil {
				t.Errorf("%s: %v", tool, err)
				return
			}
			calls.Add(1)
			if tool != "search_files" && strings.Contains(r.Text, "DECOY") || strings.Contains(r.Text, "DECOY line") {
				t.Errorf("%s showed what lies outside: %.200s", tool, r.Text)
				return
			}
		}
	}
}
