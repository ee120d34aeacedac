package ratelimit

import (
	"context"
	"errors"
	"time"
)

// Charge asks one limiter for Cost units of a key. A nil Limiter allows it.
type Charge struct {
	Limiter *Limiter
	Key     Key
	Cost    int64
}

// TakeAll charges every limit of a request or none of them, so that a request
// which one limit refuses costs nothing under the others. The Decision is the
// strictest of all: the least that remains, the longest waits. The limiters
// must share a clock, as those of a Set do. Between a charge and its return
// another request may be refused that need not be; never the reverse.
func TakeAll(ctx context.Context, charges ...Charge) (Decision, error) {
	at := reading(charges)
	sum := Decision{Allowed: true, Remaining: MaxBurst}
	for i, c := range charges {
		d, err := c.take(ctx, at)
		if err != nil {
			return Decision{}, errors.Join(err, giveBack(ctx, charges[:i]))
		}
		sum.join(d)
		if !d.Allowed {
			err := giveBack(ctx, charges[:i])
			return longestWait(ctx, at, sum, charges[i+1:]), err
		}
	}
	return sum, nil
}

// longestWait adds what the limits after a refusal would have said: a client
// told the shortest of several waits would come back to be refused again. It
// is advice, so a store that cannot decide adds nothing.
func longestWait(ctx context.Context, at time.Duration, sum Decision, rest []Charge) Decision {
	for _, c := range rest {
		d, err := c.take(ctx, at)
		if err != nil || d.Allowed && giveBack(ctx, []Charge{c}) != nil {
			continue
		}
		sum.join(d)
	}
	return sum
}

func giveBack(ctx context.Context, charges []Charge) error {
	var errs []error
	for _, c := range charges {
		if c.Limiter == nil {
			continue
		}
		if err := c.Limiter.store.Refund(ctx, c.Key, c.Cost); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (c Charge) take(ctx context.Context, at time.Duration) (Decision, error) {
	if c.Limiter == nil {
		return Decision{Allowed: true, Remaining: MaxBurst}, nil
	}
	return c.Limiter.takeAt(ctx, at, c.Key, c.Cost)
}

// reading is the one look at the clock that serves all charges.
func reading(charges []Charge) time.Duration {
	for _, c := range charges {
		if c.Limiter != nil && c.Limiter.clock != nil {
			return c.Limiter.clock.Now()
		}
	}
	return 0
}

func (d *Decision) join(o Decision) {
	d.Allowed = d.Allowed && o.Allowed
	d.Remaining = min(d.Remaining, o.Remaining)
	d.Retry, d.Reset = max(d.Retry, o.Retry), max(d.Reset, o.Reset)
}
