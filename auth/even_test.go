package auth

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/auth/method"
	"github.com/keystone-go/keystone-go/internal/fault"
)

// spent is an attempt of which only the time matters.
type spent struct {
	method.Attempt
	s method.Spent
}

func (s spent) Spent() method.Spent { return s.s }

// clockwork is an evening whose clock moves only by what happens.
func clockwork() (e *evening, at *time.Duration) {
	at = new(time.Duration)
	return &evening{most: firstEven, now: func() time.Duration { return *at }, wait: func(_ context.Context, until time.Duration) {
		*at = max(*at, until)
	}}, at
}

const hashing = 250 * time.Millisecond

// refusal takes a time beside its hash, and tells what it took in all.
func refusal(e *evening, at *time.Duration, around time.Duration, counted bool) time.Duration {
	start := *at
	*at += around + hashing
	e.even(context.Background(), start, []method.Attempt{spent{s: method.Spent{Secret: true, Hashing: hashing, Counted: counted}}},
		fault.Denied("no"))
	return *at - start
}

// TestEven: once some were written, a refusal that writes takes as long as one
// that does not, but for a few in a thousand.
func TestEven(t *testing.T) {
	for _, write := range []time.Duration{50 * time.Microsecond, 3 * time.Millisecond, 40 * time.Millisecond, 400 * time.Millisecond} {
		e, at := clockwork()
		around := func(n int) time.Duration { return write + time.Duration(n*7919%100)*write/300 }
		for n := range 5000 {
			refusal(e, at, around(n), true)
		}
		apart, slowest := 0, time.Duration(0)
		for n := range 5000 {
			short, long := refusal(e, at, write/10, false), refusal(e, at, around(n), true)
			if d := long - short; d > write/100 || d < -write/100 {
				apart++
			}
			slowest = max(slowest, long-hashing)
		}
		if apart > 50 || slowest > max(2*write, 2*leastEven) {
			t.Errorf("a write of %v: %d of 5000 pairs differ, the slowest takes %v", write, apart, slowest)
		}
	}
}

// TestEvenIsTaughtByWrites: a flood of refusals that write nothing changes
// nothing, however short or long they are.
func TestEvenIsTaughtByWrites(t *testing.T) {
	e, at := clockwork()
	for range 5000 {
		refusal(e, at, 20*time.Millisecond, true)
	}
	before := e.most
	for range 10_000 {
		refusal(e, at, time.Microsecond, false)
	}
	refusal(e, at, 10*time.Second, false)
	if e.most != before || before < 18*time.Millisecond || before > 25*time.Millisecond {
		t.Errorf("held to %v, before %v", e.most, before)
	}
	for range 100 {
		refusal(e, at, time.Hour, true)
	}
	if e.most != longestEven {
		t.Errorf("held to %v, want %v at most", e.most, longestEven)
	}
}

// TestEvenFor: refusals of a secret are held back, at logins and at a limit;
// nothing else is.
func TestEvenFor(t *testing.T) {
	secret, none := method.Spent{Secret: true}, method.Spent{}
	for what, tt := range map[string]struct {
		spent method.Spent
		err   error
		held  bool
	}{
		"refused":         {secret, fault.Denied("no"), true},
		"limited":         {secret, fault.New(fault.TooMany, "no"), true},
		"forbidden":       {secret, fault.New(fault.Forbidden, "no"), true},
		"let in":          {secret, nil, false},
		"more is missing": {secret, &fault.Error{Kind: fault.Unauthorized, Reason: reasonFactors}, false},
		"broken":          {secret, errors.New("disk"), false},
		"unavailable":     {secret, fault.New(fault.Unavailable, "no"), false},
		"no secret":       {none, fault.Denied("no"), false},
	} {
		e, at := clockwork()
		e.even(t.Context(), 0, []method.Attempt{spent{s: none}, spent{s: tt.spent}}, tt.err)
		if held := *at > 0; held != tt.held {
			t.Errorf("%s: held back %v, want %v", what, held, tt.held)
		}
	}
}
