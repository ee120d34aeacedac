package sql

import (
	"math/bits"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// rule is a quota in the table's terms: a tick is a microsecond, a debt falls
// by rate each tick, and a unit costs the period.
type rule struct {
	rate, period, burst, limit int64
}

func newRule(q ratelimit.Quota) rule {
	p := q.Period.Microseconds()
	return rule{q.Rate, p, q.Burst, q.Burst * p}
}

// state is a row, and the time at which it was read.
type state struct {
	now                      int64
	last, debt, rate, period int64
}

// stepBack is how far the clock may seem to go back before that is taken for a
// step: statements that waited for one another do not read it in the order in
// which they write.
const stepBack = 10_000_000

// reading is the time that counts: one a little before the row's is the row's,
// and after a step of the clock time counts anew.
func (st state) reading() (at int64, stepped bool) {
	if st.last-st.now > stepBack {
		return st.now, true
	}
	return max(st.now, st.last), false
}

// owed is what is left of a row's debt, by this rule. It tells whether the row
// should be written even if nothing is charged: else it would be read by a
// clock or a quota that is no more, again and again.
func (r rule) owed(st state) (debt int64, moved bool) {
	at, moved := st.reading()
	debt = st.debt
	if elapsed := at - st.last; elapsed > 0 {
		if elapsed > debt/st.rate {
			debt = 0
		} else {
			debt -= elapsed * st.rate
		}
	}
	if st.period != r.period {
		debt = convert(debt, st.period, r.period)
	}
	return min(debt, r.limit), moved || debt > 0 && (st.period != r.period || st.rate != r.rate)
}

// convert is as many units of another period, rounded up.
func convert(debt, from, to int64) int64 {
	units, rest := debt/from, debt%from
	hi, lo := bits.Mul64(uint64(rest), uint64(to))
	q, left := bits.Div64(hi, lo, uint64(from)) // rest < from, so it fits
	if left > 0 {
		q++
	}
	return units*to + int64(q)
}

// decide answers a charge on what is owed.
func (r rule) decide(owed, cost int64) ratelimit.Decision {
	need, room := cost*r.period, r.limit-owed
	if need > room {
		return ratelimit.Decision{Remaining: room / r.period, Retry: r.ticks(need - room), Reset: r.ticks(owed)}
	}
	return ratelimit.Decision{Allowed: true, Remaining: (room - need) / r.period, Reset: r.ticks(owed + need)}
}

// micros is how long a debt takes to be paid back, rounded up.
func (r rule) micros(debt int64) int64 { return (debt + r.rate - 1) / r.rate }

func (r rule) ticks(debt int64) time.Duration {
	return time.Duration(r.micros(debt)) * time.Microsecond
}
