package ratelimit

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"math"
	"net/netip"
)

// Key names a bucket of a limiter. It has one size whatever it was made from:
// a hostile name cannot fill memory, and a store of keys holds no pointers. It
// is two words and not bytes, since those are handed on in registers.
type Key struct{ Hi, Lo uint64 }

// KeyOf is the key of 16 bytes.
func KeyOf(b [16]byte) Key {
	return Key{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}

// Bytes are the 16 bytes of a key; those of an address's key are its network.
func (k Key) Bytes() (b [16]byte) {
	binary.BigEndian.PutUint64(b[:8], k.Hi)
	binary.BigEndian.PutUint64(b[8:], k.Lo)
	return b
}

// Compare orders keys as their bytes.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Hi, o.Hi), cmp.Compare(k.Lo, o.Lo))
}

// network is the key cut to a prefix length.
func (k Key) network(length int) Key {
	// Shifts by the width of a word or more give 0.
	k.Hi &= ^(^uint64(0) >> min(length, 64))
	k.Lo &= ^(^uint64(0) >> max(length-64, 0))
	return k
}

// nat64 is the prefix under which IPv6-only networks reach IPv4 (RFC 6052).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// mapped is what stands before an IPv4 address in the lower word of its key.
const mapped = 0xffff << 32

// Address is the bucket of an address: unmapped, without its zone, the IPv4
// address inside for NAT64, and cut to the limiter's prefix length. A caller
// without a valid address has no bucket and must be refused before.
func (l *Limiter) Address(addr netip.Addr) Key {
	if l == nil {
		return Key{}
	}
	addr = addr.Unmap()
	k := KeyOf(addr.As16())
	switch {
	case addr.Is4():
	case nat64.Contains(addr):
		k = Key{Lo: mapped | k.Lo&math.MaxUint32}
	default:
		return k.network(l.ipv6Prefix)
	}
	return k.network(96 + l.ipv4Prefix)
}

// Text is the bucket of a name or id: a 128-bit hash, keyed at random for each
// limiter, so that it cannot be foreseen and shows no name in a memory dump. A
// store that processes share makes the hash instead, or none would meet.
// The text is used as it is; making equal names equal is the caller's part.
func (l *Limiter) Text(s string) Key {
	if l == nil {
		return Key{}
	}
	if l.texter != nil {
		return l.texter.Text(s)
	}
	return Key{maphash.String(l.seeds[0], s), maphash.String(l.seeds[1], s)}
}
