package run

import (
	"fmt"
	"strings"
)

// Action is one tool call of a turn.
type Action struct {
	Tool     string
	ReadOnly bool   // the tool changes nothing and runs nothing
	Digest   string // equal for equal arguments
}

// Outcome is what became of an action.
type Outcome struct {
	Refused bool // it was refused or failed: nothing was changed, nothing was run
}

// Denial is a call that the turn does not allow.
type Denial struct {
	Code string // turn_ended or withdrawn
	Text string
}

// Error gives what the agent reads.
func (d *Denial) Error() string { return d.Text }

// Directive tells the engine what a call means for the turn.
type Directive struct {
	Phase   Phase
	Stop    Reason // "" or the reason for which the engine should call turn/stop now
	Message string // for the model, or ""
	Ended   Reason // "" while the turn goes on
}

// Admit tells whether a call may run now; a *[Denial] says no. An admitted call has to be settled.
func (t *Turn) Admit(a Action) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ended != "":
		return &Denial{Code: "turn_ended", Text: t.endedText()}
	case t.phase == PhaseFinal && t.withdrawn(a.Tool):
		if t.denials++; t.denials >= finalDenials {
			t.ended = FinalWrite
		}
		return t.withdrawal(a.Tool)
	case t.phase == PhaseFinal && t.left == 0: // both calls are under way
		return &Denial{Code: "turn_ended", Text: "the final write phase has no calls left; nothing was done"}
	case t.withdrawn(a.Tool):
		return t.withdrawal(a.Tool)
	}
	if t.phase == PhaseFinal {
		t.left--
	}
	return nil
}

func (t *Turn) withdrawal(tool string) error {
	tools, _ := t.split()
	if t.phase == PhaseFinal {
		return &Denial{Code: "withdrawn", Text: fmt.Sprintf("%s is withdrawn: in the final write phase only %s run. You owe: %s", tool, strings.Join(tools, ", "), list(t.owed))}
	}
	return &Denial{Code: "withdrawn", Text: fmt.Sprintf("%s is withdrawn: this is the write phase. Write what you owe from what you know: %s. edit_file reads the file itself", tool, list(t.owed))}
}

// Settle counts a call that was admitted and has come to its end, and tells what follows. A call that was refused or
// failed leaves the streak of read-only calls as it was, unless it is itself one.
func (t *Turn) Settle(a Action, o Outcome) Directive {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.streaks.count(t.last, a, o)
	t.last = a
	if t.phase == PhaseFinal && t.left == 0 && t.ended == "" {
		t.ended = FinalWrite
	}
	return t.directive()
}

func (s *Streaks) count(last, a Action, o Outcome) {
	if last.Tool != a.Tool {
		s.SameTool = 0
	}
	if last != a {
		s.Duplicate = 0
	}
	s.SameTool++
	s.Duplicate++
	switch {
	case a.ReadOnly:
		s.ReadOnly++
	case !o.Refused:
		s.ReadOnly = 0
	}
}

// Directive gives what holds now, for the result of a call that was not admitted.
func (t *Turn) Directive() Directive {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.directive()
}

func (t *Turn) directive() Directive {
	d := Directive{Phase: t.phase, Ended: t.ended}
	switch {
	case t.ended != "":
		d.Message = t.endedText()
	case t.streaks.ReadOnly >= readOnlyLimit && t.phase != PhaseFinal:
		d.Stop = ReadOnly
		d.Message = fmt.Sprintf("%d read-only calls in a row: stop reading", t.streaks.ReadOnly)
		if len(t.owed) > 0 && t.works() {
			d.Message += " and write what you owe: " + list(t.owed)
		}
	}
	return d
}
