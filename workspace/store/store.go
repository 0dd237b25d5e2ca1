// Package store keeps what must outlive the daemon: the journal of changes, the snapshots of runs, the contents of
// both, events, the command log and the approvals log. Nothing above it knows what it is kept in.
//
// It is one SQLite database with large contents beside it as files. One connection writes, and commits together
// whatever has queued up; readers have connections of their own and never wait for it. A change of a workspace file is
// written before the file is touched ([Store.Begin]) and closed after ([Store.Finish]); what a killed process left
// open, [Store.OpenIntents] lists at the next start.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/sourcegraph/conc"
)

const (
	databaseName = "toold.db"
	blobsName    = "blobs"
	lockName     = "lock"
)

// Options are what a store needs from its owner.
type Options struct {
	Clock func() time.Time // the one clock that every recorded time comes from; time.Now when nil
	Log   *slog.Logger     // discarded when nil
}

// Store is an open store. Its methods may be called concurrently.
type Store struct {
	dir     string
	clock   func() time.Time
	log     *slog.Logger
	lock    *os.File // held for life: one process per folder
	writer  *writer
	reads   *statements
	tasks   conc.WaitGroup // the checkpointer
	open    openEdits
	settled bool // the last process left no change open

	// files is held for reading from looking for a blob's file until its row is committed, and for writing while
	// blobs are collected: a file is never removed between the two.
	files sync.RWMutex
}

// Open opens the store in dir, and makes a new one where there is none. The folder is readable by its owner only.
//
// The error is [ErrInUse] when another process has the store open, [ErrCorrupt] when the database is damaged or does
// not belong to toold. A damaged store is never replaced by an empty one.
func Open(dir string, opts Options) (*Store, error) {
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{dir: dir, clock: opts.Clock, log: opts.Log, open: openEdits{all: map[int64]*blob{}}}
	if err := s.start(); err != nil {
		return nil, fmt.Errorf("open the store in %s: %w", dir, err)
	}
	return s, nil
}

func (s *Store) start() (err error) {
	if err := privateFolders(s.dir, s.blobDir(), s.tempDir()); err != nil {
		return err
	}
	if s.lock, err = lockFile(filepath.Join(s.dir, lockName)); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.release())
		}
	}()
	if err := s.ensureDatabase(); err != nil {
		return err
	}
	s.prepareLog()
	if err := s.connect(); err != nil {
		return translate(err)
	}
	if err := s.removeTemps(); err != nil {
		return err
	}
	s.tasks.Go(s.writer.checkpointer)
	if err := s.begin(); err != nil {
		return errors.Join(err, s.shutdown())
	}
	return nil
}

func (s *Store) connect() error {
	source := dataSource(s.database(), writerPragmas...)
	db, err := connect(source)
	if err != nil {
		return err
	}
	checkpoints, err := connect(source)
	if err != nil {
		return errors.Join(err, db.close())
	}
	s.writer = newWriter(db, checkpoints, s.logFile(), s.log)
	readers, err := sql.Open("sqlite", dataSource(s.database(), readerPragmas...))
	if err != nil {
		return err
	}
	readers.SetMaxOpenConns(maxReaders)
	readers.SetMaxIdleConns(maxReaders)
	s.reads = newStatements(readers)
	return migrate(db)
}

// begin marks the store as open and closes what a process that was killed left behind.
func (s *Store) begin() error {
	return s.writer.do(&task{run: func(t *tx) error {
		closed, err := t.number(`SELECT value FROM meta WHERE key = 'closed'`)
		if err != nil {
			return err
		}
		settled, err := t.number(`SELECT value FROM meta WHERE key = 'settled'`)
		if err != nil {
			return err
		}
		s.settled = settled != 0
		if err := t.exec(`UPDATE meta SET value = 0`); err != nil {
			return err
		}
		if closed == 0 {
			if err := t.skipEvents(s.now()); err != nil {
				return err
			}
		}
		if err := t.orphanCommands(); err != nil {
			return err
		}
		return t.orphanApprovals(s.now())
	}})
}

// Close waits for what is being written and gives everything back. Calls that come later fail with [ErrClosed].
func (s *Store) Close() error {
	err := s.writer.do(&task{durable: true, last: true, run: func(t *tx) error {
		if err := t.exec(`UPDATE meta SET value = 1 WHERE key = 'closed'`); err != nil || !s.open.none() {
			return err
		}
		if s.settled {
			return t.exec(`UPDATE meta SET value = 1 WHERE key = 'settled'`)
		}
		return t.exec(`UPDATE meta SET value = NOT EXISTS (SELECT 1 FROM edits WHERE state = 'open') WHERE key = 'settled'`)
	}})
	if errors.Is(err, ErrClosed) {
		return nil
	}
	return errors.Join(err, s.shutdown())
}

// shutdown gives everything back once nothing is written any more.
func (s *Store) shutdown() error {
	close(s.writer.kick)
	s.tasks.Wait()
	return s.release()
}

func (s *Store) release() error {
	var errs []error
	if s.reads != nil {
		errs = append(errs, s.reads.close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

// Check reads the whole database and gives an error that wraps [ErrCorrupt] when anything in it is damaged. It takes
// seconds on a large store.
func (s *Store) Check(ctx context.Context) error {
	var found string
	if err := s.row(ctx, `PRAGMA quick_check(1)`).Scan(&found); err != nil {
		return translate(err)
	}
	if found != "ok" {
		return fmt.Errorf("%w: %s", ErrCorrupt, found)
	}
	return nil
}

func (s *Store) database() string { return filepath.Join(s.dir, databaseName) }
func (s *Store) logFile() string  { return s.database() + "-wal" }
func (s *Store) now() time.Time   { return s.clock() }

// privateFolders makes folders that only their owner can look into.
func privateFolders(dirs ...string) error {
	for _, d := range dirs {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
		st, err := os.Stat(d)
		if err != nil {
			return err
		}
		if st.Mode().Perm()&0o077 != 0 {
			if err := os.Chmod(d, 0o700); err != nil {
				return fmt.Errorf("others can look into %s and that cannot be changed: %w", d, err)
			}
		}
	}
	return nil
}
