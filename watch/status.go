package watch

import (
	"fmt"
	"os"
	"strings"
)

// Status says how a tree is doing.
type Status struct {
	State     string `json:"state"` // "indexing": searches read the files; "ready"; "idle": nobody searched for long; "gone": the folder is not there
	Files     int    `json:"files"`
	Folders   int    `json:"folders"`
	Ignored   int    `json:"ignored"`          // entries that ignore rules rule out; a folder counts once
	Watched   int    `json:"watched"`          // folders whose changes the system tells
	Looked    int    `json:"looked_at"`        // folders whose changes it does not tell: they are looked at for every search
	Overflows int64  `json:"overflows"`        // how often the system lost events
	Rescans   int64  `json:"rescans"`          // how often everything was looked at
	Audits    int64  `json:"audits"`           // how often everything was compared with the disk in the background
	Diverged  int64  `json:"diverged"`         // folders in which that found something the system had not told
	Advice    string `json:"advice,omitempty"` // what a person can do to make searches faster
}

// Status gives the state now.
func (t *Tree) Status() Status {
	t.mu.Lock()
	v, idle := t.view, t.idle
	t.mu.Unlock()
	switch {
	case v == nil && idle:
		return Status{State: "idle"}
	case v == nil:
		return Status{State: "gone"}
	}
	v.table.mu.RLock()
	defer v.table.mu.RUnlock()
	s := Status{State: "indexing", Files: v.table.files, Folders: v.table.folders, Ignored: v.table.ignored}
	s.Looked, s.Watched = v.table.blind, v.table.folders-v.table.blind
	s.Rescans, s.Audits, s.Diverged = v.table.rescans, v.table.audits, v.table.diverged
	if v.built() {
		s.State = "ready"
	}
	if v.notifier != nil {
		s.Overflows = v.notifier.overflows.Load()
	}
	s.Advice = v.advice()
	return s
}

// advice says how to get events for the folders that give none, when a person can do something about it. The table's lock
// is held.
func (v *view) advice() string {
	switch {
	case v.fault != nil:
		return fmt.Sprintf("changes are found by looking at every file, because %v. On Linux more watchers are allowed by: sudo sysctl fs.inotify.max_user_instances=1024", v.fault)
	case v.table.limited:
		const sysctl = "fs.inotify.max_user_watches"
		now, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(sysctl, ".", "/"))
		if err != nil {
			now = []byte("unknown")
		}
		return fmt.Sprintf("%s are looked at for every search, because the system gives no more watches (%s is %s). More are allowed by: sudo sysctl %s=%d",
			count(v.table.blind, "folder"), sysctl, strings.TrimSpace(string(now)), sysctl, max(524288, 2*v.table.folders))
	case v.table.blind > 0:
		return fmt.Sprintf("%s are looked at for every search: they are on a file system that does not tell of changes, or cannot be read", count(v.table.blind, "folder"))
	}
	return ""
}
