package redis_test

import (
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/redistest"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/conform"
)

// RL-L32: every algorithm on a server holds the contract of a quota.
func TestConform(t *testing.T) {
	for _, form := range []conform.Form{conform.GCRA, conform.Counter} {
		t.Run(string(form), func(t *testing.T) {
			s := redistest.Start(t)
			conform.Run(t, conform.Target{Form: form, Tick: time.Microsecond, Open: func(t testing.TB, spec ratelimit.Spec, clock *conform.Clock) ratelimit.Store {
				c := client(t, s.Addr)
				c.SetClock(clock.Now)
				s.Do("FLUSHALL")
				return open(t, c, spec)
			}})
		})
	}
}
