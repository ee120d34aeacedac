package fallback

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

// Store asks the shared store, and follows its policy when that fails.
type Store struct {
	guard   *Guard
	shared  ratelimit.Store
	texts   texter
	bundler ratelimit.Bundler // of the shared store, if it has one
	local   *memory.Store     // nil but for Local
	policy  Policy
	name    string
	burst   atomic.Int64
	observe func(limiter, outcome string)

	fallbacks atomic.Uint64
}

// Take asks the shared store. A failure of its own is never answered by a
// refusal, unless this process has seen too much of the key itself.
func (s *Store) Take(ctx context.Context, k ratelimit.Key, cost int64) (ratelimit.Decision, error) {
	d, err := s.shared.Take(ctx, k, cost)
	if err == nil {
		s.guard.worked()
		return d, nil
	}
	if !s.guard.failed(ctx, err) {
		return d, err
	}
	return s.instead(ctx, k, cost, err)
}

// instead decides without the shared store.
func (s *Store) instead(ctx context.Context, k ratelimit.Key, cost int64, failure error) (ratelimit.Decision, error) {
	burst := s.burst.Load()
	if cost < 0 || cost > burst {
		return ratelimit.Decision{}, ratelimit.ErrCost
	}
	s.fallbacks.Add(1)
	if s.policy == Closed {
		return ratelimit.Decision{}, &Unavailable{failure}
	}
	if s.observe != nil {
		s.observe(s.name, ratelimit.Fallback)
	}
	if s.policy == Open {
		return ratelimit.Decision{Allowed: true, Remaining: burst - cost}, nil
	}
	// A price that fits the whole quota must fit its part.
	return s.local.Take(ctx, k, min(cost, s.part(burst)))
}

func (s *Store) part(burst int64) int64 { return max(1, burst/s.guard.instances) }

// Refund gives back where charges are made at the moment. What a charge and its
// return in different stores leave is never more than both quotas.
func (s *Store) Refund(ctx context.Context, k ratelimit.Key, n int64) error {
	err := s.shared.Refund(ctx, k, n)
	if err == nil {
		s.guard.worked()
		return nil
	}
	if !s.guard.failed(ctx, err) {
		return err
	}
	if s.local != nil {
		return s.local.Refund(ctx, k, min(n, s.part(s.burst.Load())))
	}
	return nil
}

// Requota changes the quota of the shared store and of this process' part.
func (s *Store) Requota(ctx context.Context, q ratelimit.Quota) error {
	r, ok := s.shared.(interface {
		Requota(context.Context, ratelimit.Quota) error
	})
	if !ok {
		return ratelimit.ErrFixed
	}
	if err := r.Requota(ctx, q); err != nil {
		return err
	}
	s.burst.Store(q.Burst)
	if s.local == nil {
		return nil
	}
	return s.local.Requota(ctx, Part(q, s.guard.instances))
}

// Reset forgets a key here, and in the shared store if it answers.
func (s *Store) Reset(ctx context.Context, k ratelimit.Key) error {
	if s.local != nil {
		if err := s.local.Reset(ctx, k); err != nil {
			return err
		}
	}
	if r, ok := s.shared.(interface {
		Reset(context.Context, ratelimit.Key) error
	}); ok {
		return r.Reset(ctx, k)
	}
	return s.shared.Refund(ctx, k, 2*ratelimit.MaxBurst)
}

// Text is the shared store's key of a text.
func (s *Store) Text(text string) ratelimit.Key { return s.texts.Text(text) }

// Top lists the debts of this process' part, which are all there is to see: the
// shared store cannot tell of its own.
func (s *Store) Top(n int) []ratelimit.Debtor {
	if s.local == nil {
		return nil
	}
	return s.local.Top(n)
}

// Len is the number of keys that this process holds.
func (s *Store) Len() int {
	if s.local == nil {
		return 0
	}
	return s.local.Len()
}

// Stats are the shared store's, with the keys that this process holds.
func (s *Store) Stats() ratelimit.Stats {
	var st ratelimit.Stats
	if c, ok := s.shared.(interface{ Stats() ratelimit.Stats }); ok {
		st = c.Stats()
	}
	if s.local != nil {
		l := s.local.Stats()
		st.Entries, st.Capacity = l.Entries, l.Capacity
		st.Allowed += l.Allowed
		st.Refused += l.Refused
		st.Swept, st.EvictedIdle, st.EvictedLive = l.Swept, l.EvictedIdle, l.EvictedLive
	}
	st.Failing, st.Fallbacks = s.guard.Failing(), s.fallbacks.Load()
	return st
}

// Close ends both stores.
func (s *Store) Close() {
	s.shared.Close()
	if s.local != nil {
		s.local.Close()
	}
}

// together decides charges of guarded stores with one Bundler.
type together struct {
	guard  *Guard
	shared ratelimit.Bundler
}

// Bundler lets the shared store decide charges of several stores in one step;
// nil if it cannot.
func (s *Store) Bundler() ratelimit.Bundler {
	if s.bundler == nil {
		return nil
	}
	return together{s.guard, s.bundler}
}

// TakeTogether asks the shared store, and each store by itself if that fails.
func (b together) TakeTogether(ctx context.Context, at time.Duration, parts []ratelimit.Part) error {
	shared := make([]ratelimit.Part, len(parts))
	for i, p := range parts {
		shared[i] = p
		shared[i].Store = p.Store.(*Store).shared
	}
	err := b.shared.TakeTogether(ctx, at, shared)
	if err == nil {
		b.guard.worked()
		for i := range parts {
			parts[i].Decision = shared[i].Decision
		}
		return nil
	}
	if !b.guard.failed(ctx, err) {
		return err
	}
	return eachInstead(ctx, parts, err)
}

// eachInstead decides parts without the shared store, all or none. Stores that
// must not allow are asked first: then nothing is charged in vain.
func eachInstead(ctx context.Context, parts []ratelimit.Part, failure error) error {
	for _, p := range parts {
		if s := p.Store.(*Store); s.policy == Closed && !p.Shadow {
			_, err := s.instead(ctx, p.Key, p.Cost, failure)
			return err
		}
	}
	for i := range parts {
		p := &parts[i]
		d, err := p.Store.(*Store).instead(ctx, p.Key, p.Cost, failure)
		if err != nil && !p.Shadow {
			giveBack(ctx, parts[:i])
			return err
		}
		p.Decision = d
		if err != nil { // a shadow that nobody can decide
			p.Decision = ratelimit.Decision{Allowed: true}
		}
		if !d.Allowed && !p.Shadow {
			giveBack(ctx, parts[:i])
			for j := i + 1; j < len(parts); j++ {
				parts[j].Decision = ratelimit.Decision{Allowed: true, Remaining: parts[j].Store.(*Store).burst.Load()}
			}
			return nil
		}
	}
	return nil
}

// giveBack returns what was charged here before a refusal.
func giveBack(ctx context.Context, parts []ratelimit.Part) {
	for _, p := range parts {
		if s := p.Store.(*Store); s.local != nil && p.Decision.Allowed && p.Cost > 0 {
			_ = s.local.Refund(ctx, p.Key, min(p.Cost, s.part(s.burst.Load())))
		}
	}
}

var (
	_ ratelimit.Store   = (*Store)(nil)
	_ ratelimit.Bundled = (*Store)(nil)
	_ ratelimit.Bundler = together{}
)
