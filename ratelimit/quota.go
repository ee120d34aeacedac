package ratelimit

import (
	"errors"
	"fmt"
	"time"
)

// Bounds of a Quota. Together they keep Burst × Period in nanoseconds below
// 2^63, so that a Meter never overflows.
const (
	MaxRate   = 100_000
	MaxBurst  = 100_000
	MaxPeriod = 24 * time.Hour
)

// ErrQuota is wrapped by every refusal of a Quota outside its bounds.
var ErrQuota = errors.New("ratelimit: quota out of bounds")

// Quota says that Rate units come back each Period and that at most Burst may
// be taken at once; Burst is the whole of it, not something on top of one.
type Quota struct {
	Rate   int64
	Period time.Duration
	Burst  int64
}

// Check refuses a quota outside 1..MaxRate, 1..MaxBurst or 1 ns..MaxPeriod,
// with an error that wraps ErrQuota.
func (q Quota) Check() error {
	switch {
	case q.Rate < 1 || q.Rate > MaxRate:
		return fmt.Errorf("%w: rate %d is not in 1..%d", ErrQuota, q.Rate, MaxRate)
	case q.Burst < 1 || q.Burst > MaxBurst:
		return fmt.Errorf("%w: burst %d is not in 1..%d", ErrQuota, q.Burst, MaxBurst)
	case q.Period < 1 || q.Period > MaxPeriod:
		return fmt.Errorf("%w: period %s is not in 1ns..%s", ErrQuota, q.Period, MaxPeriod)
	}
	return nil
}

// FullAfter is how long a spent quota takes to come back whole by GCRA, rounded
// up to the nanosecond. The quota must pass Check.
func (q Quota) FullAfter() time.Duration {
	return time.Duration(ceilDiv(q.Burst*int64(q.Period), q.Rate))
}
