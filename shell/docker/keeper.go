package docker

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/toold/toold/shell"
	"github.com/toold/toold/shell/guard"
)

// keeper stands in for the guard where that cannot run. It reports on standard error, in lines that begin with a mark
// that the command does not know, and ends the command when its standard input says so or is closed. It finds the
// command's processes by their session and by a variable in their environment; what has left both escapes, which
// the status says.
const keeper = `
mark=$1 dir=$2; shift 2
exec 3<&0 4>&2 </dev/null 2>/dev/null
if [ "$1" = --script ]; then
	sh=/bin/sh
	for s in /usr/bin/bash /bin/bash; do [ ! -x "$s" ] || sh=$s; done
	set -- "$sh" -c "$2"
fi
cd "$dir" || { printf '%s nodir\n' "$mark" >&4; exit 0; }
if command -v setsid >/dev/null
then TOOLD_EXEC=$mark setsid "$@" 2>&4 3<&- 4>&- &
else TOOLD_EXEC=$mark "$@" 2>&4 3<&- 4>&- &
fi
child=$!
printf '%s begun %d\n' "$mark" "$child" >&4
sweep() {
	kill -$1 -"$child" "$child"
	for p in /proc/[0-9]*; do
		case $(tr -d '\0' <"$p/environ") in *"TOOLD_EXEC=$mark"*) kill -$1 "${p#/proc/}";; esac
	done
}
{ read -r order <&3; trap '' TERM; sweep TERM; sleep 0.3 || sleep 1; sweep KILL; sweep KILL; } >/dev/null 4>&- &
watcher=$!
exec 3<&-
wait "$child"; code=$?
kill "$watcher"; wait "$watcher"
printf '%s ended %d\n' "$mark" "$code" >&4
`

// graceful is how long output is read on after the command has ended, and confirm how long a killed one may take.
const (
	graceful = 200 * time.Millisecond
	confirm  = 5 * time.Second
)

// byShell runs a request under the keeper.
func (x *Executor) byShell(ctx context.Context, c usable, req guard.Request, begun func(int), stdout, stderr io.Writer) (shell.Status, error) {
	mark := "\x1etoold-" + rand.Text()
	argv := req.Argv
	if req.Script != "" {
		argv = []string{"--script", shell.Operand(req.Script)}
	}
	conn, err := x.engine.attach(ctx, c.id, container.ExecOptions{
		User: x.user(req), WorkingDir: "/", Env: req.Env,
		Cmd:         append([]string{"/bin/sh", "-c", keeper, "toold", mark, req.Dir}, argv...),
		AttachStdin: true, AttachStdout: true, AttachStderr: true,
	})
	if err != nil {
		return shell.Status{}, err
	}
	defer conn.Close()
	k := &kept{mark: []byte(mark), conn: conn, begun: begun, stdout: stdout, stderr: stderr}
	defer k.stop()
	conn.onErr = k.take
	defer context.AfterFunc(ctx, k.end)()
	_, err = io.Copy(k, conn)
	return k.status(ctx, req, err)
}

// user gives the user that an exec runs as.
func (x *Executor) user(req guard.Request) string {
	if req.User != "" {
		return req.User
	}
	return owner(x.cfg.Workspace)
}

// kept is a command under the keeper, as its standard error tells it.
type kept struct {
	mark   []byte
	conn   *connection
	begun  func(int)
	stdout io.Writer
	stderr io.Writer

	early   []byte // standard output from before the first report; what the engine says comes there too
	held    []byte // standard error that may be the beginning of a report
	started bool
	ended   bool
	nodir   bool
	exit    int

	mu     sync.Mutex // guards timers
	timers []*time.Timer
}

// end orders the keeper to end the command, and gives up after a while.
func (k *kept) end() {
	k.closeAfter(confirm)
	_, _ = k.conn.Write([]byte("end\n"))
}

func (k *kept) closeAfter(d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.timers = append(k.timers, time.AfterFunc(d, func() { _ = k.conn.Close() }))
}

func (k *kept) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range k.timers {
		t.Stop()
	}
}

// Write takes standard output.
func (k *kept) Write(p []byte) (int, error) {
	if k.started {
		return k.stdout.Write(p)
	}
	k.early = append(k.early, p...)
	return len(p), nil
}

// take passes standard error on, without the keeper's reports.
func (k *kept) take(p []byte) error {
	k.held = append(k.held, p...)
	for {
		i := bytes.Index(k.held, k.mark)
		if i < 0 {
			return k.pass(len(k.held) - overlap(k.held, k.mark))
		}
		if err := k.pass(i); err != nil {
			return err
		}
		line, rest, whole := bytes.Cut(k.held, []byte{'\n'})
		if !whole {
			return nil
		}
		k.held = rest
		if err := k.report(string(line[len(k.mark):])); err != nil {
			return err
		}
	}
}

func (k *kept) pass(n int) error {
	if n == 0 {
		return nil
	}
	_, err := k.stderr.Write(k.held[:n])
	k.held = k.held[n:]
	return err
}

// overlap gives the length of the longest end of p that mark begins with.
func overlap(p, mark []byte) int {
	for n := min(len(p), len(mark)-1); n > 0; n-- {
		if bytes.HasSuffix(p, mark[:n]) {
			return n
		}
	}
	return 0
}

func (k *kept) report(line string) error {
	word, number, _ := strings.Cut(strings.TrimSpace(line), " ")
	n, _ := strconv.Atoi(number)
	switch word {
	case "nodir":
		k.nodir = true
	case "begun":
		return k.begin(n)
	case "ended":
		k.ended, k.exit = true, n
		k.closeAfter(graceful)
	}
	return nil
}

func (k *kept) begin(pid int) error {
	k.started = true
	if k.begun != nil {
		k.begun(pid)
	}
	_, err := k.stdout.Write(k.early)
	k.early = nil
	return err
}

// status says how the command ended; err is why reading its output did.
func (k *kept) status(ctx context.Context, req guard.Request, err error) (shell.Status, error) {
	_ = k.pass(len(k.held))
	switch {
	case ctx.Err() != nil:
		return shell.Status{Survivors: k.started}, shell.Ended(ctx)
	case k.ended && err != nil: // the connection had to be closed: somebody holds a pipe
		return shell.Status{Exit: k.exit, Left: 1}, nil
	case k.ended:
		return shell.Status{Exit: k.exit}, nil
	case k.nodir:
		return shell.Status{}, shell.Errorf(shell.NotFound, nil, "cannot run in %s: there is no such folder", req.Dir)
	case !k.started && err == nil:
		return shell.Status{}, &guard.NotGuard{Said: fmt.Sprintf("no command can run, the container has no usable /bin/sh: %s", k.early)}
	}
	return shell.Status{Survivors: k.started}, &guard.Lost{Started: k.started, Err: errors.Join(err, io.ErrUnexpectedEOF)}
}
