package store

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
)

//go:embed schema.sql
var schema string

const (
	schemaVersion = 1
	applicationID = 0x746f6c64 // "told": tells a database of ours from any other
	maxReaders    = 8
)

// The writer checkpoints by itself, beside the commits (see writer.checkpointer), so SQLite must not do it within one.
var (
	writerPragmas = []string{"busy_timeout(10000)", "synchronous(FULL)", "wal_autocheckpoint(0)", "foreign_keys(0)", "cache_size(-8192)"}
	readerPragmas = []string{"busy_timeout(10000)", "query_only(1)", "cache_size(-2048)"}
)

func dataSource(path string, pragmas ...string) string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: url.Values{"_pragma": pragmas, "_txlock": {"immediate"}}.Encode()}
	return u.String()
}

// ensureDatabase makes the database of a new store. It is built under another name and renamed, so that an empty
// or half-made file under the true name is never anything but damage.
func (s *Store) ensureDatabase() error {
	st, err := os.Stat(s.database())
	switch {
	case err == nil && st.Size() == 0:
		return fmt.Errorf("%w (the database file is empty)", ErrCorrupt)
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if found, err := s.leftovers(); err != nil || found != "" {
		return errors.Join(err, fmt.Errorf("%w (the database is missing, but there is %s)", ErrCorrupt, found))
	}
	fresh := s.database() + ".new"
	if err := createDatabase(fresh); err != nil {
		return translate(err)
	}
	if err := os.Rename(fresh, s.database()); err != nil {
		return err
	}
	return syncFolder(s.dir)
}

// leftovers names a part of an earlier store whose database is gone, or gives "".
func (s *Store) leftovers() (string, error) {
	if _, err := os.Lstat(s.logFile()); err == nil {
		return "its write-ahead log", nil
	}
	entries, err := os.ReadDir(s.blobDir())
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(s.tempDir()) {
			return "stored content", nil
		}
	}
	return "", nil
}

func createDatabase(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// SQLite gives its log files the mode of the database.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	db, err := connect(dataSource(path, "auto_vacuum(INCREMENTAL)", "synchronous(FULL)"))
	if err != nil {
		return err
	}
	err = db.once(fmt.Sprintf("BEGIN; %s; PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT; PRAGMA journal_mode = WAL;", schema, applicationID, schemaVersion))
	return errors.Join(err, db.close())
}

// migrate checks that the database is one of ours and of a version that this program knows.
func migrate(db *connection) error {
	// SQLite as it is built here syncs with fsync; fdatasync is as durable and takes about half the time. Where there
	// is none the error says so, and fsync stays.
	_, _ = sqlite.Fdatasync(true)
	app, err := db.number(`PRAGMA application_id`)
	if err != nil {
		return err
	}
	if app != applicationID {
		return fmt.Errorf("%w (%s is not a database of toold)", ErrCorrupt, databaseName)
	}
	version, err := db.number(`PRAGMA user_version`)
	if err != nil {
		return err
	}
	if version != schemaVersion {
		return fmt.Errorf("the store has version %d and this toold knows %d; use the toold that wrote it, or move the folder away", version, schemaVersion)
	}
	mode, err := db.value(`PRAGMA journal_mode`)
	if err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the state folder is on a file system that cannot hold the store (journal mode %q); choose a local disk with XDG_STATE_HOME", mode)
	}
	return nil
}

// prepareLog gives a new write-ahead log its size beforehand. A commit that makes the file longer waits for the file
// system's own journal and takes twice as long as one that overwrites. SQLite takes zeros for an empty log. A failure
// (a full disk) costs nothing but that speed.
func (s *Store) prepareLog() {
	path := s.logFile()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	zeros := make([]byte, 1<<20)
	for range logSize / len(zeros) {
		if _, err = f.Write(zeros); err != nil {
			break
		}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
		s.log.Debug("the store's log has no size beforehand", "err", err)
	}
}
