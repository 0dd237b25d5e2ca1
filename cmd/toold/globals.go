package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/toold/toold/rpc"
)

// globals are the flags of every command.
type globals struct {
	root    string
	run     string
	agent   string
	output  string
	timeout time.Duration
	noStart bool
	socket  string
	config  string
	level   string
}

func (g *globals) flags(c *cobra.Command) {
	f := c.PersistentFlags()
	f.StringVar(&g.root, "root", "", "workspace root (default: the nearest folder upward with .git, else the current one)")
	f.StringVar(&g.run, "run", "", "the run that calls belong to (default: the agent's standing run)")
	f.StringVar(&g.agent, "agent", "", "the agent that calls act as (default: cli)")
	f.StringVar(&g.output, "output", "text", "text or json")
	f.DurationVar(&g.timeout, "timeout", 0, "give up after this long, such as 30s (default: never)")
	f.BoolVar(&g.noStart, "no-start", false, "do not start a daemon when none runs")
	f.StringVar(&g.socket, "socket", "", "the daemon's socket (default: in $XDG_RUNTIME_DIR or the state folder)")
	f.StringVar(&g.config, "config", "", "the configuration file (default: $XDG_CONFIG_HOME/toold/config.yaml)")
	f.StringVar(&g.level, "log-level", "info", "debug, info, warn or error")
}

// check refuses values of global flags that mean nothing.
func (g *globals) check() error {
	if g.output != "text" && g.output != "json" {
		return fmt.Errorf("--output takes text or json, not %q", g.output)
	}
	return nil
}

// workspaceRoot gives the root that calls work in.
func (g *globals) workspaceRoot() (string, error) {
	if g.root != "" {
		return filepath.Abs(g.root)
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fail(exitUsage, "the current folder is gone (deleted or moved): cd to one that exists, or give --root")
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return dir, nil
		}
	}
}

func (g *globals) socketPath() (string, error) {
	if g.socket != "" {
		return filepath.Abs(g.socket)
	}
	return rpc.SocketPath()
}

// context gives the command's context with the time limit of --timeout.
func (g *globals) context(c *cobra.Command) (context.Context, context.CancelFunc) {
	if g.timeout > 0 {
		return context.WithTimeout(c.Context(), g.timeout)
	}
	return context.WithCancel(c.Context())
}

// dial connects to the daemon, starting it when none runs and start is wanted.
func (g *globals) dial(ctx context.Context, start bool) (*rpc.Client, error) {
	socket, err := g.socketPath()
	if err != nil {
		return nil, fail(exitNoDaemon, "%w", err)
	}
	var client *rpc.Client
	if start && !g.noStart {
		client, err = rpc.DialOrStart(ctx, g.startOptions(socket))
	} else {
		client, err = rpc.Dial(ctx, socket)
	}
	if err != nil {
		return nil, fail(exitNoDaemon, "%w", err)
	}
	return client, nil
}

func (g *globals) startOptions(socket string) rpc.StartOptions {
	args := []string{"serve", "--detached", "--socket", socket, "--log-level", g.level}
	if g.config != "" {
		args = append(args, "--config", g.config)
	}
	return rpc.StartOptions{Socket: socket, Args: args}
}

// hello opens the session of a client in the workspace.
func (g *globals) hello(ctx context.Context, client *rpc.Client, extra map[string]any) error {
	root, err := g.workspaceRoot()
	if err != nil {
		return err
	}
	agent := g.agent
	if agent == "" {
		agent = "cli"
	}
	cwd, err := os.Getwd()
	if err != nil {
		cwd = ""
	}
	params := map[string]any{
		"protocol":   1,
		"clientInfo": map[string]any{"name": "toold call", "version": versionText()},
		"workspace":  map[string]any{"root": root},
		"agent":      agent, "run": g.run, "cwd": cwd,
	}
	if v, ok := os.LookupEnv("WRITE_TOOL_ENABLED"); ok {
		params["env"] = map[string]any{"WRITE_TOOL_ENABLED": v}
	}
	for k, v := range extra {
		params[k] = v
	}
	var reply json.RawMessage
	if err := client.Call(ctx, "initialize", params, &reply); err != nil {
		return callError(err)
	}
	return nil
}

// session connects and initializes; the commands that look at or change a workspace begin with it.
func (g *globals) session(ctx context.Context) (*rpc.Client, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	client, err := g.dial(ctx, true)
	if err != nil {
		return nil, err
	}
	if err := g.hello(ctx, client, nil); err != nil {
		client.Close()
		return nil, err
	}
	return client, nil
}

// callError gives an error of a call its exit code.
func callError(err error) error {
	var ex *exitError
	var re *rpc.Error
	switch {
	case errors.As(err, &ex):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return fail(exitFailed, "the time given by --timeout ran out; the call was cancelled")
	case errors.As(err, &re):
		return fail(exitFailed, "%s", re.Message)
	}
	return fail(exitNoDaemon, "the connection to the daemon was lost: %w; `toold status` shows whether it runs, `toold logs` why not", err)
}

// ask calls one method of an initialized session and prints its reply: as JSON with --output json, else with show.
func ask[T any](g *globals, c *cobra.Command, method string, params any, show func(io.Writer, T) error) error {
	ctx, cancel := g.context(c)
	defer cancel()
	client, err := g.session(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	var raw json.RawMessage
	if err := client.Call(ctx, method, params, &raw); err != nil {
		return callError(err)
	}
	if g.output == "json" {
		return printJSON(c.OutOrStdout(), raw)
	}
	var reply T
	if err := json.Unmarshal(raw, &reply); err != nil {
		return fail(exitFailed, "the daemon's reply to %s is not what this version expects: %w; run `toold restart`", method, err)
	}
	return show(c.OutOrStdout(), reply)
}

func printJSON(w io.Writer, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}
