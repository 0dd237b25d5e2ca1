// Package catalog declares the tools, one file each. A new tool is one file and one line in [New].
package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toold/toold/edit"
	"github.com/toold/toold/rpc/tool"
	"github.com/toold/toold/watch"
	"github.com/toold/toold/workspace"
)

// Env is what a tool's function works in: the caller and its workspace.
type Env struct {
	Workspace *workspace.Workspace
	Files     *workspace.Files
	Tree      *watch.Tree
	Actor     workspace.Actor
	Limits    Limits
	Tool      string                             // the tool's name, for the journal
	Args      map[string]any                     // the arguments by their proper names
	Arrived   int64                              // when the call came in, as run.Asks.Arrive counts
	Allowed   bool                               // a person allowed this very call: refuse-once judges are not asked
	Progress  func(message string, done, of int) // never nil
	Misses    *Misses
}

// Limits bound what one reply holds.
type Limits struct {
	MaxContext int64 // bytes above which a whole text is stored and shown in part; 0 = never
	MaxReply   int64 // bytes of the longest text of a reply
}

// Registry is the set of tools.
type Registry = tool.Registry[*Env]

// Tool is a tool of the catalogue.
type Tool = tool.Tool[*Env]

// New gives all tools in the order in which they are listed.
func New() *Registry {
	return tool.NewRegistry(
		readFile(),
		writeFile(),
		editFile(),
		editFiles(),
		searchFiles(),
		listFiles(),
		revertFile(),
	)
}

// digest identifies a call by its tool and arguments.
func (e *Env) digest() string {
	text, err := json.Marshal(e.Args)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(append([]byte(e.Tool+"\x00"), text...))
	return hex.EncodeToString(sum[:])
}

// request begins a change of the workspace by this call.
func (e *Env) request(op workspace.Op, p workspace.Path, input string, compute func(*workspace.Change) error) workspace.Request {
	return workspace.Request{
		Actor: e.Actor, Op: op, Tool: e.Tool, Path: p, Call: e.digest(), Input: []byte(input), Arrived: e.Arrived, Allowed: e.Allowed, Compute: compute,
	}
}

// Failure turns an error into the result that the agent reads. Every error that a tool's function returns comes
// through here.
func Failure(err error) tool.Result {
	var we *workspace.Error
	var refusal *workspace.Refusal
	var te *tool.Error
	var ee *edit.Error
	var se *watch.Error
	switch {
	case errors.As(err, &refusal):
		meta := map[string]any{"refused": true, "again": refusal.Again}
		if refusal.Evidence != nil {
			meta["evidence"] = refusal.Evidence
		}
		return tool.Failure(refusal.Code, refusal.Text, meta)
	case errors.As(err, &we):
		return tool.Failure(we.Code, we.Text, nil)
	case errors.As(err, &te):
		return tool.Failure(te.Code, te.Text, nil)
	case errors.As(err, &ee):
		return tool.Failure(string(ee.Code), ee.Text, nil)
	case errors.As(err, &se):
		return tool.Failure(se.Code, se.Text, nil)
	case errors.Is(err, context.Canceled):
		return tool.Failure("cancelled", "cancelled", nil)
	case errors.Is(err, context.DeadlineExceeded):
		return tool.Failure("timeout", "the time for this call ran out", nil)
	}
	return tool.Failure("internal", fmt.Sprintf("%v (this is a fault of toold; `toold logs` has more)", err), nil)
}

// parseFile parses a path that has to name a file; a trailing slash or a dot names a folder.
func (e *Env) parseFile(text string) (workspace.Path, error) {
	p, err := e.Workspace.ParsePath(text)
	if err != nil {
		return "", err
	}
	trimmed := strings.Trim(text, " \t\r\n\v\f")
	last := trimmed[strings.LastIndexByte(trimmed, '/')+1:]
	if p == "." || last == "" || last == "." || last == ".." {
		example := "notes.md"
		if p != "." {
			example = string(p) + "/notes.md"
		}
		return "", &tool.Error{Code: "is_directory", Text: fmt.Sprintf("%q names a folder; give the path of a file, such as %s. Folders are created with the files in them", trimmed, example)}
	}
	return p, nil
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func withNotes(text string, notes []string) string {
	for _, n := range notes {
		text += "\nNote: " + n + "."
	}
	return text
}
