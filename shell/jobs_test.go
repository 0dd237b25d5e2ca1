package shell_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toold/toold/shell"
)

// servers is an executor whose commands run until they are stopped, or for as long as their name says.
type servers struct {
	mu      sync.Mutex
	scripts []string
}

func (s *servers) Exec(ctx context.Context, cmd shell.Command, stdout, _ io.Writer) (shell.Status, error) {
	if len(cmd.Argv) > 0 {
		io.WriteString(stdout, "address in use\n")
		return shell.Status{}, nil
	}
	s.mu.Lock()
	s.scripts = append(s.scripts, cmd.Script)
	pid := 100 + len(s.scripts)
	s.mu.Unlock()
	if strings.Contains(cmd.Script, "nowhere") {
		return shell.Status{}, shell.Errorf(shell.NoContainer, nil, "there is no container")
	}
	cmd.Started(pid)
	life := time.Hour
	if strings.Contains(cmd.Script, "crash") {
		life = 100 * time.Millisecond
	}
	select {
	case <-time.After(life):
		return shell.Status{Exit: 98}, nil
	case <-ctx.Done():
		return shell.Status{}, shell.Ended(ctx)
	}
}

func start(t *testing.T, jobs *shell.Jobs, command string) shell.Job {
	t.Helper()
	job, err := jobs.Start(t.Context(), shell.Command{Script: command})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func TestJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex := &servers{}
		jobs := shell.NewJobs(t.Context(), ex, "/it's", 0)
		one, two := start(t, jobs, "server 1"), start(t, jobs, "server 2")
		if one.Log != "/it's/.server.log" || two.Log != "/it's/.server-2.log" || one.PID != 101 || !two.Running() || one.ID == two.ID {
			t.Errorf("%+v %+v", one, two)
		}
		if want := `trap '' HUP; exec server 1 > '/it'\''s/.server.log' 2>&1`; ex.scripts[0] != want {
			t.Errorf("ran %q", ex.scripts[0])
		}
		crashed := start(t, jobs, "crash")
		tail, err := jobs.Tail(t.Context(), crashed, 4096)
		want := "Error: the background command ended at once with exit code 98 (job job-3, log /it's/.server-3.log).\nIt had printed:\naddress in use"
		if diff := cmp.Diff(want, shell.RenderJob(crashed, tail)); diff != "" || err != nil {
			t.Error(diff, err)
		}
		if job, err := jobs.Stop(t.Context(), one.ID); err != nil || job.Running() || jobs.Running() != 1 {
			t.Errorf("%+v %v", job, err)
		}
		if next := start(t, jobs, "server 3"); next.Log != one.Log {
			t.Errorf("the log of an ended job is not used again: %s", next.Log)
		}
		if _, err := jobs.Stop(t.Context(), "job-99"); shell.Code(err) != shell.NotFound {
			t.Error(err)
		}
		jobs.Close()
		if jobs.Running() != 0 || len(jobs.List()) != 4 {
			t.Errorf("%+v", jobs.List())
		}
		if _, err := jobs.Start(t.Context(), shell.Command{Script: "server 4"}); shell.Code(err) != shell.Cancelled {
			t.Error(err)
		}
	})
}

func TestJobThatDoesNotStart(t *testing.T) {
	jobs := shell.NewJobs(t.Context(), &servers{}, "/w", time.Millisecond)
	defer jobs.Close()
	job := start(t, jobs, "nowhere")
	if got := shell.RenderJob(job, ""); got != "Error: the background command did not start: there is no container." {
		t.Error(got)
	}
}

func TestJobsForgetTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := shell.NewJobs(t.Context(), &servers{}, "/w", 0)
		defer jobs.Close()
		kept := start(t, jobs, "server")
		for range 60 {
			start(t, jobs, "crash")
		}
		list := jobs.List()
		if len(list) > 51 || list[0].ID != kept.ID {
			t.Errorf("%d jobs, the first is %s", len(list), list[0].ID)
		}
	})
}

func TestProgress(t *testing.T) {
	var got bytes.Buffer
	opt := shell.Options{Progress: func(s shell.Stream, text string) { got.WriteString([]string{"o:", "e:"}[s] + text) }}
	_, err := shell.Run(t.Context(), prints("a\r\x1b[1mb\n", "c\n", shell.Status{}, nil), shell.Command{}, opt)
	if err != nil || got.String() != "o:b\ne:c\n" {
		t.Errorf("%q %v", got.String(), err)
	}
}
