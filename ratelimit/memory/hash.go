package memory

import (
	"hash/maphash"
	"math/bits"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// hash places keys, by secrets drawn for each store: who sends requests cannot
// choose addresses that all meet in one shard. It is the upper half of
//
//	(a + Hi) × (b + Lo) + c    of 128-bit numbers,
//
// which for a, b and c at random is strongly universal (pair-multiply-shift):
// of any two keys, whoever chose them, the places are as if thrown by dice. That
// rests on nothing but the secrets, of which no answer shows a bit. A few
// multiplications take less time than a call of maphash.
type hash struct{ a, b, c word }

// word is a number of 128 bits.
type word struct{ hi, lo uint64 }

func newHash() hash {
	return hash{word{drawn(), drawn()}, word{drawn(), drawn()}, word{drawn(), drawn()}}
}

// drawn is a secret, each from a seed of its own.
func drawn() uint64 { return maphash.String(maphash.MakeSeed(), "secret") }

// stir is odd, so that a product with it can be undone.
const stir = 0x9e3779b97f4a7c15

// of is the hash of a key. Its upper bits pick the shard, its lower half the
// place there. At the end it is stirred in a way that can be undone, which
// therefore takes nothing away: keys in a row, as of addresses beside one
// another, would else lie at even distances, by one secret in a hundred all in
// a heap.
func (h *hash) of(k ratelimit.Key) uint64 {
	x, carry := bits.Add64(h.a.lo, k.Hi, 0)
	xx := h.a.hi + carry
	y, carry := bits.Add64(h.b.lo, k.Lo, 0)
	yy := h.b.hi + carry
	hi, lo := bits.Mul64(x, y)
	_, carry = bits.Add64(lo, h.c.lo, 0)
	v := hi + x*yy + xx*y + h.c.hi + carry
	v = (v ^ v>>32) * stir
	return v ^ v>>32
}
