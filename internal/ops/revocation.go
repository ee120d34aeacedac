package ops

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// revocations is the number of stored revocation events. Counting them reads
// a table, so scrapes share a count that is up to a minute old, and do without
// where there is none.
type revocations struct {
	count func(context.Context) (int64, error)
	now   func() time.Time

	mu    sync.Mutex
	asked time.Time
	last  int64
	known bool
}

const (
	countEvery = time.Minute
	countTime  = 2 * time.Second
)

var revocationEvents = desc("keystone_revocation_events", "Revocation events that are stored; counted once a minute at most.")

// Describe sends nothing: whether there is a count depends on the database.
func (r *revocations) Describe(chan<- *prometheus.Desc) {}

// Collect counts anew when the last count is a minute old.
func (r *revocations) Collect(out chan<- prometheus.Metric) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked.IsZero() || r.now().Sub(r.asked) >= countEvery {
		r.asked = r.now()
		ctx, cancel := context.WithTimeout(context.Background(), countTime)
		defer cancel()
		n, err := r.count(ctx)
		r.known = err == nil
		r.last = n
	}
	if r.known {
		out <- prometheus.MustNewConstMetric(revocationEvents, prometheus.GaugeValue, float64(r.last))
	}
}
