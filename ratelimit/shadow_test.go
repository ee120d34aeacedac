package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

// watch makes a limiter whose outcomes are written down.
func watch(t *testing.T, name string, mode ratelimit.Mode, burst int64, open ratelimit.Opener) (*ratelimit.Limiter, *[]string) {
	t.Helper()
	var seen []string
	l, err := ratelimit.New(ratelimit.Spec{
		Name: name, Quota: ratelimit.Quota{Rate: 1, Period: time.Second, Burst: burst}, Mode: mode,
		MaxEntries: 100, Now: (&clock{}).now,
		Observe: func(limiter, outcome string) { seen = append(seen, limiter+" "+outcome) },
	}, open)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l, &seen
}

// A limiter in shadow counts and reports what it would refuse, and refuses
// nothing.
func TestShadow(t *testing.T) {
	l, seen := watch(t, "x", ratelimit.Shadow, 1, memory.Open)
	for range 3 {
		if d, err := l.Take(t.Context(), key); !d.Allowed || d.Retry != 0 || err != nil {
			t.Errorf("shadow: got %+v, %v", d, err)
		}
	}
	l.SetMode(ratelimit.Enforce)
	if d, err := l.Take(t.Context(), key); d.Allowed || err != nil || l.Mode() != ratelimit.Enforce {
		t.Errorf("enforced, with the unit that the shadow charged: got %+v, %v", d, err)
	}
	l.SetMode(ratelimit.Shadow)
	l.Observe(ratelimit.Exempt)
	want := []string{"x allowed", "x shadow_rejected", "x shadow_rejected", "x rejected", "x exempt"}
	if l.Mode() != ratelimit.Shadow || !reflect.DeepEqual(*seen, want) {
		t.Errorf("got %q, want %q", *seen, want)
	}
}

// Among others, a shadow's refusal neither refuses nor hides what comes after
// it, whatever the order; what it could charge is charged.
func TestShadowAmongOthers(t *testing.T) {
	for _, order := range [][3]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}} {
		full, s1 := watch(t, "full", ratelimit.Shadow, 1, memory.Open)
		free, s2 := watch(t, "free", ratelimit.Shadow, 5, memory.Open)
		real, s3 := watch(t, "real", ratelimit.Enforce, 2, memory.Open)
		charge(t, full, 1)
		*s1 = nil
		var charges []ratelimit.Charge
		for _, i := range order {
			charges = append(charges, ratelimit.Charge{Limiter: []*ratelimit.Limiter{full, free, real}[i], Key: key, Cost: 1})
		}
		for i, want := range []ratelimit.Verdict{
			{Decision: ratelimit.Decision{Allowed: true, Remaining: 1, Reset: time.Second}},
			{Decision: ratelimit.Decision{Allowed: true, Remaining: 0, Reset: 2 * time.Second}},
			{Decision: ratelimit.Decision{Retry: time.Second, Reset: 2 * time.Second}, By: "real"},
		} {
			if got, err := ratelimit.TakeAll(t.Context(), charges...); got != want || err != nil {
				t.Errorf("order %v, request %d: got %+v, %v; want %+v", order, i+1, got, err, want)
			}
			for n, c := range charges {
				if want.Allowed && c.Spared != (c.Limiter == full) {
					t.Errorf("order %v, request %d: charge %d is said to be spared: %v", order, i+1, n, c.Spared)
				}
			}
		}
		if d, _ := free.Peek(t.Context(), key); d.Remaining != 3 {
			t.Errorf("order %v: the shadow with room has %d left, want 3", order, d.Remaining)
		}
		if d, _ := full.Peek(t.Context(), key); d.Remaining != 0 {
			t.Errorf("order %v: the full shadow has %d left", order, d.Remaining)
		}
		if got, want := fmt.Sprint(*s1, *s2, *s3), "[full shadow_rejected full shadow_rejected full shadow_rejected] "+
			"[free allowed free allowed free allowed] [real allowed real allowed real rejected]"; got != want {
			t.Errorf("order %v: got %s", order, got)
		}
	}
}

// A shadow whose store is down says so and lets pass.
func TestShadowOfABrokenStore(t *testing.T) {
	down := errors.New("down")
	l, seen := watch(t, "x", ratelimit.Shadow, 1, func(ratelimit.Spec) (ratelimit.Store, error) { return broken{down}, nil })
	real, _ := watch(t, "real", ratelimit.Enforce, 2, memory.Open)
	if d, err := l.Take(t.Context(), key); !d.Allowed || err != nil {
		t.Errorf("Take: got %+v, %v", d, err)
	}
	charges := []ratelimit.Charge{{Limiter: l, Key: key, Cost: 1}, {Limiter: real, Key: key, Cost: 1}}
	d, err := ratelimit.TakeAll(context.Background(), charges...)
	if !d.Allowed || d.Remaining != 1 || err != nil || !charges[0].Spared || charges[1].Spared {
		t.Errorf("TakeAll: got %+v, %v for %+v", d, err, charges)
	}
	if want := []string{"x error", "x error"}; !reflect.DeepEqual(*seen, want) {
		t.Errorf("got %q, want %q", *seen, want)
	}
}
