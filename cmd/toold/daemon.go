package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toold/toold/rpc"
)

// caller is what a command needs of a connection.
type caller interface {
	Call(ctx context.Context, method string, params, result any) error
}

type statusReply struct {
	Version       string
	Protocol      int
	PID           int
	UptimeSeconds int `json:"uptime_seconds"`
	Workspaces    []struct {
		Root  string
		Index map[string]any
	}
	Clients []struct {
		ID, Name, Version, Agent, Root string
		PID                            int
	}
	OpenRuns         int `json:"open_runs"`
	PendingApprovals int `json:"pending_approvals"`
	Memory           struct {
		Heap     int64 `json:"heap_bytes"`
		Resident int64 `json:"rss_bytes"`
	}
}

func statusCommand(g *globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{Use: "status", Short: "Version, pid, uptime, workspaces, clients, memory", Args: cobra.NoArgs}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.RunE = func(c *cobra.Command, _ []string) error {
		raw, err := daemonAsk(g, c, "daemon/status")
		if err != nil {
			return err
		}
		if asJSON || g.output == "json" {
			return printJSON(c.OutOrStdout(), raw)
		}
		var s statusReply
		if err := json.Unmarshal(raw, &s); err != nil {
			return fail(exitFailed, "the daemon's reply is not what this version expects: %w", err)
		}
		return showStatus(c.OutOrStdout(), s)
	}
	return c
}

// daemonAsk calls one of the methods that every version answers, before any handshake.
func daemonAsk(g *globals, c *cobra.Command, method string) (json.RawMessage, error) {
	ctx, cancel := g.context(c)
	defer cancel()
	client, err := g.dial(ctx, false)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	var raw json.RawMessage
	if err := client.Call(ctx, method, map[string]any{}, &raw); err != nil {
		return nil, callError(err)
	}
	return raw, nil
}

func showStatus(w io.Writer, s statusReply) error {
	fmt.Fprintf(w, "toold %s, pid %d, up %s\n", s.Version, s.PID, (time.Duration(s.UptimeSeconds) * time.Second).String())
	fmt.Fprintf(w, "memory      %.1f MB resident, %.1f MB heap\n", mb(s.Memory.Resident), mb(s.Memory.Heap))
	fmt.Fprintf(w, "runs        %d open, %d approvals pending\n", s.OpenRuns, s.PendingApprovals)
	if len(s.Workspaces) == 0 {
		fmt.Fprintln(w, "workspaces  none open")
	}
	for _, ws := range s.Workspaces {
		fmt.Fprintf(w, "workspace   %s (%s)\n", ws.Root, indexText(ws.Index))
	}
	for _, k := range s.Clients {
		if k.Name != "" {
			fmt.Fprintf(w, "client      %s %s, pid %d, agent %s, in %s\n", k.Name, k.Version, k.PID, k.Agent, k.Root)
		}
	}
	return nil
}

func indexText(index map[string]any) string {
	state, _ := index["state"].(string)
	if files, ok := index["files"].(float64); ok && files > 0 {
		return fmt.Sprintf("index %s, %s", state, plural(int(files), "file"))
	}
	return "index " + state
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func mb(n int64) float64 { return float64(n) / (1 << 20) }

func stopCommand(g *globals) *cobra.Command {
	return &cobra.Command{Use: "stop", Short: "Let running writes finish and end the daemon", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		pid, err := stopDaemon(g, c)
		if err != nil {
			return err
		}
		if pid == 0 {
			fmt.Fprintln(c.OutOrStdout(), "no daemon was running")
			return nil
		}
		fmt.Fprintf(c.OutOrStdout(), "stopped (pid %d)\n", pid)
		return nil
	}}
}

// stopDaemon asks the daemon to end and waits until it is gone. It gives its pid, or 0 when none ran.
func stopDaemon(g *globals, c *cobra.Command) (int, error) {
	ctx, cancel := g.context(c)
	defer cancel()
	socket, err := g.socketPath()
	if err != nil {
		return 0, fail(exitNoDaemon, "%w", err)
	}
	client, err := rpc.Dial(ctx, socket)
	if errors.Is(err, rpc.ErrNotRunning) {
		return 0, nil
	}
	if err != nil {
		return 0, fail(exitNoDaemon, "%w", err)
	}
	defer client.Close()
	var reply struct{ PID int }
	if err := client.Call(ctx, "daemon/stop", map[string]any{}, &reply); err != nil {
		return 0, callError(err)
	}
	if err := rpc.WaitStopped(ctx, socket); err != nil {
		return 0, fail(exitFailed, "the daemon (pid %d) was asked to stop but has not ended yet: %w", reply.PID, err)
	}
	return reply.PID, nil
}

func restartCommand(g *globals) *cobra.Command {
	return &cobra.Command{Use: "restart", Short: "Stop the daemon and start this version of it", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		old, err := stopDaemon(g, c)
		if err != nil {
			return err
		}
		ctx, cancel := g.context(c)
		defer cancel()
		client, err := g.dial(ctx, true)
		if err != nil {
			return err
		}
		defer client.Close()
		var s statusReply
		if err := client.Call(ctx, "daemon/status", map[string]any{}, &s); err != nil {
			return callError(err)
		}
		what := "started"
		if old != 0 {
			what = fmt.Sprintf("stopped pid %d, started", old)
		}
		fmt.Fprintf(c.OutOrStdout(), "%s toold %s (pid %d)\n", what, s.Version, s.PID)
		return nil
	}}
}

func logsCommand(g *globals) *cobra.Command {
	lines := 50
	var follow bool
	c := &cobra.Command{Use: "logs", Short: "The daemon's log", Args: cobra.NoArgs}
	c.Flags().IntVarP(&lines, "lines", "n", lines, "how many of the last lines")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on printing as lines are written")
	c.RunE = func(c *cobra.Command, _ []string) error {
		dir, err := rpc.StateDir()
		if err != nil {
			return fail(exitFailed, "%w", err)
		}
		path := filepath.Join(dir, logName)
		f, err := os.Open(path)
		if err != nil {
			return fail(exitFailed, "there is no log yet: %w; it begins when a daemon starts", err)
		}
		defer f.Close()
		if err := tail(c.OutOrStdout(), f, lines); err != nil {
			return fail(exitFailed, "%w", err)
		}
		if !follow {
			return nil
		}
		return followFile(c.Context(), c.OutOrStdout(), f)
	}
	return c
}

func tail(w io.Writer, r io.Reader, n int) error {
	last := make([]string, 0, n)
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if len(last) == n && n > 0 {
			last = append(last[:0], last[1:]...)
		}
		if n > 0 {
			last = append(last, s.Text())
		}
	}
	if len(last) > 0 {
		fmt.Fprintln(w, strings.Join(last, "\n"))
	}
	return s.Err()
}

func followFile(ctx context.Context, w io.Writer, f *os.File) error {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := io.Copy(w, f); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
