package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

const crashDir = "TOOLD_TEST_CRASH_STORE" // set in the child: the store that it writes to until it is killed

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		fmt.Fprintln(os.Stderr, writeUntilKilled(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeUntilKilled has many writers at once say on standard output what has been acknowledged.
func writeUntilKilled(dir string) error {
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	ctx := context.Background()
	run, err := s.OpenRun(ctx, Run{Workspace: "/w", Agent: "ann"})
	if err != nil {
		return err
	}
	var out sync.Mutex
	say := func(words ...any) {
		out.Lock()
		defer out.Unlock()
		fmt.Println(words...)
	}
	failed := make(chan error)
	for i := range 8 {
		go func() {
			for {
				if err := changeAloud(ctx, s, run, i, say); err != nil {
					failed <- err
				}
			}
		}()
	}
	return <-failed
}

func changeAloud(ctx context.Context, s *Store, run string, writer int, say func(...any)) error {
	in := intent(run, fmt.Sprint("f", writer), "b", "a")
	in.BeforeBytes, in.AfterBytes = randomBytes(1+rand.IntN(5000)), randomBytes(1+rand.IntN(5000))
	if rand.IntN(20) == 0 {
		in.BeforeBytes, in.AfterBytes = randomBytes(inlineLimit+1), randomBytes(inlineLimit+2)
	}
	id, err := s.Begin(ctx, in)
	if err != nil {
		return err
	}
	say("begun", id, HashOf(in.BeforeBytes), HashOf(in.AfterBytes))
	if rand.IntN(10) == 0 {
		say("aborting", id)
		return s.Abort(ctx, id, "test")
	}
	if err := s.Finish(ctx, id, Event{Kind: "edit", Data: []byte(fmt.Sprintf("%q", id))}); err != nil {
		return err
	}
	say("done", id)
	return nil
}

// acknowledged is what a killed process had said of a change.
type acknowledged struct {
	before, after Hash
	done          bool
	aborting      bool
}

func TestKilledAtAnyInstant(t *testing.T) {
	kills := 100
	if testing.Short() {
		kills = 10
	}
	if os.Getenv("TOOLD_TORTURE") != "" {
		kills = 2000
	}
	dir, total := t.TempDir(), 0
	for range kills {
		said := writeAndKill(t, dir, 1+rand.IntN(60))
		total += len(said)
		checkAfterKill(t, dir, said)
		if t.Failed() {
			return
		}
	}
	s := openStore(t, dir, nil)
	ok(t, s.Check(t.Context()))
	edits, _, err := s.Edits(t.Context(), Filter{Aborted: true})
	ok(t, err)
	if len(edits) < total {
		t.Errorf("%d changes are in the journal, %d were acknowledged", len(edits), total)
	}
	t.Logf("%d kills, %d acknowledged changes, none lost", kills, total)
}

// writeAndKill starts a process that writes, and kills it after it has said so many lines.
func writeAndKill(t *testing.T, dir string, lines int) map[string]*acknowledged {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), crashDir+"="+dir)
	c.Stderr = os.Stderr
	out := must[io.ReadCloser](t)(c.StdoutPipe())
	ok(t, c.Start())
	said := map[string]*acknowledged{}
	r := bufio.NewScanner(out)
	for n := 0; r.Scan(); n++ {
		if n == lines {
			ok(t, c.Process.Kill())
		}
		hear(said, strings.Fields(r.Text()))
	}
	_ = c.Wait()
	if c.ProcessState.Exited() {
		t.Fatal("the writing process ended by itself")
	}
	return said
}

func hear(said map[string]*acknowledged, words []string) {
	switch {
	case len(words) == 4 && words[0] == "begun" && len(words[3]) == 64:
		said[words[1]] = &acknowledged{before: Hash(words[2]), after: Hash(words[3])}
	case len(words) == 2 && said[words[1]] != nil:
		said[words[1]].done = words[0] == "done"
		said[words[1]].aborting = words[0] == "aborting"
	}
}

func checkAfterKill(t *testing.T, dir string, said map[string]*acknowledged) {
	t.Helper()
	ctx := t.Context()
	s := openStore(t, dir, nil)
	open := map[string]bool{}
	for _, e := range must[[]Edit](t)(s.OpenIntents(ctx)) {
		open[e.ID] = true
	}
	for id, a := range said {
		e := must[Edit](t)(s.Edit(ctx, id))
		must[[]byte](t)(s.Blob(ctx, a.before))
		switch {
		case e.Before != a.before, e.After != a.after && !a.aborting:
			t.Errorf("%s was acknowledged with other contents", id)
		case a.done && e.State != StateDone, !a.done && e.State == StateOpen && !open[id]:
			t.Errorf("%s is %s", id, e.State)
		case e.State == StateDone:
			must[[]byte](t)(s.Blob(ctx, a.after))
		}
	}
	checkEvents(t, s, said)
	for id := range open {
		ok(t, s.Abort(ctx, id, "interrupted"))
	}
	ok(t, s.Close())
}

func checkEvents(t *testing.T, s *Store, said map[string]*acknowledged) {
	t.Helper()
	told := map[string]bool{}
	for _, e := range must[[]Event](t)(s.EventsSince(t.Context(), 0, []string{"edit"}, 1<<30)) {
		told[strings.Trim(string(e.Data), `"`)] = true
	}
	for id, a := range said {
		if a.done && !told[id] {
			t.Errorf("the event of %s is lost", id)
		}
	}
}
