// Package conform holds a ratelimit.Store to the contract of a Quota, whatever
// its algorithm and wherever it keeps its states. It is for tests.
//
// What every store owes its callers:
//
//	Q1  the units kept in any interval of length W are at most burst + rate × W / period
//	Q2  after FullAfter without traffic, a check of the whole burst passes
//	Q3  a refused check passes after its Retry, and not one tick earlier
//	Q4  a refusal costs nothing
//	Q5  a check of cost c equals c checks of cost 1 at the same instant, all or none
//	Q6  cost 0 looks: it changes nothing and is allowed
//	Q7  a cost below 0 or above the burst is ErrCost, never a refusal
//	Q8  what is given back leaves no more than if it had not been taken
//	Q9  keys do not influence each other
//	Q10 checks made at once admit what some order of them would
//	Q11 Remaining is in 0..burst and never rises without time or a refund
//
// Beyond the clauses every answer equals that of an oracle, which is written in
// another style and counts in rational numbers of any size.
package conform

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// Form is how a store holds a quota.
type Form string

// The forms.
const (
	GCRA    Form = "gcra"
	Log     Form = "log"     // every unit's time: an exact sliding window
	Counter Form = "counter" // two counts: a weighted sliding window
)

// Target is a kind of store under test.
type Target struct {
	Form Form
	// Tick is the unit of the store's time, at least 1 ns. Answers are rounded
	// up to it, and quotas that are finer are left out.
	Tick time.Duration
	// Fits leaves out quotas that the target holds in another form; nil means
	// that it holds all.
	Fits func(q ratelimit.Quota) bool
	// Open makes an empty store that reads the clock, or is moved with it by
	// Clock.OnMove. It is closed by Run.
	Open func(t testing.TB, spec ratelimit.Spec, clock *Clock) ratelimit.Store
}

// FullAfter is how long the target takes to forget all, as it declares it.
func (g Target) FullAfter(q ratelimit.Quota) time.Duration {
	w := roundUp(q.Window(), g.Tick)
	if g.Form == Counter {
		return 2 * w
	}
	return w
}

func (g Target) algorithm() ratelimit.Algorithm {
	if g.Form == GCRA {
		return ratelimit.GCRA
	}
	return ratelimit.SlidingWindow
}

func roundUp(d, tick time.Duration) time.Duration { return (d + tick - 1) / tick * tick }

// Clock is moved by hand. It begins an hour after its zero.
type Clock struct {
	mu    sync.Mutex
	at    time.Duration
	moved []func(at time.Duration)
}

// NewClock makes a clock.
func NewClock() *Clock { return &Clock{at: time.Hour} }

// Now is the time since the clock's zero.
func (c *Clock) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// OnMove calls f now and after each move, for a server that cannot read the
// clock.
func (c *Clock) OnMove(f func(at time.Duration)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moved = append(c.moved, f)
	f(c.at)
}

// Move moves the clock forward.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at += d
	for _, f := range c.moved {
		f(c.at)
	}
}

// quotas are what the clauses are tried with: each fits the forms and ticks.
func (g Target) quotas() []ratelimit.Quota {
	all := []ratelimit.Quota{
		{Rate: 1, Period: time.Second, Burst: 1},
		{Rate: 1, Period: time.Second, Burst: 3},
		{Rate: 7, Period: time.Second, Burst: 10},
		{Rate: 5, Period: time.Minute, Burst: 5},
		{Rate: 3, Period: 10 * time.Nanosecond, Burst: 2},
		{Rate: 99_991, Period: time.Second, Burst: 64},
		{Rate: 1200, Period: time.Minute, Burst: 1200},
		{Rate: ratelimit.MaxRate, Period: ratelimit.MaxPeriod, Burst: ratelimit.MaxBurst},
		{Rate: 1, Period: 8 * time.Hour, Burst: 3},
	}
	var fit []ratelimit.Quota
	for _, q := range all {
		if q.Period%g.Tick != 0 || g.Form == Log && q.Burst > ratelimit.MaxLog || g.Form != GCRA && q.Window() > ratelimit.MaxPeriod || g.Fits != nil && !g.Fits(q) {
			continue
		}
		fit = append(fit, q)
	}
	return fit
}

// bench is one store of one quota, its clock, and keys that nobody had before.
type bench struct {
	target Target
	quota  ratelimit.Quota
	clock  *Clock
	store  ratelimit.Store
}

var keys atomic.Uint64

// key is a fresh one.
func (b *bench) key() ratelimit.Key { return ratelimit.Key{Lo: keys.Add(1)} }

func (g Target) bench(t testing.TB, q ratelimit.Quota) *bench {
	t.Helper()
	clock := NewClock()
	s := g.Open(t, ratelimit.Spec{
		Name: "conform", Quota: q, Algorithm: g.algorithm(), MaxEntries: 100_000, Now: clock.Now,
		IPv4Prefix: 32, IPv6Prefix: 64, Mode: ratelimit.Enforce, Overflow: ratelimit.Evict,
	}, clock)
	t.Cleanup(s.Close)
	return &bench{g, q, clock, s}
}

// fataler is what fails a test or one run of a property.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func (b *bench) take(t fataler, k ratelimit.Key, cost int64) ratelimit.Decision {
	t.Helper()
	d, err := b.store.Take(context.Background(), k, cost)
	if err != nil {
		t.Fatalf("%+v: take %d: %v", b.quota, cost, err)
	}
	return d
}

func (b *bench) refund(t fataler, k ratelimit.Key, n int64) {
	t.Helper()
	if err := b.store.Refund(context.Background(), k, n); err != nil {
		t.Fatalf("%+v: refund %d: %v", b.quota, n, err)
	}
}
