package rpc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// StartOptions say how a client starts the daemon.
type StartOptions struct {
	Socket string
	Binary string   // the program; this one when empty
	Args   []string // its arguments
	Log    string   // the file that its output goes to; start.log in the state folder when empty
}

const (
	startPatience = time.Minute // in which a daemon must have come up, or the one before it ended
	maxStarts     = 3           // of daemons that end as soon as they have come up
	startLogLimit = 1 << 20     // bytes of the start log, beyond which it begins anew
)

var errOther = errors.New("another client starts the daemon, or the one before it is ending")

// DialOrStart connects to the daemon and starts one when none runs. Any number of clients may do so at once: one of
// them starts it, the others wait and connect. The daemon of the client it gives has answered; one that is ending is
// waited for and replaced.
func DialOrStart(ctx context.Context, o StartOptions) (*Client, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("no daemon has answered within %s; `toold logs` may say why. If one hangs, its pid is in %s.lock", startPatience, o.Socket))
	defer cancel()
	starts := 0
	for pause := time.Millisecond; ; pause = min(2*pause, 25*time.Millisecond) {
		c, err := dialLiving(ctx, o.Socket)
		if errors.Is(err, ErrNotRunning) {
			if err = startOne(ctx, o); err == nil {
				if starts++; starts > maxStarts {
					return nil, errors.New("the daemon ends as soon as it has started; `toold logs` may say why")
				}
				continue
			}
		}
		if !errors.Is(err, errOther) {
			return c, err
		}
		if !wait(ctx, pause) {
			return nil, fmt.Errorf("wait for the daemon: %w", context.Cause(ctx))
		}
	}
}

// dialLiving connects to a daemon that answers. The error is errOther when it is ending.
func dialLiving(ctx context.Context, socket string) (*Client, error) {
	c, err := Dial(ctx, socket)
	if err != nil {
		return nil, err
	}
	var e *Error
	err = c.Call(ctx, "$/ping", nil, nil)
	if err == nil || errors.As(err, &e) && e.Code != CodeShuttingDown { // that it does not know the method is an answer
		return c, nil
	}
	c.Close()
	if e != nil || errors.Is(err, ErrClosed) {
		return nil, errOther
	}
	return nil, fmt.Errorf("wait for the daemon: %w", err)
}

// startOne starts a daemon unless somebody else does, or one holds the lock: then it is errOther.
func startOne(ctx context.Context, o StartOptions) error {
	if err := socketDir(o.Socket); err != nil {
		return err
	}
	release, err := startLock(o.Socket + ".start")
	if err != nil {
		return err
	}
	defer release()
	if locked(o.Socket + ".lock") {
		return errOther
	}
	return Start(ctx, o)
}

// Start starts a detached daemon and waits until it says that it serves: it has a session of its own, the working
// folder /, and outlives this process and its program file. It fails when the daemon ends before that, as it does when
// one runs already.
func Start(ctx context.Context, o StartOptions) error {
	if err := start(ctx, o); err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	return nil
}

func start(ctx context.Context, o StartOptions) error {
	log, err := openStartLog(o.Log)
	if err != nil {
		return err
	}
	defer log.Close()
	begun, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	r, ended, err := spawn(o, log)
	if err != nil {
		return err
	}
	defer r.Close()
	defer context.AfterFunc(ctx, func() { r.Close() })()
	line, _ := bufio.NewReader(r).ReadString('\n')
	if line != "" {
		return nil
	}
	select {
	case <-ended:
		return fmt.Errorf("it ended before it served: %s", lastLine(log, begun))
	case <-ctx.Done():
		return fmt.Errorf("wait until it serves: %w", context.Cause(ctx))
	}
}

// spawn starts the daemon and gives the pipe on which it says that it serves, and a channel that is closed when it has
// ended.
func spawn(o StartOptions, log *os.File) (ready *os.File, ended <-chan struct{}, err error) {
	binary, err := program(o.Binary)
	if err != nil {
		return nil, nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer w.Close()
	c := exec.Command(binary, o.Args...) // not under ctx: it outlives this call
	c.Dir, c.Stdout, c.Stderr = "/", log, log
	c.ExtraFiles = []*os.File{w}
	c.Env = daemonEnv()
	detach(c)
	if err := c.Start(); err != nil {
		r.Close()
		return nil, nil, err
	}
	over := make(chan struct{})
	go func() { // ends with the daemon or this process; without it a daemon that ends first would stay a zombie
		_ = c.Wait()
		close(over)
	}()
	return r, over, nil
}

// daemonEnv is this process's environment without what tells of the place where it was started.
func daemonEnv() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"PWD", "OLDPWD", "SHLVL", "_", readyEnv, "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}, name)
	})
	return append(env, readyEnv+"=3")
}

// openStartLog opens the file that has what a daemon says before its own log is open, and when it crashes.
func openStartLog(path string) (*os.File, error) {
	if path == "" {
		dir, err := StateDir()
		if err != nil {
			return nil, err
		}
		path = filepath.Join(dir, "start.log")
	}
	flags := os.O_CREATE | os.O_RDWR | os.O_APPEND
	if st, err := os.Stat(path); err == nil && st.Size() > startLogLimit {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(path, flags, 0o600)
}

func lastLine(f *os.File, from int64) string {
	b, err := io.ReadAll(io.NewSectionReader(f, from, startLogLimit))
	text := strings.TrimSpace(string(b))
	if err != nil || text == "" {
		return "it left no message; `toold logs` may say more"
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// program gives the file to start. `go run` deletes its program when it ends, and an upgrade may have removed ours; then
// it is started from the kernel's own link to it. A daemon goes on when its file is deleted.
func program(binary string) (string, error) {
	if binary != "" {
		return binary, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		if _, err := os.Stat(ownImage); err == nil {
			return ownImage, nil
		}
		return "", fmt.Errorf("its program is gone: %w; install toold again", err)
	}
	return path, nil
}
