// Package engine answers calls. One straight line leads through [Engine.Call]: decode, admit, approve, invoke, settle,
// record. What a client is and may do stands in its [Conn].
package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/toold/toold/rpc/catalog"
	"github.com/toold/toold/workspace"
	"github.com/toold/toold/workspace/run"
	"github.com/toold/toold/workspace/store"
)

// Protocol is the version of the methods and their parameters.
const Protocol = 1

// Options are what a daemon gives its engine.
type Options struct {
	Store      *store.Store
	Files      *workspace.Files
	Tools      *catalog.Registry
	Log        *slog.Logger
	Version    string
	Now        func() time.Time
	FrameLimit int64                               // bytes of the largest frame, for the limits of replies
	Token      string                              // the operator token, which a person's clients hold
	Makers     map[run.Class][]string              // tools that make binary files, by class
	RuntimeDir string                              // for the watcher's cookies
	CacheDir   string                              // for persisted indexes
	Settings   func(root string) (Settings, error) // the configuration of a workspace
	Stop       func(restart bool)                  // begins the drain of the daemon
	Counters   func() map[string]any               // of the wire, for status
}

// Settings are the configuration of one workspace.
type Settings struct {
	ContainerRoot string
	Protected     []string
	Ignore        []string
	MaxFileBytes  int64
	MaxContext    int64
}

// Engine answers the calls of all connections. Its methods may be called concurrently.
type Engine struct {
	opts     Options
	started  time.Time
	spaces   spaces
	keys     replies
	standing standingRuns
	misses   catalog.Misses
	turns    run.Turns
	refused  refusals

	mu    sync.Mutex // guards conns
	conns map[string]*Conn
}

// New makes an engine.
func New(o Options) *Engine {
	return &Engine{
		opts: o, started: o.Now(), conns: map[string]*Conn{},
		spaces:   spaces{open: map[string]*Space{}},
		keys:     replies{byKey: map[string]*reply{}},
		refused:  refusals{byID: map[string]refused{}},
		standing: standingRuns{runs: map[string]standingRun{}},
	}
}

// Close closes all workspaces. No call may be running.
func (e *Engine) Close() { e.spaces.close() }

// Fault is a JSON-RPC error: the call never reached a tool.
type Fault struct {
	Code    int
	Message string
	Data    any
}

// Error gives the message.
func (f *Fault) Error() string { return f.Message }

// The codes of faults.
const (
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeNotInitialized = -32002
	CodeUnknownRun     = -32010
)

func invalidParams(format string, args ...any) *Fault {
	return &Fault{Code: CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// method answers one method for a connection.
type method struct {
	early bool // answered before initialize; frozen over versions
	run   func(ctx context.Context, e *Engine, c *Conn, params json.RawMessage) (any, error)
}

// Handle answers one request or notification of a connection.
func (e *Engine) Handle(ctx context.Context, c *Conn, name string, params json.RawMessage) (any, error) {
	if _, ok := e.opts.Tools.Get(name); ok {
		return e.callMethod(ctx, c, name, params)
	}
	m, ok := methods()[name]
	if !ok {
		return nil, &Fault{Code: CodeMethodNotFound, Message: fmt.Sprintf(
			"there is no method %q in toold %s (protocol %d); the client is %s. If the client is newer, run `toold restart`", name, e.opts.Version, Protocol, c.clientText())}
	}
	if !m.early && !c.ready() {
		return nil, &Fault{Code: CodeNotInitialized, Message: fmt.Sprintf("call initialize before %s", name)}
	}
	return m.run(ctx, e, c, params)
}

// methods are all methods that are no tools.
func methods() map[string]method {
	return map[string]method{
		"initialize":       {early: true, run: initialize},
		"initialized":      {early: true, run: nothing},
		"shutdown":         {early: true, run: nothing},
		"exit":             {early: true, run: nothing},
		"$/cancelRequest":  {early: true, run: nothing},
		"daemon/status":    {early: true, run: daemonStatus},
		"daemon/stop":      {early: true, run: daemonStop},
		"tools/list":       {run: toolsList},
		"tools/call":       {run: toolsCall},
		"workspace/status": {run: workspaceStatus},
		"editor/dirty":     {run: editorDirty},
		"run/open":         {run: runOpen},
		"run/close":        {run: runClose},
		"run/list":         {run: runList},
		"run/get":          {run: runGet},
		"run/diff":         {run: runDiff},
		"run/revert":       {run: runRevert},
		"edits/list":       {run: editsList},
		"edits/get":        {run: editsGet},
		"edits/undo":       {run: editsUndo},
		"events/subscribe": {run: eventsSubscribe},
		"turn/begin":       {run: turnBegin},
		"turn/round":       {run: turnRound},
		"turn/stop":        {run: turnStop},
		"turn/get":         {run: turnGet},
		"outputs/check":    {run: outputsCheck},
		"guards/allow":     {run: guardsAllow},
	}
}

func nothing(context.Context, *Engine, *Conn, json.RawMessage) (any, error) { return nil, nil }

// params reads the parameters of a method that is no tool; unknown members are refused.
func read[P any](raw json.RawMessage) (P, error) {
	var p P
	if len(raw) == 0 {
		return p, nil
	}
	if err := strict(raw, &p); err != nil {
		return p, invalidParams("%v", err)
	}
	return p, nil
}
