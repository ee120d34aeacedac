package memory

import "github.com/keystone-go/keystone-go/ratelimit"

// cell is one place of an index: the lower half of a key's hash above, its slot
// plus one below. Zero is an empty cell.
type cell uint64

func cellOf(hash uint32, slot int32) cell { return cell(hash)<<32 | cell(slot+1) }

func (c cell) hash() uint32 { return uint32(c >> 32) }
func (c cell) slot() int32  { return int32(uint32(c)) - 1 }

// index finds a key's slot: open addressing in a power of two of cells, of
// which at most two in three are in use. The keys themselves stand in the
// slots, which a check must read anyway: so a check of a key that is held reads
// two places in memory, where a map would make it three or more.
type index []cell

// room is the number of cells for so many slots.
func room(slots int) int {
	n := 8
	for 2*n < 3*slots {
		n *= 2
	}
	return n
}

// find gives the slot of a key, or none.
func (x index) find(slots []slot, k ratelimit.Key, hash uint32) int32 {
	mask := uint32(len(x) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		c := x[i&mask]
		if c == 0 {
			return none
		}
		if c.hash() == hash && slots[c.slot()].key == k {
			return c.slot()
		}
	}
}

// add enters a slot whose key is not there.
func (x index) add(hash uint32, slot int32) {
	mask := uint32(len(x) - 1)
	i := hash & mask
	for x[i] != 0 {
		i = (i + 1) & mask
	}
	x[i] = cellOf(hash, slot)
}

// remove takes a slot out and closes the gap, so that no later search ends in
// it too early.
func (x index) remove(hash uint32, slot int32) {
	mask := uint32(len(x) - 1)
	i := hash & mask
	for x[i] != cellOf(hash, slot) {
		i = (i + 1) & mask
	}
	for j := (i + 1) & mask; x[j] != 0; j = (j + 1) & mask {
		if home := x[j].hash() & mask; (j-home)&mask >= (j-i)&mask {
			x[i] = x[j]
			i = j
		}
	}
	x[i] = 0
}

// grown is the index in more cells.
func (x index) grown(cells int) index {
	y := make(index, cells)
	for _, c := range x {
		if c != 0 {
			y.add(c.hash(), c.slot())
		}
	}
	return y
}
