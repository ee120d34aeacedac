package ratelimit

import (
	"context"
	"errors"
	"time"
)

// ErrFixed is returned by Requota for a store that keeps the quota with which
// it was opened.
var ErrFixed = errors.New("ratelimit: the store cannot change its quota")

// Name is the limiter's; empty for a nil Limiter.
func (l *Limiter) Name() string {
	if l == nil {
		return ""
	}
	return l.name
}

// Quota is the limiter's; zero for a nil Limiter.
func (l *Limiter) Quota() Quota {
	if l == nil {
		return Quota{}
	}
	return *l.quota.Load()
}

// NextUnit is how long it takes until a key has one unit more than a Decision
// says: 0 when nothing is owed, and for a sliding window, which cannot tell.
func (l *Limiter) NextUnit(d Decision) time.Duration {
	if l == nil || d.Reset <= 0 || l.algorithm == SlidingWindow {
		return 0
	}
	// When the quota is whole again in Reset, the last unit comes then, and
	// each of the others that are missing a period / rate before it.
	q := l.Quota()
	missing := max(q.Burst-d.Remaining-1, 0)
	return max(d.Reset-time.Duration(missing*int64(q.Period)/q.Rate), 1)
}

// Algorithm is the limiter's; empty for a nil Limiter.
func (l *Limiter) Algorithm() Algorithm {
	if l == nil {
		return ""
	}
	return l.algorithm
}

// Mode is the limiter's at this moment; empty for a nil Limiter.
func (l *Limiter) Mode() Mode {
	switch {
	case l == nil:
		return ""
	case l.shadow.Load():
		return Shadow
	}
	return Enforce
}

// SetMode changes what becomes of refusals from the next check on; what is owed
// stays owed.
func (l *Limiter) SetMode(m Mode) {
	if l != nil {
		l.shadow.Store(m == Shadow)
	}
}

// Requota changes the quota and converts what is owed: as many units as before,
// rounded up, at most the new burst. The same quota changes nothing. After an
// error the old quota is in force.
func (l *Limiter) Requota(ctx context.Context, q Quota) error {
	if l == nil || q == l.Quota() {
		return nil
	}
	if _, err := (Spec{Algorithm: l.algorithm}).Meter(q); err != nil {
		return err
	}
	r, ok := l.store.(requoter)
	if !ok {
		return ErrFixed
	}
	if err := r.Requota(ctx, q); err != nil {
		return err
	}
	l.quota.Store(&q)
	return nil
}

// Reset forgets what is owed on a key.
func (l *Limiter) Reset(ctx context.Context, k Key) error {
	if l == nil {
		return nil
	}
	if r, ok := l.store.(resetter); ok {
		return r.Reset(ctx, k)
	}
	return l.store.Refund(ctx, k, 2*MaxBurst)
}

// Top lists at most n keys on which something is owed, the largest debts first;
// none if the store cannot tell.
func (l *Limiter) Top(n int) []Debtor {
	if l == nil {
		return nil
	}
	if t, ok := l.store.(topper); ok {
		return t.Top(n)
	}
	return nil
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
