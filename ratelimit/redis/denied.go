package redis

import (
	"sync"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// A refusal stays true until its wait is over, whatever others do, unless
// something is given back or the key is reset. In this process that empties the
// entry; what another process gives back is seen after remember.
const (
	remember   = time.Second
	deniedMost = 4096
)

// denied holds the refusals of the last moment, so that a flood from one caller
// does not reach the server.
type denied struct {
	now func() time.Duration
	mu  sync.Mutex
	of  map[ratelimit.Key]refusal
	// forgot counts what was forgotten. A refusal that was on its way
	// meanwhile may be out of date and is not kept.
	forgot uint64
}

type refusal struct {
	cost         int64
	until        time.Duration // how long this may be said without asking
	retry, reset time.Duration // as readings of the clock
	remaining    int64
}

func newDenied() *denied {
	return &denied{now: ratelimit.Monotonic, of: map[ratelimit.Key]refusal{}}
}

// find gives a refusal that holds for this cost too.
func (d *denied) find(k ratelimit.Key, cost int64) (ratelimit.Decision, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, ok := d.of[k]
	if !ok || cost < r.cost {
		return ratelimit.Decision{}, false
	}
	at := d.now()
	if at >= r.until {
		delete(d.of, k)
		return ratelimit.Decision{}, false
	}
	return ratelimit.Decision{Remaining: r.remaining, Retry: r.retry - at, Reset: r.reset - at}, true
}

// asking is the moment before a question: the clock, and what keep wants.
type asking struct {
	at     time.Duration
	forgot uint64
}

func (d *denied) ask() asking {
	d.mu.Lock()
	defer d.mu.Unlock()
	return asking{d.now(), d.forgot}
}

// keep remembers a refusal. Its wait began no earlier than the question.
func (d *denied) keep(k ratelimit.Key, cost int64, a asking, r ratelimit.Decision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.forgot != a.forgot {
		return
	}
	if len(d.of) >= deniedMost {
		clear(d.of)
	}
	d.of[k] = refusal{
		cost: cost, until: a.at + min(r.Retry, remember),
		retry: a.at + r.Retry, reset: a.at + r.Reset, remaining: r.Remaining,
	}
}

func (d *denied) forget(k ratelimit.Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.of, k)
	d.forgot++
}

func (d *denied) forgetAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.of)
	d.forgot++
}
