package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/toold/toold/shell"
)

// Journal is the systemd journal of this machine.
type Journal struct {
	Dir string // a folder of journal files to read instead, or ""
}

// read gives the end of a unit's log.
func (j Journal) read(ctx context.Context, q Query) (Tail, error) {
	if !validUnit(q.Target) {
		return Tail{}, shell.Errorf(shell.InvalidArgument, nil, "%q is no systemd unit: those have letters, digits and `:_.@\\-` only, such as nginx.service", q.Target)
	}
	if _, err := exec.LookPath("journalctl"); err != nil {
		return Tail{}, shell.Errorf(shell.NotFound, nil, "this machine has no journalctl, so there are no systemd logs to read; use source \"docker\" or \"file\"")
	}
	unit, err := j.find(ctx, q.Target)
	if err != nil {
		return Tail{}, err
	}
	if q.Filter != "" {
		return j.search(ctx, q, unit)
	}
	f := newForward(q)
	err = j.run(ctx, f.take, unit, "--lines="+strconv.Itoa(q.Lines))
	if err != nil {
		return Tail{}, err
	}
	return f.tail(f.total < int64(q.Lines)), nil
}

func validUnit(name string) bool {
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune(`:_.@\-`, c) {
			return false
		}
	}
	return len(name) <= 255
}

// find gives the option that selects a unit: of the system, or else of users.
func (j Journal) find(ctx context.Context, name string) (string, error) {
	for _, option := range []string{"--unit=", "--user-unit="} {
		there := false
		err := j.run(ctx, func([]byte) bool { there = true; return false }, option+name, "--lines=1")
		if err != nil || there {
			return option + name, err
		}
	}
	text := fmt.Sprintf("the journal has no entries of a unit %q", name)
	if names := j.units(ctx); len(names) > 0 {
		text += "; it has some of: " + strings.Join(shell.Nearest(name, names, 8), ", ")
	}
	return "", shell.Errorf(shell.NotFound, nil, "%s", text)
}

// units gives the names of all units that have written to the journal.
func (j Journal) units(ctx context.Context) []string {
	var names []string
	for _, field := range []string{"_SYSTEMD_UNIT", "_SYSTEMD_USER_UNIT"} {
		_ = j.run(ctx, func(line []byte) bool {
			names = append(names, string(line))
			return len(names) < 10000
		}, "--field="+field)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// search finds matching lines from the newest entry backwards, so that a long journal does not hide them.
func (j Journal) search(ctx context.Context, q Query, unit string) (Tail, error) {
	r := newReversed(q)
	if err := j.run(ctx, r.take, unit, "--reverse"); err != nil {
		return Tail{}, err
	}
	return r.tail(), nil
}

// run runs journalctl and hands its lines to take until that gives false.
func (j Journal) run(ctx context.Context, take func([]byte) bool, args ...string) error {
	args = append([]string{"--quiet", "--no-pager", "--output=short-iso"}, args...)
	if j.Dir != "" {
		args = append(args, "--directory="+j.Dir)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, "journalctl", args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "SYSTEMD_COLORS=0", "SYSTEMD_URLIFY=0")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("run journalctl: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("run journalctl: %w", err)
	}
	enough := false
	err = eachLine(out, func(line []byte) bool {
		if bytes.HasPrefix(line, []byte("-- ")) { // between two boots
			return true
		}
		enough = !take(line)
		return !enough
	})
	if enough {
		stop()
	}
	return j.ended(ctx, enough, err, cmd.Wait(), said.String())
}

// ended explains the end of journalctl: read is the error of reading its output, exit that of the process.
func (j Journal) ended(ctx context.Context, enough bool, read, exit error, said string) error {
	var code *exec.ExitError
	switch {
	case enough:
		return nil
	case ctx.Err() != nil:
		return shell.Ended(ctx)
	case read != nil:
		return fmt.Errorf("read journalctl's output: %w", read)
	case errors.As(exit, &code):
		line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
		return shell.Errorf(shell.NotFound, nil, "journalctl failed: %s", shell.Clean(line))
	}
	return exit
}
