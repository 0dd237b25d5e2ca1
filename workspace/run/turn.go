package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Kind says why a turn was opened.
type Kind string

// The kinds of turns.
const (
	KindWork   Kind = "work"
	KindRepair Kind = "repair" // to put right what an earlier turn left wrong
	KindCheck  Kind = "check"  // to judge the work of others
	KindReplan Kind = "replan" // to change the plan
)

// Phase is the part of a turn.
type Phase string

// The phases.
const (
	PhaseWork  Phase = "work"
	PhaseWrite Phase = "write"       // research tools are withdrawn
	PhaseFinal Phase = "final_write" // two more calls, of tools that write what is owed
)

// Reason says why a turn stops.
type Reason string

// The reasons.
const (
	Done       Reason = "done"        // the agent answered without calling a tool
	RoundCap   Reason = "round_cap"   // its rounds are used up
	ReadOnly   Reason = "read_only"   // eight read-only calls in a row
	ToolStreak Reason = "tool_streak" // the same tool over and over
	Duplicate  Reason = "duplicate"   // the same call over and over
	Lane       Reason = "stage_lane"  // it kept writing files of other stages
	FinalWrite Reason = "final_write" // its final calls are used up
)

const (
	readOnlyLimit = 8 // read-only calls in a row that stop a turn
	lastRounds    = 8 // the write phase is this many rounds long
	earliestWrite = 5 // and begins at this round at the earliest
	finalCalls    = 2 // calls of the final write phase
	finalDenials  = 8 // calls of withdrawn tools after which the final write phase is over
	laneLimit     = 4 // refusals for the files of other stages that end a turn
)

// Toolset names the tools by what they are to a turn. Research and Makers may name tools of the engine.
type Toolset struct {
	Tools    []string           // the daemon's tools that the turn may call, in order
	Research []string           // withdrawn in the write phase
	Writes   []string           // what is left in the final write phase
	Makers   map[Class][]string // the tools that make binary formats
}

// Plan is what turn/begin declares.
type Plan struct {
	ID      string
	Run     *Run // nil when the run has declared nothing
	Stage   string
	Agent   string
	Outputs []Output // owed beside the stage's
	Rounds  int      // the tool-round budget
	Kind    Kind
	Why     string // why a repair was opened, for its agent
	Tools   Toolset
}

// Turn is one agent's turn. It is a state machine: the caller tells what happens, and is told what that means. Its
// methods may be called concurrently.
type Turn struct {
	plan  Plan
	stage Stage // empty without one
	owed  []Output

	mu      sync.Mutex // guards what follows
	round   int
	phase   Phase
	ended   Reason // "" while it goes on
	left    int    // calls of the final write phase
	denials int    // of the final write phase
	lane    int    // refusals for files of other stages
	streaks Streaks
	last    Action
}

// Streaks are the counts that an engine stops turns by.
type Streaks struct {
	ReadOnly  int // read-only calls in a row
	SameTool  int // calls of one tool in a row
	Duplicate int // equal calls in a row
}

// Begin opens a turn.
func Begin(p Plan) (*Turn, error) {
	if p.Kind == "" {
		p.Kind = KindWork
	}
	if !slices.Contains([]Kind{KindWork, KindRepair, KindCheck, KindReplan}, p.Kind) {
		return nil, fmt.Errorf("kind is \"work\", \"repair\", \"check\" or \"replan\", not %q", p.Kind)
	}
	if p.Rounds < 1 {
		return nil, errors.New("rounds is the turn's budget of model rounds, at least 1")
	}
	t := &Turn{plan: p, phase: PhaseWork}
	if p.Stage != "" {
		s, ok := p.Run.Stage(p.Stage)
		if !ok {
			return nil, fmt.Errorf("the run has no stage %q; it has: %s", p.Stage, p.Run.stageNames())
		}
		t.stage = *s
	}
	t.owed = merge(t.stage.Outputs, p.Outputs...)
	return t, nil
}

func (r *Run) stageNames() string {
	if r == nil || len(r.Stages) == 0 {
		return "none"
	}
	return r.names()
}

// ID gives the turn's id.
func (t *Turn) ID() string { return t.plan.ID }

// Agent gives the agent whose turn it is.
func (t *Turn) Agent() string { return t.plan.Agent }

// Owed gives the files that the turn owes, of its stage and its own.
func (t *Turn) Owed() []Output { return slices.Clone(t.owed) }

