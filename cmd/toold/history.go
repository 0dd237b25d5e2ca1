package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/toold/toold/rpc/tool"
)

// editRow is a journalled change as the daemon lists it.
type editRow struct {
	ID, Time, Path, Op, Agent, Run, State, Note, Diff string
	Created, Deleted                                  bool
	Added, Removed                                    int
}

func (e editRow) change() string {
	switch {
	case e.Deleted:
		return "deleted"
	case e.Created:
		return fmt.Sprintf("created +%d", e.Added)
	}
	return fmt.Sprintf("+%d −%d", e.Added, e.Removed)
}

func editsCommand(g *globals) *cobra.Command {
	var follow, diff bool
	var limit int
	var run, agent, path string
	c := &cobra.Command{Use: "edits", Short: "The journal of changes: who, when, what", Args: cobra.NoArgs}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on printing changes as they happen")
	c.Flags().BoolVar(&diff, "diff", false, "with the unified diff of each change")
	c.Flags().IntVar(&limit, "limit", 20, "how many to show")
	c.Flags().StringVar(&run, "of-run", "", "only of this run")
	c.Flags().StringVar(&agent, "of-agent", "", "only of this agent")
	c.Flags().StringVar(&path, "path", "", "only of this file")
	c.RunE = func(c *cobra.Command, _ []string) error {
		params := map[string]any{"limit": limit, "run": run, "agent": agent, "path": path, "diff": diff}
		if follow {
			return followEdits(g, c, params, diff)
		}
		return ask(g, c, "edits/list", params, func(w io.Writer, r struct{ Edits []editRow }) error {
			if len(r.Edits) == 0 {
				fmt.Fprintln(w, "No changes yet in this workspace.")
				return nil
			}
			return printEdits(w, r.Edits, diff)
		})
	}
	c.AddCommand(undoCommand(g))
	return c
}

func undoCommand(g *globals) *cobra.Command {
	hunk := -1
	c := &cobra.Command{Use: "undo ID", Short: "Take back one change, or one hunk of it", Args: cobra.ExactArgs(1)}
	c.Flags().IntVar(&hunk, "hunk", -1, "only this hunk, counted from 0")
	c.RunE = func(c *cobra.Command, args []string) error {
		params := map[string]any{"id": args[0]}
		if hunk >= 0 {
			params["hunk"] = hunk
		}
		return askResult(g, c, "edits/undo", params)
	}
	return c
}

// askResult calls a method that answers like a tool.
func askResult(g *globals, c *cobra.Command, method string, params any) error {
	var result tool.Result
	err := ask(g, c, method, params, func(w io.Writer, r tool.Result) error {
		result = r
		if r.IsError {
			w = c.ErrOrStderr()
		}
		fmt.Fprintln(w, r.Text)
		return nil
	})
	if err != nil {
		return err
	}
	return resultCode(result)
}

