package ratelimit_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

// While many requests meet under several limits, each is charged all or none,
// and none is refused because of a charge that is about to be given back: what
// was admitted is exactly what each limit has lost, and the narrowest limit is
// used up.
func TestTakeAllIsOneStep(t *testing.T) {
	const callers, tries = 32, 400
	clk := &clock{at: time.Hour}
	wide := limiter(t, ratelimit.Quota{Rate: 1, Period: time.Hour, Burst: 100_000}, clk)
	narrow := limiter(t, ratelimit.Quota{Rate: 1, Period: time.Hour, Burst: 3000}, clk)
	users := limiter(t, ratelimit.Quota{Rate: 1, Period: time.Hour, Burst: 50}, clk)
	var admitted [callers]atomic.Int64
	together(callers, func(n int) {
		r := rand.New(rand.NewPCG(28, uint64(n)))
		for range tries {
			u := r.IntN(callers)
			charges := []ratelimit.Charge{
				{Limiter: wide, Key: key, Cost: 2},
				{Limiter: users, Key: ratelimit.Key{Hi: uint64(u), Lo: 1}, Cost: 1},
				{Limiter: narrow, Key: key, Cost: 3},
			}
			r.Shuffle(3, func(i, j int) { charges[i], charges[j] = charges[j], charges[i] })
			d, err := ratelimit.TakeAll(context.Background(), charges...)
			if err != nil {
				t.Error(err)
			}
			if d.Allowed {
				admitted[u].Add(1)
			}
		}
	})
	sum := int64(0)
	for u := range admitted {
		n := admitted[u].Load()
		sum += n
		if d, _ := users.Peek(t.Context(), ratelimit.Key{Hi: uint64(u), Lo: 1}); d.Remaining != 50-n {
			t.Errorf("user %d: %d admitted and %d left of 50", u, n, d.Remaining)
		}
	}
	w, _ := wide.Peek(t.Context(), key)
	n, _ := narrow.Peek(t.Context(), key)
	if w.Remaining != 100_000-2*sum || n.Remaining != 3000-3*sum || sum != 1000 {
		t.Errorf("%d admitted; %d left of 100000 at 2, %d of 3000 at 3", sum, w.Remaining, n.Remaining)
	}
}

// A request that one limit refuses is never seen under another, not even for a
// moment: so nobody is refused because of it.
func TestNoWrongRefusals(t *testing.T) {
	clk := &clock{at: time.Hour}
	shared := limiter(t, ratelimit.Quota{Rate: 1, Period: time.Hour, Burst: 1}, clk)
	empty := limiter(t, ratelimit.Quota{Rate: 1, Period: time.Hour, Burst: 1}, clk)
	charge(t, empty, 1)
	var done atomic.Bool
	together(2, func(n int) {
		if n == 0 {
			defer done.Store(true)
			for range 200_000 {
				_, _ = ratelimit.TakeAll(context.Background(),
					ratelimit.Charge{Limiter: shared, Key: key, Cost: 1}, ratelimit.Charge{Limiter: empty, Key: key, Cost: 1})
			}
			return
		}
		for !done.Load() {
			if d, _ := shared.Peek(context.Background(), key); d.Remaining != 1 {
				t.Error("a charge is seen that was never to be")
				return
			}
		}
	})
}

// One bucket may be charged twice in a request: both together must fit.
func TestTwiceInARequest(t *testing.T) {
	l := limiter(t, ratelimit.Quota{Rate: 1, Period: time.Hour, Burst: 5}, &clock{})
	c := ratelimit.Charge{Limiter: l, Key: key, Cost: 2}
	for i, want := range []bool{true, false} {
		if d, err := ratelimit.TakeAll(t.Context(), c, c); d.Allowed != want || err != nil {
			t.Errorf("request %d: got %+v, %v", i+1, d, err)
		}
	}
	if d := charge(t, l, 0); d.Remaining != 1 {
		t.Errorf("%d left, want 1", d.Remaining)
	}
}

// A request's limits are decided without allocating.
func TestTakeAllAllocates(t *testing.T) {
	clk := &clock{}
	q := ratelimit.Quota{Rate: 1000, Period: time.Second, Burst: 2000}
	a, b, c := limiter(t, q, clk), limiter(t, q, clk), limiter(t, q, clk)
	ctx := context.Background()
	if n := testing.AllocsPerRun(500, func() {
		_, _ = ratelimit.TakeAll(ctx, ratelimit.Charge{Limiter: a, Key: key, Cost: 1},
			ratelimit.Charge{Limiter: b, Key: key, Cost: 1}, ratelimit.Charge{Limiter: c, Key: key, Cost: 1})
	}); n > 1 {
		t.Errorf("%v allocations, want at most 1", n)
	} else {
		t.Logf("%v allocations", n)
	}
}

// For a second, 64 callers hammer one key on a clock that runs: never is more
// admitted than the oracle allows between any two moments.
func TestOneHotKey(t *testing.T) {
	for _, algorithm := range []ratelimit.Algorithm{ratelimit.GCRA, ratelimit.SlidingWindow} {
		t.Run(string(algorithm), func(t *testing.T) { hotKey(t, algorithm) })
	}
}

func hotKey(t *testing.T, algorithm ratelimit.Algorithm) {
	q := ratelimit.Quota{Rate: 300, Period: time.Second, Burst: 50}
	l, err := ratelimit.New(ratelimit.Spec{Name: "test", Quota: q, Algorithm: algorithm, MaxEntries: 100}, memory.Open)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var mu sync.Mutex
	var log []call
	until := l.Now() + time.Second
	together(64, func(int) {
		for l.Now() < until {
			begin := l.Now()
			if d, err := l.Take(context.Background(), key); err == nil && d.Allowed {
				mu.Lock()
				log = append(log, call{begin, l.Now()})
				mu.Unlock()
			}
		}
	})
	if n, w := overfull(q, log); n > 0 {
		t.Errorf("%d admitted within %v", n, w)
	}
	if st := l.Stats(); int64(len(log)) < q.Burst || st.Refused == 0 {
		t.Errorf("%d admitted and %d refused: the test has not run as meant", len(log), st.Refused)
	}
	t.Logf("%d admitted of %d tries", len(log), l.Stats().Allowed+l.Stats().Refused)
}
