package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// together decides charges of any stores in this process in one step.
type together struct{}

// Bundler lets a request's charges on stores in memory be decided in one step.
func (s *Store) Bundler() ratelimit.Bundler { return together{} }

// place is where a part of a bundle is decided.
type place struct {
	part  *ratelimit.Part
	store *Store
	shard *shard
	nth   int
	hash  uint32
}

// few is how many parts are decided without allocating.
const few = 8

// TakeTogether holds the locks of all shards concerned, asks each, and charges
// them if none refuses.
func (together) TakeTogether(_ context.Context, at time.Duration, parts []ratelimit.Part) error {
	var buf [few]place
	places := buf[:0]
	for i := range parts {
		s, ok := parts[i].Store.(*Store)
		if !ok {
			return fmt.Errorf("memory: %T is none of its stores", parts[i].Store)
		}
		h := s.hash(parts[i].Key)
		n := s.nth(h)
		places = append(places, place{&parts[i], s, &s.shards[n], n, uint32(h)})
	}
	slices.SortStableFunc(places, place.order)
	eachShard(places, (*shard).lock)
	defer eachShard(places, (*shard).unlock)
	return charge(places, at)
}

// order is the one order in which all take the locks.
func (p place) order(o place) int {
	if c := cmp.Compare(p.store.id, o.store.id); c != 0 {
		return c
	}
	return cmp.Compare(p.nth, o.nth)
}

func (h *shard) lock()   { h.mu.Lock() }
func (h *shard) unlock() { h.mu.Unlock() }

func eachShard(places []place, f func(*shard)) {
	for i, p := range places {
		if i == 0 || p.shard != places[i-1].shard {
			f(p.shard)
		}
	}
}

// charge asks first and charges then; nothing comes between, but for the bucket
// that new keys share in a flood, which others may empty. Then a part of the
// cost of this request is not charged, and nobody is refused for it.
func charge(places []place, at time.Duration) error {
	refused := false
	for i, p := range places {
		d, err := p.shard.look(p.store, p.part.Key, p.hash, at, p.part.Cost+before(places[:i], p))
		if err != nil {
			return err
		}
		p.part.Decision = d
		refused = refused || !d.Allowed && !p.part.Shadow
	}
	for _, p := range places {
		if refused || !p.part.Decision.Allowed {
			p.shard.seen(p.part.Key, p.hash, p.part.Cost, p.part.Decision)
			continue
		}
		if d, err := p.shard.take(p.store, p.part.Key, p.hash, at, p.part.Cost); err == nil && d.Allowed {
			p.part.Decision = d
		}
	}
	return nil
}

// before is what the same bucket is asked for by parts that come earlier.
func before(places []place, p place) (cost int64) {
	for _, o := range places {
		if o.shard == p.shard && o.part.Key == p.part.Key {
			cost += o.part.Cost
		}
	}
	return cost
}

// seen counts a check that charged nothing.
func (h *shard) seen(k ratelimit.Key, hash uint32, cost int64, d ratelimit.Decision) {
	if cost == 0 {
		return
	}
	h.count(d)
	if i := h.index.find(h.slots, k, hash); i != none {
		h.checks++
		h.slots[i].seen = h.checks
	}
}
