package redis_test

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// model is what the script must answer, in numbers of any size, with one tick a
// microsecond: when nothing would be owed, instead of what is owed.
type model struct {
	rate, period, burst *big.Int
	free, seen          *big.Rat
}

func newModel(q ratelimit.Quota) *model {
	return &model{big.NewInt(q.Rate), big.NewInt(q.Period.Microseconds()), big.NewInt(q.Burst), new(big.Rat), new(big.Rat)}
}

func (m *model) units(n int64) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(n), m.period), m.rate)
}

// at moves the model to a reading. A clock that went back takes what is owed
// along; a look does not.
func (m *model) at(now time.Duration, looks bool) (owed *big.Rat, t *big.Rat) {
	t = new(big.Rat).SetInt64(now.Microseconds())
	base := t
	if t.Cmp(m.seen) < 0 {
		base = m.seen
	}
	owed = new(big.Rat).Sub(m.free, base)
	if owed.Sign() < 0 {
		owed.SetInt64(0)
	}
	if t.Cmp(m.seen) < 0 && !looks && owed.Sign() > 0 {
		m.seen, m.free = t, new(big.Rat).Add(t, owed)
	}
	return owed, t
}

func (m *model) take(now time.Duration, cost int64) ratelimit.Decision {
	owed, t := m.at(now, cost == 0)
	full := m.units(m.burst.Int64())
	after := new(big.Rat).Add(owed, m.units(cost))
	over := new(big.Rat).Sub(after, full)
	d := ratelimit.Decision{Allowed: over.Sign() <= 0}
	if !d.Allowed {
		d.Retry, after = micros(over), owed
	} else if cost > 0 {
		m.seen, m.free = t, new(big.Rat).Add(t, after)
	}
	d.Reset = micros(after)
	left := new(big.Rat).Quo(new(big.Rat).Sub(full, after), m.units(1))
	d.Remaining = new(big.Int).Quo(left.Num(), left.Denom()).Int64()
	return d
}

func (m *model) refund(now time.Duration, n int64) {
	owed, t := m.at(now, false)
	if owed.Sign() == 0 {
		return
	}
	owed.Sub(owed, m.units(min(n, m.burst.Int64())))
	if owed.Sign() < 0 {
		owed.SetInt64(0)
	}
	m.seen, m.free = t, new(big.Rat).Add(t, owed)
}

func micros(r *big.Rat) time.Duration {
	q, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	n := q.Int64()
	if rest.Sign() > 0 {
		n++
	}
	return time.Duration(n) * time.Microsecond
}

var quotas = []ratelimit.Quota{
	{Rate: 1, Period: time.Second, Burst: 1},
	{Rate: 1, Period: time.Second, Burst: 3},
	{Rate: 7, Period: time.Second, Burst: 10},
	{Rate: 5, Period: time.Minute, Burst: 5},
	{Rate: 99_999, Period: time.Second, Burst: 1_000},
	{Rate: ratelimit.MaxRate, Period: time.Second, Burst: ratelimit.MaxBurst},
	{Rate: 1, Period: ratelimit.MaxPeriod, Burst: ratelimit.MaxBurst},
	{Rate: ratelimit.MaxRate, Period: ratelimit.MaxPeriod, Burst: ratelimit.MaxBurst},
	{Rate: 99_991, Period: ratelimit.MaxPeriod - time.Microsecond, Burst: 99_989},
}

// step is a plausible pause: often none, often about one unit, at times long,
// at times backwards.
func step(r *rand.Rand, q ratelimit.Quota) time.Duration {
	unit := int64(q.Period)/q.Rate + 1000
	var d int64
	switch r.IntN(10) {
	case 0, 1, 2:
		return 0
	case 3, 4, 5:
		d = r.Int64N(2*unit + 2)
	case 6, 7:
		d = r.Int64N(int64(q.FullAfter())/2 + 1)
	case 8:
		d = -r.Int64N(2 * unit)
	default:
		d = int64(q.FullAfter()) - r.Int64N(2000)
	}
	return time.Duration(d).Truncate(time.Microsecond)
}

// RL-R16: each of 18,000 random operations answers in all four fields what
// numbers of any size give.
func TestRL_R16(t *testing.T) {
	c, at, _ := clocked(t)
	for n, q := range quotas {
		s := open(t, c, ratelimit.Spec{Name: "r16", Quota: q})
		r, m := rand.New(rand.NewPCG(16, uint64(n))), newModel(q)
		start := at.at
		for i := range 18_000 / len(quotas) {
			at.at += min(step(r, q), start)
			at.at = max(start, at.at)
			if at.at > 2*start { // beyond what a clock will say
				at.at, m, n = start, newModel(q), n+len(quotas)
			}
			if r.IntN(8) == 0 {
				back := r.Int64N(q.Burst + 2)
				if err := s.Refund(t.Context(), key(n), back); err != nil {
					t.Fatal(err)
				}
				if back > 0 {
					m.refund(at.at, back)
				}
				continue
			}
			cost := r.Int64N(min(q.Burst, 1+int64(1)<<r.IntN(17)) + 1)
			if got, want := take(t, s, key(n), cost), m.take(at.at, cost); got != want {
				t.Fatalf("%+v, operation %d, cost %d: got %+v, want %+v", q, i, cost, got, want)
			}
		}
	}
}
