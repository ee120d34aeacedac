package redis_test

import (
	"context"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/redistest"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/redis"
)

// patient is a budget for tests that are not about time, on a busy machine.
const patient = 20 * time.Second

func dial(t testing.TB, cfg redis.Config) *redis.Client {
	t.Helper()
	if cfg.Secret == nil {
		cfg.Secret = []byte("a secret of the tests")
	}
	c, err := redis.Dial(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// client is one process' way to a server, without haste.
func client(t testing.TB, addr string) *redis.Client {
	t.Helper()
	return dial(t, redis.Config{URL: "redis://" + addr, Budget: patient, DialTimeout: patient})
}

func spec(name string, rate int64, period time.Duration, burst int64) ratelimit.Spec {
	return ratelimit.Spec{Name: name, Quota: ratelimit.Quota{Rate: rate, Period: period, Burst: burst}, Algorithm: ratelimit.GCRA}
}

func limiter(t testing.TB, c *redis.Client, s ratelimit.Spec) *ratelimit.Limiter {
	t.Helper()
	l, err := ratelimit.New(s, c.Open)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// open gives a store that asks the server each time.
func open(t testing.TB, c *redis.Client, s ratelimit.Spec) *redis.Store {
	t.Helper()
	st, err := c.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	st.(*redis.Store).ForgetDenials()
	return st.(*redis.Store)
}

func key(n int) ratelimit.Key { return ratelimit.Key{Lo: uint64(n)} }

func take(t testing.TB, s ratelimit.Store, k ratelimit.Key, cost int64) ratelimit.Decision {
	t.Helper()
	d, err := s.Take(context.Background(), k, cost)
	if err != nil {
		t.Fatalf("Take %d: %v", cost, err)
	}
	return d
}

// clock is a time of day that a test moves, in whole microseconds.
type clock struct{ at time.Duration }

func (c *clock) now() time.Duration { return c.at }

// since 2026, as a server would say.
func newClock() *clock { return &clock{1_780_000_000 * time.Second} }

// clocked is a client on a server of its own, with a clock of the test.
func clocked(t testing.TB) (*redis.Client, *clock, *redistest.Server) {
	t.Helper()
	s, k := redistest.Start(t), newClock()
	c := client(t, s.Addr)
	c.SetClock(k.now)
	return c, k, s
}
