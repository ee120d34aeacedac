package db

import (
	"context"
	"sync"
	"time"
)

// lookPatience is how long others are waited for: a connection of theirs that
// hangs must not hold up who could ask on his own.
const lookPatience = 50 * time.Millisecond

// looks shares looks at the snapshot among those who want one at the same time.
// Only a look that begins after somebody came proves anything to him: so those
// who come while one is under way wait for the next, which they share.
type looks struct {
	mu   sync.Mutex
	busy bool
	next *look // of those who wait; nil: nobody does
}

// look is one statement and what it found.
type look struct {
	lead chan struct{} // one of those who wait takes it, and makes the look
	done chan struct{} // closed when it is made
	name string
	err  error
}

// snapshot gives the name of the snapshot at a moment between call and return.
func (l *looks) snapshot(ctx context.Context, c Conn) (string, error) {
	l.mu.Lock()
	if !l.busy {
		l.busy = true
		l.mu.Unlock()
		defer l.pass()
		return One(ctx, c, snapshotNow)
	}
	if l.next == nil {
		l.next = &look{lead: make(chan struct{}, 1), done: make(chan struct{})}
	}
	mine := l.next
	l.mu.Unlock()
	patience := time.NewTimer(lookPatience)
	defer patience.Stop()
	select {
	case <-mine.lead:
		return l.make(ctx, c, mine)
	case <-mine.done:
		if mine.err == nil {
			return mine.name, nil
		}
	case <-patience.C:
	case <-ctx.Done():
	}
	// The shared one failed, perhaps for him alone who made it, or hangs.
	return One(ctx, c, snapshotNow)
}

// make makes the look for all who wait; who comes from now on is too late.
func (l *looks) make(ctx context.Context, c Conn, mine *look) (string, error) {
	l.mu.Lock()
	l.next = nil
	l.mu.Unlock()
	defer l.pass()
	defer close(mine.done)
	mine.name, mine.err = One(ctx, c, snapshotNow)
	return mine.name, mine.err
}

// pass lets one of those who wait make the next look. If all of them have gone
// meanwhile, it is made by the first who comes.
func (l *looks) pass() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next != nil {
		l.next.lead <- struct{}{}
		return
	}
	l.busy = false
}
