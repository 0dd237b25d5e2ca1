package store

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
)

const (
	maxBatch        = 128         // requests that are committed together
	maxBatchBytes   = 2 << 20     // of content that is committed together
	logSize         = 4 << 20     // bytes that the log has from the start
	checkpointAfter = logSize / 2 // bytes of log, about; the rest is for what is written meanwhile
	logPerTask      = 32 << 10    // bytes of log that a task writes beside content, about
	restartAfter    = 64 << 20    // bytes of log
)

// task is one request to the writer.
type task struct {
	// run may be called more than once: when a commit that it shares with others fails, each of them is tried alone.
	run     func(*tx) error
	durable bool // on the disk before the caller goes on; else it survives a killed process, but not a power cut
	bytes   int  // of content, about
	last    bool // nothing is taken after it

	err  error
	turn chan bool // receives once: true to lead the next batch, false when the task is done
}

// writer owns the one connection that writes. There is no goroutine for it: of the callers that come while it is busy
// the first leads the next batch, and commits what the others have asked for with its own.
type writer struct {
	*connection
	log     *slog.Logger
	logFile string // SQLite's write-ahead log

	mu     sync.Mutex // guards queue, busy and closed
	queue  []*task    // in the order in which they are committed; the first leads them
	busy   bool       // somebody leads
	closed bool

	// Only the leader uses these.
	full   bool // the connection's synchronous is FULL
	logged int  // bytes since the last checkpoint was asked for

	checkpoints *connection   // the checkpointer's
	kick        chan struct{} // asks it for a checkpoint
	restart     chan struct{} // it found the log too long
	watchers    watchers
}

func newWriter(db, checkpoints *connection, logFile string, log *slog.Logger) *writer {
	return &writer{
		connection: db, checkpoints: checkpoints, logFile: logFile, log: log, full: true,
		kick: make(chan struct{}, 1), restart: make(chan struct{}, 1),
	}
}

var errInterrupted = errors.New("the commit ended in a panic; nothing of it was recorded")

// do commits a task, and returns only then, also when its caller has gone meanwhile: whether a change was recorded is
// never left open.
func (w *writer) do(t *task) error {
	t.turn, t.err = make(chan bool, 1), errInterrupted
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return ErrClosed
	}
	w.closed = t.last
	w.queue = append(w.queue, t)
	wait := w.busy
	w.busy = true
	w.mu.Unlock()
	if !wait || <-t.turn {
		w.lead()
	}
	return t.err
}

// lead commits what has queued up, and hands the lead on.
func (w *writer) lead() {
	w.startLogOver()
	batch, bytes := w.take()
	defer w.handOver(batch)
	w.commit(batch)
	w.checkpoint(bytes + len(batch)*logPerTask)
}

func (w *writer) take() (batch []*task, bytes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for n < len(w.queue) && n < maxBatch && bytes < maxBatchBytes {
		bytes += w.queue[n].bytes
		n++
	}
	batch = slices.Clone(w.queue[:n])
	w.queue = slices.Delete(w.queue, 0, n)
	return batch, bytes
}

func (w *writer) handOver(batch []*task) {
	w.mu.Lock()
	if w.busy = len(w.queue) > 0; w.busy {
		w.queue[0].turn <- true
	}
	w.mu.Unlock()
	for _, t := range batch[1:] {
		t.turn <- false
	}
}

func (w *writer) close() error {
	return errors.Join(w.checkpoints.close(), w.connection.close())
}

// commit runs the batch in one transaction. When that fails each task is tried alone, so that one request that cannot
// be met fails none but itself.
func (w *writer) commit(batch []*task) {
	err := w.transact(batch)
	for _, t := range batch {
		if t.err = err; err != nil && len(batch) > 1 {
			t.err = w.transact([]*task{t})
		}
	}
}

func (w *writer) transact(batch []*task) (err error) {
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
	committed := false
	defer func() {
		if !committed {
			_ = w.exec(`ROLLBACK`) // SQLite has done so itself after some errors, and then says that there is none
		}
	}()
	t := &tx{connection: w.connection}
	for _, b := range batch {
		if err := b.run(t); err != nil {
			return translate(err)
		}
	}
	if err := w.exec(`COMMIT`); err != nil {
		return translate(err)
	}
	committed = true
	if t.events {
		w.watchers.wake()
	}
	return nil
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
}

// startLogOver makes the log begin at its start again when readers and writers that never pause have kept it from
// doing so. Nobody writes meanwhile.
func (w *writer) startLogOver() {
	select {
	case <-w.restart:
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
