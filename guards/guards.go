// Package guards judges the changes of workspace files before they are made. A guard is a pure judgement of a change
// and a row of policy: which changes it looks at, how often it refuses, what it repairs, when it ends the turn. They
// stand in one ordered list, in [New].
package guards

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/toold/toold/workspace"
	"github.com/toold/toold/workspace/run"
)

// Guard is one judgement and its policy.
type Guard struct {
	Name string       // for logs and people
	Code string       // of its refusals
	Tag  string       // the word in brackets that begins its log lines
	Ops  workspace.Op // the kinds of change that it looks at, or-ed
	// Judge gives an objection or nil. An error means that it could not judge: the change is refused with the error,
	// and that counts as no ask.
	Judge func(context.Context, *workspace.Change) (*Objection, error)
	// Refusals is how often one ask is refused before it is let through: 0 means always. All guards that refuse once
	// speak in one refusal.
	Refusals int
	// Repair puts right what the guard objects to once its refusals are used up. Without it the change goes through as
	// it is.
	Repair func(*workspace.Change)
	// CountsInTurn says that its refusals are counted by the turn, which ends at a limit.
	CountsInTurn bool
}

// Objection is what a guard has against a change.
type Objection struct {
	Guard string `json:"guard"`
	Code  string `json:"code"`
	Lost  string `json:"lost"` // what would be lost, or what is wrong: a clause without a full stop
	Do    string `json:"do"`   // which tool or form does the job: a sentence without a full stop
	Facts any    `json:"facts,omitempty"`

	whole string // the whole text of the refusal, when it is not made of Lost and Do
	about string // tells one objection of a guard from another: having heard one is not having heard the other
}

// Turns finds turns by id.
type Turns interface {
	Turn(id string) (*run.Turn, bool)
}

// Stale is a change of somebody else's that the agent has not seen.
type Stale struct {
	By   string // who made it
	When string // a clock time for people, or ""
	Seen []byte // the version that the agent last saw, nil when it is no longer known
	Hash string // of the present version
}

// Options are what guards need to know beside the change itself.
type Options struct {
	Asks  *run.Asks // counts refusals; shared with the door, which counts its own there
	Turns Turns     // nil when there are none
	// Stale tells what others have changed since the agent of a change last saw the file, or nil.
	Stale func(context.Context, *workspace.Change) (*Stale, error)
	// Real gives the real path of a path of the workspace, or the path itself when it cannot be resolved.
	Real func(path string) string
	// Sequential tells whether a run is of a sequential team, whose calls should belong to turns; nil knows of none.
	Sequential func(ctx context.Context, run string) bool
	// Makers names the tools that make binary files. Classes that are missing keep the defaults.
	Makers map[run.Class][]string
	// MakersOf gives the ones that the actor's own engine has named, which go first; a turn's go before them. May be nil.
	MakersOf func(workspace.Actor) map[run.Class][]string
	Log      *slog.Logger // nil logs nothing
}

// Set is the guards in their order. It is a [workspace.Checker]. Its methods may be called concurrently.
type Set struct {
	guards []Guard
	opts   Options
}

