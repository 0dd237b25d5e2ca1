package run

import (
	"fmt"
	"slices"
	"strings"
)

// Decision is what becomes of a turn that is about to stop.
type Decision string

// The decisions.
const (
	End             Decision = "end"
	StartWritePhase Decision = "write_phase"
	StartFinalWrite Decision = "final_write"
)

// Verdict answers turn/stop.
type Verdict struct {
	Verdict Decision
	Calls   int      // of a final write phase
	Tools   []string // what may be called from now on; none at the end
	Owed    []Output // the owed files that are not on the disk; in a final write phase, what it is for
	Message string   // for the model, or ""
}

// Stop decides what becomes of a turn that is about to stop, by the state of the owed files as [Check] gives it.
func (t *Turn) Stop(reason Reason, outputs []Result) (Verdict, error) {
	if !slices.Contains([]Reason{Done, RoundCap, ReadOnly, ToolStreak, Duplicate}, reason) {
		return Verdict{}, fmt.Errorf("reason is \"done\", \"round_cap\", \"read_only\", \"tool_streak\" or \"duplicate\", not %q", reason)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	missing := t.missing(outputs)
	switch {
	case t.ended != "" || t.phase == PhaseFinal || !t.works():
	case reason == Done && t.phase == PhaseWork && len(missing) > 0:
		t.phase = PhaseWrite
		return t.goOn(StartWritePhase, missing, t.writeMessage(outputs)), nil
	case reason != Done && (len(missing) > 0 || t.plan.Kind == KindRepair):
		t.phase, t.left = PhaseFinal, finalCalls
		v := t.goOn(StartFinalWrite, t.unfinished(outputs), "")
		v.Calls, v.Message = finalCalls, t.finalMessage(outputs, v.Tools)
		return v, nil
	}
	if t.ended == "" {
		t.ended = reason
	}
	return Verdict{Verdict: End, Tools: []string{}, Owed: missing}, nil
}

func (t *Turn) goOn(d Decision, owed []Output, message string) Verdict {
	tools, _ := t.split()
	return Verdict{Verdict: d, Tools: tools, Owed: owed, Message: message}
}

// unfinished gives the owed files that are not as they are asked for; when all are, a repair is about all of them.
func (t *Turn) unfinished(outputs []Result) []Output {
	open := slices.DeleteFunc(t.Owed(), func(o Output) bool {
		return slices.ContainsFunc(outputs, func(r Result) bool { return r.Output.Path == o.Path && r.Status == OK })
	})
	if len(open) == 0 {
		return t.Owed()
	}
	return open
}

// writeMessage tells the agent that its write phase begins.
func (t *Turn) writeMessage(outputs []Result) string {
	missing := t.missing(outputs)
	if len(missing) == 0 {
		return "Time to finish: the files that you owe are on the disk. Research tools are withdrawn for the rest of this turn; make the last changes with write_file or edit_file (edit_file reads the file itself). You owe:" + joinPaths(t.owed)
	}
	return "Time to write: research tools are withdrawn for the rest of this turn, and these files that you owe are not on the disk yet:" +
		joinPaths(missing) + "\nWrite them now with write_file or edit_file, from what you know." + t.makerHint(missing)
}

// finalMessage tells the agent what its last calls are for.
func (t *Turn) finalMessage(outputs []Result, tools []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "This turn is about to end. You have %d more calls, of %s only.", finalCalls, strings.Join(tools, ", "))
	if t.plan.Kind == KindRepair && t.plan.Why != "" {
		fmt.Fprintf(&b, " This turn was opened because: %s", t.plan.Why)
	}
	if open := t.unfinished(outputs); len(open) > 0 {
		b.WriteString("\nYou owe:")
		for _, o := range open {
			b.WriteString("\n- " + o.String() + detailOf(o, outputs))
		}
		b.WriteString(t.makerHint(open))
	}
	return b.String()
}

func detailOf(o Output, outputs []Result) string {
	for _, r := range outputs {
		if r.Output.Path == o.Path && r.Status != OK && r.Detail != "" {
			return " (" + r.Detail + ")"
		}
	}
	return ""
}

// makerHint names the tools that make owed binary files, which no text tool can write.
func (t *Turn) makerHint(outputs []Output) string {
	var hints []string
	for _, o := range outputs {
		if f, ok := o.Format(); ok && !f.Text {
			if makers := t.plan.Tools.Makers[f.Class]; len(makers) > 0 {
				hints = append(hints, fmt.Sprintf("%s is made by %s", o.Path, strings.Join(makers, " or ")))
			}
		}
	}
	if len(hints) == 0 {
		return ""
	}
	return "\nA text tool cannot write a binary file: " + strings.Join(hints, "; ") + "."
}

func (t *Turn) endedText() string {
	return fmt.Sprintf("this turn has ended (%s); nothing more can be called in it. Give your closing reply; the engine opens the next turn", endWords(t.ended))
}

func endWords(r Reason) string {
	switch r {
	case Done:
		return "the agent was done"
	case RoundCap:
		return "its rounds are used up"
	case ReadOnly:
		return "eight read-only calls in a row"
	case ToolStreak:
		return "the same tool over and over"
	case Duplicate:
		return "the same call over and over"
	case Lane:
		return "it kept writing files that other stages owe"
	case FinalWrite:
		return "the calls of its final write phase are used up"
	}
	return string(r)
}
