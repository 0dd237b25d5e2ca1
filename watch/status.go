package watch

// Status says how a tree is doing.
type Status struct {
	State   string `json:"state"` // "indexing": searches read the files; "ready"; "gone": the folder is not there
	Files   int    `json:"files"`
	Folders int    `json:"folders"`
	Ignored int    `json:"ignored"` // entries that ignore rules rule out; a folder counts once
}

// Status gives the state now.
func (t *Tree) Status() Status {
	t.mu.Lock()
	v := t.view
	t.mu.Unlock()
	if v == nil {
		return Status{State: "gone"}
	}
	v.table.mu.RLock()
	defer v.table.mu.RUnlock()
	s := Status{State: "indexing", Files: v.table.files, Folders: v.table.folders, Ignored: v.table.ignored}
	if v.built() {
		s.State = "ready"
	}
	return s
}
