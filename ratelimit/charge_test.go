package ratelimit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// RL-L10: a cost that can never pass is a mistake of the caller, not a wait.
func TestRL_L10(t *testing.T) {
	l := limiter(t, ratelimit.Quota{Rate: 10, Period: time.Second, Burst: 4}, &clock{})
	for _, cost := range []int64{5, -1} {
		d, err := ratelimit.TakeAll(t.Context(), ratelimit.Charge{Limiter: l, Key: key, Cost: cost})
		if !errors.Is(err, ratelimit.ErrCost) || d.Retry != 0 || d.Allowed {
			t.Errorf("cost %d: got %+v, %v; want ErrCost", cost, d, err)
		}
	}
	if d := charge(t, l, 4); !d.Allowed {
		t.Errorf("after a mistake: got %+v, want the whole burst", d)
	}
}

// RL-L28: a request that one limit refuses costs nothing under another.
func TestRL_L28(t *testing.T) {
	clk := &clock{}
	x := limiter(t, ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 5}, clk)
	y := limiter(t, ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 1}, clk)
	charge(t, y, 1)
	for _, order := range [][]ratelimit.Charge{
		{{Limiter: x, Key: key, Cost: 2}, {Limiter: y, Key: key, Cost: 1}, {Limiter: nil, Cost: 7}},
		{{Limiter: y, Key: key, Cost: 1}, {Limiter: nil}, {Limiter: x, Key: key, Cost: 2}},
	} {
		d, err := ratelimit.TakeAll(t.Context(), order...)
		if err != nil || d.Allowed || d.Retry != time.Second || d.Remaining != 0 {
			t.Errorf("got %+v, %v; want refused for 1s", d, err)
		}
		if d, _ := x.Peek(t.Context(), key); d.Remaining != 5 {
			t.Errorf("X has %d left, want 5", d.Remaining)
		}
	}
	clk.at = time.Second
	d, err := ratelimit.TakeAll(t.Context(), ratelimit.Charge{Limiter: x, Key: key, Cost: 2}, ratelimit.Charge{Limiter: y, Key: key, Cost: 1})
	if want := allowed(0, 2*time.Second); err != nil || d.Decision != want || d.By != "" {
		t.Errorf("a second later: got %+v, %v; want %+v", d, err, want)
	}
}

// Of several waits the client is told the longest, whatever the order.
func TestLongestWait(t *testing.T) {
	clk := &clock{}
	short := limiter(t, ratelimit.Quota{Rate: 10, Period: 4 * time.Second, Burst: 1}, clk)
	long := limiter(t, ratelimit.Quota{Rate: 10, Period: 72 * time.Second, Burst: 1}, clk)
	charge(t, short, 1)
	charge(t, long, 1)
	a, b := ratelimit.Charge{Limiter: short, Key: key, Cost: 1}, ratelimit.Charge{Limiter: long, Key: key, Cost: 1}
	for _, order := range [][]ratelimit.Charge{{a, b}, {b, a}} {
		d, err := ratelimit.TakeAll(t.Context(), order...)
		if err != nil || d.Allowed || d.Retry != 7200*ms || ratelimit.RetryAfter(d.Retry) != 8 {
			t.Errorf("got %+v, %v; want refused for 7.2s", d, err)
		}
	}
}

// broken is a store that cannot decide.
type broken struct{ err error }

func (b broken) Take(context.Context, ratelimit.Key, int64) (ratelimit.Decision, error) {
	return ratelimit.Decision{}, b.err
}

func (b broken) Refund(context.Context, ratelimit.Key, int64) error { return b.err }

func (b broken) Len() int { return 0 }

func (b broken) Close() {}

// A store that fails says so; it neither allows nor refuses, and what other
// limits charged for the same request is given back.
func TestStoreFailure(t *testing.T) {
	down := errors.New("down")
	q := ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 2}
	bad, err := ratelimit.New(ratelimit.Spec{Name: "bad", Quota: q}, func(ratelimit.Spec) (ratelimit.Store, error) { return broken{down}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if d, err := bad.Take(t.Context(), key); !errors.Is(err, down) || d.Allowed {
		t.Errorf("Take: got %+v, %v; want the store's error", d, err)
	}
	good := limiter(t, q, &clock{})
	_, err = ratelimit.TakeAll(t.Context(), ratelimit.Charge{Limiter: good, Key: key, Cost: 2}, ratelimit.Charge{Limiter: bad, Key: key, Cost: 1})
	if d, _ := good.Peek(t.Context(), key); !errors.Is(err, down) || d.Remaining != 2 {
		t.Errorf("TakeAll: got %v and %d left; want the store's error and 2", err, d.Remaining)
	}
	if _, err := ratelimit.New(ratelimit.Spec{Name: "worse", Quota: q}, func(ratelimit.Spec) (ratelimit.Store, error) { return nil, down }); !errors.Is(err, down) {
		t.Errorf("New: got %v, want the opener's error", err)
	}
}

// given notes what it is given back.
type given struct {
	broken
	back int64
}

func (g *given) Refund(_ context.Context, _ ratelimit.Key, n int64) error {
	g.back += n
	return nil
}
