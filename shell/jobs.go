package shell

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Job is a background command.
type Job struct {
	ID      string    // unique within its [Jobs]
	PID     int       // as the processes of the container see it
	Command string    // as it was given
	Log     string    // the file that holds its output, as the executor sees it
	Started time.Time // when
	Ended   time.Time // zero while it runs
	Exit    *int      // its exit code, when it has ended by itself
	Err     error     // why it ended, when not by itself
}

// Running reports whether the job has not ended.
func (j Job) Running() bool { return j.Ended.IsZero() }

// Jobs are the background commands of one workspace. They end when their Jobs is closed, or when the daemon dies.
type Jobs struct {
	ex     Executor
	root   string
	settle time.Duration
	base   context.Context
	stop   context.CancelFunc
	wait   sync.WaitGroup

	mu     sync.Mutex // guards what follows
	closed bool
	next   int
	jobs   []*job
}

type job struct {
	Job
	slot  int // which log file
	ctx   context.Context
	stop  context.CancelFunc
	begun chan struct{} // closed when it has a process id
	done  chan struct{}
}

// keptJobs is how many ended jobs are still listed.
const keptJobs = 50

// NewJobs makes an empty set. root is the workspace's root as the executor sees it, where the logs are written; a
// job that ends within settle (0: one second) is reported by [Jobs.Start] as such.
func NewJobs(ctx context.Context, ex Executor, root string, settle time.Duration) *Jobs {
	base, stop := context.WithCancel(context.WithoutCancel(ctx))
	return &Jobs{ex: ex, root: root, settle: cmp.Or(settle, time.Second), base: base, stop: stop}
}

// Start starts command, which must be one plain executable with its arguments (package destructive judges that), and
// returns when it has run for a second or has ended before. cmd's script is the command; its Started must be nil.
func (j *Jobs) Start(ctx context.Context, cmd Command) (Job, error) {
	started, err := j.add(cmd.Script)
	if err != nil {
		return Job{}, err
	}
	cmd.Started = func(pid int) { j.begin(started, pid) }
	cmd.Script = "trap '' HUP; exec " + cmd.Script + " > " + quote(started.Log) + " 2>&1" // nohup, which not every image has
	j.wait.Go(func() {
		defer started.stop()
		status, err := j.ex.Exec(started.ctx, cmd, io.Discard, io.Discard)
		j.end(started, status, err)
	})
	return j.settled(ctx, started)
}

func (j *Jobs) begin(s *job, pid int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s.PID = pid
	close(s.begun)
}

// settled waits until the job has run for the settling time or has ended.
func (j *Jobs) settled(ctx context.Context, s *job) (Job, error) {
	select {
	case <-s.begun:
	case <-s.done:
		return j.look(s), nil
	case <-ctx.Done():
		s.stop()
		<-s.done
		return j.look(s), Ended(ctx)
	}
	timer := time.NewTimer(j.settle)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.done:
	case <-ctx.Done():
	}
	return j.look(s), nil
}

func (j *Jobs) look(s *job) Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	return s.Job
}

// add registers a job and gives it the first log file that no running job uses.
func (j *Jobs) add(command string) (*job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil, Errorf(Cancelled, nil, "the daemon is shutting down; start the command again when it is back")
	}
	used := map[int]bool{}
	for _, old := range j.jobs {
		used[old.slot] = used[old.slot] || old.Running()
	}
	slot := 1
	for used[slot] {
		slot++
	}
	j.next++
	ctx, stop := context.WithCancel(j.base)
	s := &job{
		Job:  Job{ID: "job-" + strconv.Itoa(j.next), Command: command, Log: path.Join(j.root, logName(slot)), Started: time.Now()},
		slot: slot, ctx: ctx, stop: stop, begun: make(chan struct{}), done: make(chan struct{}),
	}
	j.jobs = append(j.jobs, s)
	j.forget()
	return s, nil
}

// forget drops the oldest ended jobs.
func (j *Jobs) forget() {
	extra := len(j.jobs) - keptJobs
	j.jobs = slices.DeleteFunc(j.jobs, func(s *job) bool {
		drop := extra > 0 && !s.Running()
		if drop {
			extra--
		}
		return drop
	})
}

func logName(slot int) string {
	if slot == 1 {
		return ".server.log"
	}
	return fmt.Sprintf(".server-%d.log", slot)
}

func (j *Jobs) end(s *job, status Status, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s.Ended, s.Err = time.Now(), err
	if err == nil {
		s.Exit = &status.Exit
	}
	close(s.done)
}

// List gives all running jobs and the latest ended ones, oldest first.
func (j *Jobs) List() []Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	list := make([]Job, len(j.jobs))
	for i, s := range j.jobs {
		list[i] = s.Job
	}
	return list
}

// Running counts the jobs that have not ended.
func (j *Jobs) Running() int {
	n := 0
	for _, job := range j.List() {
		if job.Running() {
			n++
		}
	}
	return n
}

// Stop ends a job and everything that it started, and waits for that. A job that has ended already is no error.
func (j *Jobs) Stop(ctx context.Context, id string) (Job, error) {
	j.mu.Lock()
	i := slices.IndexFunc(j.jobs, func(s *job) bool { return s.ID == id })
	if i < 0 {
		j.mu.Unlock()
		return Job{}, Errorf(NotFound, nil, "there is no job %q; jobs/list gives the ids", id)
	}
	s := j.jobs[i]
	j.mu.Unlock()
	s.stop()
	select {
	case <-s.done:
		return j.look(s), nil
	case <-ctx.Done():
		return j.look(s), Ended(ctx)
	}
}

// Close ends all jobs and waits for them.
func (j *Jobs) Close() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.stop()
	j.wait.Wait()
}

// Tail gives the end of a job's log, at most limit bytes of clean text.
func (j *Jobs) Tail(ctx context.Context, job Job, limit int64) (string, error) {
	res, err := Run(ctx, j.ex, Command{Argv: []string{"tail", "-c", strconv.FormatInt(limit, 10), "--", job.Log}}, Options{Limit: limit, Timeout: 10 * time.Second})
	if err != nil {
		return "", fmt.Errorf("read the log of %s: %w", job.ID, err)
	}
	return res.Stdout.Head, nil
}

// quote gives s as one word of a shell script.
func quote(s string) string {
	b := []byte{'\''}
	for i := range len(s) {
		if s[i] == '\'' {
			b = append(b, `'\''`...)
		} else {
			b = append(b, s[i])
		}
	}
	return string(append(b, '\''))
}
