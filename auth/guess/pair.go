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
