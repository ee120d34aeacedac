package memory

import (
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// rule is how a quota is held: by a Meter, or by a Log with a ring of readings
// beside each slot.
type rule struct {
	quota ratelimit.Quota
	meter ratelimit.Meter
	log   ratelimit.Log
	ring  int // readings a slot; zero without a log
}

// newRule chooses for a sliding window: exact while it is cheap, else counted.
func newRule(a ratelimit.Algorithm, q ratelimit.Quota) (*rule, error) {
	m, err := ratelimit.Spec{Algorithm: a}.Meter(q)
	if err != nil {
		return nil, err
	}
	r := &rule{quota: q, meter: m}
	if a == ratelimit.SlidingWindow && q.Burst <= ratelimit.MaxLog {
		r.log, err = ratelimit.NewLog(q)
		r.ring = int(q.Burst)
	}
	return r, err
}

// bucket is a state and its ring, which is empty without a log.
type bucket struct {
	state *ratelimit.State
	ring  []time.Duration
}

func (r *rule) take(b bucket, at time.Duration, cost int64) (ratelimit.Decision, error) {
	if r.ring > 0 {
		return r.log.Take(b.state, b.ring, at, cost)
	}
	return r.meter.Take(b.state, at, cost)
}

// look is what take would answer; it changes nothing.
func (r *rule) look(b bucket, at time.Duration, cost int64) (ratelimit.Decision, error) {
	if r.ring > 0 {
		return r.log.Look(*b.state, b.ring, at, cost)
	}
	s := *b.state
	return r.meter.Take(&s, at, cost)
}

func (r *rule) refund(b bucket, at time.Duration, n int64) error {
	if r.ring > 0 {
		return r.log.Refund(b.state, b.ring, at, n)
	}
	return r.meter.Refund(b.state, at, n)
}

// left is the time until nothing is owed.
func (r *rule) left(b bucket, at time.Duration) time.Duration {
	if r.ring > 0 {
		return r.log.Left(*b.state, b.ring, at)
	}
	return r.meter.Left(*b.state, at)
}

func (r *rule) units(b bucket, at time.Duration) int64 {
	if r.ring > 0 {
		return r.log.Units(*b.state, b.ring, at)
	}
	return r.meter.Units(*b.state, at)
}

// convert gives the state by another rule, and fills its ring. Between a log
// and a counter the units count as taken now.
func (r *rule) convert(b bucket, at time.Duration, to *rule, ring []time.Duration) ratelimit.State {
	switch {
	case r.ring > 0 && to.ring > 0:
		return r.log.Convert(*b.state, b.ring, at, &to.log, ring)
	case r.ring == 0 && to.ring == 0:
		return r.meter.Convert(*b.state, at, &to.meter)
	}
	var s ratelimit.State
	_, _ = to.take(bucket{&s, ring}, at, min(r.units(b, at), to.quota.Burst))
	return s
}
