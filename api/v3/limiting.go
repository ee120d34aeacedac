package v3

import "net/netip"

// Limiting is what [rate_limit] says beside the limits themselves. The zero
// value exempts and blocks nobody and sends no header.
type Limiting struct {
	// Headers are sent for limits by principal alone, or for all of them;
	// Legacy adds the older X-RateLimit names.
	Headers LimitHeaders
	Legacy  bool
	// Exempt are the networks that no limit by address counts, Blocked those
	// that are refused always.
	Exempt, Blocked []netip.Prefix
	// Roles, Users and Domains name, the latter two by their ids, whom no limit
	// by principal refuses.
	Roles, Users, Domains []string
}

// LimitHeaders says for which limits an answer tells its caller where he
// stands.
type LimitHeaders string

// The values of [rate_limit] headers; empty is HeadersOff.
const (
	HeadersOff       LimitHeaders = "off"
	HeadersPrincipal LimitHeaders = "principal"
	HeadersAll       LimitHeaders = "all"
)