func printEdits(w io.Writer, edits []editRow, diff bool) error {
	if diff {
		for _, e := range edits {
			fmt.Fprintf(w, "%s  %s  %s  %s  %s\n%s\n", e.ID, clock(e.Time), e.Agent, e.Path, e.change(), e.Diff)
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tTIME\tAGENT\tOP\tCHANGE\tPATH")
	for _, e := range edits {
		state := ""
		if e.State != "done" {
			state = " (" + e.State + ")"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s%s\t%s\t%s\n", e.ID, clock(e.Time), e.Agent, e.Op, state, e.change(), e.Path)
	}
	return t.Flush()
}

func clock(stamp string) string {
	t, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return stamp
	}
	t = t.Local()
	if t.Format(time.DateOnly) == time.Now().Format(time.DateOnly) {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}

func followEdits(g *globals, c *cobra.Command, params map[string]any, diff bool) error {
	ctx, cancel := g.context(c)
	defer cancel()
	client, err := g.session(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	seen := make(chan json.RawMessage, 64)
	client.OnNotification(func(method string, params json.RawMessage) {
		if method == "event" {
			select {
			case seen <- params:
			case <-ctx.Done():
			}
		}
	})
	if err := client.Call(ctx, "events/subscribe", map[string]any{"kinds": []string{"edit"}}, nil); err != nil {
		return callError(err)
	}
	for {
		select {
		case raw := <-seen:
			var ev struct {
				Time string
				Data editRow
			}
			if json.Unmarshal(raw, &ev) != nil || ev.Data.ID == "" {
				continue
			}
			if err := showFollowed(c, client, ev.Time, ev.Data, diff); err != nil {
				return err
			}
		case <-client.Done():
			return fail(exitNoDaemon, "the daemon has ended")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func showFollowed(c *cobra.Command, client caller, at string, e editRow, diff bool) error {
	w := c.OutOrStdout()
	fmt.Fprintf(w, "%s  %s  %s  %s  %s\n", clock(at), e.Agent, e.Op, e.change(), e.Path)
	if !diff {
		return nil
	}
	var got struct{ Edit editRow }
	if err := client.Call(c.Context(), "edits/get", map[string]any{"id": e.ID}, &got); err != nil {
		return callError(err)
	}
	fmt.Fprint(w, got.Edit.Diff)
	return nil
}

type runRow struct {
	Run, Root, Agent, Team, Opened, Closed string
	Standing                               bool
	Files                                  []string
}

func runCommand(g *globals) *cobra.Command {
	c := &cobra.Command{Use: "run", Short: "Runs: the scope of snapshots"}
	c.AddCommand(runOpenCommand(g), runListCommand(g))
	for _, m := range []struct {
		name, short string
		run         func(*cobra.Command, map[string]any) error
	}{
		{"close", "Close a run; it is kept until the retention time ends", func(c *cobra.Command, p map[string]any) error {
			return ask(g, c, "run/close", p, func(w io.Writer, r runRow) error { _, err := fmt.Fprintf(w, "Closed %s.\n", r.Run); return err })
		}},
		{"show", "What a run is and which files it changed", func(c *cobra.Command, p map[string]any) error {
			return ask(g, c, "run/get", p, showRun)
		}},
		{"diff", "The run's net change as a unified diff", func(c *cobra.Command, p map[string]any) error {
			return ask(g, c, "run/diff", p, func(w io.Writer, r struct{ Diff string }) error { _, err := io.WriteString(w, r.Diff); return err })
		}},
		{"revert", "Undo everything that a run changed", func(c *cobra.Command, p map[string]any) error {
			return askResult(g, c, "run/revert", p)
		}},
	} {
		c.AddCommand(&cobra.Command{Use: m.name + " RUN", Short: m.short, Args: cobra.ExactArgs(1), RunE: func(c *cobra.Command, args []string) error {
			return m.run(c, map[string]any{"run": args[0]})
		}})
	}
	return c
}

func runOpenCommand(g *globals) *cobra.Command {
	var id, team, stages string
	c := &cobra.Command{Use: "open", Short: "Open a run and print its id", Args: cobra.NoArgs}
	c.Flags().StringVar(&id, "id", "", "the run's id (default: a new one)")
	c.Flags().StringVar(&team, "team", "parallel", "parallel or sequential")
	c.Flags().StringVar(&stages, "stages", "", "the stages as JSON, @FILE or -")
	c.RunE = func(c *cobra.Command, _ []string) error {
		params := map[string]any{"id": id, "team": team}
		if stages != "" {
			text, err := content(c.InOrStdin(), stages)
			if err != nil {
				return err
			}
			if !json.Valid([]byte(text)) {
				return fmt.Errorf("--stages is not valid JSON")
			}
			params["stages"] = json.RawMessage(text)
		}
		return ask(g, c, "run/open", params, func(w io.Writer, r runRow) error { _, err := fmt.Fprintln(w, r.Run); return err })
	}
	return c
}

func runListCommand(g *globals) *cobra.Command {
	limit := 20
	c := &cobra.Command{Use: "list", Short: "The runs of this workspace, newest first", Args: cobra.NoArgs}
	c.Flags().IntVar(&limit, "limit", limit, "how many to show")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return ask(g, c, "run/list", map[string]any{"limit": limit}, func(w io.Writer, r struct{ Runs []runRow }) error {
			if len(r.Runs) == 0 {
				fmt.Fprintln(w, "No runs yet in this workspace.")
				return nil
			}
			t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
			fmt.Fprintln(t, "RUN\tOPENED\tSTATE\tAGENT\tTEAM")
			for _, r := range r.Runs {
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.Run, clock(r.Opened), r.state(), r.Agent, r.Team)
			}
			return t.Flush()
		})
	}
	return c
}

func (r runRow) state() string {
	switch {
	case r.Closed != "":
		return "closed " + clock(r.Closed)
	case r.Standing:
		return "open (standing)"
	}
	return "open"
}

func showRun(w io.Writer, r runRow) error {
	fmt.Fprintf(w, "run     %s\nroot    %s\nopened  %s\nstate   %s\n", r.Run, r.Root, clock(r.Opened), r.state())
	if r.Agent != "" {
		fmt.Fprintf(w, "agent   %s\n", r.Agent)
	}
	for i, f := range r.Files {
		label := "        "
		if i == 0 {
			label = "files   "
		}
		fmt.Fprintf(w, "%s%s\n", label, strings.TrimPrefix(f, r.Root+"/"))
	}
	return nil
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}
