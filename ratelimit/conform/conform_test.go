package conform_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/conform"
)

// plain is the least of stores: a map of states and a meter.
type plain struct {
	mu     sync.Mutex
	meter  ratelimit.Meter
	states map[ratelimit.Key]ratelimit.State
	now    func() time.Duration
}

func (p *plain) Take(_ context.Context, k ratelimit.Key, cost int64) (ratelimit.Decision, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.states[k]
	d, err := p.meter.Take(&s, p.now(), cost)
	p.states[k] = s
	return d, err
}

func (p *plain) Refund(_ context.Context, k ratelimit.Key, n int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.states[k]
	err := p.meter.Refund(&s, p.now(), n)
	p.states[k] = s
	return err
}

func (p *plain) Len() int { return len(p.states) }

func (p *plain) Close() {}

// The arithmetic alone, of both kinds of Meter, holds the contract with every
// quota.
func TestMeters(t *testing.T) {
	for _, form := range []conform.Form{conform.GCRA, conform.Counter} {
		t.Run(string(form), func(t *testing.T) {
			conform.Run(t, conform.Target{Form: form, Tick: time.Nanosecond, Open: func(t testing.TB, spec ratelimit.Spec, c *conform.Clock) ratelimit.Store {
				m, err := spec.Meter(spec.Quota)
				if err != nil {
					t.Fatal(err)
				}
				return &plain{meter: m, states: map[ratelimit.Key]ratelimit.State{}, now: c.Now}
			}})
		})
	}
}
