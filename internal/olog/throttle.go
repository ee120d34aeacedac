package olog

import (
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// throttle lets a number of records pass in an interval, and any that are bad
// enough (oslo.log's rate_limit_*). A nil one lets all pass.
type throttle struct {
	burst    int
	interval time.Duration
	except   int // from this level on nothing is dropped

	mu    sync.Mutex
	count int
	end   time.Time
}

// drops reports whether a record is to be dropped. The first one that is says
// so in its place.
func (t *throttle) drops(r *record, to *route) bool {
	if t == nil || levelNumber(r.level) >= t.except {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !r.time.Before(t.end) {
		t.count, t.end = 0, r.time.Add(t.interval)
	}
	t.count++
	if t.count != t.burst+1 {
		return t.count > t.burst
	}
	*r = record{
		time: r.time, level: slog.LevelError, logger: rootName, req: noRequest, source: nowhere,
		message: fmt.Sprintf("Logging rate limit: drop after %d records/%d sec", t.burst, int(t.interval/time.Second)),
	}
	return to.level > levelError
}
