package redis

import (
	"errors"
	"sync"
	"time"
)

// ErrOpen is the failure of calls that are not made, because those before
// failed.
var ErrOpen = errors.New("redis: not asked: the last calls failed")

// After breakAfter failures in a row nothing is asked for pause; then one call
// is a probe, and its success lets all others through again.
const (
	breakAfter = 5
	pause      = time.Second
)

// breaker keeps callers from waiting for a server that does not answer.
type breaker struct {
	now func() time.Duration

	mu      sync.Mutex
	failed  int           // in a row
	until   time.Duration // when the next probe may go, once failed is high
	probing bool
}

// call is leave to ask the server; its end must be told to the breaker.
type call struct {
	b     *breaker
	probe bool
}

// enter gives leave, or ErrOpen.
func (b *breaker) enter() (call, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed < breakAfter {
		return call{b, false}, nil
	}
	if b.probing || b.now() < b.until {
		return call{}, ErrOpen
	}
	b.probing = true
	return call{b, true}, nil
}

// outcome of a call.
type outcome int

const (
	worked outcome = iota
	broke
	unknown // the caller went away: nothing is known of the server
)

// end tells how the call went. A call that began before the breaker opened
// says nothing that the probe does not say better.
func (c call) end(o outcome) {
	b := c.b
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.probe {
		b.probing = false
	} else if b.failed >= breakAfter {
		return
	}
	switch o {
	case worked:
		b.failed = 0
	case broke:
		b.failed = min(b.failed+1, breakAfter)
		if b.failed == breakAfter {
			b.until = b.now() + pause
		}
	}
}

// open tells whether calls are not made.
func (b *breaker) open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed >= breakAfter
}
