package run

import (
	"fmt"
	"slices"
	"strings"
)

// Trespass says why a turn may not write a file, or "" when it may. The file's path may be known in several spellings
// (as it was asked for, and after symbolic links). real, when not nil, gives the spelling after symbolic links of an
// owed path.
func (t *Turn) Trespass(paths []string, real func(string) string) string {
	if t.stage.Name == "" {
		return ""
	}
	owed := reals(t.owed, real)
	if t.stage.Checker {
		return t.checkerLane(paths, owed, real)
	}
	if t.plan.Run.Team != Sequential || owes(owed, paths) {
		return ""
	}
	var owners []string
	for _, s := range t.plan.Run.Stages {
		if s.Name != t.stage.Name && owes(reals(s.Outputs, real), paths) {
			owners = append(owners, s.Name)
		}
	}
	if len(owners) == 0 {
		return ""
	}
	return fmt.Sprintf("%s belongs to the stage %s, which owes it. Your stage %s owes %s: write that, and leave word for %s in your reply if its file has to change",
		paths[0], strings.Join(owners, " and "), t.stage.Name, list(t.owed), owners[0])
}

// checkerLane holds a checking stage to its report.
func (t *Turn) checkerLane(paths []string, owed []Output, real func(string) string) string {
	report := reals([]Output{{Path: t.stage.Report}}, real)
	switch {
	case owes(owed, paths), t.stage.Report != "" && owes(report, paths):
		return ""
	case t.stage.Report == "" && len(owed) == 0:
		return fmt.Sprintf("the stage %s only checks, and has no report to write: give its findings in your reply", t.stage.Name)
	}
	mine := t.owed
	if t.stage.Report != "" {
		mine = merge([]Output{{Path: t.stage.Report}}, mine...)
	}
	return fmt.Sprintf("the stage %s only checks: it writes its report (%s) and changes nothing else. Put what is wrong with %s into the report", t.stage.Name, list(mine), paths[0])
}

// reals adds the real spelling of each output's path.
func reals(outputs []Output, real func(string) string) []Output {
	if real == nil {
		return outputs
	}
	both := slices.Clone(outputs)
	for _, o := range outputs {
		if r := real(o.Path); r != o.Path {
			o.Path = r
			both = append(both, o)
		}
	}
	return both
}

// Trespassed counts a refusal for a file of another stage. The fourth ends the turn.
func (t *Turn) Trespassed() (ended bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lane++; t.lane >= laneLimit && t.ended == "" {
		t.ended = Lane
	}
	return t.ended != ""
}

// NotOwed says why a write that lands none of the owed files is refused, or "" when it is not: in a write phase,
// while none of them is on the disk. paths are all files that the call writes; delivered tells whether a path is on
// the disk.
func (t *Turn) NotOwed(paths []string, real func(string) string, delivered func(string) (bool, error)) (string, error) {
	if t.State().Phase == PhaseWork || len(t.owed) == 0 || owes(reals(t.owed, real), paths) {
		return "", nil
	}
	for _, o := range t.owed {
		there, err := delivered(o.Path)
		if err != nil {
			return "", fmt.Errorf("look at the owed file %s: %w", o.Path, err)
		}
		if there {
			return "", nil
		}
	}
	return fmt.Sprintf("That is not the file you owe: %s was not written. Still to write, with write_file or edit_file:%s%s", paths[0], joinPaths(t.owed), t.makerHint(t.owed)), nil
}

// OwesWords tells whether the turn owes the file at a range of words: each draft of it is new prose.
func (t *Turn) OwesWords(paths []string, real func(string) string) bool {
	return slices.ContainsFunc(reals(t.owed, real), func(o Output) bool { return o.Words && slices.Contains(paths, o.Path) })
}
