package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// draft is a content that says of itself who wrote it, and whether it is whole.
func draft(client, n, lines int) string {
	head := fmt.Sprintf("client %d version %d of %d lines", client, n, lines)
	return head + "\n" + strings.Repeat(head+"\n", lines) + "end\n"
}

// parse reads a version back; a torn one is an error.
func parse(text string) (client, n int, err error) {
	var lines int
	if _, err := fmt.Sscanf(text, "client %d version %d of %d lines", &client, &n, &lines); err != nil {
		return 0, 0, fmt.Errorf("not a version: %.80q", text)
	}
	if text != draft(client, n, lines) {
		return 0, 0, fmt.Errorf("torn: %d bytes of client %d version %d", len(text), client, n)
	}
	return client, n, nil
}

// TestCrashKill kills the daemon at random moments while eight clients write: no acknowledged write is lost, no file
// is torn, nothing is left behind, and the journal is closed after the next start.
func TestCrashKill(t *testing.T) {
	rounds := 300
	if torture() {
		rounds = 5000
	}
	h := newHome(t)
	w := &writers{h: h, acked: make([]int, 8), sent: make([]int, 8), acks: make(chan struct{}, 1000)}
	killed := 0
	for round := range rounds {
		p := h.start()
		done := w.run()
		w.await(rand.IntN(6), done)
		time.Sleep(time.Duration(rand.IntN(4000)) * time.Microsecond) // the moment of the kill, not a wait for anything
		p.kill()
		killed++
		<-done
		w.check(round)
	}
	p := h.start()
	defer p.kill()
	if left := h.temps(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, open := h.history(); open > 0 {
		t.Errorf("%d changes are not closed", open)
	}
	total := 0
	for _, n := range w.acked {
		total += n
	}
	t.Logf("%d kills, %d acknowledged writes, 0 lost, 0 torn", killed, total)
	if total < rounds {
		t.Errorf("only %d writes were acknowledged in %d rounds: the test tests too little", total, rounds)
	}
}

// writers are eight clients, each with a file of its own and one that all share.
type writers struct {
	h           *home
	acked, sent []int         // by client: the last version acknowledged, and sent
	acks        chan struct{} // one for each acknowledged write, as long as somebody waits
}

func (w *writers) file(client int) string { return fmt.Sprintf("dir%d/file.txt", client) }

// run lets the clients write until the daemon is gone.
func (w *writers) run() <-chan struct{} {
	done := make(chan struct{})
	var all sync.WaitGroup
	for client := range w.acked {
		all.Go(func() { w.write(client) })
	}
	go func() {
		all.Wait()
		close(done)
	}()
	return done
}

// await waits until so many writes of this round have been acknowledged.
func (w *writers) await(n int, done <-chan struct{}) {
	for len(w.acks) > 0 {
		<-w.acks
	}
	for range n {
		select {
		case <-w.acks:
		case <-done:
			return
		}
	}
}

func (w *writers) write(client int) {
	c, err := w.h.dial(fmt.Sprintf("agent-%d", client))
	if err != nil {
		return
	}
	defer c.Close()
	for {
		w.sent[client]++
		n := w.sent[client]
		size := 40 + rand.IntN(400)
		r, err := callTool2(c, "write_file", map[string]any{"path": w.file(client), "content": draft(client, n, size)})
		if err == nil && r.IsError && r.Code == "shrink_guard" {
			r, err = callTool2(c, "write_file", map[string]any{"path": w.file(client), "content": draft(client, n, size)})
		}
		if err != nil {
			return
		}
		if r.IsError {
			w.h.t.Errorf("write by client %d: %s", client, r.Text)
			return
		}
		w.acked[client] = n
		select {
		case w.acks <- struct{}{}:
		default:
		}
		_, _ = callTool2(c, "write_file", map[string]any{"path": "shared.txt", "content": draft(client, n, size)})
	}
}

// check looks at the files as the killed daemon left them.
func (w *writers) check(round int) {
	for client, acked := range w.acked {
		text, err := os.ReadFile(filepath.Join(w.h.ws, w.file(client)))
		if errors.Is(err, fs.ErrNotExist) && acked == 0 {
			continue
		}
		if err != nil {
			w.h.t.Fatalf("round %d: %v", round, err)
		}
		by, n, err := parse(string(text))
		switch {
		case err != nil:
			w.h.t.Fatalf("round %d: %v", round, err)
		case by != client || n < acked || n > w.sent[client]:
			w.h.t.Fatalf("round %d: client %d was told that version %d is written, the file has version %d of client %d", round, client, acked, n, by)
		}
		w.sent[client] = max(w.sent[client], n)
	}
	if text, err := os.ReadFile(filepath.Join(w.h.ws, "shared.txt")); err == nil {
		if _, _, err := parse(string(text)); err != nil {
			w.h.t.Fatalf("round %d: shared file: %v", round, err)
		}
	}
}
