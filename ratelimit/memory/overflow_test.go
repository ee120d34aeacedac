package memory_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

func overflowing(t testing.TB, o ratelimit.Overflow, entries int, q ratelimit.Quota, c *clock) *memory.Store {
	t.Helper()
	s, err := memory.New(ratelimit.Spec{Quota: q, MaxEntries: entries, Overflow: o, Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func flood() int {
	if racing {
		return 100_000
	}
	return 1_000_000
}

// R145: a flood of new keys within a second pushes out a hundredth of the
// debts, not all of them, whether they are hammered or idle; the new keys share
// one budget, or get none.
func TestR145(t *testing.T) {
	for _, o := range []ratelimit.Overflow{ratelimit.Shared, ratelimit.Deny} {
		t.Run(string(o), func(t *testing.T) {
			clk := &clock{at: time.Hour}
			s := overflowing(t, o, 10_000, slow, clk)
			for n := range 20_000 { // until every shard is full
				take(t, s, -1-n%10_000, slow.Burst)
			}
			clk.at += time.Second
			before := s.Stats()
			passed, flood := 0, flood()
			for n := range flood {
				if take(t, s, n, 1).Allowed {
					passed++
				}
			}
			st := s.Stats()
			lost := st.EvictedLive - before.EvictedLive
			if lost > 10_000/100+16 || st.EvictedIdle != before.EvictedIdle {
				t.Errorf("the flood pushed out %d live entries", lost)
			}
			if most := int(lost) + 10_000 - before.Entries + int(slow.Burst); passed > most || st.Overflowed-before.Overflowed < uint64(flood)*9/10 {
				t.Errorf("%d of the flood passed, want at most %d; %d overflowed", passed, most, st.Overflowed-before.Overflowed)
			}
			still := 0
			for n := range 10_000 {
				if held(t, s, -1-n) {
					still++
				}
			}
			if still < 9_500 {
				t.Errorf("%d of 10000 debts are left", still)
			}
			if d := take(t, s, 2_000_000, 1); d.Allowed || d.Retry <= 0 {
				t.Errorf("one more new key: %+v", d)
			}
		})
	}
}

// When the flood is over there is room for new keys again, and what a key was
// charged in the shared bucket can be given back.
func TestOverflowEnds(t *testing.T) {
	clk := &clock{at: time.Hour}
	s := overflowing(t, ratelimit.Shared, 3, slow, clk)
	for n := 1; n <= 4; n++ {
		take(t, s, n, 2)
	}
	if st := s.Stats(); st.EvictedLive != 1 || st.Overflowed != 0 {
		t.Fatalf("one eviction in a second is no flood: %+v", st)
	}
	if d := take(t, s, 5, 2); !d.Allowed || d.Remaining != 0 {
		t.Errorf("the first in the shared bucket: %+v", d)
	}
	if d := take(t, s, 6, 1); d.Allowed || d.Retry != time.Hour {
		t.Errorf("the second: %+v", d)
	}
	if err := s.Refund(t.Context(), key(5), 2); err != nil {
		t.Fatal(err)
	}
	if d := take(t, s, 6, 1); !d.Allowed || d.Remaining != 1 || s.Len() != 3 {
		t.Errorf("after a refund: %+v, %d entries", d, s.Len())
	}
	if d := take(t, s, 3, 1); d.Allowed {
		t.Errorf("a key that is held is not the flood's: %+v", d)
	}
	if _, err := s.Take(t.Context(), key(7), 3); !errors.Is(err, ratelimit.ErrCost) {
		t.Errorf("a cost above the burst: %v", err)
	}
	clk.at += time.Second
	if d := take(t, s, 8, 1); !d.Allowed || s.Stats().EvictedLive != 2 {
		t.Errorf("a second later: %+v, %+v", d, s.Stats())
	}
}

// Idle entries make room in a flood as ever.
func TestOverflowTakesIdleFirst(t *testing.T) {
	clk := &clock{at: time.Hour}
	s := overflowing(t, ratelimit.Deny, 3, fast, clk)
	for n := 1; n <= 4; n++ {
		take(t, s, n, 5)
	}
	if d := take(t, s, 5, 1); d.Allowed || d.Retry != time.Second {
		t.Errorf("in the flood: %+v", d)
	}
	clk.at += 600 * time.Millisecond
	if d := take(t, s, 5, 1); !d.Allowed || s.Stats().EvictedIdle == 0 {
		t.Errorf("with idle entries: %+v, %+v", d, s.Stats())
	}
}

// A million addresses and a million names leave two stores at their size: at
// most 96 bytes an entry and 8 MB, keys that are hammered stay refused, and the
// garbage collector hardly notices.
func TestFlood(t *testing.T) {
	const entries = 10_000
	var at atomic.Int64 // the sweepers read it too, when the test takes long
	at.Store(int64(time.Hour))
	open := func(o ratelimit.Overflow) *memory.Store {
		s, err := memory.New(ratelimit.Spec{
			Quota: slow, MaxEntries: entries, Overflow: o, Now: func() time.Duration { return time.Duration(at.Load()) },
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	collect := func() time.Duration {
		best := time.Hour
		for range 5 { // others share the processor: the best run counts
			begin := time.Now()
			runtime.GC()
			best = min(best, time.Since(begin))
		}
		return best
	}
	empty := collect()
	before, _ := heap()
	addresses, names := open(ratelimit.Evict), open(ratelimit.Shared)
	for _, s := range []*memory.Store{addresses, names} {
		take(t, s, -1, slow.Burst)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for n := range flood() {
		at.Add(int64(10 * time.Microsecond))
		take(t, addresses, n, 1)
		take(t, names, int(r.Uint64()>>1), 1)
		if n%100 == 0 && (take(t, addresses, -1, 1).Allowed || take(t, names, -1, 1).Allowed) {
			t.Fatalf("a key that is hammered was freed after %d", n)
		}
	}
	after, _ := heap()
	grown := math.Max(0, float64(after)-float64(before))
	if limit := float64(96*2*entries + 8<<20); grown > limit {
		t.Errorf("%.0f bytes more of heap, want at most %.0f", grown, limit)
	}
	if full := collect(); full > empty+10*time.Millisecond && !racing {
		t.Errorf("a collection takes %v, %v without the stores", full, empty)
	}
	t.Logf("%.0f bytes for %d entries; %+v, %+v", grown, addresses.Len()+names.Len(), addresses.Stats(), names.Stats())
	runtime.KeepAlive(addresses)
	runtime.KeepAlive(names)
}
