// Package ratelimit decides how often a caller may try.
//
// A Limiter has a name, a Quota and a Store. It is asked about a Key, an
// address or a name made fixed in size, and answers with a Decision. The
// arithmetic is GCRA in exact integers (see Meter); the stores differ only in
// where the two numbers of a State live.
//
//	address or name ── Limiter.Address, Limiter.Text ──▶ Key
//	Key ── Limiter.Take ──▶ Store ── Meter.Take on the key's State ──▶ Decision
//	Decision.Allowed == false ──▶ 429, Retry-After: RetryAfter(Decision.Retry)
//
// Limiters never share a store: what spends the quota of an address cannot
// touch the quota of a user. No quota is written in this package; Build takes
// every number from the configuration and makes no limiter without one.
package ratelimit
