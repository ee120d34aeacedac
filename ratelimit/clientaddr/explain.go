package clientaddr

import (
	"net/http"
	"net/netip"
)

// Verdict is what the resolver thinks of one entry of a header.
type Verdict string

// The verdicts. All but HopProxy and HopEmpty end the walk.
const (
	HopProxy     Verdict = "proxy"     // in a trusted network: go on to its left
	HopClient    Verdict = "client"    // the first one that is not
	HopMalformed Verdict = "malformed" // no address that a host can have
	HopEmpty     Verdict = "empty"     // stands for nothing
	HopBeyond    Verdict = "beyond"    // more entries than are examined
)

// Hop is one entry that was examined.
type Hop struct {
	Text    string
	Addr    netip.Addr // zero unless the entry is a proxy or the client
	Verdict Verdict
}

// Explanation is how an address was found.
type Explanation struct {
	Peer netip.Addr // zero when the request has none
	// Trusted reports whether the peer is believed; Header is what it is asked
	// for then, and Single that it holds one address.
	Trusted bool
	Header  string
	Single  bool
	// Hops are the entries examined, in that order: from the right.
	Hops []Hop
	// Client and How are what Resolve gives.
	Client netip.Addr
	How    How
}

// Explain does what Resolve does, and tells each step.
func (r *Resolver) Explain(peer string, h http.Header) Explanation {
	e := Explanation{Header: r.header, Single: r.form == single}
	e.Client, e.How = r.resolve(peer, h, func(hop Hop) { e.Hops = append(e.Hops, hop) })
	switch addr, ok := parseNode(peer, isPort); {
	case ok:
		e.Peer = addr
	case r.local && isUnix(peer):
		e.Peer = local
	}
	e.Trusted = e.How != Peer && e.How != NoPeer
	return e
}
