package ratelimit

import (
	"errors"
	"math/bits"
	"time"
)

// ErrCost is returned for a cost that no state could ever admit: below zero or
// above the burst. It is a mistake of the caller, not a refusal.
var ErrCost = errors.New("ratelimit: cost is not in 0..burst")

// Decision answers one check. Retry is the time until the same check would
// pass if nothing else happened, zero when it was allowed; Reset is the time
// until the quota is whole again. With one field more it would be handed on in
// memory and no longer in registers, which made a check a sixth slower.
type Decision struct {
	Allowed      bool
	Remaining    int64
	Retry, Reset time.Duration
}

// State is what a key owes: Debt, in nanoseconds × rate, as of the clock
// reading Last. The zero State owes nothing.
type State struct {
	Last time.Duration
	Debt int64
}

// Meter is the arithmetic of one Quota: GCRA, kept as the debt instead of a
// theoretical arrival time. Of a debt of burst × period at most, each
// nanosecond pays back rate, and a unit costs period; all three are whole
// numbers, so nothing is ever rounded but the answers.
type Meter struct {
	rate, period, burst int64
	limit               int64         // burst × period: the most that may be owed
	window              time.Duration // of a counter; zero for GCRA
}

// NewMeter returns the meter of a quota, or the error of Quota.Check.
func NewMeter(q Quota) (Meter, error) {
	if err := q.Check(); err != nil {
		return Meter{}, err
	}
	// The bounds above imply this. It is checked where it matters, because a
	// wider bound would make the limit wrap without a sound.
	if hi, lo := bits.Mul64(uint64(q.Burst), uint64(q.Period)); hi != 0 || lo>>63 != 0 {
		return Meter{}, ErrQuota
	}
	return Meter{rate: q.Rate, period: int64(q.Period), burst: q.Burst, limit: q.Burst * int64(q.Period)}, nil
}

// Take charges cost units to the state at the clock reading at, or refuses and
// leaves the state as it was. Cost 0 looks without charging and is allowed;
// ErrCost is the only error. A reading before the state's last one counts as
// the last one.
func (m *Meter) Take(s *State, at time.Duration, cost int64) (Decision, error) {
	if cost < 0 || cost > m.burst {
		return Decision{}, ErrCost
	}
	if m.window > 0 {
		return m.takeCount(s, at, cost), nil
	}
	debt := m.drained(s, at)
	need, room := cost*m.period, m.limit-debt
	if need > room {
		left := int64(0)
		if room >= m.period { // seldom, and a division takes long
			left = room / m.period
		}
		return Decision{
			Remaining: left,
			Retry:     m.Repaid(need - room),
			Reset:     m.Repaid(debt),
		}, nil
	}
	if cost > 0 {
		debt += need
		s.Debt, s.Last = debt, max(s.Last, at)
	}
	return Decision{
		Allowed:   true,
		Remaining: (m.limit - debt) / m.period,
		Reset:     m.Repaid(debt),
	}, nil
}

// Refund gives n units back, at most what is owed; ErrCost if n is below zero.
func (m *Meter) Refund(s *State, at time.Duration, n int64) error {
	if n < 0 {
		return ErrCost
	}
	if m.window > 0 {
		m.refundCount(s, at, n)
		return nil
	}
	debt := m.Owed(*s, at)
	s.Debt, s.Last = debt-min(debt, min(n, m.burst)*m.period), max(s.Last, at)
	return nil
}

// Owed is what is left of a state's debt at a clock reading, in units × period,
// or × window for a counter. A state on which nothing is owed may be forgotten
// without changing any later decision.
func (m *Meter) Owed(s State, at time.Duration) int64 {
	if m.window > 0 {
		return m.used(m.counts(s, at))
	}
	return m.drained(&s, at)
}

// drained is what is left of a debt by GCRA. It is small enough to be inlined.
func (m *Meter) drained(s *State, at time.Duration) int64 {
	if at <= s.Last {
		return s.Debt
	}
	hi, paid := bits.Mul64(uint64(at-s.Last), uint64(m.rate))
	if hi != 0 || paid >= uint64(s.Debt) {
		return 0
	}
	return s.Debt - int64(paid)
}

// Repaid is how long a debt takes to be paid back by GCRA, rounded up.
func (m *Meter) Repaid(debt int64) time.Duration {
	if m.rate == 1 {
		return time.Duration(debt)
	}
	return time.Duration(ceilDiv(debt, m.rate))
}

// Left is the time until nothing is owed.
func (m *Meter) Left(s State, at time.Duration) time.Duration {
	if m.window > 0 {
		return m.countReset(m.counts(s, at))
	}
	return m.Repaid(m.Owed(s, at))
}

// Units is how many units are owed, rounded up.
func (m *Meter) Units(s State, at time.Duration) int64 {
	return ceilDiv(m.Owed(s, at), m.period)
}

// Convert gives the state that owes as many units by another meter: rounded up,
// at most its burst. Between counters of one window nothing is lost of when the
// units were taken; else they count as taken at the reading.
func (m *Meter) Convert(s State, at time.Duration, to *Meter) State {
	if m.window > 0 || to.window > 0 {
		return m.convertCount(s, at, to)
	}
	hi, lo := bits.Mul64(uint64(m.Owed(s, at)), uint64(to.period))
	debt, rest := bits.Div64(hi, lo, uint64(m.period))
	if rest > 0 {
		debt++
	}
	return State{max(s.Last, at), min(int64(debt), to.limit)}
}

// ceilDiv divides a number that is not negative and rounds up; adding b-1
// first could overflow.
func ceilDiv(a, b int64) int64 {
	q := a / b
	if q*b != a {
		q++
	}
	return q
}
