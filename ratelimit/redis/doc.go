// Package redis keeps the states of a limiter's keys in a Redis server, so that
// several processes share one quota.
//
//	Dial ──▶ Client ── Open(Spec) ──▶ Store, one for each limiter
//	                └─ TakeTogether: all limits of a request in one round trip
//
// A decision is one script, run by the server at once and by its clock. It
// answers within Config.Budget or fails; nothing is sent twice, because what
// seems lost may have been charged. After a few failures a breaker answers in
// the server's place, and one call a second looks whether it is back. What to
// do meanwhile is not decided here: see package fallback.
//
// Only what a hash keyed with Config.Secret makes of an address or a name
// reaches the server.
package redis
