package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/toold/toold/rpc/catalog"
	"github.com/toold/toold/rpc/tool"
	"github.com/toold/toold/workspace"
	"github.com/toold/toold/workspace/run"
)

// meta is what a call carries beside the tool's arguments.
type meta struct {
	Run           string          `json:"run,omitempty"`
	Turn          string          `json:"turn,omitempty"`
	Agent         string          `json:"agent,omitempty"`
	WorkDoneToken json.RawMessage `json:"workDoneToken,omitempty"`
	ProgressToken json.RawMessage `json:"progressToken,omitempty"`
	Key           string          `json:"key,omitempty"`

	arrived int64 // when the call came in, as run.Asks.Arrive counts
}

// callMethod answers a tool that is called as a method: the parameters are its arguments, with _meta among them.
func (e *Engine) callMethod(ctx context.Context, c *Conn, name string, params json.RawMessage) (any, error) {
	if !c.ready() {
		return nil, &Fault{Code: CodeNotInitialized, Message: fmt.Sprintf("call initialize before %s", name)}
	}
	arrived := e.opts.Files.Asks.Arrive()
	args, m, err := splitMeta(params)
	if err != nil {
		return nil, err
	}
	m.arrived = arrived
	return e.once(ctx, c, name, args, m)
}

// splitMeta takes _meta out of a tool's parameters.
func splitMeta(params json.RawMessage) (json.RawMessage, meta, error) {
	var m meta
	if len(params) == 0 {
		return nil, m, nil
	}
	if params[0] != '{' {
		return nil, m, invalidParams("the parameters of a tool are an object of its arguments, such as {\"path\": \"src/main.go\"}")
	}
	var head struct {
		Meta json.RawMessage `json:"_meta"`
	}
	if !mentionsMeta(params) {
		return params, m, nil
	}
	if err := json.Unmarshal(params, &head); err != nil {
		return nil, m, invalidParams("%v", err)
	}
	if len(head.Meta) == 0 {
		return params, m, nil
	}
	if err := json.Unmarshal(head.Meta, &m); err != nil {
		return nil, m, invalidParams("_meta: %v", err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(params, &all); err != nil {
		return nil, m, invalidParams("%v", err)
	}
	delete(all, "_meta")
	args, err := json.Marshal(all)
	return args, m, err
}

func mentionsMeta(b []byte) bool {
	for i := 0; i+7 < len(b); i++ {
		if b[i] == '"' && string(b[i:i+7]) == `"_meta"` {
			return true
		}
	}
	return false
}

func toolsCall(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      meta            `json:"_meta"`
	}
	if err := strict(raw, &p); err != nil {
		return nil, invalidParams("tools/call takes {name, arguments, _meta}: %v", err)
	}
	if _, ok := e.opts.Tools.Get(p.Name); !ok {
		return nil, invalidParams("there is no tool %q; did you mean %q?", p.Name, tool.Nearest(p.Name, e.toolNames()))
	}
	p.Meta.arrived = e.opts.Files.Asks.Arrive()
	return e.once(ctx, c, p.Name, p.Arguments, p.Meta)
}

// Call answers one tool call. It is the specification of what happens to a call, in order.
func (e *Engine) Call(ctx context.Context, c *Conn, name string, args json.RawMessage, m meta) (tool.Result, error) {
	h, space := c.state()
	t, _ := e.opts.Tools.Get(name)
	if !h.visible(t.Spec) {
		return tool.Failure("withdrawn", fmt.Sprintf("%s is not among the tools of this connection (initialize said so)", name), nil), nil
	}
	actor, err := e.actor(ctx, c, m)
	if err != nil {
		return tool.Result{}, err
	}
	in, err := e.admit(m, t.Spec, digest(name, args))
	var denial *run.Denial
	switch {
	case errors.As(err, &denial):
		res := tool.Failure(denial.Code, denial.Text, nil)
		in.settle(&res, false)
		return res, nil
	case err != nil:
		return tool.Result{}, err
	}
	res := e.invoke(ctx, c, name, args, actor, m, false)
	e.recordRefusal(ctx, space, name, args, actor, &res)
	in.settle(&res, true)
	return res, nil
}

// invoke decodes the arguments and runs the tool.
func (e *Engine) invoke(ctx context.Context, c *Conn, name string, args json.RawMessage, actor workspace.Actor, m meta, allowed bool) tool.Result {
	h, space := c.state()
	t, _ := e.opts.Tools.Get(name)
	bound, err := t.Bind(args)
	if err != nil {
		return catalog.Failure(err)
	}
	res, err := bound.Run(ctx, &catalog.Env{
		Workspace: space.W, Files: e.opts.Files, Tree: space.Tree, Actor: actor, Tool: name, Args: bound.Args, Allowed: allowed,
		Arrived:  m.arrived,
		Limits:   catalog.Limits{MaxContext: e.maxContext(h, space), MaxReply: e.opts.FrameLimit / 2},
		Progress: progress(c, m), Misses: &e.misses,
	})
	if err != nil {
		res = catalog.Failure(err)
		if path, ok := bound.Args["path"].(string); ok && res.Meta != nil {
			res.Meta["path"] = path
		}
	}
	return clean(res)
}

// digest identifies a call by its tool and arguments as they were sent.
func digest(name string, args json.RawMessage) string {
	sum := sha256.Sum256(append([]byte(name+"\x00"), args...))
	return hex.EncodeToString(sum[:16])
}

// actor resolves who calls: the agent and the run, by the call or else by the connection.
func (e *Engine) actor(ctx context.Context, c *Conn, m meta) (workspace.Actor, error) {
	h, space := c.state()
	a := workspace.Actor{Agent: c.agent(), Client: h.ClientInfo.Name, Run: h.Run, Turn: m.Turn, Conn: c.ID}
	if t, ok := e.turns.Turn(m.Turn); ok { // a turn is of one agent and one run
		a.Agent, a.Run = t.Agent(), e.turns.RunOf(m.Turn)
	}
	if m.Agent != "" {
		a.Agent = m.Agent
	}
	if m.Run != "" {
		a.Run = m.Run
		if err := e.knownRun(ctx, m.Run); err != nil {
			return a, err
		}
	}
	if a.Run == "" {
		run, err := e.standing.of(ctx, e, a.Agent, space.W.Real())
		if err != nil {
			return a, err
		}
		a.Run = run
	}
	return a, nil
}

// clean makes a result valid UTF-8, whatever bytes a tool met.
func clean(r tool.Result) tool.Result {
	if !utf8.ValidString(r.Text) {
		r.Text = string([]rune(r.Text))
	}
	return r
}

// progress gives the function with which a tool reports how far it is; it does nothing when the call carries no token.
func progress(c *Conn, m meta) func(string, int, int) {
	token := m.WorkDoneToken
	if len(token) == 0 {
		token = m.ProgressToken
	}
	if len(token) == 0 {
		return func(string, int, int) {}
	}
	return func(message string, done, of int) {
		c.Notify("$/progress", map[string]any{"token": token, "value": map[string]any{"kind": "report", "message": message, "done": done, "of": of}})
	}
}

// replies remembers the answers to calls that carried a key, so that a repeated call is not done twice.
type replies struct {
	mu    sync.Mutex // guards byKey and the fields of its replies until they are done
	byKey map[string]*reply
}

type reply struct {
	at     time.Time
	done   chan struct{}
	result tool.Result
	err    error
}

const keyTime = 10 * time.Minute

// once answers a call; one that repeats a key of the same agent within ten minutes gets the first reply.
func (e *Engine) once(ctx context.Context, c *Conn, name string, args json.RawMessage, m meta) (any, error) {
	if m.Key == "" {
		return e.Call(ctx, c, name, args, m)
	}
	agent := m.Agent
	if agent == "" {
		agent = c.agent()
	}
	r, first := e.keys.claim(agent+"\x00"+m.Key, e.opts.Now())
	if !first {
		select {
		case <-r.done:
			return r.result, r.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	defer close(r.done)
	r.err = errors.New("the first call of this key ended without a reply")
	r.result, r.err = e.Call(ctx, c, name, args, m)
	return r.result, r.err
}

func (k *replies) claim(key string, now time.Time) (*reply, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for old, r := range k.byKey {
		if now.Sub(r.at) > keyTime {
			delete(k.byKey, old)
		}
	}
	if r, ok := k.byKey[key]; ok {
		return r, false
	}
	r := &reply{at: now, done: make(chan struct{})}
	k.byKey[key] = r
	return r, true
}