// State is what turn/get shows.
type State struct {
	ID, Agent, Stage string
	Kind             Kind
	Round, Rounds    int
	Phase            Phase
	Ended            Reason
	Owed             []Output
	Tools, Withdrawn []string
	Streaks          Streaks
	LaneRefusals     int
}

// State gives the present state.
func (t *Turn) State() State {
	t.mu.Lock()
	defer t.mu.Unlock()
	tools, withdrawn := t.split()
	return State{
		ID: t.plan.ID, Agent: t.plan.Agent, Stage: t.plan.Stage, Kind: t.plan.Kind, Round: t.round, Rounds: t.plan.Rounds,
		Phase: t.phase, Ended: t.ended, Owed: t.Owed(), Tools: tools, Withdrawn: withdrawn, Streaks: t.streaks, LaneRefusals: t.lane,
	}
}

// Round is what the next model round is told.
type Round struct {
	Round     int
	Phase     Phase
	Tools     []string
	Withdrawn []string
	Message   string // for the model, or ""
	Ended     Reason // "" while the turn goes on
}

// Round counts a model round. It takes the state of the owed files, as [Check] gives it.
func (t *Turn) Round(outputs []Result) Round {
	t.mu.Lock()
	defer t.mu.Unlock()
	message := ""
	if t.ended == "" {
		t.round++
		if t.phase == PhaseWork && t.round >= t.writeFrom() && t.hasWritePhase(outputs) {
			t.phase = PhaseWrite
			message = t.writeMessage(outputs)
		}
	} else {
		message = t.endedText()
	}
	tools, withdrawn := t.split()
	return Round{Round: t.round, Phase: t.phase, Tools: tools, Withdrawn: withdrawn, Message: message, Ended: t.ended}
}

// writeFrom gives the round at which the write phase begins by itself. A turn of fewer than five rounds has none such.
func (t *Turn) writeFrom() int { return max(earliestWrite, t.plan.Rounds-lastRounds) }

// works tells whether the turn is one that has to deliver: not that of a checker or planner.
func (t *Turn) works() bool {
	return !t.stage.Checker && (t.plan.Kind == KindWork || t.plan.Kind == KindRepair)
}

// hasWritePhase tells whether the turn owes files. A repair turn whose owed files are all there keeps its tools.
func (t *Turn) hasWritePhase(outputs []Result) bool {
	if !t.works() || len(t.owed) == 0 {
		return false
	}
	return t.plan.Kind != KindRepair || len(t.missing(outputs)) > 0
}

// missing gives the owed files that are not on the disk.
func (t *Turn) missing(outputs []Result) []Output {
	return slices.DeleteFunc(t.Owed(), func(o Output) bool {
		return slices.ContainsFunc(outputs, func(r Result) bool { return r.Output.Path == o.Path && r.Delivered() })
	})
}

// split gives the tools that may be called, and the ones that have been withdrawn.
func (t *Turn) split() (tools, withdrawn []string) {
	tools, withdrawn = []string{}, []string{}
	for _, name := range t.plan.Tools.Tools {
		if t.withdrawn(name) {
			withdrawn = append(withdrawn, name)
		} else {
			tools = append(tools, name)
		}
	}
	switch t.phase {
	case PhaseWrite:
		withdrawn = appendNew(withdrawn, t.plan.Tools.Research)
	case PhaseFinal:
		tools = appendNew(tools, t.makers())
	}
	return tools, withdrawn
}

func appendNew(names, more []string) []string {
	for _, n := range more {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// withdrawn tells whether a tool may not be called in the present phase.
func (t *Turn) withdrawn(tool string) bool {
	switch t.phase {
	case PhaseWrite:
		return slices.Contains(t.plan.Tools.Research, tool)
	case PhaseFinal:
		return !slices.Contains(t.plan.Tools.Writes, tool) && !slices.Contains(t.makers(), tool)
	}
	return false
}

// makers gives the tools that make the owed binary files.
func (t *Turn) makers() []string {
	var names []string
	for _, o := range t.owed {
		if f, ok := o.Format(); ok {
			names = appendNew(names, t.plan.Tools.Makers[f.Class])
		}
	}
	return names
}

// Makers gives the tools that make binary files of a class, as the turn's engine has named them.
func (t *Turn) Makers(class Class) []string { return slices.Clone(t.plan.Tools.Makers[class]) }

// Withdrawn tells whether a tool has been withdrawn, for listings.
func (t *Turn) Withdrawn(tool string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.withdrawn(tool)
}

func joinPaths(outputs []Output) string {
	if len(outputs) == 0 {
		return ""
	}
	return "\n- " + strings.ReplaceAll(list(outputs), ", ", "\n- ")
}
