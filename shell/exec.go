// Package shell runs commands where the workspace lives: in its container, or on this machine when a person has
// configured that. It also turns what commands print into what an agent reads.
package shell

import (
	"context"
	"io"
	"strings"
	"time"
)

// MaxScript is the longest command in bytes. Linux takes at most 128 KiB in one argument.
const MaxScript = 128<<10 - 1

// Command is one thing to run. Exactly one of Script and Argv is set.
type Command struct {
	Script string   // a shell script, run by bash where there is one, else by sh
	Argv   []string // an argument vector, run without a shell
	Dir    string   // the folder to run in, as the executor sees it; "" is the workspace's root
	Env    []string // added to the executor's environment, "KEY=value"
	User   string   // "user[:group]", names or numbers; "" is the executor's default

	// Limit is when the tree of processes ends even when nobody is left to end it. It is a belt: the context
	// decides. 0 is no limit.
	Limit time.Duration

	// Started is called once with the command's process id, as its own processes see it. It may be nil.
	Started func(pid int)
}

// Status is how a command ended.
type Status struct {
	Exit int // the exit code; 128+n when signal n ended it. Meaningless when Exec returns an error.
	Left int // processes that it left running

	// Survivors says that processes of an ended command may still run: the end could not be confirmed.
	Survivors bool
}

// Executor runs commands in one workspace.
//
// Exec returns when the command itself has ended, not when the pipes that its background children hold are closed.
// Standard input is empty and there is no terminal. When ctx ends first, the command and every process that it
// started are killed, and the error is an [*Error] with the code [Timeout] or [Cancelled]; what was printed until then
// has been written. Other errors are [*Error] too; their Started tells whether the command had begun, in which case how
// it ended is not known.
//
// stdout and stderr are never written to after Exec has returned, and never at the same time.
type Executor interface {
	Exec(ctx context.Context, cmd Command, stdout, stderr io.Writer) (Status, error)
}

// None is the executor of a workspace for which nobody has configured one.
type None struct {
	Root string // the workspace, for the message
}

// Exec refuses every command.
func (n None) Exec(context.Context, Command, io.Writer, io.Writer) (Status, error) {
	return Status{}, Errorf(NoContainer, nil,
		"no container is configured for the workspace %s, and commands never run outside of one. "+
			"Ask the user to set `container: {name: …}` (or `image: …`) for this root in toold's config.yaml", n.Root)
}

// Environment is what every command gets beside its executor's own variables: nothing may ask a question, because
// nobody could answer it.
func Environment() []string {
	return []string{"CI=1", "GIT_TERMINAL_PROMPT=0"}
}

// Operand gives a script as the operand of `sh -c`, which would take one that begins with a dash for an option.
func Operand(script string) string {
	if strings.HasPrefix(script, "-") || strings.HasPrefix(script, "+") {
		return " " + script
	}
	return script
}
