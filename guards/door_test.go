package guards

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toold/toold/workspace"
	"github.com/toold/toold/workspace/run"
)

// door does with a change what the workspace does: it asks the guards, and a change that they let through is made.
type door struct {
	t     testing.TB
	asks  *run.Asks
	turns *run.Turns
	stale *Stale
	log   bytes.Buffer
	set   *Set
	files fstest.MapFS
	actor workspace.Actor
}

func newDoor(t testing.TB) *door {
	d := &door{t: t, asks: &run.Asks{}, turns: &run.Turns{}, files: fstest.MapFS{}, actor: workspace.Actor{Agent: "A", Run: "r1"}}
	d.set = New(Options{
		Asks: d.asks, Turns: d.turns, Log: slog.New(slog.NewTextHandler(&d.log, nil)),
		Stale: func(context.Context, *workspace.Change) (*Stale, error) { return d.stale, nil },
	})
	return d
}

func (d *door) put(path, content string) { d.files[path] = &fstest.MapFile{Data: []byte(content)} }

func (d *door) has(path string) string {
	if f, ok := d.files[path]; ok {
		return string(f.Data)
	}
	return "(absent)"
}

// change makes a change of a file's whole content.
func (d *door) change(op workspace.Op, path, after string) *workspace.Change {
	c := &workspace.Change{
		Op: op, Actor: d.actor, Path: workspace.Path(path), Real: workspace.Path(path), After: []byte(after), Input: []byte(after), FS: d.files, Arrived: d.asks.Arrive(),
	}
	if f, ok := d.files[path]; ok {
		c.Existed, c.Before = true, f.Data
	}
	return c
}

// apply judges a change and makes it.
func (d *door) apply(c *workspace.Change) error {
	if err := d.set.Check(context.Background(), c); err != nil {
		return err
	}
	d.put(string(c.Real), string(c.After))
	d.set.Settled(c)
	return nil
}

func (d *door) write(path, content string) error {
	return d.apply(d.change(workspace.OpWrite, path, content))
}

// edit replaces search by replacement everywhere.
func (d *door) edit(path, search, replacement string) error {
	c := d.change(workspace.OpEdit, path, strings.ReplaceAll(d.has(path), search, replacement))
	c.Input = []byte(replacement)
	return d.apply(c)
}

// refused checks that err is a refusal with this code whose text has all parts, and gives it.
func (d *door) refused(err error, code string, parts ...string) *workspace.Refusal {
	d.t.Helper()
	var r *workspace.Refusal
	if !errors.As(err, &r) {
		d.t.Fatalf("%v is no refusal; want %s", err, code)
	}
	if r.Code != code {
		d.t.Errorf("refused with %s (%s), want %s", r.Code, r.Text, code)
	}
	for _, p := range parts {
		if !strings.Contains(r.Text, p) {
			d.t.Errorf("the text lacks %q: %s", p, r.Text)
		}
	}
	return r
}

func (d *door) passes(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Errorf("refused: %v", err)
	}
}

// failed checks that err is the failure of a judgement.
func (d *door) failed(err error, parts ...string) {
	d.t.Helper()
	var e *workspace.Error
	if !errors.As(err, &e) || e.Code != "guard_error" {
		d.t.Fatalf("%v is no guard_error", err)
	}
	for _, p := range parts {
		if !strings.Contains(e.Text, p) {
			d.t.Errorf("the text lacks %q: %s", p, e.Text)
		}
	}
}

// brokenFS fails for some paths.
type brokenFS struct {
	fstest.MapFS
	broken map[string]error
}

func (b brokenFS) Open(name string) (fs.File, error) {
	if err := b.broken[name]; err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return b.MapFS.Open(name)
}

func (b brokenFS) ReadFile(name string) ([]byte, error) {
	if err := b.broken[name]; err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return b.MapFS.ReadFile(name)
}

func (b brokenFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := b.broken[name]; err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return b.MapFS.ReadDir(name)
}

func (b brokenFS) Stat(name string) (fs.FileInfo, error) {
	if err := b.broken[name]; err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return b.MapFS.Stat(name)
}
