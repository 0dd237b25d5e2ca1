package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/toold/toold/rpc/tool"
	"github.com/toold/toold/workspace"
)

// Conn is one client's connection.
type Conn struct {
	ID     string
	UID    int
	PID    int
	Notify func(method string, params any) bool // false when the client does not keep up
	Done   <-chan struct{}

	mu    sync.Mutex // guards what follows
	hello hello
	space *Space
	subs  sync.WaitGroup
}

// hello is what a client says of itself in initialize.
type hello struct {
	Protocol   int `json:"protocol"`
	ClientInfo struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"clientInfo"`
	Workspace struct {
		Root      string `json:"root"`
		Container string `json:"container,omitempty"`
	} `json:"workspace"`
	Agent      string `json:"agent,omitempty"`
	Run        string `json:"run,omitempty"`
	Cwd        string `json:"cwd,omitempty"`
	Engagement *struct {
		ID   string `json:"id"`
		Root string `json:"root,omitempty"`
	} `json:"engagement,omitempty"`
	Env    map[string]string `json:"env,omitempty"`
	Limits struct {
		MaxContextBytes *int64 `json:"max_context_bytes,omitempty"`
	} `json:"limits"`
	Tools        []string            `json:"tools,omitempty"`
	ReadOnly     bool                `json:"readOnly,omitempty"`
	Research     []string            `json:"research,omitempty"`
	Makers       map[string][]string `json:"makers,omitempty"`
	Capabilities struct {
		Approver string `json:"approver,omitempty"`
		Token    string `json:"token,omitempty"`
		Editor   bool   `json:"editor,omitempty"`
	} `json:"capabilities"`
}

// Attach makes the state of a new connection.
func (e *Engine) Attach(c *Conn) *Conn {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.conns[c.ID] = c
	return c
}

// Detach forgets a connection that has ended: its dirty files, its hold on the workspace.
func (e *Engine) Detach(c *Conn) {
	e.mu.Lock()
	delete(e.conns, c.ID)
	e.mu.Unlock()
	e.opts.Files.DropEditor(c.ID)
	c.subs.Wait()
	c.mu.Lock()
	space := c.space
	c.space = nil
	c.mu.Unlock()
	if space != nil {
		e.spaces.release(space)
	}
}

func (c *Conn) ready() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.space != nil
}

func (c *Conn) state() (hello, *Space) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hello, c.space
}

func (c *Conn) clientText() string {
	h, _ := c.state()
	if h.ClientInfo.Name == "" {
		return "of an unknown version"
	}
	return strings.TrimSpace(h.ClientInfo.Name + " " + h.ClientInfo.Version)
}

// agent gives the name that a call acts under.
func (c *Conn) agent() string {
	h, _ := c.state()
	if h.Agent != "" {
		return h.Agent
	}
	return "conn-" + c.ID
}

func initialize(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	var h hello
	if err := json.Unmarshal(raw, &h); err != nil {
		return nil, invalidParams("initialize: %v", err)
	}
	if h.Protocol != Protocol {
		return nil, &Fault{Code: CodeInvalidRequest, Message: fmt.Sprintf(
			"the client %s speaks protocol %d, this daemon (toold %s) speaks %d; run `toold restart` with the newer of the two", h.ClientInfo.Name, h.Protocol, e.opts.Version, Protocol)}
	}
	if h.Workspace.Root == "" || !filepath.IsAbs(h.Workspace.Root) {
		return nil, invalidParams("initialize: workspace.root must be the absolute path of an existing folder, not %q", h.Workspace.Root)
	}
	for _, name := range h.Tools {
		if _, ok := e.opts.Tools.Get(name); !ok {
			return nil, invalidParams("initialize: there is no tool %q; did you mean %q?", name, tool.Nearest(name, e.toolNames()))
		}
	}
	if c.ready() {
		return nil, &Fault{Code: CodeInvalidRequest, Message: "this connection is initialized already; open another one for another workspace"}
	}
	space, err := e.spaces.acquire(e, h.Workspace.Root)
	if err != nil {
		return nil, faultOf(err)
	}
	run := h.Run
	if run != "" {
		if err := e.knownRun(ctx, run); err != nil {
			e.spaces.release(space)
			return nil, err
		}
	}
	c.mu.Lock()
	c.hello, c.space = h, space
	c.mu.Unlock()
	return map[string]any{
		"protocol":   Protocol,
		"serverInfo": map[string]any{"name": "toold", "version": e.opts.Version},
		"workspace":  map[string]any{"root": space.W.Root(), "id": space.W.Real(), "index": space.indexState()},
		"run":        run,
		"agent":      c.agent(),
		"tools":      e.visibleNames(c),
		"limits":     map[string]any{"max_context_bytes": e.maxContext(h, space), "max_frame_bytes": e.opts.FrameLimit, "max_file_bytes": space.settings.MaxFileBytes},
	}, nil
}

func faultOf(err error) error {
	if we, ok := err.(*workspace.Error); ok {
		return &Fault{Code: CodeInvalidParams, Message: we.Text, Data: map[string]any{"code": we.Code}}
	}
	return &Fault{Code: CodeInternal, Message: err.Error()}
}

func (e *Engine) maxContext(h hello, s *Space) int64 {
	if h.Limits.MaxContextBytes != nil {
		return max(0, *h.Limits.MaxContextBytes)
	}
	return s.settings.MaxContext
}

func (e *Engine) toolNames() []string {
	var names []string
	for _, t := range e.opts.Tools.All() {
		names = append(names, t.Spec.Name)
	}
	return names
}

// visible tells whether a connection may call a tool at all, by what it asked for in initialize.
func (h hello) visible(s tool.Spec) bool {
	if len(h.Tools) > 0 && !slices.Contains(h.Tools, s.Name) {
		return false
	}
	return !h.ReadOnly || s.Effect == tool.Reads
}

func (e *Engine) visibleNames(c *Conn) []string {
	h, _ := c.state()
	names := []string{}
	for _, t := range e.opts.Tools.All() {
		if h.visible(t.Spec) {
			names = append(names, t.Spec.Name)
		}
	}
	return names
}

// strict reads JSON into a struct and refuses members that it does not know.
func strict(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
