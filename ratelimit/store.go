package ratelimit

import (
	"context"
	"time"
)

// Store keeps the states of one limiter's keys. Each call is one decision: a
// shared store answers it in one round trip, with all fields of the Decision.
// The clock is the store's own, since processes that share a store cannot
// share theirs. What more a store can do, it says by the small interfaces
// below; each is optional.
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

// requoter is a store whose quota can change while it holds debts: it converts
// each to the new quota, in the step in which the key is first decided by it.
type requoter interface {
	Requota(ctx context.Context, q Quota) error
}

// resetter is a store that can forget a key, whatever is owed on it.
type resetter interface {
	Reset(ctx context.Context, k Key) error
}

// topper is a store that can list the keys which owe most.
type topper interface {
	Top(n int) []Debtor
}

// texter is a store of several processes, which makes the same key of a text in
// each of them.
type texter interface {
	Text(s string) Key
}

// Bundled is a store that can decide a charge in one step with charges of
// other stores: those whose Bundler is equal to its own.
type Bundled interface {
	Bundler() Bundler
}

// Bundler decides charges of several stores at once; it must be comparable.
type Bundler interface {
	// TakeTogether fills the Decision of each part. All are charged when
	// every part that is not a Shadow is allowed, and none otherwise. The
	// reading is for stores that decide by a clock of this process. After an
	// error nothing is charged, as far as the bundler can know.
	TakeTogether(ctx context.Context, at time.Duration, parts []Part) error
}

// Part is one charge of several that are decided together. A Shadow part is
// charged if it can be, and never keeps the others from theirs.
type Part struct {
	Store    Store
	Key      Key
	Cost     int64
	Shadow   bool
	Decision Decision
}

// Debtor is a key and what is owed on it, in units rounded up. Retry is the
// time until a check of one unit passes, Reset that until nothing is owed.
type Debtor struct {
	Key          Key
	Debt         int64
	Retry, Reset time.Duration
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
	// Overflowed counts checks of new keys that were charged to the overflow
	// bucket, or denied, because a flood had filled the store.
	Overflowed uint64
	// Failing says that the store which processes share did not answer the
	// last check, Fallbacks counts the checks that it did not answer.
	Failing   bool
	Fallbacks uint64
}
