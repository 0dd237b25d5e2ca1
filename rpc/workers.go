package rpc

import (
	"sync"
	"sync/atomic"
)

// maxIdleWorkers is how many goroutines are kept for the next calls.
const maxIdleWorkers = 16

// workers run calls on goroutines that are kept for the next ones: their stacks have grown already, which a new
// goroutine would pay for at each call.
type workers struct {
	jobs chan func()
	idle atomic.Int64
	all  sync.WaitGroup
}

func newWorkers() *workers { return &workers{jobs: make(chan func())} }

// run runs a job on a goroutine of its own. It does not wait.
func (w *workers) run(job func()) {
	select {
	case w.jobs <- job:
	default:
		w.all.Go(func() { w.work(job) })
	}
}

func (w *workers) work(job func()) {
	for job != nil {
		job()
		if w.idle.Add(1) > maxIdleWorkers {
			w.idle.Add(-1)
			return
		}
		job = <-w.jobs // nil when it is closed
		w.idle.Add(-1)
	}
}

// stop ends the goroutines. No job may come any more.
func (w *workers) stop() {
	close(w.jobs)
	w.all.Wait()
}
