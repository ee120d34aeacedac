// Package auth logs users in, validates tokens and revokes them. It knows no
// HTTP.
//
// A login (Authenticate) is a fixed pipeline; each step may refuse, and what
// one step refuses never reaches the next:
//
//	            the address limiter has let the request in (api/v3)
//	                              │
//	request.go    ParseRequest ── shape, methods, scope ──────────► 400, 401
//	                              │
//	batch A       accounts, options and the rows of the scope, one round trip
//	                              │
//	scope.go      unknown or disabled scope ── one dummy hash ────► 401
//	method/       unknown or disabled user ─── one dummy hash ────► 401
//	              per-user limiter (existing users alone) ────────► 429
//	              locked ───────────────────── one dummy hash ────► 401
//	              the hash itself, in the hashing gate ───────────► 503
//	              lockout bookkeeping ── wrong, or locked meanwhile► 401
//	factors.go    receipt and MFA rules ──────────────────────────► 401 + receipt
//	                              │
//	batch B       roles, catalog, service providers, one round trip
//	                              │
//	issue.go      no role on the scope ───────────────────────────► 401
//	              the token
//
// Validate reads everything about the caller's and the subject's token in one
// batch and decides from those rows alone.
package auth
