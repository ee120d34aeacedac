package ratelimit

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync/atomic"
	"time"
)

// Limiter applies one quota to the keys of one kind of caller. A nil Limiter
// allows everything, so that a limiter that is switched off needs no branch.
type Limiter struct {
	name                   string
	quota                  atomic.Pointer[Quota]
	algorithm              Algorithm
	shadow                 atomic.Bool
	ipv4Prefix, ipv6Prefix int
	seeds                  [2]maphash.Seed
	store                  Store
	clock                  clocked // the store, if it takes a reading; else nil
	monotonic              bool    // the store takes readings of Monotonic
	bundler                Bundler // the store's, if it has one; else nil
	texter                 texter  // the store, if it makes the keys of texts; else nil
	observe                func(limiter, outcome string)
	refused                func(ctx context.Context, l *Limiter, k Key)
}

// New makes a limiter on a store of its own. It refuses a Spec with anything
// out of bounds.
func New(spec Spec, open Opener) (*Limiter, error) {
	monotonic := spec.Now == nil
	spec, err := spec.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("limiter %s: %w", spec.Name, err)
	}
	store, err := open(spec)
	if err != nil {
		return nil, fmt.Errorf("limiter %s: %w", spec.Name, err)
	}
	l := &Limiter{
		name: spec.Name, algorithm: spec.Algorithm,
		ipv4Prefix: spec.IPv4Prefix, ipv6Prefix: spec.IPv6Prefix,
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		store: store, observe: spec.Observe,
	}
	l.quota.Store(&spec.Quota)
	l.SetMode(spec.Mode)
	l.clock, _ = store.(clocked)
	l.monotonic = monotonic && l.clock != nil
	l.texter, _ = store.(texter)
	if b, ok := store.(Bundled); ok {
		l.bundler = b.Bundler()
	}
	return l, nil
}

// Take charges one unit to a key, or refuses. An error means that the store
// could not decide; it says nothing about the caller.
func (l *Limiter) Take(ctx context.Context, k Key) (Decision, error) {
	return l.TakeCost(ctx, k, 1)
}

// TakeCost is Take for any number of units, charged all or none; a cost
// outside 0..burst is ErrCost.
func (l *Limiter) TakeCost(ctx context.Context, k Key, cost int64) (Decision, error) {
	if l == nil {
		return Decision{Allowed: true}, nil
	}
	var d Decision
	var err error
	if l.monotonic {
		d, err = l.clock.TakeAt(ctx, Monotonic(), k, cost) // one call less on most ways
	} else {
		d, err = l.store.Take(ctx, k, cost)
	}
	if d.Allowed && l.observe == nil {
		return d, err
	}
	return l.conclude(ctx, k, d, err)
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
	d, err := l.takeAt(ctx, at, k, 1)
	return l.conclude(ctx, k, d, err)
}

func (l *Limiter) takeAt(ctx context.Context, at time.Duration, k Key, cost int64) (Decision, error) {
	if l.clock == nil {
		return l.store.Take(ctx, k, cost)
	}
	return l.clock.TakeAt(ctx, at, k, cost)
}

// conclude reports a check and takes a shadow's refusal or failure back.
func (l *Limiter) conclude(ctx context.Context, k Key, d Decision, err error) (Decision, error) {
	shadow := l.shadow.Load()
	if l.observe != nil || l.refused != nil {
		l.report(ctx, k, d, err, shadow)
	}
	if shadow && (err != nil || !d.Allowed) {
		return Decision{Allowed: true}, nil
	}
	return d, err
}

// report tells what came of a check.
func (l *Limiter) report(ctx context.Context, k Key, d Decision, err error, shadow bool) {
	if l.observe != nil {
		l.observe(l.name, outcome(d, err, shadow))
	}
	if err == nil && !d.Allowed && l.refused != nil {
		l.refused(ctx, l, k)
	}
}

// OnRefusal names who is told of each key that is refused, or would be by a
// limiter in shadow, with the context of the check: for a log of decisions. It
// is set before the limiter is used, and must not wait.
func (l *Limiter) OnRefusal(told func(ctx context.Context, l *Limiter, k Key)) {
	if l != nil {
		l.refused = told
	}
}

func outcome(d Decision, err error, shadow bool) string {
	switch {
	case err != nil:
		return Failed
	case d.Allowed:
		return Allowed
	case shadow:
		return ShadowRejected
	}
	return Rejected
}

// Observe reports an outcome that the limiter cannot see by itself, such as
// Exempt, to the function that Spec named.
func (l *Limiter) Observe(outcome string) {
	if l != nil && l.observe != nil {
		l.observe(l.name, outcome)
	}
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
	return l.RefundCost(ctx, k, 1)
}

// RefundCost gives back n units, at most what is owed.
func (l *Limiter) RefundCost(ctx context.Context, k Key, n int64) error {
	if l == nil {
		return nil
	}
	return l.store.Refund(ctx, k, n)
}

// Close ends the limiter's store. A nil Limiter has none.
func (l *Limiter) Close() {
	if l != nil {
		l.store.Close()
	}
}
