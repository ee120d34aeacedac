package ratelimit_test

import (
	"errors"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

// clock is moved by hand.
type clock struct{ at time.Duration }

func (c *clock) now() time.Duration { return c.at }

var key = ratelimit.Key{Hi: 1}

// limiter makes one in memory, for a clock that stands still until it is moved.
func limiter(t testing.TB, q ratelimit.Quota, c *clock) *ratelimit.Limiter {
	t.Helper()
	l, err := ratelimit.New(ratelimit.Spec{Name: "test", Quota: q, MaxEntries: 20_000, Now: c.now}, memory.Open)
	if err != nil {
		t.Fatalf("New(%+v): %v", q, err)
	}
	t.Cleanup(l.Close)
	return l
}

// charge takes any cost of the one key.
func charge(t testing.TB, l *ratelimit.Limiter, cost int64) ratelimit.Decision {
	t.Helper()
	d, err := ratelimit.TakeAll(t.Context(), ratelimit.Charge{Limiter: l, Key: key, Cost: cost})
	if err != nil {
		t.Fatalf("cost %d: %v", cost, err)
	}
	if by := l.Name(); d.Allowed != (d.By == "") || !d.Allowed && d.By != by {
		t.Fatalf("cost %d: %+v by %q, want it by %q if refused", cost, d.Decision, d.By, by)
	}
	return d.Decision
}

// do is one step: wait, then take cost (or give back, when it is negative) some
// times; want is the decision of the last of them.
type do struct {
	wait  time.Duration
	cost  int64
	times int
	want  ratelimit.Decision
}

func allowed(remaining int64, reset time.Duration) ratelimit.Decision {
	return ratelimit.Decision{Allowed: true, Remaining: remaining, Reset: reset}
}

func refused(retry, reset time.Duration) ratelimit.Decision {
	return ratelimit.Decision{Retry: retry, Reset: reset}
}

const ms = time.Millisecond

// Case ids are those of the limiter's case list, group L.
func TestLimiter(t *testing.T) {
	perSecond := func(rate, burst int64) ratelimit.Quota {
		return ratelimit.Quota{Rate: rate, Period: time.Second, Burst: burst}
	}
	perMinute := func(n int64) ratelimit.Quota {
		return ratelimit.Quota{Rate: n, Period: time.Minute, Burst: n}
	}
	for _, c := range []struct {
		id    string
		quota ratelimit.Quota
		steps []do
	}{
		{"RL-L01", perSecond(1, 3), []do{
			{0, 1, 1, allowed(2, time.Second)},
			{0, 1, 1, allowed(1, 2*time.Second)},
			{0, 1, 1, allowed(0, 3*time.Second)},
			{0, 1, 1, refused(time.Second, 3*time.Second)},
		}},
		{"RL-L02", perSecond(1, 3), []do{
			{0, 1, 3, allowed(0, 3*time.Second)},
			{999_999_999, 1, 1, refused(1, 2*time.Second+1)},
			{1, 1, 1, allowed(0, 3*time.Second)},
			{0, 1, 1, refused(time.Second, 3*time.Second)},
		}},
		{"RL-L03", perSecond(5, 5), []do{
			{0, 5, 1, allowed(0, time.Second)},
			{2 * time.Second, 5, 1, allowed(0, time.Second)},
			{0, 1, 1, refused(200*ms, time.Second)},
		}},
		{"RL-L04", perMinute(1200), []do{
			{0, 1200, 1, allowed(0, time.Minute)},
			{500 * ms, 5, 1, allowed(5, time.Minute-250*ms)},
			{0, 5, 1, allowed(0, time.Minute)},
			{0, 1, 1, refused(50*ms, time.Minute)},
		}},
		{"RL-L05", perMinute(5), []do{
			{0, 5, 1, allowed(0, time.Minute)},
			{0, 1, 1, refused(12*time.Second, time.Minute)},
		}},
		{"RL-L06", perMinute(5), []do{
			{0, 5, 1, allowed(0, time.Minute)},
			{500 * ms, 1, 1, refused(11500*ms, 59500*ms)},
			{10 * time.Second, 1, 1, refused(1500*ms, 49500*ms)},
			{1500 * ms, 1, 1, allowed(0, time.Minute)},
		}},
		{"RL-L07", perMinute(300), []do{
			{0, 1, 300, allowed(0, time.Minute)},
			{0, 1, 1, refused(200*ms, time.Minute)},
			{200 * ms, 1, 1, allowed(0, time.Minute)},
			{time.Minute, 300, 1, allowed(0, time.Minute)},
		}},
		{"RL-L08", perSecond(100_000, 100_000), []do{
			{0, 100_000, 1, allowed(0, time.Second)},
			{9_999, 1, 1, refused(1, time.Second-9_999)},
			{1, 1, 1, allowed(0, time.Second)},
		}},
		{"RL-L11", perSecond(10, 4), []do{
			{0, 4, 1, allowed(0, 400*ms)},
			{0, 0, 1, allowed(0, 400*ms)},
			{0, -1, 1, allowed(1, 300*ms)},
			{0, 1, 1, allowed(0, 400*ms)},
			{0, -9, 1, allowed(4, 0)},
			{0, 4, 1, allowed(0, 400*ms)},
		}},
		{"RL-L12", perSecond(1, 1), []do{
			{0, 1, 1, allowed(0, time.Second)},
			{900 * ms, 1, 1000, refused(100*ms, 100*ms)},
			{100 * ms, 1, 1, allowed(0, time.Second)},
		}},
	} {
		t.Run(c.id, func(t *testing.T) {
			clk := &clock{}
			l := limiter(t, c.quota, clk)
			for i, s := range c.steps {
				clk.at += s.wait
				var got ratelimit.Decision
				for range s.times {
					if s.cost < 0 {
						got = giveBack(t, l, -s.cost)
						continue
					}
					got = charge(t, l, s.cost)
				}
				if got != s.want {
					t.Errorf("step %d, %d × cost %d at %v: got %+v, want %+v", i+1, s.times, s.cost, clk.at, got, s.want)
				}
			}
		})
	}
}

// giveBack refunds units one by one and tells how the key stands.
func giveBack(t testing.TB, l *ratelimit.Limiter, n int64) ratelimit.Decision {
	t.Helper()
	for range n {
		if err := l.Refund(t.Context(), key); err != nil {
			t.Fatalf("refund: %v", err)
		}
	}
	d, err := l.Peek(t.Context(), key)
	if err != nil {
		t.Fatalf("peek: %v", err)
	}
	return d
}

func TestRL_L13(t *testing.T) {
	for wait, want := range map[time.Duration]int{
		0: 1, 1: 1, 999_999_999: 1, time.Second: 1, time.Second + 1: 2, 1900 * ms: 2, 2 * time.Second: 2,
		59*time.Second + 1: 60, -time.Second: 1, 1<<63 - 1: 9_223_372_037,
	} {
		if got := ratelimit.RetryAfter(wait); got != want {
			t.Errorf("RetryAfter(%v) = %d, want %d", wait, got, want)
		}
	}
}

// RL-L16: should a clock go back in spite of all, the key stands as it did, and
// the hour is not paid twice when the clock returns.
func TestRL_L16(t *testing.T) {
	clk := &clock{at: 5 * time.Hour}
	l := limiter(t, ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 2}, clk)
	charge(t, l, 2)
	for _, at := range []time.Duration{4 * time.Hour, 5 * time.Hour, 4 * time.Hour, 5 * time.Hour} {
		clk.at = at
		if got, want := charge(t, l, 1), refused(time.Second, 2*time.Second); got != want {
			t.Errorf("at %v: got %+v, want %+v", at, got, want)
		}
	}
	clk.at = 5*time.Hour + time.Second
	if got, want := charge(t, l, 1), allowed(0, 2*time.Second); got != want {
		t.Errorf("a second later: got %+v, want %+v", got, want)
	}
}

