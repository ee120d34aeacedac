package ratelimit_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

// Nanoseconds do not travel between machines, ratios do: a check is compared
// with the least that any limiter must do, which is to look a key up, to
// exchange a word and to read the clock. Both are measured in processor time,
// which other processes on the machine inflate far less than the time of day.

// cpu is the processor time that this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchKeys makes random keys, and picks of them in random order, a power of
// two of picks so that they can be gone round with a mask.
func benchKeys(n int) (keys, picks []ratelimit.Key) {
	r := rand.New(rand.NewPCG(1, 2))
	keys = make([]ratelimit.Key, n)
	for i := range keys {
		keys[i] = ratelimit.Key{Hi: r.Uint64(), Lo: r.Uint64()}
	}
	picks = make([]ratelimit.Key, 1<<20)
	for i := range picks {
		picks[i] = keys[r.IntN(n)]
	}
	return keys, picks
}

// floor is the least work: one lookup, one exchange, one clock reading.
type floor struct {
	last  map[ratelimit.Key]*atomic.Int64
	start time.Time
}

func newFloor(keys []ratelimit.Key) *floor {
	f := &floor{map[ratelimit.Key]*atomic.Int64{}, time.Now()}
	for _, k := range keys {
		f.last[k] = new(atomic.Int64)
	}
	return f
}

func (f *floor) run(picks []ratelimit.Key, n int) {
	for i := range n {
		v := f.last[picks[i&(len(picks)-1)]]
		old := v.Load()
		v.CompareAndSwap(old, old+int64(time.Since(f.start)))
	}
}

// benchLimiter holds all keys, with room to spare and so much quota that
// nothing is refused.
func benchLimiter(b *testing.B, keys []ratelimit.Key) *ratelimit.Limiter {
	b.Helper()
	l, err := ratelimit.New(ratelimit.Spec{
		Name:       "bench",
		Quota:      ratelimit.Quota{Rate: ratelimit.MaxRate, Period: time.Second, Burst: ratelimit.MaxBurst},
		MaxEntries: len(keys) + len(keys)/8,
	}, memory.Open)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(l.Close)
	for _, k := range keys {
		l.Take(context.Background(), k)
	}
	return l
}

func check(l *ratelimit.Limiter, picks []ratelimit.Key, n int) {
	ctx := context.Background()
	for i := range n {
		l.Take(ctx, picks[i&(len(picks)-1)])
	}
}

// measure reports processor time an operation.
func measure(b *testing.B, run func(n int)) {
	b.ReportAllocs()
	begin := cpu()
	b.ResetTimer()
	run(b.N)
	b.ReportMetric(float64(cpu()-begin)/float64(b.N), "cpu-ns/op")
}

func benchCheck(b *testing.B, n int) {
	keys, picks := benchKeys(n)
	l := benchLimiter(b, keys)
	measure(b, func(n int) { check(l, picks, n) })
}

func benchFloor(b *testing.B, n int) {
	keys, picks := benchKeys(n)
	f := newFloor(keys)
	measure(b, func(n int) { f.run(picks, n) })
}

func BenchmarkCheck10k(b *testing.B) { benchCheck(b, 10_000) }
func BenchmarkCheck1M(b *testing.B)  { benchCheck(b, 1_000_000) }
func BenchmarkFloor10k(b *testing.B) { benchFloor(b, 10_000) }
func BenchmarkFloor1M(b *testing.B)  { benchFloor(b, 1_000_000) }

// benchRatio alternates short runs of both, so that what else the machine does
// meets both, and reports the median of their ratios. It fails above the limit.
func benchRatio(b *testing.B, n int, limit float64) {
	keys, picks := benchKeys(n)
	l, f := benchLimiter(b, keys), newFloor(keys)
	const rounds, calls = 41, 100_000
	var checks, floors, ratios []float64
	for b.Loop() {
		for range rounds {
			begin := cpu()
			check(l, picks, calls)
			mid := cpu()
			f.run(picks, calls)
			c, f := float64(mid-begin)/calls, float64(cpu()-mid)/calls
			checks, floors, ratios = append(checks, c), append(floors, f), append(ratios, c/f)
		}
	}
	ratio := median(ratios)
	b.ReportMetric(ratio, "x-floor")
	b.ReportMetric(median(checks), "check-ns")
	b.ReportMetric(median(floors), "floor-ns")
	b.ReportMetric(0, "ns/op")
	if ratio > limit {
		b.Errorf("a check costs %.2f × the floor, want at most %.1f", ratio, limit)
	}
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

func BenchmarkRatio10k(b *testing.B) { benchRatio(b, 10_000, 1.8) }
func BenchmarkRatio1M(b *testing.B)  { benchRatio(b, 1_000_000, 3.5) }

// BenchmarkHotKey has all goroutines on one key.
func BenchmarkHotKey(b *testing.B) {
	keys, _ := benchKeys(1)
	l := benchLimiter(b, append(keys, ratelimit.Key{}))
	begin := cpu()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			l.Take(context.Background(), keys[0])
		}
	})
	b.ReportMetric(float64(cpu()-begin)/float64(b.N), "cpu-ns/op")
}

// BenchmarkFlood has only new keys, in a full store of 10,000: each must make
// room for itself.
func BenchmarkFlood(b *testing.B) {
	for _, c := range []struct {
		name string
		rate int64 // units a second: at the higher, what was charged is soon repaid
	}{{"live", 1}, {"idle", ratelimit.MaxRate}} {
		b.Run(c.name, func(b *testing.B) {
			l, err := ratelimit.New(ratelimit.Spec{
				Name: "bench", Quota: ratelimit.Quota{Rate: c.rate, Period: time.Second, Burst: 5}, MaxEntries: 10_000,
			}, memory.Open)
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			measure(b, func(n int) {
				for i := range n {
					l.Take(context.Background(), ratelimit.Key{Hi: uint64(i)})
				}
			})
		})
	}
}
