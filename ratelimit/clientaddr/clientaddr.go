// Package clientaddr finds the address of the client behind trusted proxies:
// one resolver for limits, audit and logs, so that they always agree.
//
// A forwarding header is believed only from a peer in a trusted network, only
// the one header that is configured is read, and it is read from the right: the
// entry that the last proxy added comes first, and the first address that is
// not itself trusted is the client. What stands further left, anyone may have
// written, and it is never looked at.
//
//	peer not trusted ──▶ peer
//	peer trusted ──▶ header, last line first, right to left
//	    trusted address ──▶ go on      (32 of them: too-many-hops)
//	    other address   ──▶ the client
//	    anything else   ──▶ the peer, malformed
package clientaddr

import (
	"net/http"
	"net/netip"
	"strings"
)

// How says where an address comes from.
type How string

// The reasons. All but Header and NoPeer fall back to the direct peer; after
// one of the last four, the peer must not be treated as a client known to be
// harmless.
const (
	Peer        How = "peer"          // the peer is no trusted proxy
	Header      How = "header"        // the header named the client
	NoHeader    How = "no-header"     // a trusted peer sent no entry
	Malformed   How = "malformed"     // an entry that was reached is no address
	Repeated    How = "repeated"      // a header for one address came twice
	TooManyHops How = "too-many-hops" // a longer chain of proxies than anyone has
	AllTrusted  How = "all-trusted"   // every entry is a proxy of ours
	NoPeer      How = "no-peer"       // no address at all: refuse the request
)

// Proven tells whether the address is the client's for certain: else it is that
// of a proxy which said nothing that can be believed, and whoever can make its
// header bad must not pass for the proxy.
func (h How) Proven() bool { return h == Peer || h == Header }

// maxHops bounds the entries that are examined, not those that are present:
// else a client could send many and so hide the one that its proxy adds.
const maxHops = 32

// local stands for the peer of a Unix socket: a proxy on this host.
var local = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// Config says whom to believe.
type Config struct {
	// Header is x_forwarded_for (the meaning of ""), forwarded, or
	// single:<Name> for a header that holds one address.
	Header string
	// Trusted are networks as 10.0.0.0/8, addresses, or the word loopback.
	// Empty trusts nobody: the peer is the client.
	Trusted []string
	// PeerLocal declares that peers without an address come through a Unix
	// socket: they are trusted as proxies, and are 127.0.0.1 themselves.
	PeerLocal bool
}

// Resolver finds client addresses; its methods may be called at once.
type Resolver struct {
	header  string // canonical name
	form    form
	trusted []netip.Prefix
	local   bool
}

// New makes a resolver. It refuses a header it does not know, a text that is no
// network, bits below the length of a network, zones, and networks of length 0.
func New(cfg Config) (*Resolver, error) {
	r := &Resolver{local: cfg.PeerLocal}
	var err error
	if r.header, r.form, err = parseHeader(cfg.Header); err != nil {
		return nil, err
	}
	r.trusted, err = parseTrusted(cfg.Trusted)
	return r, err
}

// Resolve finds the client of a request from its peer ("host:port" or an
// address) and its header. The address is unmapped and without a zone; it is
// the zero Addr with NoPeer alone. However long the header, at most 32 entries
// of it are looked at, and nothing is copied.
func (r *Resolver) Resolve(peer string, h http.Header) (netip.Addr, How) {
	return r.resolve(peer, h, nil)
}

func (r *Resolver) resolve(peer string, h http.Header, note func(Hop)) (netip.Addr, How) {
	addr := local
	if !r.local || !isUnix(peer) {
		var ok bool
		if addr, ok = parseNode(peer, isPort); !ok {
			return netip.Addr{}, NoPeer
		}
		if !trusts(r.trusted, addr) {
			return addr, Peer
		}
	}
	w := walk{trusted: r.trusted, note: note}
	switch lines := h[r.header]; r.form {
	case list:
		w.readList(lines)
	case forwarded:
		w.readForwarded(lines)
	case single:
		w.readSingle(lines)
	}
	switch {
	case w.how == Header:
		return w.client, Header
	case w.how != "":
		return addr, w.how
	case w.named:
		return addr, AllTrusted
	}
	return addr, NoHeader
}

// isUnix tells the peer of a Unix socket, as net/http writes it, from a text
// that should have been an address.
func isUnix(peer string) bool {
	return peer == "" || strings.HasPrefix(peer, "@") || strings.HasPrefix(peer, "/")
}
