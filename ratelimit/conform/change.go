package conform

import (
	"context"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

type requoter interface {
	Requota(ctx context.Context, q ratelimit.Quota) error
}

type resetter interface {
	Reset(ctx context.Context, k ratelimit.Key) error
}

// reset forgets one key and no other.
func (b *bench) reset(t *testing.T, s resetter) {
	x, y := b.key(), b.key()
	for _, k := range []ratelimit.Key{x, y} {
		b.take(t, k, b.quota.Burst)
	}
	for _, k := range []ratelimit.Key{x, x, b.key()} {
		if err := s.Reset(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	if d := b.take(t, x, 0); d.Remaining != b.quota.Burst || d.Reset != 0 {
		t.Errorf("reset: %+v", d)
	}
	if d := b.take(t, y, 1); d.Allowed {
		t.Errorf("another key was freed: %+v", d)
	}
}

// requota changes the quota under debts. Nothing is forgotten: as many units
// are owed as before, rounded up, at most the new burst; the same quota is no
// change at all; a quota out of bounds leaves all as it was.
func (g Target) requota(t *testing.T, q ratelimit.Quota) {
	for _, to := range g.quotas() {
		b := g.bench(t, q)
		s := b.store.(requoter)
		keys, owed := make([]ratelimit.Key, 4), make([]int64, 4)
		for i := range keys {
			keys[i] = b.key()
			o := g.oracle(q)
			cost := max(1, q.Burst*int64(i)/3)
			b.equal(t, "take", b.take(t, keys[i], cost), o.take(b.clock.Now(), cost))
			b.clock.Move(roundUp(q.Period/time.Duration(q.Rate)/3, g.Tick))
			owed[i] = o.units(b.clock.Now())
			for j := range i { // the keys before owe less by now
				owed[j] = q.Burst - b.take(t, keys[j], 0).Remaining
			}
		}
		before := b.take(t, keys[3], 0)
		if err := s.Requota(t.Context(), ratelimit.Quota{Rate: 1, Period: time.Second}); err == nil {
			t.Fatal("a burst of 0 is taken")
		}
		if err := s.Requota(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		b.equal(t, "the same quota", b.take(t, keys[3], 0), before)
		if err := s.Requota(t.Context(), to); err != nil {
			t.Fatal(err)
		}
		b.quota = to
		for i, k := range keys {
			got, want := b.take(t, k, 0), to.Burst-min(owed[i], to.Burst)
			// Units whose last part was paid back already may count as whole.
			if got.Remaining != want {
				t.Errorf("%s, %+v to %+v: %d owed before, %d remain, want %d", g.Form, q, to, owed[i], got.Remaining, want)
			}
			if d := b.take(t, k, to.Burst); owed[i] > 0 && d.Allowed {
				t.Errorf("%s, %+v to %+v: a debt of %d is forgotten", g.Form, q, to, owed[i])
			}
		}
		if d := b.take(t, b.key(), to.Burst); !d.Allowed {
			t.Errorf("the new burst is not given to a new key: %+v", d)
		}
	}
}
