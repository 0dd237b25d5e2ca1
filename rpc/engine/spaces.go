package engine

import (
	"path/filepath"
	"sync"

	"github.com/toold/toold/watch"
	"github.com/toold/toold/workspace"
)

// Space is an open workspace with everything that belongs to it. All connections on one real root share it.
type Space struct {
	W        *workspace.Workspace
	Tree     *watch.Tree
	settings Settings
	users    int // connections; guarded by spaces.mu
}

// spaces are the open workspaces by real root.
type spaces struct {
	mu   sync.Mutex // guards open and every Space.users
	open map[string]*Space
}

func (s *spaces) acquire(e *Engine, root string) (*Space, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		real = root // opening it says what is wrong
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if sp, ok := s.open[real]; ok {
		if err := sp.W.Check(); err != nil {
			return nil, err
		}
		sp.users++
		return sp, nil
	}
	sp, err := e.openSpace(root)
	if err != nil {
		return nil, err
	}
	sp.users = 1
	s.open[real] = sp
	return sp, nil
}

func (s *spaces) release(sp *Space) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sp.users--
}

func (s *spaces) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for root, sp := range s.open {
		_ = sp.Tree.Close()
		sp.W.Close()
		delete(s.open, root)
	}
}

func (s *spaces) all() []*Space {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*Space
	for _, sp := range s.open {
		out = append(out, sp)
	}
	return out
}
