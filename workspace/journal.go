package workspace

import (
	"bytes"
	"encoding/json"

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
	e.Added, e.Removed = changedLines(c.Before, c.After)
	in := store.Intent{Edit: e, BeforeBytes: c.Before, AfterBytes: c.After}
	if c.Actor.Run != "" {
		in.Snapshot = &store.Snapshot{Mode: uint32(j.was.mode.Perm()), Absent: !c.Existed, Unreadable: c.Unread, Generation: w.Generation(), Folders: j.made}
	}
	return in
}

// event is what subscribers learn of a change.
func (w *Workspace) event(j *job) store.Event {
	c := j.change
	added, removed := changedLines(c.Before, c.After)
	data, err := json.Marshal(map[string]any{
		"id": j.result.ID, "path": c.Real, "op": c.Op.String(), "tool": j.q.Tool, "agent": c.Actor.Agent, "run": c.Actor.Run, "turn": c.Actor.Turn,
		"added": added, "removed": removed, "created": !c.Existed, "deleted": c.Delete, "revision": j.result.Revision,
	})
	if err != nil {
		data = []byte("{}")
	}
	return store.Event{Kind: "edit", Workspace: w.real, Data: data}
}

// changedLines counts the lines that were added and removed, apart from the common start and end. It is cheap and
// exact for one changed place, and an upper bound for several.
func changedLines(before, after []byte) (added, removed int) {
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
	// Keep the common end on line borders.
	if n < len(a) || n < len(b) {
		tail := a[len(a)-n:]
		if k := bytes.IndexByte(tail, '\n'); k >= 0 && !atLineStart(a, len(a)-n) {
			n -= k + 1
		} else if k < 0 && !atLineStart(a, len(a)-n) {
			n = 0
		}
	}
	return lineCount(a[:len(a)-n]), lineCount(b[:max(0, len(b)-n)])
}

func atLineStart(b []byte, i int) bool { return i == 0 || b[i-1] == '\n' }

func lineCount(b []byte) int {
	n := bytes.Count(b, []byte("\n"))
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}
