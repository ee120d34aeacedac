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

// none is no slot.
const none int32 = -1

// slot is one key and its state. It holds no pointer: the garbage collector
// never looks into a store, however large.
type slot struct {
	key   ratelimit.Key
	state ratelimit.State
	seen  uint64 // the shard's count of checks at the last one; zero if unused
	hash  uint32
	next  int32 // of an unused slot, the next one
}

// shard is a part of the keys behind one lock. All that follows mu is guarded
// by it.
type shard struct {
	mu     sync.Mutex
	rule   *rule
	index  index
	slots  []slot
	checks uint64 // counts checks, as a clock of who was seen when

	allowed, refused uint64

	rings  []time.Duration // rule.ring readings a slot
	limit  int             // slots at most
	held   int             // slots in use
	unused int32           // first unused slot
	// due is a reading before which no entry becomes idle. Charges only put
	// that off, so it stays true until an entry is added or refunded.
	due     time.Duration
	victims []victim
	next    int // first victim that may still be one
	flood   flood

	swept, evictedIdle, evictedLive, overflowed uint64

	_ [64]byte // keeps neighbours' locks off each other's cache line
}

// newShards splits a capacity; the limits add up to it exactly.
func newShards(capacity int, r *rule) []shard {
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
		shards[i] = shard{rule: r, index: make(index, room(0)), limit: limit, unused: none, due: math.MaxInt64}
	}
	return shards
}

func (h *shard) bucket(i int32) bucket {
	b := bucket{state: &h.slots[i].state}
	if n := h.rule.ring; n > 0 {
		b.ring = h.rings[int(i)*n : (int(i)+1)*n]
	}
	return b
}

// take charges a key, and sees it.
func (h *shard) take(s *Store, k ratelimit.Key, hash uint32, at time.Duration, cost int64) (d ratelimit.Decision, err error) {
	i := h.index.find(h.slots, k, hash)
	if i == none {
		return h.takeNew(s, k, hash, at, cost)
	}
	// What most checks do is written out here, not left to rule.take.
	if h.rule.ring == 0 {
		d, err = h.rule.meter.Take(&h.slots[i].state, at, cost)
	} else {
		d, err = h.rule.take(h.bucket(i), at, cost)
	}
	if err != nil || cost == 0 {
		return d, err
	}
	h.count(d)
	h.checks++
	h.slots[i].seen = h.checks
	return d, nil
}

func (h *shard) count(d ratelimit.Decision) {
	if d.Allowed {
		h.allowed++
	} else {
		h.refused++
	}
}

// fresh is what a key that is not held is answered.
func (h *shard) fresh(cost int64) (ratelimit.Decision, error) {
	burst := h.rule.quota.Burst
	if cost < 0 || cost > burst {
		return ratelimit.Decision{}, ratelimit.ErrCost
	}
	return ratelimit.Decision{Allowed: true, Remaining: burst}, nil
}

// takeNew charges a key that is not held; nothing is owed on it, so that it is
// never refused, unless a flood has used the room up.
func (h *shard) takeNew(s *Store, k ratelimit.Key, hash uint32, at time.Duration, cost int64) (ratelimit.Decision, error) {
	d, err := h.fresh(cost)
	if err != nil || cost == 0 {
		return d, err
	}
	if s.overflow != ratelimit.Evict && h.flooded(at) {
		d, err = s.spill(at, cost)
		h.overflowed++
		h.count(d)
		return d, err
	}
	i := h.room(at)
	h.checks++
	h.held++
	h.slots[i] = slot{key: k, state: ratelimit.State{Last: at}, seen: h.checks, hash: hash}
	h.index.add(hash, i)
	d, err = h.rule.take(h.bucket(i), at, cost)
	h.due = min(h.due, at+d.Reset)
	h.count(d)
	return d, err
}

// look is what take would answer; it changes nothing.
func (h *shard) look(s *Store, k ratelimit.Key, hash uint32, at time.Duration, cost int64) (ratelimit.Decision, error) {
	if i := h.index.find(h.slots, k, hash); i != none {
		return h.rule.look(h.bucket(i), at, cost)
	}
	d, err := h.fresh(cost)
	if err == nil && cost > 0 && s.overflow != ratelimit.Evict && h.flooded(at) {
		return s.lookSpill(at, cost)
	}
	return d, err
}

// refund gives back units of a key, and does not see it.
func (h *shard) refund(s *Store, k ratelimit.Key, hash uint32, at time.Duration, n int64) error {
	i := h.index.find(h.slots, k, hash)
	switch {
	case n < 0:
		return ratelimit.ErrCost
	case i == none && s.overflow == ratelimit.Shared && h.flooded(at):
		return s.unspill(at, n)
	case i == none:
		return nil
	}
	b := h.bucket(i)
	err := h.rule.refund(b, at, n)
	h.due = min(h.due, at+h.rule.left(b, at))
	return err
}

// room finds a slot for a new key: an unused one while the shard may grow, else
// that of an idle entry, else that of the entry seen least recently.
func (h *shard) room(at time.Duration) int32 {
	if h.unused == none && len(h.slots) < h.limit {
		return h.grow()
	}
	if h.unused == none {
		h.evictedIdle += h.reclaim(at)
	}
	if h.unused == none {
		h.drop(h.stalest())
		h.evictedLive++
		h.flood.count(at)
	}
	i := h.unused
	h.unused = h.slots[i].next
	return i
}

// reclaim gives idle entries up when the shard is full: the stalest if it is
// one, else all, if there can be any.
func (h *shard) reclaim(at time.Duration) uint64 {
	if i := h.stalest(); h.rule.left(h.bucket(i), at) == 0 {
		h.drop(i)
		return 1
	}
	if at < h.due {
		return 0
	}
	return h.reclaimAll(at, 0, len(h.slots))
}

// grow adds a slot. Capacity doubles, but never beyond the limit.
func (h *shard) grow() int32 {
	n := len(h.slots)
	if n == cap(h.slots) {
		c := min(h.limit, max(2*n, 8))
		h.slots = append(make([]slot, 0, c), h.slots...)
		if ring := h.rule.ring; ring > 0 {
			h.rings = append(make([]time.Duration, 0, c*ring), h.rings...)[:c*ring]
		}
		if cells := room(c); cells > len(h.index) {
			h.index = h.index.grown(cells)
		}
	}
	h.slots = h.slots[:n+1]
	return int32(n)
}

// reclaimAll drops the idle entries of a range of slots and says how many. When
// the range is the whole shard, it also learns when the next one is due.
func (h *shard) reclaimAll(at time.Duration, from, to int) uint64 {
	var dropped uint64
	least := time.Duration(math.MaxInt64)
	for i := from; i < to; i++ {
		if h.slots[i].seen == 0 {
			continue
		}
		left := h.rule.left(h.bucket(int32(i)), at)
		if left == 0 {
			h.drop(int32(i))
			dropped++
			continue
		}
		least = min(least, left)
	}
	if to-from == len(h.slots) {
		h.due = math.MaxInt64
		if least < math.MaxInt64-at {
			h.due = at + least
		}
	}
	return dropped
}

// drop forgets an entry; its slot is the next to be used.
func (h *shard) drop(i int32) {
	h.index.remove(h.slots[i].hash, i)
	h.slots[i] = slot{next: h.unused}
	h.unused = i
	h.held--
}
