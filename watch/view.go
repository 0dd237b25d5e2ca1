package watch

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/sourcegraph/conc"
)

// view is one opening of the folder at a tree's root, with everything that is known about it.
type view struct {
	root     string
	opts     *Options
	disk     *disk
	table    table
	queue    *queue
	notifier *notifier // nil where there are no events
	fault    error     // why there is no notifier
	applier  applier
	audit    audit
	live     liveRules

	ctx   context.Context // ends with the view
	stop  context.CancelFunc
	tasks conc.WaitGroup
	use   sync.RWMutex // held for reading by searches, for writing to close

	ready chan struct{} // closed when the table is complete
}

// liveRules are the root's rules for those who do not ask the table.
type liveRules struct {
	mu sync.Mutex // guards outer
	outer
}

// reset gives the memory back.
func (l *liveRules) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.outer = outer{surroundings: l.surroundings}
}

// newView opens the folder and begins to read it.
func newView(root string, opts *Options) (*view, error) {
	d, err := openDisk(root)
	if err != nil {
		return nil, err
	}
	d.trouble = opts.trouble.open
	v := &view{root: root, opts: opts, disk: d, queue: newQueue(), ready: make(chan struct{})}
	v.live.outer = outer{surroundings: opts.Surroundings}
	v.ctx, v.stop = context.WithCancel(context.Background())
	dir := opts.RuntimeDir
	if dir == "" {
		dir = os.TempDir()
	}
	v.notifier, v.fault = newNotifier(root, dir, v.queue, opts.trouble)
	if v.fault != nil {
		opts.Log.Warn("watch: changes are found by stat", "root", root, "err", v.fault)
		v.notifier = nil
	}
	v.applier = applier{
		disk: d, table: &v.table, notifier: v.notifier, outer: outer{surroundings: opts.Surroundings}, skip: opts.Skip, store: &store{}, now: time.Now,
		inodes: map[inode]*folder{}, blind: map[*folder]bool{}, silent: map[uint64]bool{}, allSilent: opts.trouble.silent,
	}
	v.tasks.Go(v.run)
	return v, nil
}

// close ends the view, after the searches that use it.
func (v *view) close() error {
	v.stop()
	v.use.Lock()
	defer v.use.Unlock()
	v.tasks.Wait()
	var err error
	if v.notifier != nil {
		err = v.notifier.close()
	}
	return errors.Join(err, v.disk.close())
}

const (
	restAtLeast = 100 * time.Millisecond // how long changes are collected when nobody waits
	restShare   = 10                     // the applier works at most one part in this many when nobody waits
)

// run reads the workspace, and then applies changes: at once when a search waits, else now and then.
func (v *view) run() {
	v.applier.apply(batch{lost: true})
	close(v.ready)
	v.live.reset()
	rest := newAlarm(v.opts.trouble.rest)
	audit := newAlarm(v.opts.trouble.audit)
	defer rest.stop()
	defer audit.stop()
	pause := restAtLeast
	audit.set(auditRest)
	for {
		select {
		case <-v.ctx.Done():
			v.abandon()
			return
		case <-audit.c:
			audit.ring()
			if next := v.auditStep(); next < auditRest {
				audit.set(next)
			}
			continue
		case <-v.queue.wake:
			urgent, pending := v.queue.urgent()
			if !urgent {
				if pending {
					rest.set(pause)
				}
				continue
			}
			audit.set(auditRest) // only while there are searches
		case <-rest.c:
			rest.ring()
			if _, pending := v.queue.urgent(); !pending {
				continue
			}
		}
		began := time.Now()
		v.step()
		pause = max(restAtLeast, restShare*time.Since(began))
	}
}

// alarm is a timer that keeps the time it was first set to until it rings.
type alarm struct {
	c     <-chan time.Time
	timer *time.Timer // nil when a test rings
	on    bool
}

func newAlarm(c <-chan time.Time) *alarm {
	if c != nil {
		return &alarm{c: c}
	}
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &alarm{c: t.C, timer: t}
}

func (a *alarm) set(d time.Duration) {
	if a.timer != nil && !a.on {
		a.timer.Reset(d)
		a.on = true
	}
}

// ring has to be called when the alarm rang.
func (a *alarm) ring() { a.on = false }

func (a *alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

// step applies what is in the queue.
func (v *view) step() {
	b := v.queue.take()
	v.applier.apply(b)
	for _, t := range b.waiters {
		t.rescan = b.lost
		close(t.done)
	}
}

// abandon lets go whoever waits.
func (v *view) abandon() {
	for _, t := range v.queue.take().waiters {
		close(t.done)
	}
}

// built says whether the table is complete.
func (v *view) built() bool {
	select {
	case <-v.ready:
		return true
	default:
		return false
	}
}

// settled waits until the table has every change that was finished before the call. It gives nil when it cannot know,
// while the workspace is being read for the first time or when the system does not answer.
func (v *view) settled(ctx context.Context) *ticket {
	if !v.built() {
		return nil
	}
	t := newTicket()
	if v.notifier == nil {
		v.queue.settle(t)
	} else if err := v.notifier.settle(t); err != nil {
		v.opts.Log.Warn("watch: every folder is looked at", "root", v.root, "err", err)
		v.queue.loseTrack()
		v.queue.settle(t)
	}
	patience := time.NewTimer(settleTime)
	defer patience.Stop()
	select {
	case <-t.done:
		if v.ctx.Err() == nil {
			return t
		}
	case <-ctx.Done():
	case <-patience.C:
		v.opts.Log.Warn("watch: the changes before a search could not be applied in time; it reads the files", "root", v.root)
	}
	return nil
}

// settleTime is how long a search waits for earlier changes before it reads the files itself.
const settleTime = 10 * time.Second
