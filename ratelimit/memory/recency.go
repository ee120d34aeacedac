package memory

import (
	"cmp"
	"slices"
)

// Victims are looked for some at a time: an eighth of a shard, but not so many
// that looking for them takes long.
const (
	maxVictims = 1024
	samples    = 256
)

// victim is a slot that was among those seen least recently, and when that was.
type victim struct {
	seen uint64
	slot int32
}

// stalest gives the slot seen least recently, without keeping a list that each
// check would have to mend: now and then all slots are looked at, and the
// stalest of them noted in order. Whatever is seen afterwards is fresher than
// all of those, so the first of them that has not been seen since is the
// stalest of the shard, exactly.
func (h *shard) stalest() int32 {
	for {
		for h.next < len(h.victims) {
			v := h.victims[h.next]
			if h.slots[v.slot].seen == v.seen {
				return v.slot
			}
			h.next++
		}
		h.pickVictims()
	}
}

// pickVictims notes every slot not seen since a moment that some of the slots
// tell: about as many as wanted, and at least one.
func (h *shard) pickVictims() {
	n := len(h.slots)
	step := max(1, n/samples)
	h.victims, h.next = h.victims[:0], 0
	for i := 0; i < n; i += step {
		if s := h.slots[i].seen; s != 0 {
			h.victims = append(h.victims, victim{s, int32(i)})
		}
	}
	slices.SortFunc(h.victims, older)
	want := min(max(n/8, 1), maxVictims)
	until := h.victims[min(len(h.victims)-1, len(h.victims)*want/n)].seen
	h.victims = h.victims[:0]
	for i := range h.slots {
		if s := h.slots[i].seen; s != 0 && s <= until {
			h.victims = append(h.victims, victim{s, int32(i)})
		}
	}
	slices.SortFunc(h.victims, older)
}

func older(a, b victim) int { return cmp.Compare(a.seen, b.seen) }
