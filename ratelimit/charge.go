package ratelimit

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Charge asks one limiter for Cost units of a key. A nil Limiter allows it.
type Charge struct {
	Limiter *Limiter
	Key     Key
	Cost    int64
	// Spared is TakeAll's answer after a request that was allowed: nothing was
	// charged, since that would be over the quota of a limiter in shadow, or
	// its store is away. Nothing of it may be given back.
	Spared bool
}

// Verdict is the Decision on a request. By names the limiter that refused it,
// the first of several; it is for logs and metrics, never for the caller.
type Verdict struct {
	Decision
	By string
}

// TakeAll charges every limit of a request or none of them, so that a request
// which one limit refuses costs nothing under the others. The Verdict is the
// strictest of all: the least that remains, the longest waits, and By names
// the first limiter that refused. A limiter in shadow is charged and reported
// as the others are, but neither refuses nor shows in the Verdict. The limiters
// must share a clock, as those of a Set do.
//
// Charges on stores with one Bundler are decided in one step. Between others,
// another request may be refused that need not be, while a charge is being
// given back; never the reverse.
func TakeAll(ctx context.Context, charges ...Charge) (Verdict, error) {
	r := requests.Get().(*request)
	defer r.done()
	r.gather(charges)
	d, err := r.decide(ctx)
	if d.Allowed {
		for i := range r.parts {
			charges[r.places[i]].Spared = !r.parts[i].Decision.Allowed
		}
	}
	return d, err
}

// request is what TakeAll works on: its parts, those of one Bundler beside each
// other, the limiter of each and its place among the charges. It is kept for the
// next request, because what goes to a Store through an interface cannot live on
// the stack.
type request struct {
	parts    []Part
	limiters []*Limiter
	places   []int
	at       time.Duration
}

// usualCharges is how many a request has room for from the start.
const usualCharges = 8

var requests = sync.Pool{New: func() any {
	return &request{parts: make([]Part, 0, usualCharges), limiters: make([]*Limiter, 0, usualCharges), places: make([]int, 0, usualCharges)}
}}

func (r *request) done() {
	clear(r.parts)
	clear(r.limiters)
	r.parts, r.limiters, r.places, r.at = r.parts[:0], r.limiters[:0], r.places[:0], 0
	requests.Put(r)
}

// gather puts the charges into the order in which they are decided, and makes
// the one look at the clock that serves them all.
func (r *request) gather(charges []Charge) {
	read := false
	for i, c := range charges {
		if c.Limiter == nil || c.Limiter.bundler != nil && bundledBefore(charges[:i], c.Limiter.bundler) {
			continue
		}
		if !read && c.Limiter.clock != nil {
			r.at, read = c.Limiter.clock.Now(), true
		}
		r.add(i, c)
		for j, o := range charges[i+1:] {
			if o.Limiter != nil && o.Limiter.bundler != nil && o.Limiter.bundler == c.Limiter.bundler {
				r.add(i+1+j, o)
			}
		}
	}
}

func bundledBefore(charges []Charge, b Bundler) bool {
	for _, c := range charges {
		if c.Limiter != nil && c.Limiter.bundler == b {
			return true
		}
	}
	return false
}

func (r *request) add(place int, c Charge) {
	r.places = append(r.places, place)
	r.parts = append(r.parts, Part{Store: c.Limiter.store, Key: c.Key, Cost: c.Cost, Shadow: c.Limiter.shadow.Load()})
	r.limiters = append(r.limiters, c.Limiter)
}

// decide goes through the groups. After a refusal it gives back what was
// charged, and asks the rest only for the wait: a client told the shortest of
// several waits would come back to be refused again.
func (r *request) decide(ctx context.Context) (Verdict, error) {
	sum := Verdict{Decision: Decision{Allowed: true, Remaining: MaxBurst}}
	var late error // a charge that could not be given back
	for from := 0; from < len(r.parts); {
		to := r.end(from)
		before := sum.Allowed
		err := r.step(ctx, from, to)
		r.report(ctx, from, to, err)
		switch enforced := r.enforced(from, to); {
		case err != nil && before && enforced:
			return Verdict{}, errors.Join(err, r.giveBack(ctx, 0, from))
		case err != nil: // a shadow, or advice that nobody can give
			clear(r.parts[from:to])
		default:
			r.join(&sum, from, to)
		}
		switch {
		case before && !sum.Allowed:
			late = errors.Join(late, r.giveBack(ctx, 0, from))
		case !before:
			late = errors.Join(late, r.giveBackCharged(ctx, from, to))
		}
		from = to
	}
	return sum, late
}

// end is where the group of a part ends.
func (r *request) end(from int) int {
	to, b := from+1, r.limiters[from].bundler
	for b != nil && to < len(r.parts) && r.limiters[to].bundler == b {
		to++
	}
	return to
}

// step decides one group.
func (r *request) step(ctx context.Context, from, to int) (err error) {
	if b := r.limiters[from].bundler; b != nil && to > from+1 {
		return b.TakeTogether(ctx, r.at, r.parts[from:to])
	}
	p := &r.parts[from]
	p.Decision, err = r.limiters[from].takeAt(ctx, r.at, p.Key, p.Cost)
	return err
}

func (r *request) enforced(from, to int) bool {
	for _, p := range r.parts[from:to] {
		if !p.Shadow {
			return true
		}
	}
	return false
}

func (r *request) report(ctx context.Context, from, to int, err error) {
	for i, p := range r.parts[from:to] {
		r.limiters[from+i].report(ctx, p.Key, p.Decision, err, p.Shadow)
	}
}

func (r *request) join(sum *Verdict, from, to int) {
	for i, p := range r.parts[from:to] {
		if p.Shadow {
			continue
		}
		if !p.Decision.Allowed && sum.By == "" {
			sum.By = r.limiters[from+i].name
		}
		sum.join(p.Decision)
	}
}

// giveBackCharged undoes a group that was asked only for its wait; a group with
// a refusal in it was not charged.
func (r *request) giveBackCharged(ctx context.Context, from, to int) error {
	for _, p := range r.parts[from:to] {
		if !p.Shadow && !p.Decision.Allowed {
			return nil
		}
	}
	return r.giveBack(ctx, from, to)
}

func (r *request) giveBack(ctx context.Context, from, to int) error {
	var errs []error
	for _, p := range r.parts[from:to] {
		if !p.Decision.Allowed || p.Cost == 0 {
			continue
		}
		if err := p.Store.Refund(ctx, p.Key, p.Cost); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (d *Decision) join(o Decision) {
	d.Allowed = d.Allowed && o.Allowed
	d.Remaining = min(d.Remaining, o.Remaining)
	d.Retry, d.Reset = max(d.Retry, o.Retry), max(d.Reset, o.Reset)
}
