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
	"strings"
	"time"
)

// StartOptions say how a client starts the daemon.
type StartOptions struct {
	Socket string
	Binary string   // the program; this one when empty
	Args   []string // its arguments
}

// DialOrStart connects to the daemon and starts one when none runs. Any number of clients may do so at once: one of
// them starts it, the others wait and connect.
func DialOrStart(ctx context.Context, o StartOptions) (*Client, error) {
	c, err := Dial(ctx, o.Socket)
	if !errors.Is(err, ErrNotRunning) {
		return c, err
	}
	if err := checkLength(o.Socket); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Dir(o.Socket)), 0o700); err != nil {
		return nil, fmt.Errorf("make the socket's folder: %w", err)
	}
	if err := privateDir(filepath.Dir(o.Socket)); err != nil {
		return nil, err
	}
	release, err := startLock(o.Socket + ".start")
	if err != nil {
		return nil, err
	}
	defer release()
	for {
		c, err := Dial(ctx, o.Socket)
		if !errors.Is(err, ErrNotRunning) {
			return c, err
		}
		if !locked(o.Socket + ".lock") {
			if err := start(ctx, o); err != nil {
				return nil, err
			}
			continue
		}
		// A daemon holds the lock but does not listen: it is starting or ending.
		if !wait(ctx, 20*time.Millisecond) {
			return nil, fmt.Errorf("wait for the daemon: %w", context.Cause(ctx))
		}
	}
}

// start starts a detached daemon and waits until it says that it serves, or ends.
func start(ctx context.Context, o StartOptions) error {
	binary, err := stableBinary(o.Binary)
	if err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	defer r.Close()
	log, err := startLog()
	if err != nil {
		w.Close()
		return fmt.Errorf("start the daemon: %w", err)
	}
	defer log.Close()
	c := exec.Command(binary, o.Args...) // not under ctx: it outlives this call
	c.Dir, c.Stdout, c.Stderr = "/", log, log
	c.ExtraFiles = []*os.File{w}
	c.Env = append(os.Environ(), readyEnv+"=3")
	detach(c)
	err = c.Start()
	w.Close()
	if err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	defer func() { _ = c.Process.Release() }()
	said := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(r).ReadString('\n')
		said <- line
	}()
	select {
	case line := <-said:
		if line == "" {
			return fmt.Errorf("the daemon ended before it served: %s", lastLine(log))
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the daemon to start: %w", context.Cause(ctx))
	}
}

// startLog is where a daemon writes what it has to say before its own log is open.
func startLog() (*os.File, error) {
	dir, err := StateDir()
	if err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(dir, "start.log"), os.O_CREATE|os.O_RDWR|os.O_TRUNC|os.O_APPEND, 0o600)
}

func lastLine(f *os.File) string {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<20))
	text := strings.TrimSpace(string(b))
	if err != nil || text == "" {
		return "it left no message; `toold logs` may say more"
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// WaitStopped waits until no daemon holds the socket any more.
func WaitStopped(ctx context.Context, socket string) error {
	for pause := time.Millisecond; locked(socket + ".lock"); pause = min(2*pause, 50*time.Millisecond) {
		if !wait(ctx, pause) {
			return context.Cause(ctx)
		}
	}
	return nil
}

// stableBinary gives a path of the program that lasts. `go run` deletes its binary when it ends; the daemon keeps
// running from the deleted file, and everything that needs the file again reads /proc/self/exe.
func stableBinary(binary string) (string, error) {
	if binary != "" {
		return binary, nil
	}
	return os.Executable()
}
