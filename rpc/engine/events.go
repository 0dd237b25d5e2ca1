package engine

import (
	"context"
	"encoding/json"

	"github.com/toold/toold/workspace"
	"github.com/toold/toold/workspace/store"
)

// maxLag is how many events a subscriber may be behind before it gets a gap marker instead of all of them.
const maxLag = 10000

type eventInfo struct {
	Seq       int64           `json:"seq"`
	Time      string          `json:"time"`
	Kind      string          `json:"kind"`
	Workspace string          `json:"workspace,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
}

// eventsSubscribe begins a subscription: what the store has since the given sequence number, and then what comes. The
// events are read from the store, so that a slow client costs nobody anything and misses nothing.
func eventsSubscribe(ctx context.Context, e *Engine, c *Conn, raw json.RawMessage) (any, error) {
	p, err := read[struct {
		Since *int64   `json:"since"`
		Kinds []string `json:"kinds"`
	}](raw)
	if err != nil {
		return nil, err
	}
	last, err := e.opts.Store.LastEvent(ctx)
	if err != nil {
		return nil, err
	}
	since := last
	if p.Since != nil {
		since = *p.Since
	}
	_, space := c.state()
	wake, stop := e.opts.Store.Watch()
	c.subs.Go(func() {
		defer stop()
		s := &subscription{e: e, c: c, root: space.W.Real(), kinds: p.Kinds, since: since}
		s.run(wake)
	})
	return map[string]any{"since": since, "last": last}, nil
}

type subscription struct {
	e     *Engine
	c     *Conn
	root  string
	kinds []string
	since int64
}

func (s *subscription) run(wake <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for {
		more, err := s.send(ctx)
		if err != nil {
			s.e.opts.Log.Error("a subscription ended", "conn", s.c.ID, "err", err)
			return
		}
		if more {
			continue
		}
		select {
		case <-wake:
		case <-s.c.Done:
			return
		}
	}
}

// send delivers one batch and tells whether there may be more at once.
func (s *subscription) send(ctx context.Context) (more bool, err error) {
	last, err := s.e.opts.Store.LastEvent(ctx)
	if err != nil {
		return false, err
	}
	if last-s.since > maxLag {
		s.since = last
		s.c.Notify("event", map[string]any{"seq": last, "time": stamp(s.e.opts.Now()), "kind": "gap", "data": map[string]any{"resume": last}})
	}
	const batch = 256
	events, err := s.e.opts.Store.EventsSince(ctx, s.since, s.kinds, batch)
	if err != nil {
		return false, err
	}
	for _, ev := range events {
		if s.mine(ev) && !s.c.Notify("event", eventInfo{Seq: ev.Seq, Time: stamp(ev.Time), Kind: ev.Kind, Workspace: ev.Workspace, Data: ev.Data}) {
			select {
			case <-s.c.Done:
				return false, nil
			default:
			}
			s.since = ev.Seq
			s.c.Notify("event", map[string]any{"seq": ev.Seq, "kind": "gap", "data": map[string]any{"resume": ev.Seq - 1}})
			continue
		}
		s.since = ev.Seq
	}
	return len(events) == batch, nil
}

// mine tells whether an event is of the subscriber's workspace, of one that lies in it, or of one that it lies in.
func (s *subscription) mine(ev store.Event) bool {
	return ev.Workspace == "" || workspace.Within(ev.Workspace, s.root) || workspace.Within(s.root, ev.Workspace)
}

func eventOf(kind string, s *Space, data json.RawMessage) store.Event {
	return store.Event{Kind: kind, Workspace: s.W.Real(), Data: data}
}
