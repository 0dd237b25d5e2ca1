package workspace

import (
	"container/list"
	"sync"
	"time"

	"github.com/toold/toold/workspace/store"
)

// Version is one version of a file as somebody saw it.
type Version struct {
	Hash store.Hash
	At   time.Time
	Text []byte // the bytes, or nil when they were too large to keep or have been dropped
}

// seenBudget bounds the contents kept for rebasing, over all agents and files.
const (
	seenBudget   = 128 << 20
	seenFileSize = 16 << 20
)

// seenVersions remembers which version of each file each agent last saw. Contents are shared by hash and dropped
// oldest first above a budget; the hash stays, so that a change is noticed in any case.
type seenVersions struct {
	mu     sync.Mutex // guards all fields
	agents map[string]map[string]Version
	texts  map[store.Hash]*list.Element // of seenText
	order  list.List
	bytes  int
}

type seenText struct {
	hash store.Hash
	text []byte
}

func (s *seenVersions) note(agent, key string, v Version) {
	s.mu.Lock()
	defer s.mu.Unlock()
	files := s.agents[agent]
	if files == nil {
		files = map[string]Version{}
		s.agents[agent] = files
	}
	s.keep(v.Hash, v.Text)
	v.Text = nil
	files[key] = v
}

func (s *seenVersions) keep(hash store.Hash, text []byte) {
	if e, ok := s.texts[hash]; ok {
		s.order.MoveToFront(e)
		return
	}
	if text == nil || len(text) > seenFileSize {
		return
	}
	if s.texts == nil {
		s.texts = map[store.Hash]*list.Element{}
	}
	s.texts[hash] = s.order.PushFront(seenText{hash, text})
	s.bytes += len(text)
	for s.bytes > seenBudget {
		old := s.order.Remove(s.order.Back()).(seenText)
		delete(s.texts, old.hash)
		s.bytes -= len(old.text)
	}
}

func (s *seenVersions) get(agent, key string) (Version, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.agents[agent][key]
	if e, kept := s.texts[v.Hash]; ok && kept {
		v.Text = e.Value.(seenText).text
	}
	return v, ok
}

// Saw records that the agent has seen this version of a real file.
func (f *Files) Saw(agent, key string, hash store.Hash, text []byte) {
	f.seen.note(agent, key, Version{Hash: hash, At: f.now(), Text: text})
}

// Seen gives the version that the agent last saw of a real file.
func (f *Files) Seen(agent, key string) (Version, bool) { return f.seen.get(agent, key) }

// dirtyFiles are the files that editors hold unsaved changes of, by key and then by connection.
type dirtyFiles struct {
	mu    sync.Mutex // guards paths
	paths map[string]map[string]bool
}

// SetDirty records that an editor's connection has, or no longer has, unsaved changes of a real file.
func (f *Files) SetDirty(conn, key string, dirty bool) {
	f.dirty.mu.Lock()
	defer f.dirty.mu.Unlock()
	if !dirty {
		delete(f.dirty.paths[key], conn)
		if len(f.dirty.paths[key]) == 0 {
			delete(f.dirty.paths, key)
		}
		return
	}
	if f.dirty.paths[key] == nil {
		f.dirty.paths[key] = map[string]bool{}
	}
	f.dirty.paths[key][conn] = true
}

// DropEditor forgets everything that a connection reported dirty; called when the connection ends.
func (f *Files) DropEditor(conn string) {
	f.dirty.mu.Lock()
	defer f.dirty.mu.Unlock()
	for key, conns := range f.dirty.paths {
		delete(conns, conn)
		if len(conns) == 0 {
			delete(f.dirty.paths, key)
		}
	}
}

// Dirty tells whether an editor holds unsaved changes of a real file.
func (f *Files) Dirty(key string) bool {
	f.dirty.mu.Lock()
	defer f.dirty.mu.Unlock()
	return len(f.dirty.paths[key]) > 0
}
