package run

import "sync"

// Turns are the turns that are open or have ended, by id. Its methods may be called concurrently.
type Turns struct {
	mu   sync.Mutex // guards byID
	byID map[string]entry
}

type entry struct {
	run  string
	turn *Turn
}

// Add remembers a turn of a run.
func (t *Turns) Add(runID string, turn *Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil {
		t.byID = map[string]entry{}
	}
	t.byID[turn.ID()] = entry{runID, turn}
}

// Turn finds a turn.
func (t *Turns) Turn(id string) (*Turn, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.byID[id]
	return e.turn, ok
}

// RunOf gives the run that a turn belongs to, or "".
func (t *Turns) RunOf(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byID[id].run
}

// Forget drops the turns of a run that was closed.
func (t *Turns) Forget(runID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, e := range t.byID {
		if e.run == runID {
			delete(t.byID, id)
		}
	}
}
