package passhash

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Stats counts what the gate has done and holds.
type Stats struct {
	// Done counts hashes computed, Refused callers turned away since the start.
	Done, Refused uint64
	// Waiting and Running are the present numbers.
	Waiting, Running uint64
}

// Busy is the refusal of a full or too slow queue: a 503.
type Busy struct {
	// RetryAfter is how long a newcomer would wait now, at least a second.
	RetryAfter time.Duration
}

// Error names the refusal.
func (b *Busy) Error() string { return "password hashing is busy" }

const (
	defaultWait   = 15 * time.Second
	queuePerSlot  = 64
	expectedFirst = 250 * time.Millisecond // a hash, before one was measured
	smoothing     = 8                      // the last hash counts an eighth
)

// gate lets a bounded number of hashes run at once. The others wait in the
// order in which they came, a bounded number for a bounded time.
type gate struct {
	slots, room int
	wait        time.Duration

	mu            sync.Mutex
	running       int
	queue         []chan struct{} // closed when a slot is the waiter's
	mean          time.Duration
	done, refused uint64
}

func newGate(slots, room int, wait time.Duration) *gate {
	if slots == 0 {
		slots = max(runtime.GOMAXPROCS(0)/2, 1)
	}
	if room == 0 {
		room = queuePerSlot * slots
	}
	if wait == 0 {
		wait = defaultWait
	}
	return &gate{slots: slots, room: room, wait: wait, mean: expectedFirst}
}

// run does the work in a slot. A caller whose context ends goes away at once,
// but work that has begun keeps its slot until it is done: it cannot be
// stopped, and whoever hangs up must not win a second slot by it.
func (g *gate) run(ctx context.Context, work func()) error {
	if err := g.enter(ctx); err != nil {
		return err
	}
	finished := make(chan error, 1)
	go func() { finished <- g.work(work) }()
	select {
	case err := <-finished:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// work runs in a goroutine of its own, where a panic would end the process.
func (g *gate) work(work func()) (err error) {
	start := time.Now()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("hash a password: %v", p)
		}
		g.leave(time.Since(start))
	}()
	work()
	return nil
}

// enter returns once a slot is the caller's.
func (g *gate) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	turn, err := g.line()
	if turn == nil {
		return err
	}
	deadline := time.NewTimer(g.wait)
	defer deadline.Stop()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		if !g.withdraw(turn) {
			g.free() // the slot came at the same moment
		}
		return ctx.Err()
	case <-deadline.C:
		if !g.withdraw(turn) {
			return nil
		}
		return g.refuse()
	}
}

// line takes a slot, a place in the queue (the channel), or neither.
func (g *gate) line() (chan struct{}, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.running < g.slots: // then nobody waits
		g.running++
		return nil, nil
	case len(g.queue) >= g.room:
		g.refused++
		return nil, g.busy()
	default:
		turn := make(chan struct{})
		g.queue = append(g.queue, turn)
		return turn, nil
	}
}

// withdraw leaves the queue; false means that the slot was given already.
func (g *gate) withdraw(turn chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.queue, turn)
	if i < 0 {
		return false
	}
	g.queue = slices.Delete(g.queue, i, i+1)
	return true
}

// leave counts a hash and frees its slot.
func (g *gate) leave(took time.Duration) {
	g.mu.Lock()
	g.done++
	g.mean += (took - g.mean) / smoothing
	g.mu.Unlock()
	g.free()
}

// free hands a slot to the first of the queue.
func (g *gate) free() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue) == 0 {
		g.running--
		return
	}
	close(g.queue[0])
	g.queue = slices.Delete(g.queue, 0, 1)
}

func (g *gate) refuse() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refused++
	return g.busy()
}

// busy expects each of those before a newcomer to take as long as the last
// ones did.
func (g *gate) busy() *Busy {
	before := g.mean * time.Duration(len(g.queue)+1) / time.Duration(g.slots)
	return &Busy{RetryAfter: max(before, time.Second)}
}

func (g *gate) stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	return Stats{Done: g.done, Refused: g.refused, Waiting: uint64(len(g.queue)), Running: uint64(g.running)}
}
