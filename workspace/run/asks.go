package run

import (
	"math"
	"sync"
)

// Ask names what "the agent asks again" is about: the same agent, the same run, the same real file.
type Ask struct {
	Agent, Run, Path string
}

// Asks counts refusals that are made once, or a few times, for one ask. It also orders calls and refusals: a call that
// came in before a refusal was given cannot be the answer to it, so that of many calls that race none slips through
// behind the first. Its methods may be called concurrently.
type Asks struct {
	// Wait, when set, is called before a refusal that counts is given, and may take some milliseconds. Calls that were
	// sent before the refusal could be read, and are still in a socket, come in meanwhile, and are seen for what they
	// are. It is called without a lock of Asks.
	Wait func()

	mu   sync.Mutex // guards all fields
	now  int64
	open map[Ask]map[string]told
}

// told is how often a judge has refused an ask, how often it does, and when it last did.
type told struct {
	times, limit int
	last         int64
}

// notYet is the moment of a refusal that has been decided and not been given.
const notYet = math.MaxInt64

// Arrive gives the moment of a call that comes in, to be handed to Refuse: a number greater than all before it. It
// should be taken as early as the order of calls is known, when the request is read.
func (a *Asks) Arrive() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now++
	return a.now
}

// Refuse tells whether the judges, all of which object, refuse the call: true until each of them has refused limit
// earlier calls of the ask. Judges that refuse together count together.
func (a *Asks) Refuse(ask Ask, limit int, arrived int64, judges ...string) bool {
	refused, counted := a.decide(ask, limit, arrived, judges)
	if len(counted) == 0 {
		return refused
	}
	if a.Wait != nil {
		a.Wait()
	}
	a.give(ask, counted)
	return true
}

// decide refuses, and gives the judges whose refusal counts: a call that was on its way before the last one does not.
func (a *Asks) decide(ask Ask, limit int, arrived int64, judges []string) (refused bool, counted []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now++
	for _, j := range judges {
		t := a.open[ask][j]
		refused = refused || t.times < limit || arrived <= t.last
	}
	if !refused {
		return false, nil
	}
	if a.open == nil {
		a.open = map[Ask]map[string]told{}
	}
	if a.open[ask] == nil {
		a.open[ask] = map[string]told{}
	}
	for _, j := range judges {
		t := a.open[ask][j]
		switch {
		case t.times < limit && (t.times == 0 || arrived > t.last):
			t = told{times: t.times + 1, limit: limit, last: notYet}
			counted = append(counted, j)
		case t.last != notYet:
			t.last = a.now
		}
		a.open[ask][j] = t
	}
	return true, counted
}

// give marks refusals as given: what comes in from now on may be an answer to them.
func (a *Asks) give(ask Ask, judges []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now++
	for _, j := range judges {
		if t, ok := a.open[ask][j]; ok {
			t.last = a.now
			a.open[ask][j] = t
		}
	}
}

// Spend forgets the refusals that are made once: a write of the file went through, and the judges are armed again. A
// judge that refuses more often keeps its count.
func (a *Asks) Spend(ask Ask) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for j, t := range a.open[ask] {
		if t.limit == 1 {
			delete(a.open[ask], j)
		}
	}
	if len(a.open[ask]) == 0 {
		delete(a.open, ask)
	}
}

// Forget drops everything of a run.
func (a *Asks) Forget(run string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for ask := range a.open {
		if ask.Run == run {
			delete(a.open, ask)
		}
	}
}
