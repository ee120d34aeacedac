package ratelimit

import (
	"context"
	"fmt"
	"hash/maphash"
	"time"
)

// Limiter applies one quota to the keys of one kind of caller. A nil Limiter
// allows everything, so that a limiter that is switched off needs no branch.
type Limiter struct {
	name                   string
	quota                  Quota
	ipv4Prefix, ipv6Prefix int
	seeds                  [2]maphash.Seed
	store                  Store
	clock                  clocked // the store, if it takes a reading; else nil
}

// New makes a limiter on a store of its own. It refuses a quota or a prefix
// length out of bounds.
func New(spec Spec, open Opener) (*Limiter, error) {
	if spec.IPv4Prefix == 0 {
		spec.IPv4Prefix = 32
	}
	if spec.IPv6Prefix == 0 {
		spec.IPv6Prefix = 64
	}
	if spec.Now == nil {
		spec.Now = Monotonic
	}
	if err := spec.Quota.Check(); err != nil {
		return nil, fmt.Errorf("limiter %s: %w", spec.Name, err)
	}
	if spec.IPv4Prefix < 0 || spec.IPv4Prefix > 32 || spec.IPv6Prefix < 0 || spec.IPv6Prefix > 128 {
		return nil, fmt.Errorf("limiter %s: no such prefix length: /%d for IPv4, /%d for IPv6",
			spec.Name, spec.IPv4Prefix, spec.IPv6Prefix)
	}
	store, err := open(spec)
	if err != nil {
		return nil, fmt.Errorf("limiter %s: %w", spec.Name, err)
	}
	l := &Limiter{
		name: spec.Name, quota: spec.Quota,
		ipv4Prefix: spec.IPv4Prefix, ipv6Prefix: spec.IPv6Prefix,
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		store: store,
	}
	l.clock, _ = store.(clocked)
	return l, nil
}

// Take charges one unit to a key, or refuses. An error means that the store
// could not decide; it says nothing about the caller.
func (l *Limiter) Take(ctx context.Context, k Key) (Decision, error) {
	if l == nil {
		return Decision{Allowed: true}, nil
	}
	return l.store.Take(ctx, k, 1)
}

// Now reads the clock that TakeAt wants; zero for a limiter whose store has a
// clock elsewhere.
func (l *Limiter) Now() time.Duration {
	if l == nil || l.clock == nil {
		return 0
	}
	return l.clock.Now()
}

// TakeAt is Take with a clock reading made before, by Now of a limiter of the
// same Set. A store with a clock elsewhere ignores the reading.
func (l *Limiter) TakeAt(ctx context.Context, at time.Duration, k Key) (Decision, error) {
	if l == nil {
		return Decision{Allowed: true}, nil
	}
	return l.takeAt(ctx, at, k, 1)
}

func (l *Limiter) takeAt(ctx context.Context, at time.Duration, k Key, cost int64) (Decision, error) {
	if l.clock == nil {
		return l.store.Take(ctx, k, cost)
	}
	return l.clock.TakeAt(ctx, at, k, cost)
}

// Peek tells how a key stands and changes nothing; it is always allowed.
func (l *Limiter) Peek(ctx context.Context, k Key) (Decision, error) {
	if l == nil {
		return Decision{Allowed: true}, nil
	}
	return l.store.Take(ctx, k, 0)
}

// Refund gives back the unit that a Take charged.
func (l *Limiter) Refund(ctx context.Context, k Key) error {
	if l == nil {
		return nil
	}
	return l.store.Refund(ctx, k, 1)
}

// Quota is the limiter's; zero for a nil Limiter.
func (l *Limiter) Quota() Quota {
	if l == nil {
		return Quota{}
	}
	return l.quota
}

// Stats counts what the limiter did; zero for a nil Limiter. A store that does
// not count reports its entries alone.
func (l *Limiter) Stats() Stats {
	if l == nil {
		return Stats{}
	}
	st := Stats{Entries: l.store.Len()}
	if c, ok := l.store.(counted); ok {
		st = c.Stats()
	}
	st.Name = l.name
	return st
}

// Close ends the limiter's store. A nil Limiter has none.
func (l *Limiter) Close() {
	if l != nil {
		l.store.Close()
	}
}
