package run

import "sync"

// Ask names what "the agent asks again" is about: the same agent, the same run, the same real file.
type Ask struct {
	Agent, Run, Path string
}

// Asks counts refusals that are made once, or a few times, for one ask. It also orders calls and refusals: a call that
// came in before a refusal was made cannot be the answer to it, so that of many calls that race none slips through
// behind the first. Its methods may be called concurrently.
type Asks struct {
	mu   sync.Mutex // guards all fields
	now  int64
	open map[Ask]map[string]told
}

// told is how often a judge has refused an ask, how often it does, and when it last did.
type told struct {
	times, limit int
	last         int64
}

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
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now++
	refuse := false
	for _, j := range judges {
		t := a.open[ask][j]
		if t.times < limit || arrived <= t.last {
			refuse = true
		}
	}
	if !refuse {
		return false
	}
	if a.open == nil {
		a.open = map[Ask]map[string]told{}
	}
	if a.open[ask] == nil {
		a.open[ask] = map[string]told{}
	}
	for _, j := range judges {
		a.open[ask][j] = a.open[ask][j].again(limit, arrived, a.now)
	}
	return true
}

// again counts a refusal. A call that was on its way before the last one does not count, but what comes in until now
// has still to wait for an answer.
func (t told) again(limit int, arrived, now int64) told {
	if t.times == 0 || arrived > t.last && t.times < limit {
		t.times++
	}
	return told{times: t.times, limit: limit, last: now}
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
