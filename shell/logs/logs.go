// Package logs reads the end of logs: of containers, of systemd units, and of files in the workspace or in its
// container. Whatever the size of a log, it takes a bounded amount of memory.
package logs

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/toold/toold/shell"
)

// The sources of logs.
const (
	Docker  = "docker"
	Systemd = "systemd"
	File    = "file"
)

// How many lines are given.
const (
	DefaultLines = 100
	MaxLines     = 2000
)

// Query says which log is read, and what of it.
type Query struct {
	Source string `json:"source"` // [Docker], [Systemd] or [File]
	Target string `json:"target"` // a container, a unit, a path
	Lines  int    `json:"lines"`  // how many lines at most; 0 is [DefaultLines], and others are clamped to 1..[MaxLines]
	Filter string `json:"filter"` // a regular expression (RE2) that lines must match, or when it is none, text that they hold
	Limits Limits `json:"limits"`
}

// Limits bound an answer and what it may take. Zero values are the defaults.
type Limits struct {
	Bytes  int64         `json:"bytes"`  // of the lines together; 64 KiB
	Line   int           `json:"line"`   // of one line, after which it is cut; 4 KiB
	Search time.Duration `json:"search"` // for finding the lines; 20 s
	Count  time.Duration `json:"count"`  // for counting all others after that; 2 s
}

func (q Query) withDefaults() Query {
	q.Lines = min(max(cmp.Or(q.Lines, DefaultLines), 1), MaxLines)
	q.Limits.Bytes = cmp.Or(q.Limits.Bytes, 64<<10)
	q.Limits.Line = cmp.Or(q.Limits.Line, 4<<10)
	q.Limits.Search = cmp.Or(q.Limits.Search, 20*time.Second)
	q.Limits.Count = cmp.Or(q.Limits.Count, 2*time.Second)
	return q
}

// Tail is the end of a log.
type Tail struct {
	Lines   []string `json:"lines"`   // oldest first, clean text
	Total   int64    `json:"total"`   // all lines, or with a filter all that match
	Counted bool     `json:"counted"` // Total is known
	Partial bool     `json:"partial"` // the time was up before the whole log was searched: older lines may match too
	Full    bool     `json:"full"`    // fewer lines than asked for, because of their size
	Where   string   `json:"where"`   // what was read, when that is not the target: "the container web"
}

// A ReadableFile is what a file's log is read from; an [*os.File] is one.
type ReadableFile interface {
	fs.File
	io.ReaderAt
}

// Workspace opens files of the workspace the way read_file does. inside is false for a path that is not in the
// workspace; then it opens nothing.
type Workspace interface {
	OpenLog(ctx context.Context, target string) (f ReadableFile, inside bool, err error)
}

// Container reads the end of a file inside the workspace's container.
type Container interface {
	TailFile(ctx context.Context, path string, q Query) (Tail, error)
}

// Containers gives the logs of containers.
type Containers interface {
	// Logs hands the lines of a container's log to take, oldest first, with their times. The engine stores long lines
	// in pieces; pieces is how many of the last ones are wanted, 0 for all, and received is how many came. take ends
	// the reading with false.
	Logs(ctx context.Context, name string, pieces int, take func(line []byte) bool) (received int, err error)
}

// Reader reads logs for one workspace. A nil field is a source that is not there.
type Reader struct {
	Workspace  Workspace
	Container  Container
	Containers Containers
	Journal    Journal
}

// Read gives the end of a log.
func (r *Reader) Read(ctx context.Context, q Query) (Tail, error) {
	q = q.withDefaults()
	switch {
	case q.Source != Docker && q.Source != Systemd && q.Source != File:
		return Tail{}, shell.Errorf(shell.InvalidArgument, nil, "unknown source %q: it is docker, systemd or file", q.Source)
	case strings.TrimSpace(q.Target) == "":
		return Tail{}, shell.Errorf(shell.InvalidArgument, nil, "target is missing: a container's name, a systemd unit or the path of a log file")
	case strings.HasPrefix(q.Target, "-"):
		err := shell.Errorf(shell.InvalidArgument, nil, "the target %q begins with a dash, so it would be taken for an option", q.Target)
		if q.Source == File {
			err.Text += "; write ./" + q.Target + " for a file of that name"
		}
		return Tail{}, err
	case strings.ContainsRune(q.Target, 0):
		return Tail{}, shell.Errorf(shell.InvalidArgument, nil, "the target has a NUL byte")
	}
	switch q.Source {
	case Docker:
		return r.docker(ctx, q)
	case Systemd:
		return r.Journal.read(ctx, q)
	}
	return r.file(ctx, q)
}

func (r *Reader) file(ctx context.Context, q Query) (Tail, error) {
	f, inside, err := r.Workspace.OpenLog(ctx, q.Target)
	switch {
	case err != nil:
		return Tail{}, err
	case inside:
		defer f.Close()
		return TailFile(ctx, f, q)
	case r.Container == nil:
		return Tail{}, shell.Errorf(shell.NoContainer, nil, "%s is not in the workspace, and there is no container to read it in: give a path of the workspace, or ask the user to configure a container", q.Target)
	}
	return r.Container.TailFile(ctx, q.Target, q)
}

// TailFile reads the end of an open file.
func TailFile(ctx context.Context, f ReadableFile, q Query) (Tail, error) {
	info, err := f.Stat()
	if err != nil {
		return Tail{}, fmt.Errorf("read the log %s: %w", q.Target, err)
	}
	if !info.Mode().IsRegular() {
		return Tail{}, shell.Errorf(shell.NotRegular, nil, "%s is no regular file, so it has no lines to read; list_files shows what is there", q.Target)
	}
	t, err := tailOf(ctx, f, info.Size(), q.withDefaults())
	if err != nil {
		return Tail{}, fmt.Errorf("read the log %s (try run_shell with tail): %w", q.Target, err)
	}
	return t, nil
}
