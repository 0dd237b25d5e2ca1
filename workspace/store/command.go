package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"time"
)

// The outcomes that the store itself gives and looks for.
const (
	CommandRunning = "running" // the command has not ended
	CommandUnknown = "unknown" // the daemon died while it ran; nobody knows how it ended
)

// Command is one row of the command log.
type Command struct {
	ID         string
	Time       time.Time // when it was asked for
	Run        string
	Turn       string
	Agent      string
	Client     string
	Workspace  string
	Container  string
	Command    string // with secrets of known shapes redacted by the caller
	Background bool
	Exit       *int // nil when there is none
	Duration   time.Duration
	Stdout     int64 // bytes printed
	Stderr     int64 // bytes printed
	StdoutHead string
	StderrHead string
	Outcome    string
	Approval   string
}

const commandColumns = `id, time, run, turn, agent, client, workspace, container, command, background, exit_code, duration,
	stdout_bytes, stderr_bytes, stdout_head, stderr_head, outcome, approval`

func (c *Command) columns() []driver.Value {
	return []driver.Value{
		c.ID, stamp(c.Time), c.Run, c.Turn, c.Agent, c.Client, c.Workspace, c.Container, c.Command, c.Background, c.exit(), int64(c.Duration),
		c.Stdout, c.Stderr, c.StdoutHead, c.StderrHead, c.Outcome, c.Approval,
	}
}

func (c *Command) exit() driver.Value {
	if c.Exit == nil {
		return nil
	}
	return int64(*c.Exit)
}

func scanCommand(r scanner) (Command, error) {
	var c Command
	var at int64
	var exit sql.NullInt64
	err := r.Scan(&c.ID, &at, &c.Run, &c.Turn, &c.Agent, &c.Client, &c.Workspace, &c.Container, &c.Command, &c.Background, &exit, &c.Duration,
		&c.Stdout, &c.Stderr, &c.StdoutHead, &c.StderrHead, &c.Outcome, &c.Approval)
	c.Time = unstamp(at)
	if exit.Valid {
		code := int(exit.Int64)
		c.Exit = &code
	}
	return c, err
}

// StartCommand writes the row of a command that is about to run, durably, and gives its id. A row without an outcome
// is running; one that is still running when the store is next opened becomes unknown.
func (s *Store) StartCommand(ctx context.Context, c Command, events ...Event) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("log the command: %w", err)
	}
	now := s.now()
	if c.ID == "" {
		c.ID = newID(now)
	}
	if c.Time.IsZero() {
		c.Time = now
	}
	if c.Outcome == "" {
		c.Outcome = CommandRunning
	}
	err := s.writer.do(&task{durable: true, run: func(t *tx) error {
		if err := t.exec(`INSERT INTO container_command_logs (`+commandColumns+`) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`, c.columns()...); err != nil {
			return err
		}
		return t.addEvents(now, events)
	}})
	if err != nil {
		return "", fmt.Errorf("log the command: %w", err)
	}
	return c.ID, nil
}

// EndCommand completes the row of a command with everything that c says, whatever has become of ctx. The error is
// [ErrNotFound] when there is no row with its id.
func (s *Store) EndCommand(_ context.Context, c Command, events ...Event) error {
	now := s.now()
	err := s.writer.do(&task{run: func(t *tx) error {
		n, err := t.change(`UPDATE container_command_logs SET container = ?, exit_code = ?, duration = ?, stdout_bytes = ?, stderr_bytes = ?, stdout_head = ?,
			stderr_head = ?, outcome = ?, approval = ? WHERE id = ?`, c.Container, c.exit(), int64(c.Duration), c.Stdout, c.Stderr, c.StdoutHead, c.StderrHead, c.Outcome, c.Approval, c.ID)
		if err != nil {
			return err
		}
		if n == 0 {
			return ErrNotFound
		}
		return t.addEvents(now, events)
	}})
	if err != nil {
		return fmt.Errorf("complete the log of the command %s: %w", c.ID, err)
	}
	return nil
}

// orphanCommands gives the commands of a daemon that died an outcome.
func (t *tx) orphanCommands() error {
	return t.exec(`UPDATE container_command_logs SET outcome = ? WHERE outcome = 'running'`, CommandUnknown)
}

// Command gives one row of the command log; the error is [ErrNotFound] when there is none with that id.
func (s *Store) Command(ctx context.Context, id string) (Command, error) {
	c, err := scanCommand(s.row(ctx, `SELECT `+commandColumns+` FROM container_command_logs WHERE id = ?`, id))
	if err != nil {
		return Command{}, fmt.Errorf("read the log of the command %s: %w", id, translate(err))
	}
	return c, nil
}

// Commands lists commands, newest first, and gives the id to go on with when there are more.
func (s *Store) Commands(ctx context.Context, f Filter) ([]Command, string, error) {
	w := f.where()
	if err := s.after(ctx, w, "container_command_logs", f.Before); err != nil {
		return nil, "", fmt.Errorf("list the commands: %w", err)
	}
	if f.Text != "" {
		w.add("instr(lower(command), lower(?)) > 0", f.Text)
	}
	all, next, err := page(ctx, s, "container_command_logs", commandColumns, w, f.Limit, scanCommand, func(c Command) string { return c.ID })
	if err != nil {
		return nil, "", fmt.Errorf("list the commands: %w", err)
	}
	return all, next, nil
}
