package memory

import (
	"sync"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// floodShare says when new keys are a flood: in a second in which a hundredth
// of a shard was given up although something was owed on it. At that pace a
// debt is kept for a hundred seconds, whoever floods.
const floodShare = 100

// flood counts the live entries that a shard gave up in one second.
type flood struct {
	second  time.Duration
	evicted int
}

func (f *flood) count(at time.Duration) {
	if s := at / time.Second; s != f.second {
		*f = flood{second: s}
	}
	f.evicted++
}

// flooded tells whether a new key may not have room at the cost of another.
func (h *shard) flooded(at time.Duration) bool {
	if h.flood.second != at/time.Second || h.flood.evicted < max(1, h.limit/floodShare) {
		return false
	}
	if h.unused == none && len(h.slots) == h.limit {
		h.evictedIdle += h.reclaim(at)
	}
	return h.unused == none && len(h.slots) == h.limit
}

// spilled is the bucket that new keys share during a flood.
type spilled struct {
	mu    sync.Mutex
	rule  *rule
	state ratelimit.State
	ring  []time.Duration
}

func (p *spilled) bucket() bucket { return bucket{&p.state, p.ring} }

func (p *spilled) requota(at time.Duration, to *rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ring := make([]time.Duration, to.ring)
	if p.rule != nil {
		p.state = p.rule.convert(p.bucket(), at, to, ring)
	}
	p.rule, p.ring = to, ring
}

// spill charges a new key during a flood: to the shared bucket, or not at all.
func (s *Store) spill(at time.Duration, cost int64) (ratelimit.Decision, error) {
	if s.overflow == ratelimit.Deny {
		return denied(at), nil
	}
	s.spilled.mu.Lock()
	defer s.spilled.mu.Unlock()
	return s.spilled.rule.take(s.spilled.bucket(), at, cost)
}

func (s *Store) lookSpill(at time.Duration, cost int64) (ratelimit.Decision, error) {
	if s.overflow == ratelimit.Deny {
		return denied(at), nil
	}
	s.spilled.mu.Lock()
	defer s.spilled.mu.Unlock()
	return s.spilled.rule.look(s.spilled.bucket(), at, cost)
}

// unspill gives back what a key that is not held was charged during a flood.
func (s *Store) unspill(at time.Duration, n int64) error {
	s.spilled.mu.Lock()
	defer s.spilled.mu.Unlock()
	return s.spilled.rule.refund(s.spilled.bucket(), at, n)
}

// denied lasts until the next second, in which there may be room.
func denied(at time.Duration) ratelimit.Decision {
	wait := time.Second - at%time.Second
	return ratelimit.Decision{Retry: wait, Reset: wait}
}