// The clock that limiters use by themselves is the monotonic one: a time.Time
// with such a reading prints it, and Since uses it alone.
func TestMonotonic(t *testing.T) {
	before := ratelimit.Monotonic()
	time.Sleep(time.Millisecond)
	if after := ratelimit.Monotonic(); after-before < time.Millisecond || after-before > time.Minute {
		t.Errorf("a millisecond took from %v to %v", before, after)
	}
}

// Saturation at even steps: how many of them pass.
func TestSaturation(t *testing.T) {
	for _, c := range []struct {
		id         string
		quota      ratelimit.Quota
		step, last time.Duration
		want       int
	}{
		{"RL-L17", ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 1}, time.Second, 99 * time.Second, 100},
		{"RL-L18", ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 1}, 999 * ms, 99 * 999 * ms, 50},
		{"RL-L19", ratelimit.Quota{Rate: 7, Period: time.Second, Burst: 10}, ms, 20 * time.Second, 150},
		{"RL-L30", ratelimit.Quota{Rate: 5, Period: time.Minute, Burst: 5}, ms, time.Minute, 10},
	} {
		t.Run(c.id, func(t *testing.T) {
			clk, n := &clock{}, 0
			l := limiter(t, c.quota, clk)
			for ; clk.at <= c.last; clk.at += c.step {
				for charge(t, l, 1).Allowed {
					n++
					if c.step >= 999*ms { // one request at each step
						break
					}
				}
			}
			if n != c.want {
				t.Errorf("%d allowed, want %d", n, c.want)
			}
		})
	}
}

