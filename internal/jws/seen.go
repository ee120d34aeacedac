package jws

import (
	"crypto/sha256"
	"sync"
)

// remembered is how many messages each generation holds. A verification costs
// between 0.05 and 6 ms, and a request needs one and the same several times.
const remembered = 4096

// seen remembers messages whose signatures were right under one set of keys:
// what is true of a message under the same keys stays true. It dies with the
// set. Wrong ones are not remembered, so that nobody can fill it with them.
type seen struct {
	mu         sync.Mutex
	young, old map[[sha256.Size]byte]struct{}
}

func (s *seen) has(id [sha256.Size]byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.young[id]; ok {
		return true
	}
	_, ok := s.old[id]
	if ok {
		s.put(id)
	}
	return ok
}

func (s *seen) add(id [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(id)
}

// put adds to the young ones; when they are many, they become the old ones.
func (s *seen) put(id [sha256.Size]byte) {
	if len(s.young) >= remembered {
		s.old, s.young = s.young, nil
	}
	if s.young == nil {
		s.young = make(map[[sha256.Size]byte]struct{})
	}
	s.young[id] = struct{}{}
}
