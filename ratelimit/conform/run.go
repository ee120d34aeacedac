package conform

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// Run holds a store to every clause, with several quotas each.
func Run(t *testing.T, g Target) {
	for _, q := range g.quotas() {
		t.Run(fmt.Sprintf("%d in %s, burst %d", q.Rate, q.Period, q.Burst), func(t *testing.T) {
			b := g.bench(t, q)
			t.Run("oracle", func(t *testing.T) { rapid.Check(t, b.oracle) })
			t.Run("Q1", func(t *testing.T) { b.saturate(t) })
			t.Run("Q3", func(t *testing.T) { rapid.Check(t, b.honestWait) })
			t.Run("Q5", func(t *testing.T) { rapid.Check(t, b.split) })
			t.Run("Q7", func(t *testing.T) { b.badCosts(t) })
			t.Run("Q8", func(t *testing.T) { rapid.Check(t, b.refunds) })
			t.Run("Q9", func(t *testing.T) { rapid.Check(t, b.isolation) })
			if q.Burst <= 2000 { // a larger one takes long
				t.Run("Q10", func(t *testing.T) { b.atOnce(t) })
			}
			if s, can := b.store.(resetter); can {
				t.Run("reset", func(t *testing.T) { b.reset(t, s) })
			}
			if _, can := b.store.(requoter); can {
				t.Run("requota", func(t *testing.T) { g.requota(t, q) })
			}
		})
	}
}

// pause draws a time for the clock to move: often none, often about what a unit
// takes, at times so long that all is forgotten.
func (b *bench) pause(t *rapid.T) time.Duration {
	unit, full := int64(b.quota.Period)/b.quota.Rate, int64(b.target.FullAfter(b.quota))
	var d int64
	switch rapid.IntRange(0, 9).Draw(t, "pause") {
	case 0, 1, 2, 3:
	case 4, 5, 6:
		d = rapid.Int64Range(0, 2*unit+2).Draw(t, "units")
	case 7, 8:
		d = rapid.Int64Range(0, full/2+1).Draw(t, "part")
	default:
		d = full - rapid.Int64Range(0, 1).Draw(t, "almost")*int64(b.target.Tick)
	}
	return max(0, time.Duration(d)/b.target.Tick*b.target.Tick)
}

func (b *bench) cost(t *rapid.T, least int64) int64 {
	most := b.quota.Burst
	if rapid.Bool().Draw(t, "small") {
		most = min(most, 4)
	}
	return rapid.Int64Range(min(least, most), most).Draw(t, "cost")
}

// oracle goes through checks, looks, refunds and pauses; every answer equals
// the oracle's. On the way it watches Q1, Q2, Q4, Q6 and Q11.
func (b *bench) oracle(t *rapid.T) {
	k, o, log := b.key(), b.target.oracle(b.quota), journal{quota: b.quota}
	b.clock.Move(b.target.Tick)
	for range rapid.IntRange(1, 40).Draw(t, "operations") {
		waited := b.pause(t)
		b.clock.Move(waited)
		at := b.clock.Now()
		before := b.take(t, k, 0)
		b.equal(t, "look", before, o.take(at, 0))
		if waited >= b.target.FullAfter(b.quota) && before.Remaining != b.quota.Burst {
			t.Fatalf("Q2: %+v: after %v of rest: %+v", b.quota, waited, before)
		}
		if rapid.IntRange(0, 5).Draw(t, "kind") == 0 {
			n := b.cost(t, 0)
			n = min(n, log.out())
			b.refund(t, k, n)
			o.refund(at, n)
			log.add(at, -n)
			continue
		}
		cost := b.cost(t, 1)
		d := b.take(t, k, cost)
		b.equal(t, fmt.Sprintf("take %d", cost), d, o.take(at, cost))
		after := b.take(t, k, 0)
		switch {
		case !d.Allowed && after != before:
			t.Fatalf("Q4: %+v: a refusal of %d changed %+v to %+v", b.quota, cost, before, after)
		case d.Remaining < 0 || d.Remaining > before.Remaining || before.Remaining > b.quota.Burst:
			t.Fatalf("Q11: %+v: %d remain after %d", b.quota, d.Remaining, before.Remaining)
		case d.Allowed:
			log.add(at, cost)
		}
	}
	if err := log.check(); err != nil {
		t.Fatalf("Q1: %v", err)
	}
}

