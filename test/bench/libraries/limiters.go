package main

import (
	"context"
	"math"
	"sync"
	"time"

	golimiter "github.com/sethvargo/go-limiter"
	"github.com/sethvargo/go-limiter/memorystore"
	"github.com/throttled/throttled/v2"
	throttledmem "github.com/throttled/throttled/v2/store/memstore"
	ulule "github.com/ulule/limiter/v3"
	ululemem "github.com/ulule/limiter/v3/drivers/store/memory"
	"golang.org/x/time/rate"

	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

// limiter answers whether the key of a text may go on.
type limiter interface {
	take(text string) bool
	close()
}

// opens makes each limiter for so many keys: one that denies all but the first
// check of a key in an hour, or one that never denies. Ours is the first.
var opens = []struct {
	name string
	open func(keys int, denied bool) (limiter, error)
}{
	{"keystone-go", openOurs},
	{"throttled", openThrottled},
	{"ulule", openUlule},
	{"go-limiter", openGoLimiter},
	{"x/time/rate", openRate},
}

type ours struct{ *ratelimit.Limiter }

func openOurs(keys int, denied bool) (limiter, error) {
	q := ratelimit.Quota{Rate: ratelimit.MaxRate, Period: time.Second, Burst: ratelimit.MaxBurst}
	if denied {
		q = ratelimit.Quota{Rate: 1, Period: time.Hour, Burst: 1}
	}
	l, err := ratelimit.New(ratelimit.Spec{Name: "bench", Quota: q, MaxEntries: keys + keys/8}, memory.Open)
	return ours{l}, err
}

func (l ours) take(text string) bool {
	d, err := l.Take(context.Background(), l.Text(text))
	return err == nil && d.Allowed
}

func (l ours) close() { l.Close() }

type throttledLimiter struct{ *throttled.GCRARateLimiterCtx }

// openThrottled takes its unbounded map, the faster of its two stores.
func openThrottled(_ int, denied bool) (limiter, error) {
	s, err := throttledmem.NewCtx(0)
	if err != nil {
		return nil, err
	}
	q := throttled.RateQuota{MaxRate: throttled.PerSec(100_000), MaxBurst: 100_000}
	if denied {
		q = throttled.RateQuota{MaxRate: throttled.PerHour(1)}
	}
	l, err := throttled.NewGCRARateLimiterCtx(s, q)
	return throttledLimiter{l}, err
}

func (l throttledLimiter) take(text string) bool {
	limited, _, err := l.RateLimitCtx(context.Background(), text, 1)
	return err == nil && !limited
}

func (l throttledLimiter) close() {}

type ululeLimiter struct{ *ulule.Limiter }

func openUlule(_ int, denied bool) (limiter, error) {
	r := ulule.Rate{Period: time.Hour, Limit: math.MaxInt64 / 2}
	if denied {
		r.Limit = 1
	}
	return ululeLimiter{ulule.New(ululemem.NewStore(), r)}, nil
}

func (l ululeLimiter) take(text string) bool {
	c, err := l.Get(context.Background(), text)
	return err == nil && !c.Reached
}

func (l ululeLimiter) close() {}

type goLimiter struct{ golimiter.Store }

func openGoLimiter(_ int, denied bool) (limiter, error) {
	c := memorystore.Config{Tokens: math.MaxInt64, Interval: time.Hour}
	if denied {
		c.Tokens = 1
	}
	s, err := memorystore.New(&c)
	return goLimiter{s}, err
}

func (l goLimiter) take(text string) bool {
	_, _, _, ok, err := l.Take(context.Background(), text)
	return err == nil && ok
}

func (l goLimiter) close() { _ = l.Close(context.Background()) }

// rates is what most write by hand: a map of x/time/rate limiters.
type rates struct {
	mu    sync.RWMutex
	m     map[string]*rate.Limiter
	limit rate.Limit
	burst int
}

func openRate(_ int, denied bool) (limiter, error) {
	if denied {
		return &rates{m: map[string]*rate.Limiter{}, limit: rate.Every(time.Hour), burst: 1}, nil
	}
	return &rates{m: map[string]*rate.Limiter{}, limit: 1e6, burst: 1e6}, nil
}

func (r *rates) take(text string) bool {
	r.mu.RLock()
	l := r.m[text]
	r.mu.RUnlock()
	if l == nil {
		r.mu.Lock()
		if l = r.m[text]; l == nil {
			l = rate.NewLimiter(r.limit, r.burst)
			r.m[text] = l
		}
		r.mu.Unlock()
	}
	return l.Allow()
}

func (r *rates) close() {}
