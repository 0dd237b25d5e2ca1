package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// The errors that callers branch on, with errors.Is. A full disk is syscall.ENOSPC.
var (
	ErrNotFound  = errors.New("there is no such entry in the store")
	ErrExists    = errors.New("there is such an entry in the store already")
	ErrCollected = errors.New("the content is not stored any more: it was collected to the budgets or forgotten")
	ErrCorrupt   = errors.New("the store is damaged; stop toold, restore the folder from a backup or move it away to begin with an empty one")
	ErrInUse     = errors.New("another toold has it open; stop that one (`toold stop`) or use another state folder")
	ErrClosed    = errors.New("the store is closed; toold is shutting down")
)

// translate gives a database error the meaning that callers branch on.
func translate(err error) error {
	var e *sqlite.Error
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ErrNotFound
	case !errors.As(err, &e):
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w; free space on the disk of the state folder, or run `toold gc` (%w)", syscall.ENOSPC, err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w (%w)", ErrCorrupt, err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("%w (%w)", syscall.EIO, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("the database cannot be written; check the owner and mode of the state folder (%w)", err)
	case sqlite3.SQLITE_INTERRUPT:
		return fmt.Errorf("%w (%w)", context.Canceled, err)
	}
	if e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY {
		return fmt.Errorf("%w (%w)", ErrExists, err)
	}
	return err
}
