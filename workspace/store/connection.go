package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"modernc.org/sqlite"
)

// connection is the one that writes. It speaks to the driver itself: a pool has nothing to offer to one goroutine,
// and costs a quarter of the time that a small change takes. Statements are prepared once, by their text. Values are
// what a driver takes: int64, bool, string, []byte and nil. Nothing is cancelled: what has begun is carried through,
// whatever becomes of those who asked for it.
type connection struct {
	driver.Conn
	prepared map[string]statement
	args     []driver.NamedValue // of the statement that runs
}

// statement is what the driver's statements can do.
type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

func connect(source string) (*connection, error) {
	c, err := new(sqlite.Driver).Open(source)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: c, prepared: map[string]statement{}}, nil
}

// prepare gives the statement, and its arguments as the driver takes them.
func (c *connection) prepare(query string, args []driver.Value) (statement, []driver.NamedValue, error) {
	c.args = c.args[:0]
	for i, a := range args {
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	p, ok := c.prepared[query]
	if !ok {
		s, err := c.Prepare(query)
		if err != nil {
			return nil, nil, err
		}
		p = s.(statement)
		c.prepared[query] = p
	}
	return p, c.args, nil
}

// once executes what is not worth keeping, or must be compiled each time.
func (c *connection) once(query string) error {
	p, err := c.Prepare(query)
	if err != nil {
		return err
	}
	_, err = p.(statement).ExecContext(context.Background(), nil)
	return errors.Join(err, p.Close())
}

func (c *connection) run(query string, args []driver.Value) (driver.Result, error) {
	p, named, err := c.prepare(query, args)
	if err != nil {
		return nil, err
	}
	return p.ExecContext(context.Background(), named)
}

func (c *connection) exec(query string, args ...driver.Value) error {
	_, err := c.run(query, args)
	return err
}

// change executes a statement and gives the number of rows that it changed.
func (c *connection) change(query string, args ...driver.Value) (int64, error) {
	r, err := c.run(query, args)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// insert executes an INSERT and gives the row's number.
func (c *connection) insert(query string, args ...driver.Value) (int64, error) {
	r, err := c.run(query, args)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// value asks for the first column of one row; the error is [ErrNotFound] when there is no row.
func (c *connection) value(query string, args ...driver.Value) (driver.Value, error) {
	p, named, err := c.prepare(query, args)
	if err != nil {
		return nil, err
	}
	rows, err := p.QueryContext(context.Background(), named)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	column := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(column); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, ErrNotFound
		}
		return nil, err
	}
	return column[0], nil
}

func (c *connection) number(query string, args ...driver.Value) (int64, error) {
	v, err := c.value(query, args...)
	if err != nil {
		return 0, err
	}
	n, ok := v.(int64)
	if !ok {
		return 0, fmt.Errorf("%w (a number was expected, not %T)", ErrCorrupt, v)
	}
	return n, nil
}

func (c *connection) close() error {
	var errs []error
	for _, p := range c.prepared {
		errs = append(errs, p.Close())
	}
	return errors.Join(append(errs, c.Conn.Close())...)
}