// New makes the guards. This list is the order in which they judge.
func New(o Options) *Set {
	if o.Asks == nil {
		o.Asks = &run.Asks{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Set{opts: o, guards: []Guard{
		binaryPath(o),
		stageLane(o),
		owedFile(o),
		escapedFence(),
		shrink(o),
		reference(),
		lossy(),
		stale(o),
		elision(),
	}}
}

// Guards gives the guards in their order.
func (s *Set) Guards() []Guard { return s.guards }

// Check judges a change. The error is a *[workspace.Refusal], or a *[workspace.Error] with the code guard_error when a
// judgement failed.
func (s *Set) Check(ctx context.Context, c *workspace.Change) error {
	var once []said
	for _, g := range s.guards {
		if g.Ops&c.Op == 0 {
			continue
		}
		o, err := g.judge(ctx, c)
		if err != nil {
			return guardError(c, g, err)
		}
		switch {
		case o == nil:
		case g.Refusals == 1:
			once = append(once, said{g, o})
		default:
			if err := s.decide(c, g, o); err != nil {
				return err
			}
		}
	}
	return s.decideOnce(c, once)
}

// said is an objection with the guard that has it.
type said struct {
	Guard
	*Objection
}

// judge asks the guard; a judge that panics has failed to judge.
func (g Guard) judge(ctx context.Context, c *workspace.Change) (o *Objection, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	o, err = g.Judge(ctx, c)
	if o != nil {
		o.Guard, o.Code = g.Name, g.Code
	}
	return o, err
}

func guardError(c *workspace.Change, g Guard, err error) error {
	return &workspace.Error{Code: "guard_error", Err: err, Text: fmt.Sprintf(
		"%s was not %s: the %s guard could not judge the change (%v). This does not count as a first ask; put the cause right, then try again", name(c), verb(c), g.Name, err)}
}

// decide applies the policy of a guard that refuses always, or several times and then repairs.
func (s *Set) decide(c *workspace.Change, g Guard, o *Objection) error {
	if g.Refusals > 0 && !s.opts.Asks.Refuse(ask(c), g.Refusals, c.Arrived, g.Name) {
		if g.Repair != nil {
			g.Repair(c)
			s.opts.Log.Info("["+g.Tag+"] repaired", "path", c.Path, "agent", c.Actor.Agent, "run", c.Actor.Run)
		}
		return nil
	}
	r := &workspace.Refusal{Code: g.Code, Tag: g.Tag, Text: refusalText(c, []said{{g, o}}, ""), Evidence: []*Objection{o}}
	if g.CountsInTurn {
		s.countInTurn(c, r)
	}
	s.log(c, g, o)
	return r
}

// countInTurn counts the refusal in the turn, and says so when that ends it.
func (s *Set) countInTurn(c *workspace.Change, r *workspace.Refusal) {
	if t := s.opts.turn(c); t != nil && t.Trespassed() {
		r.EndsTurn = true
		r.Text += " That was the fourth try at a file of another stage: this turn has ended."
	}
}

// decideOnce lets the guards that refuse once speak together, and count together.
func (s *Set) decideOnce(c *workspace.Change, once []said) error {
	var judges []string
	var evidence []*Objection
	for _, o := range once {
		judges = append(judges, o.Name+"\x00"+o.about)
		evidence = append(evidence, o.Objection)
	}
	if len(once) == 0 || !s.opts.Asks.Refuse(ask(c), 1, c.Arrived, judges...) {
		return nil
	}
	for _, o := range once {
		s.log(c, o.Guard, o.Objection)
	}
	first := once[0].Guard
	return &workspace.Refusal{Code: first.Code, Tag: first.Tag, Text: refusalText(c, once, againText(c)), Evidence: evidence, Again: true}
}

func (s *Set) log(c *workspace.Change, g Guard, o *Objection) {
	s.opts.Log.Warn("["+g.Tag+"] refused", "guard", g.Name, "path", c.Path, "op", c.Op.String(), "agent", c.Actor.Agent, "run", c.Actor.Run, "turn", c.Actor.Turn, "lost", o.Lost)
}

// Settled says that a change that was let through has been made: the guards that refuse once are armed again.
func (s *Set) Settled(c *workspace.Change) { s.opts.Asks.Spend(ask(c)) }

func ask(c *workspace.Change) run.Ask {
	return run.Ask{Agent: c.Actor.Agent, Run: c.Actor.Run, Path: string(c.Real)}
}

// turn gives the turn of a change, or nil.
func (o Options) turn(c *workspace.Change) *run.Turn {
	if o.Turns == nil || c.Actor.Turn == "" {
		return nil
	}
	t, ok := o.Turns.Turn(c.Actor.Turn)
	if !ok {
		return nil
	}
	return t
}

// spellings gives the paths by which the file of a change is known.
func spellings(c *workspace.Change) []string {
	paths := []string{string(c.Path)}
	if c.Real != c.Path && c.Real != "" {
		paths = append(paths, string(c.Real))
	}
	return paths
}
