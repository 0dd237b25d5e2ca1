package workspace

import (
	"bytes"
	"encoding/json"

	"github.com/toold/toold/edit"
	"github.com/toold/toold/edit/lines"
	"github.com/toold/toold/workspace/store"
)

// intent is the journal's record of a change that is about to be made, with the snapshot of the path for its run.
func (w *Workspace) intent(j *job, temp string) store.Intent {
	c := j.change
	e := store.Edit{
		Workspace: w.real, Path: string(c.Path), FileKey: j.key, Op: c.Op.String(), Tool: j.q.Tool,
		Agent: c.Actor.Agent, Client: c.Actor.Client, Run: c.Actor.Run, Turn: c.Actor.Turn,
		Existed: c.Existed, Deleted: c.Delete, ModeBefore: uint32(j.was.mode.Perm()), ModeAfter: uint32(c.Mode.Perm()),
		Temp: temp, Undoes: j.q.Undoes,
	}
	j.added, j.removed = changedLines(c.Before, c.After)
	e.Added, e.Removed = j.added, j.removed
	in := store.Intent{Edit: e, BeforeBytes: c.Before, AfterBytes: c.After}
	if c.Actor.Run != "" {
		in.Snapshot = &store.Snapshot{Mode: uint32(j.was.mode.Perm()), Absent: !c.Existed, Unreadable: c.Unread, Generation: w.Generation(), Folders: j.made}
	}
	return in
}

// event is what subscribers learn of a change.
func (w *Workspace) event(j *job) store.Event {
	c := j.change
	data, err := json.Marshal(map[string]any{
		"id": j.result.ID, "path": c.Real, "op": c.Op.String(), "tool": j.q.Tool, "agent": c.Actor.Agent, "run": c.Actor.Run, "turn": c.Actor.Turn,
		"added": j.added, "removed": j.removed, "created": !c.Existed, "deleted": c.Delete, "revision": j.result.Revision,
	})
	if err != nil {
		data = []byte("{}")
	}
	return store.Event{Kind: "edit", Workspace: w.real, Data: data}
}

// countedSize is the size up to which changed lines are counted exactly.
const countedSize = 128 << 10

// changedLines counts the lines that were added and removed. For large files it counts all lines between the first and
// the last difference.
func changedLines(before, after []byte) (added, removed int) {
	if len(before) <= countedSize && len(after) <= countedSize {
		for _, h := range edit.Diff(before, after).Hunks() {
			added, removed = added+h.NewLines, removed+h.OldLines
		}
		return added, removed
	}
	i := 0
	for i < len(before) && i < len(after) && before[i] == after[i] {
		i++
	}
	start := bytes.LastIndexByte(before[:i], '\n') + 1
	b, a := before[start:], after[start:]
	n := 0
	for n < len(b) && n < len(a) && b[len(b)-1-n] == a[len(a)-1-n] {
		n++
	}
	if k := bytes.IndexByte(a[len(a)-n:], '\n'); k >= 0 {
		n -= k + 1
	} else {
		n = 0
	}
	return lines.Count(a[:len(a)-n]), lines.Count(b[:len(b)-n])
}
