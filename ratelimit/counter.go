package ratelimit

import (
	"fmt"
	"math"
	"time"
)

// Window is the time in which a quota gives back its burst, rounded up: the
// length of a sliding window of this quota. The quota must pass Check.
func (q Quota) Window() time.Duration {
	return q.FullAfter()
}

// checkWindow refuses what a sliding window cannot hold: one longer than
// MaxPeriod. With at most MaxBurst units in it, nothing below can overflow.
func (q Quota) checkWindow() error {
	if err := q.Check(); err != nil {
		return err
	}
	if w := q.Window(); w > MaxPeriod {
		return fmt.Errorf("%w: a sliding window of burst × period / rate = %s is longer than %s", ErrQuota, w, MaxPeriod)
	}
	return nil
}

// NewCounter returns a Meter that holds a quota by a sliding window in two
// counts: of the window that runs and of the one before, whose units count for
// as much of it as the last Quota.Window still covers. A window begins with the
// first charge on a key that owed nothing.
//
// Of its States, Last is the begin of the window that runs, and Debt holds both
// counts: of the one before in the upper 32 bits, of this one in the lower.
func NewCounter(q Quota) (Meter, error) {
	if err := q.checkWindow(); err != nil {
		return Meter{}, err
	}
	w := q.Window()
	return Meter{rate: 1, period: int64(w), burst: q.Burst, limit: q.Burst * int64(w), window: w}, nil
}

// counts are the two counts of a state at one moment, into the window that then
// runs.
type counts struct {
	before, now int64
	begin, into time.Duration
}

func (m *Meter) counts(s State, at time.Duration) counts {
	c := counts{s.Debt >> 32, s.Debt & math.MaxUint32, s.Last, max(0, at-s.Last)}
	if c.into >= m.window {
		c.before, c.now = c.now, 0
		if c.into-m.window >= m.window {
			c.before = 0
		}
		c.begin, c.into = c.begin+m.window, c.into-m.window
	}
	if c.before == 0 && c.now == 0 {
		return counts{begin: at}
	}
	return c
}

func (c counts) state() State { return State{c.begin, c.before<<32 | c.now} }

// used is what counts against the burst, in units × window.
func (m *Meter) used(c counts) int64 {
	return c.before*int64(m.window-c.into) + c.now*int64(m.window)
}

func (m *Meter) takeCount(s *State, at time.Duration, cost int64) Decision {
	c := m.counts(*s, at)
	room := m.limit - m.used(c)
	if cost*m.period > room {
		return Decision{Remaining: room / m.period, Retry: m.countRetry(c, cost), Reset: m.countReset(c)}
	}
	if cost > 0 {
		c.now += cost
		room -= cost * m.period
		*s = c.state()
	}
	return Decision{Allowed: true, Remaining: room / m.period, Reset: m.countReset(c)}
}

// countRetry is when the units before have faded enough: in the window that
// runs if those in it leave room for the cost, else in the next.
func (m *Meter) countRetry(c counts, cost int64) time.Duration {
	fading, rest := c.before, m.burst-cost-c.now
	wait := -c.into
	if rest < 0 {
		fading, rest = c.now, m.burst-cost
		wait = m.window - c.into
	}
	return wait + m.window - time.Duration(rest*m.period/fading)
}

func (m *Meter) countReset(c counts) time.Duration {
	switch {
	case c.now > 0:
		return 2*m.window - c.into
	case c.before > 0:
		return m.window - c.into
	}
	return 0
}

// refundCount takes the youngest units first: so it undoes a charge exactly.
func (m *Meter) refundCount(s *State, at time.Duration, n int64) {
	c := m.counts(*s, at)
	now := min(n, c.now)
	c.now -= now
	c.before -= min(n-now, c.before)
	*s = c.state()
}

func (m *Meter) convertCount(s State, at time.Duration, to *Meter) State {
	if c := m.counts(s, at); m.window == to.window {
		c.before, c.now = min(c.before, to.burst), min(c.now, to.burst)
		// Both together must not exceed the new burst, or waits would be wrong.
		if over := m.used(c) - to.limit; over > 0 {
			c.before -= min(c.before, ceilDiv(over, int64(m.window-c.into)))
		}
		return c.state()
	}
	units := min(m.Units(s, at), to.burst)
	if to.window > 0 {
		return State{at, units}
	}
	return State{at, units * to.period}
}
