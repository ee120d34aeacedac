// Package fallback decides what becomes of checks while the store that
// processes share cannot decide them.
//
// With Local, a memory of this process limits instead, each process to its part
// of the quota. Its state is kept when the shared store is back, and drains as
// any other: an outage that comes and goes gives nobody a fresh burst. So a key
// never gets more than the shared quota and its processes' parts together.
package fallback

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

// Policy says what becomes of a check that the shared store cannot decide.
type Policy string

// The policies.
const (
	// Local limits in this process, to the quota divided by the processes.
	Local Policy = "local"
	// Open allows it.
	Open Policy = "open"
	// Closed fails it, with Unavailable.
	Closed Policy = "closed"
)

// Unavailable is the error of a check that could not be decided and must not be
// allowed: 503 with Retry-After, never 429, since the caller did nothing.
type Unavailable struct{ Err error }

// Error gives the store's error.
func (u *Unavailable) Error() string { return "the store of the rate limits is away: " + u.Err.Error() }

// Unwrap gives the store's error.
func (u *Unavailable) Unwrap() error { return u.Err }

// RetryAfterSeconds is the Retry-After of the 503: the store is looked for once
// a second.
func (u *Unavailable) RetryAfterSeconds() int { return 1 }

// Config says how many processes share the quota, and where to tell of failures.
type Config struct {
	// Instances is the number of processes; 1 when it is less.
	Instances int
	// Log gets a line a minute at most while the store fails, and one when it
	// works again; nil for none.
	Log *slog.Logger
	// Now is a clock that never goes back; nil means ratelimit.Monotonic.
	Now func() time.Duration
}

// Guard watches one shared store for all limiters on it.
type Guard struct {
	open      ratelimit.Opener
	instances int64
	log       *slog.Logger
	now       func() time.Duration

	failing atomic.Bool
	mu      sync.Mutex
	told    bool          // a line says that it fails, none that it works
	next    time.Duration // when the next line may say so
	since   int64         // failures that no line has counted
}

// sayEvery is the time between two lines that say the same.
const sayEvery = time.Minute

// New makes the guard of the store that open opens.
func New(open ratelimit.Opener, cfg Config) *Guard {
	g := &Guard{open: open, instances: max(1, int64(cfg.Instances)), log: cfg.Log, now: cfg.Now}
	if g.now == nil {
		g.now = ratelimit.Monotonic
	}
	return g
}

// Failing tells whether the last check had no answer from the shared store.
func (g *Guard) Failing() bool { return g.failing.Load() }

// Away says that the shared store did not answer outside of a check, at the
// start for instance. The next check that it answers takes that back.
func (g *Guard) Away() { g.failing.Store(true) }

// texter makes the keys of texts, the same in all processes.
type texter interface {
	Text(s string) ratelimit.Key
}

// Opener opens guarded stores. It refuses a policy that there is not.
func (g *Guard) Opener(p Policy) ratelimit.Opener {
	return func(spec ratelimit.Spec) (ratelimit.Store, error) {
		if p != Local && p != Open && p != Closed {
			return nil, fmt.Errorf("fallback: no such policy: %q", p)
		}
		shared, err := g.open(spec)
		if err != nil {
			return nil, err
		}
		texts, ok := shared.(texter)
		if !ok {
			shared.Close()
			return nil, fmt.Errorf("fallback: the store of %s makes no keys of texts", spec.Name)
		}
		s := &Store{guard: g, shared: shared, texts: texts, policy: p, name: spec.Name, observe: spec.Observe}
		s.burst.Store(spec.Quota.Burst)
		if b, ok := shared.(ratelimit.Bundled); ok {
			s.bundler = b.Bundler()
		}
		if p != Local {
			return s, nil
		}
		spec.Quota = Part(spec.Quota, g.instances)
		if s.local, err = memory.New(spec); err != nil {
			shared.Close()
			return nil, err
		}
		return s, nil
	}
}

// Part is the quota of one process among so many, so that together they admit
// what the quota says; at least one unit at once.
func Part(q ratelimit.Quota, instances int64) ratelimit.Quota {
	part := ratelimit.Quota{Rate: q.Rate, Period: q.Period, Burst: max(1, q.Burst/instances)}
	// A longer period divides exactly; a rate would have to be rounded.
	if instances <= int64(ratelimit.MaxPeriod/q.Period) {
		part.Period *= time.Duration(instances)
	} else {
		part.Rate = max(1, q.Rate/instances)
	}
	return part
}

// failed notes a failure, and whether it is the store's: not so when the caller
// asked for the impossible or went away.
func (g *Guard) failed(ctx context.Context, err error) bool {
	if errors.Is(err, ratelimit.ErrCost) || ctx.Err() != nil {
		return false
	}
	g.failing.Store(true)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.since++
	if at := g.now(); g.log != nil && at >= g.next {
		g.log.Warn("The shared store of the rate limits fails.", "error", err.Error(), "checks", g.since)
		g.told, g.next, g.since = true, at+sayEvery, 0
	}
	return true
}

// worked notes an answer.
func (g *Guard) worked() {
	if !g.failing.Load() || !g.failing.CompareAndSwap(true, false) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.told && g.log != nil {
		g.log.Info("The shared store of the rate limits works again.", "checks", g.since)
		g.told, g.since = false, 0
	}
}
