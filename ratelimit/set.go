package ratelimit

import "time"

// Set holds the limiters of a server; one that is switched off is nil. The
// zero Set and a nil Set limit nothing.
type Set struct {
	// GlobalIP is keyed by the client's address, UserAuth by the user's id.
	GlobalIP, UserAuth *Limiter
	// GlobalIPWide is keyed by the wider network of the address.
	GlobalIPWide *Limiter
	// Decoy is UserAuth for names that nobody has.
	Decoy *Limiter
	// TrustedPair is keyed by a user and an address from which he has logged
	// in within TrustFor.
	TrustedPair *Limiter
	TrustFor    time.Duration
	// FailedAddress and FailedPair count failed logins, by address and by user
	// and address; the wide ones by the wider network of the address. With
	// GrowingPenalty each failure of a pair in a row costs twice the last.
	FailedAddress, FailedAddressWide *Limiter
	FailedPair, FailedPairWide       *Limiter
	GrowingPenalty                   bool
	// SprayAddress counts the users at whom an address fails, SprayPassword
	// those at whom a wrong password is tried; beyond it such a failure costs
	// PasswordPrice.
	SprayAddress, SprayPassword *Limiter
	PasswordPrice               int64

	// Default is keyed by the client's address, for all requests.
	Default       *Limiter
	DefaultPrices Prices
	// SignedIn is keyed by the principal of a valid token.
	SignedIn *Limiter
	// Routes are the policies of routes, by the order of their sections.
	Routes []*RoutePolicy
}

// RoutePolicy is what the requests of some routes are limited by.
type RoutePolicy struct {
	Name string
	// Paths are METHOD:/path, with {name} for one segment and a * at the end
	// for everything below.
	Paths []string
	// Limits by address, by the id that an OAuth2 client names and by
	// principal; the last one holds in place of Set.SignedIn.
	PerAddress, PerClient, PerPrincipal *Limiter
	// Prices are those of PerAddress and PerClient.
	Prices Prices
	// Exempt takes the routes out of Set.Default and Set.SignedIn too.
	Exempt bool
}

// All lists the limiters that are on, the fixed ones first.
func (s *Set) All() []*Limiter {
	if s == nil {
		return nil
	}
	list := []*Limiter{
		s.GlobalIP, s.GlobalIPWide, s.UserAuth, s.Decoy, s.TrustedPair,
		s.FailedAddress, s.FailedAddressWide, s.FailedPair, s.FailedPairWide,
		s.SprayAddress, s.SprayPassword, s.Default, s.SignedIn,
	}
	for _, r := range s.Routes {
		list = append(list, r.PerAddress, r.PerClient, r.PerPrincipal)
	}
	on := list[:0]
	for _, l := range list {
		if l != nil {
			on = append(on, l)
		}
	}
	return on
}

// Limiter finds one that is on by its name; nil when there is none.
func (s *Set) Limiter(name string) *Limiter {
	for _, l := range s.All() {
		if l.Name() == name {
			return l
		}
	}
	return nil
}

// Stats lists what each limiter did that is switched on.
func (s *Set) Stats() []Stats {
	var all []Stats
	for _, l := range s.All() {
		all = append(all, l.Stats())
	}
	return all
}

// Close ends the stores of all limiters and waits for their sweepers.
func (s *Set) Close() {
	for _, l := range s.All() {
		l.Close()
	}
}

// Prices are what a request costs by how it ends. The dearest is charged
// before it runs and the rest given back after it, so that requests which run
// at once cannot pass by a limit that none of them has paid yet.
type Prices struct {
	Success, Unauthorized, Forbidden, NotFound, TooMany, Other int64
}

// Of is the price of a request that was answered with an HTTP status.
func (p Prices) Of(status int) int64 {
	switch {
	case status < 400:
		return p.Success
	case status == 401:
		return p.Unauthorized
	case status == 403:
		return p.Forbidden
	case status == 404:
		return p.NotFound
	case status == 429:
		return p.TooMany
	}
	return p.Other
}

// Most is the dearest price.
func (p Prices) Most() int64 {
	return max(p.Success, p.Unauthorized, p.Forbidden, p.NotFound, p.TooMany, p.Other)
}
