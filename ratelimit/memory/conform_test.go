package memory_test

import (
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/conform"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

// RL-L32: every algorithm in memory holds the contract of a quota.
func TestConform(t *testing.T) {
	for _, form := range []conform.Form{conform.GCRA, conform.Log, conform.Counter} {
		t.Run(string(form), func(t *testing.T) {
			// Above MaxLog units in a window they are counted, not listed.
			fits := func(q ratelimit.Quota) bool { return form != conform.Counter || q.Burst > ratelimit.MaxLog }
			conform.Run(t, conform.Target{Form: form, Tick: time.Nanosecond, Fits: fits, Open: func(t testing.TB, spec ratelimit.Spec, _ *conform.Clock) ratelimit.Store {
				s, err := memory.New(spec)
				if err != nil {
					t.Fatal(err)
				}
				return s
			}})
		})
	}
}
