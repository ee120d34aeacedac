package conform

import (
	"math/big"
	"slices"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// oracle says what one key must be answered. It keeps what it needs in rational
// numbers or plain lists, and does nothing fast.
type oracle interface {
	take(at time.Duration, cost int64) ratelimit.Decision
	refund(at time.Duration, n int64)
	// units is what is owed, rounded up.
	units(at time.Duration) int64
}

func (g Target) oracle(q ratelimit.Quota) oracle {
	switch g.Form {
	case GCRA:
		return &arrival{q: q, tick: g.Tick, full: new(big.Rat)}
	case Log:
		return &diary{burst: q.Burst, window: roundUp(q.Window(), g.Tick)}
	}
	return &tally{burst: q.Burst, tick: g.Tick, window: roundUp(q.Window(), g.Tick)}
}

func whole(n int64) *big.Rat            { return new(big.Rat).SetInt64(n) }
func sub(a, b *big.Rat) *big.Rat        { return new(big.Rat).Sub(a, b) }
func add(a, b *big.Rat) *big.Rat        { return new(big.Rat).Add(a, b) }
func mul(a, b *big.Rat) *big.Rat        { return new(big.Rat).Mul(a, b) }
func quo(a, b *big.Rat) *big.Rat        { return new(big.Rat).Quo(a, b) }
func higher(a, b *big.Rat) *big.Rat     { return pick(a.Cmp(b) > 0, a, b) }
func reading(at time.Duration) *big.Rat { return whole(int64(at)) }

func pick(first bool, a, b *big.Rat) *big.Rat {
	if first {
		return a
	}
	return b
}

func down(r *big.Rat) int64 {
	n, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() < 0 {
		n.Sub(n, big.NewInt(1))
	}
	return n.Int64()
}

func up(r *big.Rat) int64 { return -down(new(big.Rat).Neg(r)) }

// ticks rounds a time up to the tick.
func ticks(r *big.Rat, tick time.Duration) time.Duration {
	return time.Duration(up(quo(r, reading(tick)))) * tick
}

// arrival is GCRA in its usual form: one theoretical arrival time, at which
// nothing will be owed.
type arrival struct {
	q    ratelimit.Quota
	tick time.Duration
	full *big.Rat
}

// cost is the time that c units take to come back.
func (o *arrival) cost(c int64) *big.Rat {
	return quo(mul(whole(c), reading(o.q.Period)), whole(o.q.Rate))
}

func (o *arrival) owed(at time.Duration) *big.Rat {
	return sub(higher(o.full, reading(at)), reading(at))
}

func (o *arrival) take(at time.Duration, cost int64) ratelimit.Decision {
	wait := sub(add(o.owed(at), o.cost(cost)), o.cost(o.q.Burst))
	d := ratelimit.Decision{Allowed: wait.Sign() <= 0 || cost == 0}
	if d.Allowed && cost > 0 {
		o.full = add(higher(o.full, reading(at)), o.cost(cost))
	}
	if !d.Allowed {
		d.Retry = ticks(wait, o.tick)
	}
	owed := o.owed(at)
	d.Remaining = down(quo(sub(o.cost(o.q.Burst), owed), o.cost(1)))
	d.Reset = ticks(owed, o.tick)
	return d
}

func (o *arrival) refund(at time.Duration, n int64) {
	o.full = sub(higher(o.full, reading(at)), o.cost(n))
}

func (o *arrival) units(at time.Duration) int64 { return up(quo(o.owed(at), o.cost(1))) }

// diary is the exact sliding window: the time of every unit, the oldest first.
type diary struct {
	burst  int64
	window time.Duration
	taken  []time.Duration
}

func (o *diary) within(at time.Duration) []time.Duration {
	o.taken = slices.DeleteFunc(o.taken, func(t time.Duration) bool { return t+o.window <= at })
	return o.taken
}

func (o *diary) take(at time.Duration, cost int64) ratelimit.Decision {
	in := o.within(at)
	d := ratelimit.Decision{Allowed: int64(len(in))+cost <= o.burst}
	if !d.Allowed {
		leaves := in[int64(len(in))+cost-o.burst-1]
		d.Retry = leaves + o.window - at
	} else {
		for range cost {
			o.taken = append(o.taken, at)
		}
	}
	d.Remaining = o.burst - int64(len(o.taken))
	if n := len(o.taken); n > 0 {
		d.Reset = o.taken[n-1] + o.window - at
	}
	return d
}

func (o *diary) refund(at time.Duration, n int64) {
	in := o.within(at)
	o.taken = in[:int64(len(in))-min(n, int64(len(in)))]
}

func (o *diary) units(at time.Duration) int64 { return int64(len(o.within(at))) }

// tally is the weighted sliding window: the units of each window since a begin.
type tally struct {
	burst        int64
	tick, window time.Duration
	begin        time.Duration
	in           []int64 // by window
}

// look gives the window that runs, after a new begin if nothing counts any
// more, and how far into it the reading is, from 0 to 1.
func (o *tally) look(at time.Duration) (i int, into *big.Rat) {
	i = int((at - o.begin) / o.window)
	if o.count(i) == 0 && o.count(i-1) == 0 {
		o.begin, o.in, i = at, nil, 0
	}
	return i, quo(reading(at-o.begin-time.Duration(i)*o.window), reading(o.window))
}

func (o *tally) count(i int) int64 {
	if i < 0 || i >= len(o.in) {
		return 0
	}
	return o.in[i]
}

func (o *tally) add(i int, n int64) {
	for len(o.in) <= i {
		o.in = append(o.in, 0)
	}
	o.in[i] += n
}

// used is the estimate at a place in a window.
func (o *tally) used(i int, into *big.Rat) *big.Rat {
	return add(mul(whole(o.count(i-1)), sub(whole(1), into)), whole(o.count(i)))
}

func (o *tally) take(at time.Duration, cost int64) ratelimit.Decision {
	i, into := o.look(at)
	over := sub(add(o.used(i, into), whole(cost)), whole(o.burst))
	d := ratelimit.Decision{Allowed: over.Sign() <= 0 || cost == 0}
	switch {
	case !d.Allowed && o.count(i)+cost <= o.burst: // what is over fades in this window
		d.Retry = o.fades(over, o.count(i-1))
	case !d.Allowed: // all of the window before fades, then some of this one
		rest := mul(sub(whole(1), into), reading(o.window))
		over = whole(o.count(i) + cost - o.burst)
		d.Retry = ticks(add(rest, quo(mul(over, reading(o.window)), whole(o.count(i)))), o.tick)
	case cost > 0:
		o.add(i, cost)
	}
	d.Remaining = down(sub(whole(o.burst), o.used(i, into)))
	end := mul(sub(whole(1), into), reading(o.window))
	switch {
	case o.count(i) > 0:
		d.Reset = ticks(add(end, reading(o.window)), o.tick)
	case o.count(i-1) > 0:
		d.Reset = ticks(end, o.tick)
	}
	return d
}

// fades is how long so much takes of so many units that fade within a window.
func (o *tally) fades(over *big.Rat, of int64) time.Duration {
	return ticks(quo(mul(over, reading(o.window)), whole(of)), o.tick)
}

func (o *tally) refund(at time.Duration, n int64) {
	i, _ := o.look(at)
	for ; n > 0 && o.count(i) > 0; n-- {
		o.in[i]--
	}
	for ; n > 0 && o.count(i-1) > 0; n-- {
		o.in[i-1]--
	}
}

func (o *tally) units(at time.Duration) int64 {
	i, into := o.look(at)
	return up(o.used(i, into))
}
