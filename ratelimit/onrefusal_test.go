package ratelimit_test

import (
	"context"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

type traceKey struct{}

// OnRefusal is told of refusals alone, by a single check as by TakeAll, in
// shadow as in force, with the key and the context of the request.
func TestOnRefusal(t *testing.T) {
	type call struct {
		limiter string
		key     ratelimit.Key
		trace   any
	}
	var got []call
	open := func(name string, mode ratelimit.Mode) *ratelimit.Limiter {
		l, err := ratelimit.New(ratelimit.Spec{
			Name: name, Mode: mode, Quota: ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 1}, MaxEntries: 1000,
			Now: func() time.Duration { return 0 },
		}, memory.Open)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.Close)
		l.OnRefusal(func(ctx context.Context, l *ratelimit.Limiter, k ratelimit.Key) {
			got = append(got, call{l.Name(), k, ctx.Value(traceKey{})})
		})
		return l
	}
	force, shadow := open("force", ratelimit.Enforce), open("shadow", ratelimit.Shadow)
	ctx := context.WithValue(t.Context(), traceKey{}, "req-1")
	k := ratelimit.Key{Hi: 1}
	check := func(what string, want ...call) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: told of %v, want %v", what, got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: told of %v, want %v", what, got[i], want[i])
			}
		}
		got = nil
	}
	both := []ratelimit.Charge{{Limiter: shadow, Key: k, Cost: 1}, {Limiter: force, Key: k, Cost: 1}}
	if _, err := ratelimit.TakeAll(ctx, both...); err != nil {
		t.Fatal(err)
	}
	check("allowed")
	if _, err := ratelimit.TakeAll(ctx, both...); err != nil {
		t.Fatal(err)
	}
	check("TakeAll", call{"shadow", k, "req-1"}, call{"force", k, "req-1"})
	if _, err := force.Take(ctx, k); err != nil {
		t.Fatal(err)
	}
	if _, err := shadow.TakeAt(ctx, 0, k); err != nil {
		t.Fatal(err)
	}
	check("single checks", call{"force", k, "req-1"}, call{"shadow", k, "req-1"})
	if _, err := force.Peek(ctx, k); err != nil {
		t.Fatal(err)
	}
	check("a peek")
	var none *ratelimit.Limiter
	none.OnRefusal(nil)
}
