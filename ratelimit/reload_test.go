package ratelimit_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// RL-L25: the same numbers again are no change: what is owed stays owed.
func TestRL_L25(t *testing.T) {
	clk := &clock{}
	q := ratelimit.Quota{Rate: 10, Period: time.Second, Burst: 10}
	l := limiter(t, q, clk)
	charge(t, l, 10)
	before := charge(t, l, 1)
	if err := l.Requota(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if got := charge(t, l, 1); got != before || got.Allowed {
		t.Errorf("got %+v, want %+v as before", got, before)
	}
}

// RL-L27: a quota out of bounds is reported, and the old one stays in force
// with all that it counted.
func TestRL_L27(t *testing.T) {
	clk := &clock{}
	q := ratelimit.Quota{Rate: 10, Period: time.Second, Burst: 10}
	l := limiter(t, q, clk)
	charge(t, l, 7)
	if err := l.Requota(t.Context(), ratelimit.Quota{Rate: 10, Period: time.Second}); !errors.Is(err, ratelimit.ErrQuota) {
		t.Errorf("got %v, want ErrQuota", err)
	}
	if d := charge(t, l, 0); d.Remaining != 3 || l.Quota() != q {
		t.Errorf("%+v by %+v, want 3 left by the old quota", d, l.Quota())
	}
}

// A new quota keeps the units that are owed.
func TestRequota(t *testing.T) {
	clk := &clock{}
	l := limiter(t, ratelimit.Quota{Rate: 10, Period: time.Second, Burst: 10}, clk)
	charge(t, l, 6)
	for _, c := range []struct {
		to   ratelimit.Quota
		want ratelimit.Decision
	}{
		{ratelimit.Quota{Rate: 60, Period: time.Minute, Burst: 100}, allowed(94, 6*time.Second)},
		{ratelimit.Quota{Rate: 1, Period: time.Hour, Burst: 4}, allowed(0, 4*time.Hour)},
		{ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 10}, allowed(6, 4*time.Second)},
	} {
		if err := l.Requota(t.Context(), c.to); err != nil {
			t.Fatal(err)
		}
		if got := charge(t, l, 0); got != c.want || l.Quota() != c.to {
			t.Errorf("to %+v: got %+v, want %+v", c.to, got, c.want)
		}
	}
	fixed, err := ratelimit.New(ratelimit.Spec{Quota: l.Quota()}, func(ratelimit.Spec) (ratelimit.Store, error) { return broken{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := fixed.Requota(t.Context(), ratelimit.Quota{Rate: 1, Period: 1, Burst: 1}); !errors.Is(err, ratelimit.ErrFixed) {
		t.Errorf("a store that cannot: got %v, want ErrFixed", err)
	}
}

// A tighter quota never admits what the old one would have refused at that
// moment.
func TestTighterNeverAdmits(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 20_000 {
		q := quotas[r.IntN(len(quotas))]
		tight := ratelimit.Quota{
			Rate: r.Int64N(q.Rate) + 1, Burst: r.Int64N(q.Burst) + 1,
			Period: min(ratelimit.MaxPeriod, q.Period+time.Duration(r.Int64N(int64(q.Period)))),
		}
		old, next := meter(t, q), meter(t, tight)
		debt := r.Int64N(q.Burst*int64(q.Period) + 1)
		state := ratelimit.State{Last: time.Hour, Debt: debt}
		at := time.Hour + max(0, step(r, q))
		if at > 1<<61 {
			continue
		}
		converted := old.Convert(state, at, next)
		cost := r.Int64N(tight.Burst) + 1
		before, after := take(t, old, &state, at, cost), take(t, next, &converted, at, cost)
		if after.Allowed && !before.Allowed {
			t.Fatalf("%+v owing %d, to %+v: %d admitted", q, debt, tight, cost)
		}
	}
}

// An operator forgets one key, sees who owes most, and where the store cannot
// do either, all is given back and nobody listed.
func TestResetAndTop(t *testing.T) {
	clk := &clock{}
	l := limiter(t, ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 10}, clk)
	for n := range byte(5) {
		if d, err := l.TakeCost(t.Context(), ratelimit.Key{Hi: uint64(n)}, int64(n)+6); !d.Allowed || err != nil {
			t.Fatal(d, err)
		}
	}
	clk.at = time.Second
	want := []ratelimit.Debtor{
		{Key: ratelimit.Key{Hi: 4}, Debt: 9, Retry: 0, Reset: 9 * time.Second},
		{Key: ratelimit.Key{Hi: 3}, Debt: 8, Retry: 0, Reset: 8 * time.Second},
	}
	if got := l.Top(2); len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("Top(2): got %+v, want %+v", got, want)
	}
	if err := l.Reset(t.Context(), ratelimit.Key{Hi: 4}); err != nil {
		t.Fatal(err)
	}
	if got := l.Top(10); len(got) != 4 || got[0] != want[1] {
		t.Errorf("after a reset: %+v", got)
	}
	if got := l.Top(0); len(got) != 0 {
		t.Errorf("Top(0): %+v", got)
	}
	s := &given{}
	plain, err := ratelimit.New(ratelimit.Spec{Quota: l.Quota()}, func(ratelimit.Spec) (ratelimit.Store, error) { return s, nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := plain.Reset(t.Context(), key); err != nil || s.back < 2*l.Quota().Burst || plain.Top(5) != nil {
		t.Errorf("a store that cannot: %v, %d given back", err, s.back)
	}
}
