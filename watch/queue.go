package watch

import "sync"

// hint says what an event may mean. The file system has the last word: a hint only says where to look.
type hint uint8

const (
	hintLook  hint      = 1 << iota // something about the entry
	hintMade                        // it was made or moved here: what was known about a folder of that name is void
	hintWrote                       // its content changed, even if its stat says otherwise
	manyHints = 1 << 18             // more distinct paths than this are answered by looking at everything
)

// queue collects what has to be looked at. The watcher and toold's own writes put in, the applier takes out.
type queue struct {
	wake chan struct{} // has a token when there may be something to take

	mu      sync.Mutex // guards the fields below
	dirty   map[string]hint
	lost    bool // events were lost
	waiters []*ticket
}

// ticket is a search that waits for the changes before it.
type ticket struct {
	done   chan struct{} // closed when they have been applied
	rescan bool          // everything had to be looked at, because events were lost; valid after done
}

func newTicket() *ticket { return &ticket{done: make(chan struct{})} }

// batch is what was taken from the queue at once.
type batch struct {
	dirty   map[string]hint
	lost    bool
	waiters []*ticket // to be closed when all of it has been applied
}

func newQueue() *queue {
	return &queue{wake: make(chan struct{}, 1), dirty: map[string]hint{}}
}

// add notes that the entry at a workspace path has to be looked at.
func (q *queue) add(p string, h hint) {
	q.mu.Lock()
	if len(q.dirty) < manyHints {
		q.dirty[p] |= h
	} else {
		q.lost = true
	}
	q.mu.Unlock()
	q.signal()
}

// loseTrack notes that events were lost, so that everything has to be looked at.
func (q *queue) loseTrack() {
	q.mu.Lock()
	q.lost = true
	q.mu.Unlock()
	q.signal()
}

// settle closes the ticket when everything that is in the queue now has been applied.
func (q *queue) settle(t *ticket) {
	q.mu.Lock()
	q.waiters = append(q.waiters, t)
	q.mu.Unlock()
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// urgent says whether somebody waits, and pending whether there is anything at all.
func (q *queue) urgent() (urgent, pending bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiters) > 0, len(q.dirty) > 0 || q.lost
}

func (q *queue) take() batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := batch{q.dirty, q.lost, q.waiters}
	q.dirty, q.lost, q.waiters = map[string]hint{}, false, nil
	return b
}
