package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/toold/toold/rpc/tool"
	"github.com/toold/toold/workspace"
)

// maxRefusals bounds the refusals that a person can still overrule.
const maxRefusals = 1000

// refusals are the calls that guards refused, so that a person can let one through as it was asked.
type refusals struct {
	mu    sync.Mutex // guards both
	byID  map[string]refused
	order []string
}

// refused is a refused call.
type refused struct {
	name  string
	args  json.RawMessage
	actor workspace.Actor
	root  string
	code  string
}

func (r *refusals) add(id string, call refused) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byID[id] = call
	r.order = append(r.order, id)
	if len(r.order) > maxRefusals {
		delete(r.byID, r.order[0])
		r.order = r.order[1:]
	}
}

func (r *refusals) take(id string) (refused, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	call, ok := r.byID[id]
	delete(r.byID, id)
	r.order = slices.DeleteFunc(r.order, func(o string) bool { return o == id })
	return call, ok
}

// overrulable are the guards that object to what would be lost; a person may know better.
var overrulable = []string{"shrink_guard", "reference_guard", "fence_guard", "stale", "elision_guard", "lossy_guard", "look_alike_name"}

// recordRefusal stores a refusal as an event, with its evidence, and remembers the call.
func (e *Engine) recordRefusal(ctx context.Context, s *Space, name string, args json.RawMessage, actor workspace.Actor, r *tool.Result) {
	if refused, _ := r.Meta["refused"].(bool); !refused {
		return
	}
	id := e.opts.Store.NewID()
	r.Meta["refusal"] = id
	if slices.Contains(overrulable, r.Code) {
		e.refused.add(id, refused{name: name, args: args, actor: actor, root: s.W.Real(), code: r.Code})
	}
	e.emit(ctx, "refusal", s, map[string]any{
		"refusal": id, "tool": name, "code": r.Code, "text": r.Text, "path": r.Meta["path"], "agent": actor.Agent, "run": actor.Run, "turn": actor.Turn, "evidence": r.Meta["evidence"],
	})
}

// guardsAllow lets one refused call through, as it was asked, on a person's word.
func guardsAllow(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	p, err := read[struct {
		Refusal string `json:"refusal"`
	}](raw)
	if err != nil {
		return nil, err
	}
	h, space := c.state()
	if !e.isOperator(h) {
		return nil, invalidParams("guards/allow needs a connection that holds the operator token (capabilities.token in initialize); a person's editor or `toold` has it, an agent does not")
	}
	call, ok := e.refused.take(p.Refusal)
	if !ok || call.root != space.W.Real() {
		return nil, invalidParams("there is no refusal %q to allow; it was allowed already, or is too old", p.Refusal)
	}
	res := e.invoke(ctx, c, call.name, call.args, call.actor, meta{}, true)
	e.emit(ctx, "refusal", space, map[string]any{"refusal": p.Refusal, "allowed": true, "by": h.ClientInfo.Name, "ok": !res.IsError})
	return res, nil
}

// isOperator tells whether a connection holds the operator token.
func (e *Engine) isOperator(h hello) bool {
	return e.opts.Token != "" && h.Capabilities.Token == e.opts.Token
}

// emit stores an event that belongs to no change.
func (e *Engine) emit(ctx context.Context, kind string, s *Space, data map[string]any) {
	raw, err := json.Marshal(data)
	if err == nil {
		err = e.opts.Store.AddEvents(context.WithoutCancel(ctx), eventOf(kind, s, raw))
	}
	if err != nil {
		e.opts.Log.Error("an event could not be stored", "kind", kind, "err", fmt.Sprint(err))
	}
}
