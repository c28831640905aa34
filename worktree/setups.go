package worktree

import (
	"sync"

	"cw/internal/cw"
)

// setUps counts the set-ups that run now, by project.
type setUps struct {
	mu  sync.Mutex
	now map[cw.ProjectID]int // guarded by mu
}

func (s *setUps) add(p cw.ProjectID, by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		s.now = map[cw.ProjectID]int{}
	}
	if s.now[p] += by; s.now[p] == 0 {
		delete(s.now, p)
	}
}

func (s *setUps) any(p cw.ProjectID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now[p] > 0
}
