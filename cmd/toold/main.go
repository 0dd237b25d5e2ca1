// Command toold is the tool daemon for coding agents, and its command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set at build time.
var version = ""

// The exit codes, as `toold help exit-codes` and the documentation list them.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNoDaemon    = 3
	exitDenied      = 4
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// exitError ends the program with a code; an empty text prints nothing more.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

func fail(code int, format string, args ...any) error {
	return &exitError{code, fmt.Errorf(format, args...)}
}

// silent ends the program with a code after everything has been printed.
func silent(code int) error { return &exitError{code, errSilent} }

var errSilent = errors.New("")

// run is the program: arguments and streams in, exit code out.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "toold: interrupted")
		return exitInterrupted
	}
	var ex *exitError
	if !errors.As(err, &ex) {
		fmt.Fprintf(stderr, "toold: %v\nRun `%s --help` for usage.\n", err, commandPath(root, args))
		return exitUsage
	}
	if !errors.Is(ex.err, errSilent) {
		fmt.Fprintf(stderr, "toold: %v\n", ex.err)
	}
	return ex.code
}

// commandPath names the command that the arguments lead to, for the hint behind a usage error.
func commandPath(root *cobra.Command, args []string) string {
	if c, _, err := root.Find(args); err == nil {
		return c.CommandPath()
	}
	return root.Name()
}

func newRoot() *cobra.Command {
	g := &globals{}
	root := &cobra.Command{
		Use:   "toold",
		Short: "One shared, guarded set of file and shell tools for agents, editors and scripts",
		Long: "toold is a daemon that gives coding agents, editors and scripts one shared, guarded set of file and shell tools.\n" +
			"It starts by itself with the first call. Try: toold call search_files --query TODO",
		SilenceUsage: true, SilenceErrors: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
	}
	root.AddGroup(&cobra.Group{ID: "tools", Title: "Calling tools:"}, &cobra.Group{ID: "history", Title: "What happened:"}, &cobra.Group{ID: "daemon", Title: "The daemon:"})
	g.flags(root)
	for group, commands := range map[string][]*cobra.Command{
		"tools":   {callCommand(g), toolsCommand(g)},
		"history": {runCommand(g), editsCommand(g), logsCommand(g)},
		"daemon":  {serveCommand(g), statusCommand(g), stopCommand(g), restartCommand(g), doctorCommand(g), configCommand(g), versionCommand(g)},
	} {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	root.AddCommand(exitCodesTopic())
	return root
}

func exitCodesTopic() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "The exit codes of all commands", Long: `Exit codes:
  0    ok (also: nothing found; an empty file read)
  1    the tool failed or refused (its text is on stderr), or the command of run_shell ended with another code than 0
  2    usage
  3    no daemon could be reached
  4    the approval was denied or not answered
  130  interrupted`}
}

// versionText names this build.
func versionText() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "dev"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "dev-" + s.Value[:12]
		}
	}
	return "dev"
}

func versionCommand(*globals) *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		fmt.Fprintf(c.OutOrStdout(), "toold %s\n", versionText())
		return nil
	}}
}
