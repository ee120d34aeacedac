package ratelimit

import (
	"math"
	"time"
)

// MaxLog is the largest burst for which a store in memory keeps a sliding
// window exactly, as a Log of 8 bytes a unit; above it, as two counts.
const MaxLog = 64

// Log is the arithmetic of an exact sliding window: it knows the time of every
// unit in it. Its states need a ring of burst readings beside the State, of
// which Debt holds the place of the oldest unit in the upper 32 bits and the
// number of units in the lower. Last is the youngest unit's time.
type Log struct {
	burst  int64
	window time.Duration
}

// NewLog returns the log of a quota, or says what is out of bounds.
func NewLog(q Quota) (Log, error) {
	if err := q.checkWindow(); err != nil {
		return Log{}, err
	}
	return Log{q.Burst, q.Window()}, nil
}

// span is the part of a ring that is in use.
type span struct{ first, n int64 }

// span leaves out what has left the window, and gives the reading that counts:
// one before the youngest unit counts as that unit's.
func (l *Log) span(s State, ring []time.Duration, at time.Duration) (span, time.Duration) {
	u := span{s.Debt >> 32, s.Debt & math.MaxUint32}
	if u.n > 0 {
		at = max(at, s.Last)
	}
	for u.n > 0 && at-ring[u.first] >= l.window {
		u.first, u.n = (u.first+1)%l.burst, u.n-1
	}
	return u, at
}

// Look is what Take would answer; it changes nothing.
func (l *Log) Look(s State, ring []time.Duration, at time.Duration, cost int64) (Decision, error) {
	u, at := l.span(s, ring, at)
	return l.decide(s, ring, u, at, cost)
}

func (l *Log) decide(s State, ring []time.Duration, u span, at time.Duration, cost int64) (Decision, error) {
	if cost < 0 || cost > l.burst {
		return Decision{}, ErrCost
	}
	d := Decision{Allowed: true, Remaining: l.burst - u.n - cost}
	switch over := u.n + cost - l.burst; {
	case over > 0:
		d = Decision{
			Remaining: l.burst - u.n,
			Retry:     ring[(u.first+over-1)%l.burst] + l.window - at,
			Reset:     s.Last + l.window - at,
		}
	case cost > 0:
		d.Reset = l.window
	case u.n > 0:
		d.Reset = s.Last + l.window - at
	}
	return d, nil
}

// Take is Meter.Take for a state and its ring.
func (l *Log) Take(s *State, ring []time.Duration, at time.Duration, cost int64) (Decision, error) {
	u, at := l.span(*s, ring, at)
	d, err := l.decide(*s, ring, u, at, cost)
	if err != nil || !d.Allowed || cost == 0 {
		return d, err
	}
	for i := range cost {
		ring[(u.first+u.n+i)%l.burst] = at
	}
	*s = State{at, u.first<<32 | (u.n + cost)}
	return d, nil
}

// Refund is Meter.Refund for a state and its ring. It takes the youngest units.
func (l *Log) Refund(s *State, ring []time.Duration, at time.Duration, n int64) error {
	if n < 0 {
		return ErrCost
	}
	u, _ := l.span(*s, ring, at)
	u.n -= min(n, u.n)
	*s = State{s.Last, u.first<<32 | u.n}
	if u.n > 0 {
		s.Last = ring[(u.first+u.n-1)%l.burst]
	}
	return nil
}

// Left is Meter.Left for a state and its ring.
func (l *Log) Left(s State, ring []time.Duration, at time.Duration) time.Duration {
	u, at := l.span(s, ring, at)
	if u.n == 0 {
		return 0
	}
	return s.Last + l.window - at
}

// Units is how many are in the window, those of a state and its ring.
func (l *Log) Units(s State, ring []time.Duration, at time.Duration) int64 {
	u, _ := l.span(s, ring, at)
	return u.n
}

// Convert moves a state and its ring to the ring of another log: as many units,
// the youngest if there is not room for all. By a shorter window some would
// have left already, so then all count as taken at the reading.
func (l *Log) Convert(s State, ring []time.Duration, at time.Duration, to *Log, into []time.Duration) State {
	u, at := l.span(s, ring, at)
	n := min(u.n, to.burst)
	for i := range n {
		into[i] = ring[(u.first+u.n-n+i)%l.burst]
		if to.window < l.window {
			into[i] = at
		}
	}
	if n == 0 {
		return State{}
	}
	return State{into[n-1], n}
}
