package ratelimit

import (
	"context"
	"time"
)

// Store keeps the states of one limiter's keys. Each call is one decision: a
// shared store answers it in one round trip, with all fields of the Decision.
// The clock is the store's own, since processes that share a store cannot
// share theirs.
type Store interface {
	// Take charges cost units to a key or refuses. Cost 0 looks, changes
	// nothing and is allowed; a cost outside 0..burst is ErrCost. Any other
	// error means that the store could not decide.
	Take(ctx context.Context, k Key, cost int64) (Decision, error)
	// Refund gives back n units that were taken, at most what is owed.
	Refund(ctx context.Context, k Key, n int64) error
	// Len is the number of keys held in this process.
	Len() int
	// Close ends what the store runs in the background and waits for it.
	Close()
}

// Spec describes a limiter to the constructor of its store.
type Spec struct {
	// Name is the limiter's, unique in the process; a shared store puts it
	// before its keys.
	Name  string
	Quota Quota
	// MaxEntries is the most keys that a store in this process may hold.
	MaxEntries int
	// IPv4Prefix and IPv6Prefix are the lengths to which addresses are cut
	// before they become keys; zero means 32 and 64.
	IPv4Prefix, IPv6Prefix int
	// Now is a clock that never goes back, read as the time since a fixed
	// point; nil means Monotonic. Shared stores have
	// a clock of their own and ignore it.
	Now func() time.Duration
}

// Opener makes the store of one limiter, for example memory.Open.
type Opener func(Spec) (Store, error)

// clocked is a store that decides by a clock of this process, so that one
// reading can serve all checks of a request.
type clocked interface {
	Now() time.Duration
	TakeAt(ctx context.Context, at time.Duration, k Key, cost int64) (Decision, error)
}

// counted is a store that counts what it did.
type counted interface {
	Stats() Stats
}

// Stats is what a limiter did since it was made; entries are as of now.
type Stats struct {
	Name              string
	Entries, Capacity int
	// Allowed and Refused count checks that cost something.
	Allowed, Refused uint64
	// Swept and EvictedIdle count entries given up when nothing was owed on
	// them, by the sweep and for room. EvictedLive counts entries given up
	// for room although something was owed: a flood of keys makes it rise.
	Swept, EvictedIdle, EvictedLive uint64
}
