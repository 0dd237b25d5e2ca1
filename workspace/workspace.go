// Package workspace is the one place that opens, reads, writes, lists and restores files of a workspace. Every change
// goes through [Workspace.Apply], every read through an opened descriptor below the root.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/toold/toold/workspace/run"
	"github.com/toold/toold/workspace/store"
)

// Limits of one workspace; zero values take the defaults.
const (
	DefaultMaxFileBytes    = 64 << 20
	DefaultMaxContextBytes = 64 << 10
	outputDir              = ".tool-output"
	outputBudget           = 256 << 20
)

// Options are the settings of one workspace.
type Options struct {
	ContainerRoot string                                // the workspace's path in its container; "/workspace" when empty
	Protected     []string                              // names or patterns that agents may not write
	MaxFileBytes  int64                                 // the largest file that a tool writes
	Checkers      []Checker                             // asked in order, inside the lock, before a write
	Changed       func(paths ...string)                 // told of every change of ours, before the reply
	Ignored       func(path string, isFolder bool) bool // what listings show without expanding
	Log           *slog.Logger
}

// Workspace is one folder tree that agents work in. Its methods may be called concurrently.
type Workspace struct {
	root  string // absolute and clean, as it was given; may be a symbolic link
	real  string // root with links resolved
	opts  Options
	files *Files

	mu         sync.Mutex // guards dir, at and generation
	dir        folder
	at         info
	generation int
}

// Files is what all workspaces of a daemon share, keyed by real file: locks, the versions that agents saw, unsaved
// editors, and the store. An editor on a sub-folder and an agent on the repository so see the same.
type Files struct {
	Store *store.Store
	Asks  *run.Asks // refusals that are made once, the door's and the guards'
	now   func() time.Time
	locks locks
	seen  seenVersions
	dirty dirtyFiles
	fail  func(step string) error // fault injection in tests; nil otherwise
}

// raceWait is how long a refusal that is made once waits before it is given, so that calls which were sent beside the
// refused one have come in by then and are refused with it.
const raceWait = 25 * time.Millisecond

// NewFiles makes the shared state over a store.
func NewFiles(s *store.Store, now func() time.Time) *Files {
	return &Files{
		Store: s, Asks: &run.Asks{Wait: func() { time.Sleep(raceWait) }}, now: now,
		locks: locks{held: map[string]*lock{}},
		seen:  seenVersions{agents: map[string]map[string]Version{}},
		dirty: dirtyFiles{paths: map[string]map[string]bool{}},
	}
}

// Open opens the workspace at root, an existing folder.
func Open(root string, files *Files, opts Options) (*Workspace, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, errorf("root_gone", "the workspace root %s does not exist; give --root an existing folder", abs)
	}
	if st, err := os.Stat(real); err != nil || !st.IsDir() {
		return nil, errorf("invalid_argument", "the workspace root %s is not a folder; give --root an existing folder", abs)
	}
	if opts.ContainerRoot == "" {
		opts.ContainerRoot = "/workspace"
	}
	if opts.MaxFileBytes == 0 {
		opts.MaxFileBytes = DefaultMaxFileBytes
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	w := &Workspace{root: abs, real: real, opts: opts, files: files}
	if _, err := w.rootFolder(); err != nil {
		return nil, err
	}
	return w, nil
}

// Close gives the root's descriptor back. No call may be running.
func (w *Workspace) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dir.close()
}

// Root gives the root as it was opened, absolute.
func (w *Workspace) Root() string { return w.root }

// Real gives the root with symbolic links resolved; it identifies the workspace in the store.
func (w *Workspace) Real() string { return w.real }

// Generation counts the folders that have stood at the root's path since the workspace was opened, from 1.
func (w *Workspace) Generation() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.generation
}

// Check tells whether the root is still there, as an error with code root_gone when it is not.
func (w *Workspace) Check() error {
	_, err := w.rootFolder()
	return err
}

// rootFolder gives the root's descriptor after looking that the folder at the root's path is still the one that it
// is of. A root that is gone fails the call; nothing is ever created in its place. Another folder at the same path is
// a new generation.
func (w *Workspace) rootFolder() (folder, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	st, err := statPath(w.real)
	if err != nil || !st.mode.IsDir() {
		return folder{}, errorf("root_gone", "the workspace root %s is gone (moved or deleted); nothing was read or written. Put it back, or open another root", w.root)
	}
	if w.generation > 0 && st.same(w.at) {
		return w.dir, nil
	}
	f, err := openFolder(w.real)
	if err != nil {
		return folder{}, errorf("root_gone", "the workspace root %s cannot be opened: %v", w.root, err)
	}
	// The old descriptor is left to calls that still use it; the finalizer of its os.File closes it.
	w.dir, w.at = f, st
	w.generation++
	return f, nil
}

func (w *Workspace) hasFolder(name string) bool {
	root, err := w.rootFolder()
	if err != nil {
		return false
	}
	st, err := root.lstat(name)
	return err == nil && st.mode.IsDir()
}

// Key identifies a real file in locks, versions, dirty flags and the store: its absolute real path.
func (w *Workspace) Key(real Path) string { return filepath.Join(w.real, string(real)) }

// RealPath resolves p and gives the real path and the key under which the store knows the file.
func (w *Workspace) RealPath(p Path) (Path, string, error) {
	pl, err := w.resolve(p, true)
	if err != nil {
		return "", "", pathError("resolve", p, err)
	}
	defer pl.close()
	return pl.real(), w.Key(pl.real()), nil
}

// Lookup tells whether p exists and whether it is a folder, following links inside the workspace.
func (w *Workspace) Lookup(p Path) (exists, isFolder bool, err error) {
	pl, err := w.resolve(p, true)
	if err != nil {
		return false, false, pathError("look up", p, err)
	}
	defer pl.close()
	return pl.exists, pl.exists && pl.info.mode.IsDir(), nil
}

func cause(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return &Error{Code: "cancelled", Text: "cancelled before anything was changed", Err: context.Cause(ctx)}
}

// Fail sets a function that is asked at each step of a write; its error is what the step meets. Only fault-injection
// tests use it, before the first call.
func (f *Files) Fail(at func(step string) error) { f.fail = at }

// Within tells whether the absolute clean path p is root or lies below it.
func Within(p, root string) bool {
	_, ok := below(root, p)
	return ok
}

// Content gives a file's present content, and whether it exists.
func (w *Workspace) Content(ctx context.Context, p Path) ([]byte, bool, error) {
	f, _, _, err := w.openFile(p)
	var missing *Error
	if errors.As(err, &missing) && missing.Code == "not_found" {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	data, _, err := readAll(ctx, f, w.opts.MaxFileBytes)
	if err != nil {
		return nil, false, pathError("read", p, err)
	}
	return data, true, nil
}

// refusedOnce tells whether a judgement of the door refuses the call: the first time that this agent asks for the file
// in this run, and for every call that was on its way before that was answered.
func (f *Files) refusedOnce(code string, who Actor, key string, arrived int64) bool {
	return f.Asks.Refuse(run.Ask{Agent: who.Agent, Run: who.Run, Path: key}, 1, arrived, code)
}
