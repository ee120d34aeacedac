package guess

import (
	"net/netip"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// PairKey is the bucket of a user at an address in a limiter by both, for
// whoever shows it or gives it back.
func PairKey(l *ratelimit.Limiter, userID string, addr netip.Addr) ratelimit.Key {
	return pair(l, userID, addr)
}

// Forget gives up what is remembered of a user: where he was right, and how
// often he failed in a row. With an address it is that pair alone.
func (g *Guard) Forget(userID string, addr netip.Addr) {
	if g == nil || g.Memory == nil {
		return
	}
	m := g.Memory
	if !addr.IsValid() {
		owner := m.mark(userID)
		m.trusted.forgetOf(owner)
		m.failing.forgetOf(owner)
		return
	}
	if g.Trusted != nil {
		k := m.markOf(userID, network(g.Trusted, addr))
		m.trusted.forget(k.page(), k)
	}
	if g.Pair != nil {
		k := m.markOf(userID, network(g.Pair, addr))
		m.failing.forget(int(k[ownerBytes]), k)
	}
}
