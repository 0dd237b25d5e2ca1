package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// statements is a database whose statements are prepared once, by their text.
type statements struct {
	db       *sql.DB
	mu       sync.Mutex // guards prepared
	prepared map[string]*sql.Stmt
}

func newStatements(db *sql.DB) *statements {
	return &statements{db: db, prepared: map[string]*sql.Stmt{}}
}

func (s *statements) prepare(query string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.prepared[query]; ok {
		return p, nil
	}
	p, err := s.db.Prepare(query)
	if err != nil {
		return nil, err
	}
	s.prepared[query] = p
	return p, nil
}

func (s *statements) close() error {
	var errs []error
	for _, p := range s.prepared {
		errs = append(errs, p.Close())
	}
	return errors.Join(append(errs, s.db.Close())...)
}

// row is a row that may not have been asked for.
type row struct {
	row *sql.Row
	err error
}

// Scan reads the row's columns.
func (r row) Scan(to ...any) error {
	if r.err != nil {
		return r.err
	}
	return r.row.Scan(to...)
}

// row asks a reader for one row.
func (s *Store) row(ctx context.Context, query string, args ...any) row {
	p, err := s.reads.prepare(query)
	if err != nil {
		return row{err: err}
	}
	return row{row: p.QueryRowContext(ctx, args...)}
}

// scanner is a row to read columns from.
type scanner interface{ Scan(to ...any) error }

// list asks a reader for rows and reads each with scan.
func list[T any](ctx context.Context, s *Store, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	p, err := s.reads.prepare(query)
	if err != nil {
		return nil, translate(err)
	}
	rows, err := p.QueryContext(ctx, args...)
	if err != nil {
		return nil, translate(err)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, translate(err)
		}
		all = append(all, v)
	}
	return all, translate(rows.Err())
}

// where collects the conditions of a query.
type where struct {
	conditions []string
	args       []any
}

func (w *where) add(condition string, args ...any) {
	w.conditions = append(w.conditions, condition)
	w.args = append(w.args, args...)
}

// equal adds a condition unless value is empty.
func (w *where) equal(column, value string) {
	if value != "" {
		w.add(column+" = ?", value)
	}
}

func (w *where) String() string {
	if len(w.conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conditions, " AND ")
}

// after adds the condition that a row comes before the one with the given id, in a list that is newest first.
func (s *Store) after(ctx context.Context, w *where, table, id string) error {
	if id == "" {
		return nil
	}
	var seq int64
	if err := s.row(ctx, `SELECT seq FROM `+table+` WHERE id = ?`, id).Scan(&seq); err != nil {
		return fmt.Errorf("go on after %q: %w", id, translate(err))
	}
	w.add("seq < ?", seq)
	return nil
}

// page lists at most limit rows of a table, newest first. It gives the id of the last when there are more.
func page[T any](ctx context.Context, s *Store, table, columns string, w *where, limit int, scan func(scanner) (T, error), id func(T) string) ([]T, string, error) {
	query := `SELECT ` + columns + ` FROM ` + table + w.String() + ` ORDER BY seq DESC`
	if limit > 0 {
		query += ` LIMIT ?`
		w.args = append(w.args, limit+1)
	}
	rows, err := list(ctx, s, scan, query, w.args...)
	if err != nil || limit <= 0 || len(rows) <= limit {
		return rows, "", err
	}
	rows = rows[:limit]
	return rows, id(rows[limit-1]), nil
}

// stamp gives a time as the database has it; the zero time is 0.
func stamp(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func unstamp(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
