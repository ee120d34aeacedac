package ratelimit_test

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// model is the oracle of the arithmetic: the usual form of GCRA, a theoretical
// arrival time, in rational numbers of any size.
type model struct {
	n, p, b *big.Int
	tat     *big.Rat // when nothing will be owed
	seen    *big.Rat // the last reading that changed it
}

func newModel(q ratelimit.Quota) *model {
	return &model{big.NewInt(q.Rate), big.NewInt(int64(q.Period)), big.NewInt(q.Burst), new(big.Rat), new(big.Rat)}
}

// units is the time that c units take to come back.
func (m *model) units(c int64) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(c), m.p), m.n)
}

func (m *model) now(at time.Duration) *big.Rat {
	t := new(big.Rat).SetInt64(int64(at))
	if t.Cmp(m.seen) < 0 {
		return m.seen
	}
	return t
}

func later(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

func ceil(r *big.Rat) int64 {
	q, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Int64()
}

func (m *model) take(at time.Duration, cost int64) ratelimit.Decision {
	now := m.now(at)
	full := later(m.tat, now)
	next := new(big.Rat).Add(full, m.units(cost))
	wait := new(big.Rat).Sub(new(big.Rat).Sub(next, now), m.units(m.b.Int64()))
	d := ratelimit.Decision{Allowed: wait.Sign() <= 0}
	if !d.Allowed {
		d.Retry = time.Duration(ceil(wait))
	} else if cost > 0 {
		full, m.seen = next, now
		m.tat = next
	}
	owed := new(big.Rat).Sub(full, now)
	d.Reset = time.Duration(ceil(owed))
	left := new(big.Rat).Sub(m.units(m.b.Int64()), owed)
	left.Quo(left, m.units(1))
	d.Remaining = new(big.Int).Quo(left.Num(), left.Denom()).Int64()
	return d
}

func (m *model) refund(at time.Duration, n int64) {
	now := m.now(at)
	m.tat = later(new(big.Rat).Sub(later(m.tat, now), m.units(min(n, m.b.Int64()))), now)
	m.seen = now
}

var quotas = []ratelimit.Quota{
	{Rate: 1, Period: time.Second, Burst: 1},
	{Rate: 1, Period: time.Second, Burst: 3},
	{Rate: 7, Period: time.Second, Burst: 10},
	{Rate: 3, Period: 10 * time.Nanosecond, Burst: 2},
	{Rate: 5, Period: time.Minute, Burst: 5},
	{Rate: 99_999, Period: time.Second, Burst: 1_000},
	{Rate: ratelimit.MaxRate, Period: time.Second, Burst: ratelimit.MaxBurst},
	{Rate: 1, Period: ratelimit.MaxPeriod, Burst: ratelimit.MaxBurst},
	{Rate: ratelimit.MaxRate, Period: ratelimit.MaxPeriod, Burst: ratelimit.MaxBurst},
	{Rate: 99_991, Period: ratelimit.MaxPeriod - 1, Burst: 99_989},
}

func meter(t testing.TB, q ratelimit.Quota) *ratelimit.Meter {
	t.Helper()
	m, err := ratelimit.NewMeter(q)
	if err != nil {
		t.Fatalf("NewMeter(%+v): %v", q, err)
	}
	return &m
}

func take(t testing.TB, m *ratelimit.Meter, s *ratelimit.State, at time.Duration, cost int64) ratelimit.Decision {
	t.Helper()
	d, err := m.Take(s, at, cost)
	if err != nil {
		t.Fatalf("Take(%+v, %v, %d): %v", *s, at, cost, err)
	}
	return d
}

// step is a plausible pause: often none, often about one unit, at times long,
// at times backwards.
func step(r *rand.Rand, q ratelimit.Quota) time.Duration {
	unit := int64(q.Period) / q.Rate
	switch r.IntN(10) {
	case 0, 1, 2:
		return 0
	case 3, 4, 5:
		return time.Duration(r.Int64N(2*unit + 2))
	case 6, 7:
		return time.Duration(r.Int64N(int64(q.FullAfter())/2 + 1))
	case 8:
		return -time.Duration(r.Int64N(unit + 1))
	}
	return q.FullAfter() - time.Duration(r.Int64N(2))
}

// Every answer equals that of rational numbers of any size: nothing is rounded
// on the way and nothing overflows.
func TestMeterEqualsBigNumbers(t *testing.T) {
	const operations = 12_000 // for each of ten quotas
	for _, q := range quotas {
		r := rand.New(rand.NewPCG(uint64(q.Rate), uint64(q.Burst)))
		m, mod, state := meter(t, q), newModel(q), ratelimit.State{}
		at := time.Duration(0)
		for i := range operations {
			at = max(0, at+step(r, q))
			if at > math.MaxInt64/2 {
				at, mod, state = 0, newModel(q), ratelimit.State{}
			}
			if r.IntN(8) == 0 {
				n := r.Int64N(q.Burst + 2)
				if err := m.Refund(&state, at, n); err != nil {
					t.Fatal(err)
				}
				mod.refund(at, n)
				continue
			}
			cost := r.Int64N(min(q.Burst, 1+int64(1)<<r.IntN(17)) + 1)
			if got, want := take(t, m, &state, at, cost), mod.take(at, cost); got != want {
				t.Fatalf("%+v, operation %d: take %d at %d: got %+v, want %+v", q, i, cost, at, got, want)
			}
		}
	}
}

// A refused check passes after its wait and not a nanosecond before; a refusal
// changes nothing; a check of cost c is c checks of cost 1.
func TestMeterClauses(t *testing.T) {
	for _, q := range quotas {
		r := rand.New(rand.NewPCG(uint64(q.Burst), uint64(q.Rate)))
		m, state, at := meter(t, q), ratelimit.State{}, time.Duration(0)
		for range 5_000 {
			at = max(0, at+step(r, q))
			if at > math.MaxInt64/2 {
				at, state = 0, ratelimit.State{}
			}
			at = max(at, state.Last)
			before, cost := state, r.Int64N(min(q.Burst, 50))+1
			d := take(t, m, &state, at, cost)
			if !d.Allowed {
				if state != before {
					t.Fatalf("%+v: a refusal changed %+v to %+v", q, before, state)
				}
				early, due := before, before
				if take(t, m, &early, at+d.Retry-1, cost).Allowed || !take(t, m, &due, at+d.Retry, cost).Allowed {
					t.Fatalf("%+v: %+v refused at %v for %v: passes early or late", q, before, at, d.Retry)
				}
				continue
			}
			split := before
			for range cost - 1 {
				take(t, m, &split, at, 1)
			}
			if one := take(t, m, &split, at, 1); one != d || split != state {
				t.Fatalf("%+v: %d at once gives %+v, one by one %+v", q, cost, d, one)
			}
			if d.Remaining < 0 || d.Remaining > q.Burst || d.Retry != 0 {
				t.Fatalf("%+v: out of range: %+v", q, d)
			}
		}
	}
}

type admitted struct {
	at   time.Duration
	cost int64
}

// checkWindows demands of all pairs of admissions that between them, both
// included, no more than burst + rate × time / period was admitted.
func checkWindows(t testing.TB, q ratelimit.Quota, log []admitted) {
	t.Helper()
	for i := range log {
		sum := int64(0)
		for _, a := range log[i:] {
			sum += a.cost
			overHi, over := bits.Mul64(uint64(max(0, sum-q.Burst)), uint64(q.Period))
			dueHi, due := bits.Mul64(uint64(a.at-log[i].at), uint64(q.Rate))
			if overHi > dueHi || overHi == dueHi && over > due {
				t.Fatalf("%+v: %d units from %v to %v", q, sum, log[i].at, a.at)
			}
		}
	}
}

func TestWindowBound(t *testing.T) {
	for _, q := range quotas {
		r := rand.New(rand.NewPCG(1, uint64(q.Burst)))
		m, state, at := meter(t, q), ratelimit.State{}, time.Duration(0)
		var log []admitted
		for len(log) < 1_500 {
			at += max(0, step(r, q))
			if at > math.MaxInt64/2 {
				break
			}
			if cost := r.Int64N(min(q.Burst, 9)) + 1; take(t, m, &state, at, cost).Allowed {
				log = append(log, admitted{at, cost})
			}
		}
		checkWindows(t, q, log)
	}
}

// A refund leaves a key no better off than if what is kept had been taken.
func TestRefundNeverGains(t *testing.T) {
	for _, q := range quotas {
		r := rand.New(rand.NewPCG(2, uint64(q.Burst)))
		m, state, at := meter(t, q), ratelimit.State{}, time.Duration(0)
		for range 5_000 {
			at = max(0, at+max(0, step(r, q)))
			if at > math.MaxInt64/2 {
				at, state = 0, ratelimit.State{}
			}
			without, cost := state, r.Int64N(q.Burst)+1
			if !take(t, m, &state, at, cost).Allowed {
				continue
			}
			back := r.Int64N(cost + 1)
			take(t, m, &without, at, cost-back)
			then := at + max(0, step(r, q))
			if err := m.Refund(&state, then, back); err != nil {
				t.Fatal(err)
			}
			if m.Owed(state, then) < m.Owed(without, then) {
				t.Fatalf("%+v: %d taken and %d given back owes %d, %d taken owes %d",
					q, cost, back, m.Owed(state, then), cost-back, m.Owed(without, then))
			}
			if then == at && m.Owed(state, then) != m.Owed(without, then) {
				t.Fatalf("%+v: a refund at once must undo exactly", q)
			}
			at = then
		}
	}
}

// Shifting the clock or scaling rate and period together changes no answer.
func TestMeterInvariances(t *testing.T) {
	q := ratelimit.Quota{Rate: 7, Period: time.Second, Burst: 10}
	scaled := ratelimit.Quota{Rate: 7 * 12, Period: 12 * time.Second, Burst: 10}
	const shift = 1 << 60
	r := rand.New(rand.NewPCG(3, 3))
	a, b, c := meter(t, q), meter(t, q), meter(t, scaled)
	var sa, sc ratelimit.State
	sb := ratelimit.State{Last: shift}
	for at := time.Duration(0); at < 1000*time.Second; at += max(0, step(r, q)) {
		cost := r.Int64N(4)
		want := take(t, a, &sa, at, cost)
		if got := take(t, b, &sb, at+shift, cost); got != want {
			t.Fatalf("shifted at %v: got %+v, want %+v", at, got, want)
		}
		if got := take(t, c, &sc, at, cost); got != want {
			t.Fatalf("scaled at %v: got %+v, want %+v", at, got, want)
		}
	}
}

func TestMeterAtTheEndOfTime(t *testing.T) {
	for _, q := range quotas {
		m, state := meter(t, q), ratelimit.State{}
		if d := take(t, m, &state, math.MaxInt64, q.Burst); !d.Allowed {
			t.Errorf("%+v: refused at the end of time", q)
		}
		state = ratelimit.State{Debt: q.Burst * int64(q.Period)}
		if d := take(t, m, &state, math.MaxInt64, q.Burst); !d.Allowed {
			t.Errorf("%+v: still owed at the end of time: %+v", q, d)
		}
	}
}

// A refund of any size gives back what is owed and no more.
func TestHugeRefund(t *testing.T) {
	for _, q := range quotas {
		m, state := meter(t, q), ratelimit.State{}
		take(t, m, &state, 0, q.Burst)
		if err := m.Refund(&state, 0, math.MaxInt64); err != nil || state != (ratelimit.State{}) {
			t.Errorf("%+v: got %+v, %v; want nothing owed", q, state, err)
		}
		if err := m.Refund(&state, 0, -1); !errors.Is(err, ratelimit.ErrCost) || state != (ratelimit.State{}) {
			t.Errorf("%+v: refund of -1: got %+v, %v; want ErrCost", q, state, err)
		}
	}
}

func TestQuotaBounds(t *testing.T) {
	for _, q := range []ratelimit.Quota{
		{},
		{Rate: 1, Burst: 1},
		{Rate: 1, Period: 1},
		{Period: 1, Burst: 1},
		{Rate: -1, Period: 1, Burst: 1},
		{Rate: 1, Period: -1, Burst: 1},
		{Rate: 1, Period: 1, Burst: -1},
		{Rate: ratelimit.MaxRate + 1, Period: 1, Burst: 1},
		{Rate: 1, Period: ratelimit.MaxPeriod + 1, Burst: 1},
		{Rate: 1, Period: 1, Burst: ratelimit.MaxBurst + 1},
		{Rate: math.MaxInt64, Period: math.MaxInt64, Burst: math.MaxInt64},
	} {
		if _, err := ratelimit.NewMeter(q); !errors.Is(err, ratelimit.ErrQuota) {
			t.Errorf("NewMeter(%+v): got %v, want ErrQuota", q, err)
		}
	}
	for _, q := range quotas {
		if _, err := ratelimit.NewMeter(q); err != nil {
			t.Errorf("NewMeter(%+v): %v", q, err)
		}
	}
}
