package catalog

import (
	"sync"
	"time"

	"github.com/toold/toold/edit"
	"github.com/toold/toold/workspace"
	"github.com/toold/toold/workspace/store"
)

// Misses remembers, for each agent and file, how the last edit went: a second miss in a row gets the lines shown, and
// an edit that is sent twice and would apply twice is refused once.
type Misses struct {
	mu   sync.Mutex // guards last
	last map[string]outcome
}

type outcome struct {
	missed  bool
	call    string     // digest of the last successful edit
	after   store.Hash // what it left
	when    time.Time
	hunk    edit.Hunk
	refused bool // it was already refused once as applied
}

func missKey(agent, key string) string { return agent + "\x00" + key }

func (m *Misses) missed(agent, key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last[missKey(agent, key)].missed
}

func (m *Misses) set(agent, key string, o outcome) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last == nil {
		m.last = map[string]outcome{}
	}
	m.last[missKey(agent, key)] = o
}

func (m *Misses) failed(agent, key string, miss bool) {
	m.mu.Lock()
	o := m.last[missKey(agent, key)]
	m.mu.Unlock()
	o.missed = miss
	m.set(agent, key, o)
}

func (m *Misses) succeeded(ed *editing, r *workspace.Result) {
	o := outcome{call: ed.e.digest(), after: r.Revision, when: r.At}
	if len(ed.plan.Hunks) > 0 {
		o.hunk = ed.plan.Hunks[0]
	} else {
		o.call = "" // nothing was changed, so nothing can be applied twice
	}
	m.set(ed.e.Actor.Agent, ed.key, o)
}

// repeated refuses once an edit that this agent has just made, with nothing changed in between, and that would apply a
// second time because its replacement contains its search.
func (m *Misses) repeated(ed *editing, c *workspace.Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.last[missKey(ed.e.Actor.Agent, ed.key)]
	if o.call == "" || o.refused || o.call != ed.e.digest() || o.after != store.HashOf(c.Before) || !ed.ask().AppliesTwice() {
		return nil
	}
	o.refused = true
	m.last[missKey(ed.e.Actor.Agent, ed.key)] = o
	return edit.Repeated(workspace.ShowName(string(ed.path)), ed.e.Workspace.Clock(o.when), o.hunk)
}