// RL-L21: what one key does, another does not notice.
func TestRL_L21(t *testing.T) {
	q := ratelimit.Quota{Rate: 7, Period: time.Second, Burst: 10}
	clk, r := &clock{}, rand.New(rand.NewPCG(21, 21))
	both := limiter(t, q, clk)
	alone := []*ratelimit.Limiter{limiter(t, q, clk), limiter(t, q, clk)}
	for i := range 10_000 {
		clk.at += time.Duration(r.Int64N(int64(100 * ms)))
		n := r.IntN(2)
		k := ratelimit.Key{Hi: uint64(n)}
		if r.IntN(5) == 0 {
			if err := errors.Join(both.Refund(t.Context(), k), alone[n].Refund(t.Context(), k)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err1 := both.Take(t.Context(), k)
		want, err2 := alone[n].Take(t.Context(), k)
		if got != want || err1 != nil || err2 != nil {
			t.Fatalf("operation %d on key %d: got %+v, %v; alone %+v, %v", i, n, got, err1, want, err2)
		}
	}
}

// A limiter that is switched off is nil and allows everything.
func TestNilLimiter(t *testing.T) {
	var l *ratelimit.Limiter
	k := l.Address(netip.MustParseAddr("192.0.2.1"))
	for range 3 {
		d, err := l.Take(t.Context(), k)
		if !d.Allowed || err != nil {
			t.Errorf("Take: got %+v, %v; want allowed", d, err)
		}
	}
	if d, err := l.TakeAt(t.Context(), l.Now(), l.Text("x")); !d.Allowed || err != nil {
		t.Errorf("TakeAt: got %+v, %v; want allowed", d, err)
	}
	if d, err := l.Peek(t.Context(), k); !d.Allowed || err != nil {
		t.Errorf("Peek: got %+v, %v; want allowed", d, err)
	}
	if d, err := ratelimit.TakeAll(t.Context()); !d.Allowed || err != nil {
		t.Errorf("TakeAll of nothing: got %+v, %v; want allowed", d, err)
	}
	if err := l.Refund(t.Context(), k); err != nil {
		t.Errorf("Refund: %v", err)
	}
	if l.Stats() != (ratelimit.Stats{}) || l.Quota() != (ratelimit.Quota{}) {
		t.Errorf("Stats, Quota: got %+v, %+v; want zero", l.Stats(), l.Quota())
	}
	l.Close()
}

// One reading of the clock serves all checks of a request.
func TestTakeAt(t *testing.T) {
	clk := &clock{at: time.Second}
	l := limiter(t, ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 1}, clk)
	at := l.Now()
	clk.at += time.Hour
	if d, err := l.TakeAt(t.Context(), at, key); err != nil || !d.Allowed {
		t.Errorf("first: got %+v, %v; want allowed", d, err)
	}
	if d, err := l.TakeAt(t.Context(), at, key); err != nil || d.Allowed || d.Retry != time.Second {
		t.Errorf("second at the same reading: got %+v, %v; want refused for 1s", d, err)
	}
}

// NextUnit is never too short, and too long by its rounding alone.
func TestNextUnit(t *testing.T) {
	for _, q := range []ratelimit.Quota{{Rate: 1, Period: time.Second, Burst: 1}, {Rate: 7, Period: time.Minute, Burst: 5}, {Rate: 100, Period: time.Second, Burst: 30}} {
		clk := &clock{at: time.Hour}
		l := limiter(t, q, clk)
		if got := l.NextUnit(charge(t, l, 0)); got != 0 {
			t.Errorf("%+v: nothing is owed, and the next unit comes in %v", q, got)
		}
		d := charge(t, l, q.Burst)
		for d.Reset > 0 {
			next := l.NextUnit(d)
			clk.at += max(0, next-2)
			if early := charge(t, l, 0); early.Remaining != d.Remaining {
				t.Fatalf("%+v: %d of %d are there before %v", q, early.Remaining, d.Remaining, next)
			}
			clk.at += min(next, 2)
			later := charge(t, l, 0)
			if later.Remaining != d.Remaining+1 {
				t.Fatalf("%+v: %d are there after %v, and %d were before", q, later.Remaining, next, d.Remaining)
			}
			d = later
		}
		if d.Remaining != q.Burst {
			t.Errorf("%+v: %d are there in the end", q, d.Remaining)
		}
	}
}
