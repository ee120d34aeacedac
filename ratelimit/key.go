package ratelimit

import (
	"encoding/binary"
	"hash/maphash"
	"net/netip"
)

// Key names a bucket of a limiter. It has one size whatever it was made from:
// a hostile name cannot fill memory, and a store of keys holds no pointers.
type Key [16]byte

// nat64 is the prefix under which IPv6-only networks reach IPv4 (RFC 6052).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// Address is the bucket of an address: unmapped, without its zone, the IPv4
// address inside for NAT64, and cut to the limiter's prefix length. A caller
// without a valid address has no bucket and must be refused before.
func (l *Limiter) Address(addr netip.Addr) Key {
	if l == nil {
		return Key{}
	}
	addr = addr.Unmap()
	k := Key(addr.As16())
	length := l.ipv6Prefix
	switch {
	case addr.Is4():
		length = 96 + l.ipv4Prefix
	case nat64.Contains(addr):
		copy(k[:12], "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff")
		length = 96 + l.ipv4Prefix
	}
	clear(k[(length+7)/8:])
	if rest := length % 8; rest != 0 {
		k[length/8] &= 0xff << (8 - rest)
	}
	return k
}

// Text is the bucket of a name or id: a 128-bit hash, keyed at random for each
// limiter, so that it cannot be foreseen and shows no name in a memory dump. A
// store that processes share makes the hash instead, or none would meet.
// The text is used as it is; making equal names equal is the caller's part.
func (l *Limiter) Text(s string) Key {
	var k Key
	if l == nil {
		return k
	}
	if l.texter != nil {
		return l.texter.Text(s)
	}
	binary.LittleEndian.PutUint64(k[:8], maphash.String(l.seeds[0], s))
	binary.LittleEndian.PutUint64(k[8:], maphash.String(l.seeds[1], s))
	return k
}