func (b *bench) equal(t fataler, what string, got, want ratelimit.Decision) {
	t.Helper()
	if got != want {
		t.Fatalf("%s, %+v, %s at %v: got %+v, want %+v", b.target.Form, b.quota, what, b.clock.Now(), got, want)
	}
}

// journal is what was kept, and when.
type journal struct {
	quota ratelimit.Quota
	lines []line
	kept  int64
}

type line struct {
	at    time.Duration
	units int64
}

func (j *journal) out() int64 { return j.kept }

func (j *journal) add(at time.Duration, units int64) {
	j.kept += units
	j.lines = append(j.lines, line{at, units})
}

// check looks at every interval between two lines, both included.
func (j *journal) check() error {
	for i := range j.lines {
		sum := int64(0)
		for _, l := range j.lines[i:] {
			sum += l.units
			over := new(big.Int).Mul(big.NewInt(sum-j.quota.Burst), big.NewInt(int64(j.quota.Period)))
			due := new(big.Int).Mul(big.NewInt(int64(l.at-j.lines[i].at)), big.NewInt(j.quota.Rate))
			if over.Cmp(due) > 0 {
				return fmt.Errorf("%+v: %d units from %v to %v", j.quota, sum, j.lines[i].at, l.at)
			}
		}
	}
	return nil
}

// saturate takes all there is at even steps, for three windows: Q1 again, and
// for the reader how much one window can admit.
func (b *bench) saturate(t *testing.T) {
	k, log := b.key(), journal{quota: b.quota}
	window := roundUp(b.quota.Window(), b.target.Tick)
	step := max(b.target.Tick, window/40/b.target.Tick*b.target.Tick)
	for spent := time.Duration(0); spent <= 3*window; spent += step {
		if left := b.take(t, k, 0).Remaining; left > 0 && b.take(t, k, left).Allowed {
			log.add(b.clock.Now(), left)
		}
		b.clock.Move(step)
	}
	if err := log.check(); err != nil {
		t.Error(err)
	}
	most := int64(0)
	for i := range log.lines {
		sum := int64(0)
		for _, l := range log.lines[i:] {
			if l.at < log.lines[i].at+window {
				sum += l.units
			}
		}
		most = max(most, sum)
	}
	if b.target.Form == Log && most > b.quota.Burst {
		t.Errorf("%d admitted in a window of %v, want at most %d", most, window, b.quota.Burst)
	}
	t.Logf("%s: at most %d in a window of %v (burst %d)", b.target.Form, most, window, b.quota.Burst)
}

// fill brings a key into some state.
func (b *bench) fill(t *rapid.T, ks ...ratelimit.Key) {
	for range rapid.IntRange(0, 4).Draw(t, "before") {
		cost := b.cost(t, 1)
		for _, k := range ks {
			b.take(t, k, cost)
		}
		b.clock.Move(b.pause(t))
	}
}

func (b *bench) honestWait(t *rapid.T) {
	k := b.key()
	b.fill(t, k)
	cost := b.cost(t, 1)
	d := b.take(t, k, cost)
	for taken := cost; d.Allowed; taken += cost {
		if taken > 2*b.quota.Burst {
			t.Fatalf("Q1: %+v: %d admitted at once", b.quota, taken)
		}
		if most := d.Remaining - 2*cost; most > 50*cost { // a store may be a network away
			b.take(t, k, most)
			taken += most
		}
		d = b.take(t, k, cost)
	}
	if d.Retry <= 0 || d.Retry%b.target.Tick != 0 {
		t.Fatalf("%+v: refused for %v", b.quota, d.Retry)
	}
	b.clock.Move(d.Retry - b.target.Tick)
	if early := b.take(t, k, cost); early.Allowed || early.Retry != b.target.Tick {
		t.Fatalf("%+v: one tick before the end of %v: %+v", b.quota, d.Retry, early)
	}
	b.clock.Move(b.target.Tick)
	if due := b.take(t, k, cost); !due.Allowed {
		t.Fatalf("%+v: after %v: %+v", b.quota, d.Retry, due)
	}
}

