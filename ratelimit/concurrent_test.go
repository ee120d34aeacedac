package ratelimit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

// RL-L22: at one moment, any number of callers get the burst and not one more.
func TestRL_L22(t *testing.T) {
	const burst, callers = 1000, 64
	l := limiter(t, ratelimit.Quota{Rate: 10, Period: time.Second, Burst: burst}, &clock{at: time.Hour})
	var ok atomic.Int64
	together(callers, func(int) {
		for range 1000 {
			if d, err := l.Take(context.Background(), key); err == nil && d.Allowed {
				ok.Add(1)
			}
		}
	})
	if ok.Load() != burst {
		t.Errorf("%d allowed, want %d", ok.Load(), burst)
	}
}

// With every second success given back, never more than the burst is kept.
func TestConcurrentRefunds(t *testing.T) {
	const burst = 100
	l := limiter(t, ratelimit.Quota{Rate: 10, Period: time.Second, Burst: burst}, &clock{at: time.Hour})
	var kept atomic.Int64
	together(64, func(int) {
		for i := range 500 {
			d, err := l.Take(context.Background(), key)
			if err != nil || !d.Allowed {
				continue
			}
			// Counted after the store admits and before it takes back: the
			// count is never above what is truly out.
			if n := kept.Add(1); n > burst {
				t.Errorf("%d kept at once, want at most %d", n, burst)
			}
			if i%2 == 0 {
				kept.Add(-1)
				if err := l.Refund(context.Background(), key); err != nil {
					t.Error(err)
				}
			}
		}
	})
	if kept.Load() != burst {
		t.Errorf("kept %d at the end, want %d", kept.Load(), burst)
	}
}

// RL-L23: on a clock that runs, no key is ever admitted more than its quota.
// An admission lies between the readings before and after its call, so the
// interval between two calls is at most from the first's begin to the second's
// end.
func TestRL_L23(t *testing.T) {
	q := ratelimit.Quota{Rate: 10, Period: time.Second, Burst: 5}
	l, err := ratelimit.New(ratelimit.Spec{Name: "test", Quota: q, MaxEntries: 20_000}, memory.Open)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const keys, callers = 10_000, 64
	var logs [keys][]call
	var locks [keys]sync.Mutex
	until := l.Now() + 2*time.Second
	together(callers, func(n int) {
		r := rand.New(rand.NewPCG(23, uint64(n)))
		for l.Now() < until {
			// Half of the calls meet on a few keys, so that these are refused.
			i := r.IntN(keys)
			if r.IntN(2) == 0 {
				i = r.IntN(16)
			}
			begin := l.Now()
			d, err := l.Take(context.Background(), l.Text(fmt.Sprint(i)))
			if err == nil && d.Allowed {
				locks[i].Lock()
				logs[i] = append(logs[i], call{begin, l.Now()})
				locks[i].Unlock()
			}
		}
	})
	seen := 0
	for i, log := range logs {
		seen += len(log)
		if n, w := overfull(q, log); n > 0 {
			t.Errorf("key %d: %d admitted within %v", i, n, w)
		}
	}
	if st := l.Stats(); seen < keys || st.Refused == 0 {
		t.Errorf("%d allowed and %d refused: the test has not run as meant", seen, st.Refused)
	}
}

type call struct{ begin, end time.Duration }

// overfull finds an interval in which more was admitted than the quota has.
func overfull(q ratelimit.Quota, log []call) (n int64, w time.Duration) {
	for _, first := range log {
		for _, last := range log {
			n, w = 0, last.end-first.begin
			for _, c := range log {
				if c.begin >= first.begin && c.end <= last.end {
					n++
				}
			}
			if w >= 0 && (n-q.Burst)*int64(q.Period) > int64(w)*q.Rate {
				return n, w
			}
		}
	}
	return 0, 0
}

// together runs f in so many goroutines at once and waits for them.
func together(n int, f func(int)) {
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-begin
			f(i)
		})
	}
	close(begin)
	wg.Wait()
}
