package store

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
)

const (
	maxBatch        = 128         // requests that are committed together
	maxBatchBytes   = 2 << 20     // of content that is committed together
	logSize         = 8 << 20     // bytes that the log has from the start
	checkpointAfter = logSize / 2 // bytes of log, about; the rest is for what is written meanwhile
	logPerTask      = 32 << 10    // bytes of log that a task writes beside content, about
	restartAfter    = 64 << 20    // bytes of log
)

// task is one request to the writer. It may run more than once: when a commit that it shares with others fails, each
// of them is tried alone.
type task struct {
	run     func(*tx) error
	durable bool // on the disk before the caller goes on; else it survives a killed process, but not a power cut
	bytes   int  // of content, about
	done    chan error
}

// writer owns the one connection that writes.
type writer struct {
	*connection
	log         *slog.Logger
	checkpoints *connection // the checkpointer's

	logFile string // SQLite's write-ahead log

	queue  chan task
	mu     sync.RWMutex // guards closed, and the queue against being closed under a sender
	closed bool

	watchers watchers

	// Only the writer's goroutine uses these.
	full    bool // the connection's synchronous is FULL
	logged  int  // bytes since the last checkpoint was asked for
	kick    chan struct{}
	restart chan struct{} // the checkpointer found the log too long
}

func newWriter(db, checkpoints *connection, logFile string, log *slog.Logger) *writer {
	return &writer{
		logFile:    logFile,
		connection: db, checkpoints: checkpoints, log: log, full: true,
		queue: make(chan task, maxBatch), kick: make(chan struct{}, 1), restart: make(chan struct{}, 1),
	}
}

// do hands a task to the writer and waits until it is committed, also when its caller has gone meanwhile: whether a
// change was recorded is never left open.
func (w *writer) do(t task) error {
	t.done = make(chan error, 1)
	w.mu.RLock()
	if w.closed {
		w.mu.RUnlock()
		return ErrClosed
	}
	w.queue <- t
	w.mu.RUnlock()
	return <-t.done
}

// stop lets the writer finish what is queued and end.
func (w *writer) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		close(w.queue)
	}
}

func (w *writer) close() error {
	return errors.Join(w.checkpoints.close(), w.connection.close())
}

// run is the writer's goroutine: it commits together whatever has queued up during the last commit.
func (w *writer) run() {
	defer close(w.kick)
	for t := range w.queue {
		batch, bytes := []task{t}, t.bytes
		for more := true; more && len(batch) < maxBatch && bytes < maxBatchBytes; {
			select {
			case t, ok := <-w.queue:
				if more = ok; ok {
					batch, bytes = append(batch, t), bytes+t.bytes
				}
			default:
				more = false
			}
		}
		w.commit(batch)
		w.checkpoint(bytes + len(batch)*logPerTask)
	}
}

// commit runs the batch in one transaction and answers its callers. When that fails each task is tried alone, so that
// one request that cannot be met fails none but itself.
func (w *writer) commit(batch []task) {
	err := w.transact(batch)
	for _, t := range batch {
		if err != nil && len(batch) > 1 {
			t.done <- w.transact([]task{t})
			continue
		}
		t.done <- err
	}
}

func (w *writer) transact(batch []task) error {
	durable := false
	for _, t := range batch {
		durable = durable || t.durable
	}
	if err := w.setDurable(durable); err != nil {
		return translate(err)
	}
	if err := w.exec(`BEGIN IMMEDIATE`); err != nil {
		return translate(err)
	}
	t := &tx{connection: w.connection}
	for _, b := range batch {
		if err := b.run(t); err != nil {
			return w.rollback(err)
		}
	}
	if err := w.exec(`COMMIT`); err != nil {
		return w.rollback(err)
	}
	if t.events {
		w.watchers.wake()
	}
	return nil
}

// rollback ends the transaction. SQLite has done so itself after some errors, and then says that there is none.
func (w *writer) rollback(why error) error {
	_ = w.exec(`ROLLBACK`)
	return translate(why)
}

func (w *writer) setDurable(full bool) error {
	if full == w.full {
		return nil
	}
	level := `PRAGMA synchronous = NORMAL`
	if full {
		level = `PRAGMA synchronous = FULL`
	}
	// Not as a prepared statement: the pragma takes effect while it is compiled.
	if err := w.once(level); err != nil {
		return fmt.Errorf("set how commits are made durable: %w", err)
	}
	w.full = full
	return nil
}

// checkpoint asks the checkpointer to move the log into the database when it has grown by bytes enough.
func (w *writer) checkpoint(bytes int) {
	w.logged += bytes
	if w.logged >= checkpointAfter {
		select {
		case w.kick <- struct{}{}:
			w.logged = 0
		default: // still at the last one
		}
	}
	select {
	case <-w.restart:
		// Readers and writers that never pause keep the log from starting over; here nobody writes.
		if err := w.exec(`PRAGMA wal_checkpoint(RESTART)`); err != nil {
			w.log.Warn("the store's log could not be started over", "err", err)
		}
	default:
	}
}

// checkpointer moves the log into the database on a connection of its own, so that no commit waits for it.
func (w *writer) checkpointer() {
	for range w.kick {
		if err := w.checkpoints.exec(`PRAGMA wal_checkpoint(PASSIVE)`); err != nil {
			w.log.Warn("the store's log could not be moved into the database", "err", err)
			continue
		}
		if st, err := os.Stat(w.logFile); err == nil && st.Size() > restartAfter {
			select {
			case w.restart <- struct{}{}:
			default:
			}
		}
	}
}

// tx is the transaction that tasks of one batch share.
type tx struct {
	*connection
	events bool // some were added; subscribers are woken after the commit
}

// watchers are the channels that are woken when events were committed.
type watchers struct {
	mu  sync.Mutex // guards all
	all map[chan struct{}]struct{}
}

func (w *watchers) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.all {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

func (w *watchers) add() (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[chan struct{}]struct{}{}
	}
	w.all[c] = struct{}{}
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, c)
	}
}