func (b *bench) split(t *rapid.T) {
	x, y := b.key(), b.key()
	b.fill(t, x, y)
	cost := min(b.cost(t, 1), 50)
	one := b.take(t, x, cost)
	if !one.Allowed {
		return
	}
	var last ratelimit.Decision
	for range cost {
		last = b.take(t, y, 1)
	}
	b.equal(t, fmt.Sprintf("%d at once and one by one", cost), one, last)
}

func (b *bench) badCosts(t *testing.T) {
	k := b.key()
	for _, cost := range []int64{-1, b.quota.Burst + 1, 1 << 62} {
		if d, err := b.store.Take(t.Context(), k, cost); !errors.Is(err, ratelimit.ErrCost) || d.Allowed || d.Retry != 0 {
			t.Errorf("cost %d: got %+v, %v; want ErrCost", cost, d, err)
		}
	}
	if err := b.store.Refund(t.Context(), k, -1); !errors.Is(err, ratelimit.ErrCost) {
		t.Errorf("refund of -1: got %v, want ErrCost", err)
	}
	if d := b.take(t, k, b.quota.Burst); !d.Allowed {
		t.Errorf("after mistakes: %+v, want the whole burst", d)
	}
	b.refund(t, k, 1<<62)
	if d := b.take(t, k, 0); d.Remaining != b.quota.Burst || d.Reset != 0 {
		t.Errorf("after a refund of more than all: %+v", d)
	}
}

// refunds: at once it undoes exactly; later it leaves no more than if the rest
// alone had been taken.
func (b *bench) refunds(t *rapid.T) {
	x, y := b.key(), b.key()
	b.fill(t, x, y)
	cost := b.cost(t, 1)
	if !b.take(t, x, cost).Allowed {
		return
	}
	back := rapid.Int64Range(0, cost).Draw(t, "back")
	b.take(t, y, cost-back)
	waited := b.pause(t)
	b.clock.Move(waited)
	b.refund(t, x, back)
	after, without := b.take(t, x, 0), b.take(t, y, 0)
	if after.Remaining > without.Remaining || after.Reset < without.Reset {
		t.Fatalf("%+v: %d taken and %d given back leaves %+v, %d taken %+v", b.quota, cost, back, after, cost-back, without)
	}
	if waited == 0 {
		b.equal(t, "undone at once", after, without)
	}
}

func (b *bench) isolation(t *rapid.T) {
	ks := []ratelimit.Key{b.key(), b.key()}
	os := []oracle{b.target.oracle(b.quota), b.target.oracle(b.quota)}
	for range rapid.IntRange(1, 20).Draw(t, "operations") {
		b.clock.Move(b.pause(t))
		i, cost := rapid.IntRange(0, 1).Draw(t, "key"), b.cost(t, 0)
		b.equal(t, fmt.Sprintf("key %d of 2, take %d", i, cost), b.take(t, ks[i], cost), os[i].take(b.clock.Now(), cost))
	}
}

// atOnce has many callers on one key while the clock stands: exactly the burst
// is admitted, and with every second unit given back never more is out.
func (b *bench) atOnce(t *testing.T) {
	for _, giveBack := range []bool{false, true} {
		k := b.key()
		var kept atomic.Int64
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for i := range b.quota.Burst/8 + 2 {
					d, err := b.store.Take(context.Background(), k, 1)
					if err != nil || !d.Allowed {
						continue
					}
					if n := kept.Add(1); n > b.quota.Burst {
						t.Errorf("%d out at once", n)
					}
					if giveBack && i%2 == 0 {
						kept.Add(-1)
						if err := b.store.Refund(context.Background(), k, 1); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		wg.Wait()
		if !giveBack && kept.Load() != b.quota.Burst {
			t.Errorf("%d admitted, want %d", kept.Load(), b.quota.Burst)
		}
	}
}
