// Package run holds what an engine declares about its work and what follows from it: runs with their stages, the lanes
// of a sequential team, the files that a stage owes, the phases of a turn, and who has been told no. It is pure:
// values go in, decisions come out. It reads no file and no clock.
package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Team says how the stages of a run work together.
type Team string

// The teams.
const (
	Parallel   Team = "parallel"   // every stage may write any file
	Sequential Team = "sequential" // a stage keeps off the files that other stages owe
)

// Stage is one step of a run.
type Stage struct {
	Name    string
	Outputs []Output // the files that it owes
	Checker bool     // it judges the work of others, and writes only its report
	Report  string   // where a checker writes, as a normalised path, or ""
}

// Run is one piece of work of a team.
type Run struct {
	ID     string
	Team   Team
	Stages []Stage
}

// Stage finds a stage by name.
func (r *Run) Stage(name string) (*Stage, bool) {
	if r == nil {
		return nil, false
	}
	i := slices.IndexFunc(r.Stages, func(s Stage) bool { return s.Name == name })
	if i < 0 {
		return nil, false
	}
	return &r.Stages[i], true
}

// names gives the names of the stages, for messages.
func (r *Run) names() string {
	var names []string
	for _, s := range r.Stages {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// Normalise turns a path as a person or an engine wrote it into the form that the workspace uses.
type Normalise func(path string) (string, error)

// ParseTeam reads a team's name; none means parallel.
func ParseTeam(s string) (Team, error) {
	switch Team(s) {
	case "", Parallel:
		return Parallel, nil
	case Sequential:
		return Sequential, nil
	}
	return "", fmt.Errorf("team is \"parallel\" or \"sequential\", not %q", s)
}

// ParseStages reads the stages of run/open: a JSON array of {name, required_output, checker, report}. No array at all
// gives no stages.
func ParseStages(raw json.RawMessage, norm Normalise) ([]Stage, error) {
	var declared []struct {
		Name    string   `json:"name"`
		Outputs []string `json:"required_output"`
		Checker bool     `json:"checker"`
		Report  string   `json:"report"`
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&declared); err != nil {
		return nil, fmt.Errorf("stages is a list of {name, required_output: [\"path\" or \"path words A-B\"], checker, report}: %w", err)
	}
	var stages []Stage
	for i, s := range declared {
		if strings.TrimSpace(s.Name) == "" {
			return nil, fmt.Errorf("stage %d has no name; turns name their stage by it", i+1)
		}
		if slices.ContainsFunc(stages, func(o Stage) bool { return o.Name == s.Name }) {
			return nil, fmt.Errorf("two stages are named %q; give each its own name", s.Name)
		}
		outputs, err := ParseOutputs(s.Outputs, norm)
		if err != nil {
			return nil, fmt.Errorf("stage %q: %w", s.Name, err)
		}
		stage := Stage{Name: s.Name, Outputs: outputs, Checker: s.Checker}
		if s.Report != "" {
			if stage.Report, err = norm(s.Report); err != nil {
				return nil, fmt.Errorf("stage %q: report: %w", s.Name, err)
			}
		}
		stages = append(stages, stage)
	}
	return stages, nil
}

// owes tells whether one of the outputs is the file, whose path may be known in several spellings.
func owes(outputs []Output, paths []string) bool {
	return slices.ContainsFunc(outputs, func(o Output) bool { return slices.Contains(paths, o.Path) })
}

// list joins paths for a sentence.
func list(outputs []Output) string {
	if len(outputs) == 0 {
		return "no file"
	}
	var names []string
	for _, o := range outputs {
		names = append(names, o.String())
	}
	return strings.Join(names, ", ")
}
