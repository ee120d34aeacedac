// Package memory keeps the states of a limiter's keys in this process: at most
// so many, in shards, each behind a lock of its own.
//
// A key that must make room for another is one on which nothing is owed, which
// changes no decision; only when there is none, the one seen least recently,
// where a refused check counts as seen. So a flood of new keys cannot make the
// store grow, and cannot push out a key that is being hammered.
package memory

import (
	"context"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// sweepEvery is how often entries on which nothing is owed are given up.
const sweepEvery = time.Minute

// sweepSlots is how many of them are looked at under one hold of a lock.
const sweepSlots = 1024

// maxEntries keeps the number of a slot in a shard within 24 bits.
const maxEntries = maxShards << 24

// Store is a ratelimit.Store in memory. Its methods may be called at once from
// any number of goroutines and never wait for anything but a shard's lock.
type Store struct {
	now       func() time.Duration
	hasher    hash
	id        uint64 // in the order of locks
	shards    []shard
	shift     uint // of a hash to the number of its shard
	capacity  int
	algorithm ratelimit.Algorithm
	overflow  ratelimit.Overflow
	spilled   spilled
	change    sync.Mutex // held while the quota changes
	stop      func()
}

// ids counts stores.
var ids atomic.Uint64

// New makes a store of at most spec.MaxEntries keys and starts its sweeper,
// which Close ends. It refuses a quota out of bounds and a capacity below 1.
func New(spec ratelimit.Spec) (*Store, error) {
	r, err := newRule(spec.Algorithm, spec.Quota)
	if err != nil {
		return nil, err
	}
	if spec.MaxEntries < 1 || spec.MaxEntries > maxEntries {
		return nil, fmt.Errorf("memory: a store of %d entries; want 1..%d", spec.MaxEntries, maxEntries)
	}
	s := &Store{
		now: spec.Now, hasher: newHash(), id: ids.Add(1),
		shards: newShards(spec.MaxEntries, r), capacity: spec.MaxEntries,
		algorithm: spec.Algorithm, overflow: spec.Overflow,
	}
	if s.now == nil {
		s.now = ratelimit.Monotonic
	}
	if s.overflow == "" {
		s.overflow = ratelimit.Evict
	}
	s.shift = uint(64 - bits.TrailingZeros(uint(len(s.shards))))
	s.spilled.requota(s.now(), r)
	s.stop = s.startSweeper()
	return s, nil
}

// Open is New as a ratelimit.Opener.
func Open(spec ratelimit.Spec) (ratelimit.Store, error) { return New(spec) }

// Now reads the store's clock, for TakeAt.
func (s *Store) Now() time.Duration { return s.now() }

// Take charges a key at the present moment; its errors are those of
// ratelimit.Meter.Take. The context is not looked at: nothing here waits.
func (s *Store) Take(ctx context.Context, k ratelimit.Key, cost int64) (ratelimit.Decision, error) {
	return s.TakeAt(ctx, s.now(), k, cost)
}

// TakeAt is Take with a clock reading made before by Now.
func (s *Store) TakeAt(_ context.Context, at time.Duration, k ratelimit.Key, cost int64) (ratelimit.Decision, error) {
	hash := s.hash(k)
	h := &s.shards[s.nth(hash)]
	h.mu.Lock()
	d, err := h.take(s, k, uint32(hash), at, cost)
	h.mu.Unlock()
	return d, err
}

// Refund gives back n units of a key, at most what is owed. A key that is not
// held owes nothing.
func (s *Store) Refund(_ context.Context, k ratelimit.Key, n int64) error {
	at, hash := s.now(), s.hash(k)
	h := &s.shards[s.nth(hash)]
	h.mu.Lock()
	err := h.refund(s, k, uint32(hash), at, n)
	h.mu.Unlock()
	return err
}

// Len is the number of keys held.
func (s *Store) Len() int { return s.Stats().Entries }

// Stats counts what the store did since it was made.
func (s *Store) Stats() ratelimit.Stats {
	st := ratelimit.Stats{Capacity: s.capacity}
	for i := range s.shards {
		h := &s.shards[i]
		h.mu.Lock()
		st.Entries += h.held
		st.Allowed += h.allowed
		st.Refused += h.refused
		st.Swept += h.swept
		st.EvictedIdle += h.evictedIdle
		st.EvictedLive += h.evictedLive
		st.Overflowed += h.overflowed
		h.mu.Unlock()
	}
	return st
}

// Close ends the sweeper and waits for it. The store still answers after it.
func (s *Store) Close() { s.stop() }

// hash is that of a key in this store.
func (s *Store) hash(k ratelimit.Key) uint64 { return s.hasher.of(k) }

func (s *Store) nth(hash uint64) int { return int(hash >> s.shift) }

// startSweeper runs the sweep every minute until the function that it returns
// is called; that one waits for a sweep under way.
func (s *Store) startSweeper() (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(sweepEvery)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				s.sweep()
			}
		}
	}()
	end := sync.OnceFunc(func() { close(quit) })
	return func() { end(); <-done }
}

// sweep gives up every entry on which nothing is owed, some slots at a time so
// that no check waits long.
func (s *Store) sweep() {
	for i := range s.shards {
		h := &s.shards[i]
		h.inParts(func(from, to int) { h.swept += h.reclaimAll(s.now(), from, to) })
	}
}
