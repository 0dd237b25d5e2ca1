package store

import (
	"database/sql"
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
	if _, err := os.Lstat(s.database() + "-wal"); err == nil {
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
	db, err := sql.Open("sqlite", dataSource(path, "auto_vacuum(INCREMENTAL)", "synchronous(FULL)"))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	_, err = db.Exec(fmt.Sprintf("BEGIN; %s; PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT; PRAGMA journal_mode = WAL;", schema, applicationID, schemaVersion))
	return errors.Join(err, db.Close())
}

// migrate checks that the database is one of ours and of a version that this program knows.
func migrate(db *statements) error {
	// SQLite as it is built here syncs with fsync; fdatasync is as durable and takes about half the time. Where there
	// is none the error says so, and fsync stays.
	_, _ = sqlite.Fdatasync(true)
	var app, version int
	if err := db.row(`PRAGMA application_id`).Scan(&app); err != nil {
		return err
	}
	if app != applicationID {
		return fmt.Errorf("%w (%s is not a database of toold)", ErrCorrupt, databaseName)
	}
	if err := db.row(`PRAGMA user_version`).Scan(&version); err != nil {
		return err
	}
	if version != schemaVersion {
		return fmt.Errorf("the store has version %d and this toold knows %d; use the toold that wrote it, or move the folder away", version, schemaVersion)
	}
	var mode string
	if err := db.row(`PRAGMA journal_mode`).Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the state folder is on a file system that cannot hold the store (journal mode %q); choose a local disk with XDG_STATE_HOME", mode)
	}
	return nil
}
