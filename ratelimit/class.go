package ratelimit

// Class says when a route is charged to the caller's address. It has no useful
// zero value: each route names one.
type Class string

// The classes of routes.
const (
	// ClassAuth is for open routes that take credentials: charged before the
	// body is read.
	ClassAuth Class = "auth"
	// ClassToken is for routes that want a token: charged only when
	// X-Auth-Token is missing or invalid, never with a valid one.
	ClassToken Class = "token"
	// ClassExempt is for routes that are never charged, such as discovery and
	// health; the route says why.
	ClassExempt Class = "exempt"
)
