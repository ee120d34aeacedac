package memory

import (
	"math"
	"sync"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// Shards are powers of two, so many that locks are rarely met and so few that
// each holds some hundred keys: keys fall unevenly, and in small shards some
// would be full long before the store is.
const (
	shardEntries = 512
	maxShards    = 256
)

// none ends a list of slots; free marks a slot that is in no list of recency.
const (
	none int32 = -1
	free int32 = -2
)

// slot is one key and its state, in the list of recency. It holds no pointer:
// the garbage collector never looks into a store, however large.
type slot struct {
	key        ratelimit.Key
	state      ratelimit.State
	prev, next int32 // the newer and the older neighbour
}

// shard is a part of the keys behind one lock. All that follows mu is guarded
// by it.
type shard struct {
	mu     sync.Mutex
	index  map[ratelimit.Key]int32
	slots  []slot
	limit  int   // slots at most
	unused int32 // first free slot
	newest int32
	oldest int32
	// due is a reading before which no entry becomes idle. Charges only put
	// that off, so it stays true until an entry is added or refunded.
	due time.Duration

	allowed, refused                uint64
	swept, evictedIdle, evictedLive uint64

	_ [64]byte // keeps neighbours' locks off each other's cache line
}

// newShards splits a capacity; the limits add up to it exactly.
func newShards(capacity int) []shard {
	n := 1
	for n < maxShards && capacity >= 2*n*shardEntries {
		n *= 2
	}
	shards := make([]shard, n)
	for i := range shards {
		limit := capacity / n
		if i < capacity%n {
			limit++
		}
		shards[i] = shard{
			index: map[ratelimit.Key]int32{}, limit: limit,
			unused: none, newest: none, oldest: none, due: math.MaxInt64,
		}
	}
	return shards
}

// take charges a key. A key that is charged or refused becomes the newest.
func (h *shard) take(m *ratelimit.Meter, k ratelimit.Key, at time.Duration, cost int64) (ratelimit.Decision, error) {
	i, held := h.index[k]
	if !held {
		return h.takeNew(m, k, at, cost)
	}
	d, err := m.Take(&h.slots[i].state, at, cost)
	if err != nil || cost == 0 {
		return d, err
	}
	if d.Allowed {
		h.allowed++
	} else {
		h.refused++
	}
	if h.newest != i {
		h.unlink(i)
		h.link(i)
	}
	return d, nil
}

// takeNew charges a key that is not held; nothing is owed on it, so that it is
// never refused.
func (h *shard) takeNew(m *ratelimit.Meter, k ratelimit.Key, at time.Duration, cost int64) (ratelimit.Decision, error) {
	state := ratelimit.State{Last: at}
	d, err := m.Take(&state, at, cost)
	if err != nil || cost == 0 {
		return d, err
	}
	i := h.room(m, at)
	h.slots[i].key, h.slots[i].state = k, state
	h.index[k] = i
	h.link(i)
	h.due = min(h.due, at+d.Reset)
	h.allowed++
	return d, nil
}

// refund gives back units of a key and leaves its place in the list alone.
func (h *shard) refund(m *ratelimit.Meter, k ratelimit.Key, at time.Duration, n int64) error {
	var state ratelimit.State // of a key that is not held: nothing to give back
	i, held := h.index[k]
	if held {
		state = h.slots[i].state
	}
	if err := m.Refund(&state, at, n); err != nil || !held {
		return err
	}
	h.slots[i].state = state
	h.due = min(h.due, at+m.Repaid(state.Debt))
	return nil
}

// room finds a slot for a new key: an unused one while the shard may grow, else
// that of an idle entry, else that of the entry seen least recently.
func (h *shard) room(m *ratelimit.Meter, at time.Duration) int32 {
	if h.unused == none && len(h.slots) < h.limit {
		return h.grow()
	}
	if h.unused == none && m.Owed(h.slots[h.oldest].state, at) == 0 {
		h.drop(h.oldest)
		h.evictedIdle++
	}
	if h.unused == none && at >= h.due {
		h.evictedIdle += h.reclaim(m, at, 0, len(h.slots))
	}
	if h.unused == none {
		h.drop(h.oldest)
		h.evictedLive++
	}
	i := h.unused
	h.unused = h.slots[i].next
	return i
}

// grow adds a slot. Capacity doubles, but never beyond the limit.
func (h *shard) grow() int32 {
	n := len(h.slots)
	if n == cap(h.slots) {
		h.slots = append(make([]slot, 0, min(h.limit, max(2*n, 8))), h.slots...)
	}
	h.slots = h.slots[:n+1]
	return int32(n)
}

// reclaim drops the idle entries of a range of slots and says how many. When
// the range is the whole shard, it also learns when the next one is due.
func (h *shard) reclaim(m *ratelimit.Meter, at time.Duration, from, to int) uint64 {
	var dropped uint64
	least := int64(math.MaxInt64)
	for i := from; i < to; i++ {
		if h.slots[i].prev == free {
			continue
		}
		owed := m.Owed(h.slots[i].state, at)
		if owed == 0 {
			h.drop(int32(i))
			dropped++
			continue
		}
		least = min(least, owed)
	}
	if to-from == len(h.slots) {
		h.due = math.MaxInt64
		if least != math.MaxInt64 {
			h.due = at + m.Repaid(least)
		}
	}
	return dropped
}

// drop forgets an entry; its slot is the next to be used.
func (h *shard) drop(i int32) {
	h.unlink(i)
	delete(h.index, h.slots[i].key)
	h.slots[i] = slot{prev: free, next: h.unused}
	h.unused = i
}

// link makes a slot the newest.
func (h *shard) link(i int32) {
	h.slots[i].prev, h.slots[i].next = none, h.newest
	if h.newest == none {
		h.oldest = i
	} else {
		h.slots[h.newest].prev = i
	}
	h.newest = i
}

// unlink takes a slot out of the list.
func (h *shard) unlink(i int32) {
	prev, next := h.slots[i].prev, h.slots[i].next
	if prev == none {
		h.newest = next
	} else {
		h.slots[prev].next = next
	}
	if next == none {
		h.oldest = prev
	} else {
		h.slots[next].prev = prev
	}
}
