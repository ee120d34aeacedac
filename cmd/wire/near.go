package wire

import (
	"sync"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

const (
	// nearEvery is how often keys near their limit are counted: to find them, a
	// store goes through all that it holds.
	nearEvery = time.Minute
	// nearMost is how many of a limiter are counted.
	nearMost = 1000
)

// nearLimit counts, for each limiter, the keys that have used four fifths of
// their quota or more.
type nearLimit struct {
	mu     sync.Mutex
	at     time.Time
	counts map[string]int
}

func (n *nearLimit) of(s *ratelimit.Set, now time.Time) map[string]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.counts != nil && now.Sub(n.at) < nearEvery && !now.Before(n.at) {
		return n.counts
	}
	n.at, n.counts = now, map[string]int{}
	for _, l := range s.All() {
		burst := l.Quota().Burst
		for _, d := range l.Top(nearMost) {
			if d.Debt*5 >= burst*4 {
				n.counts[l.Name()]++
			}
		}
	}
	return n.counts
}
