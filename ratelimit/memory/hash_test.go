package memory

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/keystone-go/keystone-go/ratelimit"
)

func (w word) big() *big.Int {
	n := new(big.Int).SetUint64(w.hi)
	return n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(w.lo))
}

// What is said of the hash holds for the formula, so it must be the formula.
func TestHashIsTheFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string) uint64 {
			return rapid.OneOf(rapid.Uint64(), rapid.Just(^uint64(0)), rapid.Just(uint64(0))).Draw(t, name)
		}
		h := hash{word{n("a"), n("a")}, word{n("b"), n("b")}, word{n("c"), n("c")}}
		k := ratelimit.Key{Hi: n("key"), Lo: n("key")}
		x := new(big.Int).Add(h.a.big(), word{lo: k.Hi}.big())
		y := new(big.Int).Add(h.b.big(), word{lo: k.Lo}.big())
		x.Mul(x, y).Add(x, h.c.big())
		want := x.Rsh(x, 64).And(x, word{lo: ^uint64(0)}.big()).Uint64()
		want = (want ^ want>>32) * stir
		want ^= want >> 32
		if got := h.of(k); got != want {
			t.Fatalf("the hash of %x by %x is %x, want %x", k, h, got, want)
		}
	})
}

// Keys in a row, as of addresses beside one another, meet no more often than
// keys at random: by any secret, in the shards as in an index.
func TestHashOfKeysInARow(t *testing.T) {
	const keys, cells, shards = 4096, 8192, 16
	rows := map[string]func(n uint64) ratelimit.Key{
		"IPv4 addresses":      func(n uint64) ratelimit.Key { return ratelimit.Key{Lo: 0xffff_c633_0000 + n} },
		"IPv4 networks /24":   func(n uint64) ratelimit.Key { return ratelimit.Key{Lo: 0xffff_0a00_0000 + n<<8} },
		"IPv6 networks /64":   func(n uint64) ratelimit.Key { return ratelimit.Key{Hi: 0x2001_0db8_0000_0000 + n} },
		"IPv6 networks /48":   func(n uint64) ratelimit.Key { return ratelimit.Key{Hi: 0x2001_0db8_0000_0000 + n<<16} },
		"IPv6 addresses":      func(n uint64) ratelimit.Key { return ratelimit.Key{Hi: 0x2001_0db8_0000_0000, Lo: n} },
		"both words the same": func(n uint64) ratelimit.Key { return ratelimit.Key{Hi: n, Lo: n} },
		"a grid":              func(n uint64) ratelimit.Key { return ratelimit.Key{Hi: n % 64, Lo: n / 64} },
	}
	for name, key := range rows {
		for range 100 {
			h := newHash()
			x := make(index, cells)
			steps, full := 0, [shards]int{}
			for n := range uint64(keys) {
				sum := h.of(key(n))
				full[sum>>60]++
				i := uint32(sum) & (cells - 1)
				for x[i] != 0 {
					i = (i + 1) & (cells - 1)
					steps++
				}
				x[i] = cellOf(uint32(sum), 0)
			}
			most := 0
			for _, f := range full {
				most = max(most, f)
			}
			// At random it is half a step, and 256 in a shard give or take 16.
			if steps > keys*3/4 || most > 256+8*16 {
				t.Errorf("%s: %d steps to %d places, %d keys in one shard", name, steps, keys, most)
			}
		}
	}
}
