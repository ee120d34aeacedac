package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// Requota changes the quota and converts what is owed, a shard at a time: no
// check ever sees a debt by one quota and a burst by another. The same quota
// changes nothing, and one out of bounds is refused.
func (s *Store) Requota(_ context.Context, q ratelimit.Quota) error {
	s.change.Lock()
	defer s.change.Unlock()
	to, err := newRule(s.algorithm, q)
	if err != nil || q == s.shards[0].rule.quota {
		return err
	}
	for i := range s.shards {
		h := &s.shards[i]
		h.mu.Lock()
		h.requota(s.now(), to)
		h.mu.Unlock()
	}
	s.spilled.requota(s.now(), to)
	return nil
}

func (h *shard) requota(at time.Duration, to *rule) {
	rings := make([]time.Duration, cap(h.slots)*to.ring)
	for i := range h.slots {
		if h.slots[i].seen == 0 {
			continue
		}
		ring := rings[i*to.ring : (i+1)*to.ring]
		h.slots[i].state = h.rule.convert(h.bucket(int32(i)), at, to, ring)
	}
	h.rule, h.rings, h.due = to, rings, at
}

// Reset forgets a key.
func (s *Store) Reset(_ context.Context, k ratelimit.Key) error {
	hash := s.hash(k)
	h := &s.shards[s.nth(hash)]
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := h.index.find(h.slots, k, uint32(hash)); i != none {
		h.drop(i)
	}
	return nil
}

// Top lists the n keys that owe most. It goes through the whole store, some
// slots at a time, so what it tells is not of one moment.
func (s *Store) Top(n int) []ratelimit.Debtor {
	if n < 1 {
		return nil
	}
	var top []ratelimit.Debtor
	for i := range s.shards {
		s.shards[i].inParts(func(from, to int) {
			at := s.now()
			top = s.shards[i].debtors(top, at, from, to)
		})
		if len(top) > n+sweepSlots {
			top = largest(top, n)
		}
	}
	return largest(top, n)
}

func (h *shard) debtors(top []ratelimit.Debtor, at time.Duration, from, to int) []ratelimit.Debtor {
	for i := from; i < to; i++ {
		if h.slots[i].seen == 0 {
			continue
		}
		b := h.bucket(int32(i))
		if left := h.rule.left(b, at); left > 0 {
			d, _ := h.rule.look(b, at, 1)
			top = append(top, ratelimit.Debtor{Key: h.slots[i].key, Debt: h.rule.units(b, at), Retry: d.Retry, Reset: left})
		}
	}
	return top
}

// largest keeps the n largest debts; of equal ones, those that last longest.
func largest(top []ratelimit.Debtor, n int) []ratelimit.Debtor {
	slices.SortFunc(top, func(a, b ratelimit.Debtor) int {
		return cmp.Or(cmp.Compare(b.Debt, a.Debt), cmp.Compare(b.Reset, a.Reset), a.Key.Compare(b.Key))
	})
	return top[:min(n, len(top))]
}

// inParts calls f for all slots, some at a time, holding the lock for each.
func (h *shard) inParts(f func(from, to int)) {
	for from, more := 0, true; more; from += sweepSlots {
		h.mu.Lock()
		to := min(from+sweepSlots, len(h.slots))
		if from < to {
			f(from, to)
		}
		more = to < len(h.slots)
		h.mu.Unlock()
	}
}
