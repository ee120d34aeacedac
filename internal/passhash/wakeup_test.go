package passhash_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/passhash"
)

// BenchmarkWakeup reports how late a goroutine runs that a timer has made
// ready, and one that it starts, while none, one or two slots compute bcrypt.
func BenchmarkWakeup(b *testing.B) {
	for _, busy := range []int{0, 1, 2} {
		b.Run(string(rune('0'+busy)), func(b *testing.B) {
			h := hasher(b, passhash.Options{Slots: max(busy, 1), Rounds: number(12)})
			ctx, cancel := context.WithCancel(b.Context())
			var logins sync.WaitGroup
			for range busy {
				logins.Go(func() {
					for ctx.Err() == nil {
						h.Dummy(ctx, "secret")
					}
				})
			}
			time.Sleep(20 * time.Millisecond)
			var late []time.Duration
			ready := make(chan time.Time)
			const pause = 500 * time.Microsecond
			for b.Loop() {
				start := time.Now()
				time.Sleep(pause)
				go func() { ready <- time.Now() }()
				late = append(late, (<-ready).Sub(start)-pause)
			}
			cancel()
			logins.Wait()
			slices.Sort(late)
			at := func(part float64) float64 { return float64(late[int(part*float64(len(late)-1))].Microseconds()) }
			b.ReportMetric(at(0.5), "p50-µs")
			b.ReportMetric(at(0.99), "p99-µs")
			b.ReportMetric(at(0.999), "p999-µs")
		})
	}
}
