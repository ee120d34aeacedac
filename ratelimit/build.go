package ratelimit

import (
	"errors"
	"fmt"
	"time"
)

// Names of the limiters that Build makes: their sections of keystone.conf, and
// behind a dot what a section has several of. Those of a route are RouteName.
const (
	GlobalIP          = "rate_limit_global_ip"
	GlobalIPWide      = "rate_limit_global_ip.aggregate"
	UserAuth          = "rate_limit_user_auth"
	Decoy             = "rate_limit_decoy"
	TrustedPair       = "rate_limit_trusted_pair"
	FailedAddress     = "rate_limit_failed_login.per_address"
	FailedAddressWide = "rate_limit_failed_login.per_address.aggregate"
	FailedPair        = "rate_limit_failed_login.per_user_address"
	FailedPairWide    = "rate_limit_failed_login.per_user_address.aggregate"
	SprayAddress      = "rate_limit_spray.per_address"
	SprayPassword     = "rate_limit_spray.per_password"
	Default           = "rate_limit_default"
	SignedIn          = "rate_limit_signed_in"
)

// RouteName is the name of a route's limiter: kind is per_address, per_client
// or per_principal.
func RouteName(route, kind string) string { return "rate_limit_route:" + route + "." + kind }

// Off is the mode of a limiter that is not built.
const Off Mode = "off"

// Bounds and fallbacks of what shapes a store. They say how callers are kept
// apart, not how often they may try.
const (
	minEntries, maxEntries, usualEntries = 1_000, 10_000_000, 10_000
	minIPv4, maxIPv4                     = 24, 32
	minIPv6, maxIPv6                     = 32, 128
)

// Section is one limiter of the configuration: by Burst and Rate a second, or
// by a Limit, which is enabled by being there. A number that is nil was not
// given; zero in what shapes the store means 10,000 entries, /64 and /32.
type Section struct {
	Enabled                            bool
	Burst, Rate                        *int
	Limit                              *Quota
	Mode                               Mode
	MaxEntries, IPv6Prefix, IPv4Prefix int
	Algorithm                          Algorithm
	// Overflow left empty is Evict for limiters by address, Shared otherwise.
	Overflow Overflow
	// OnFailure is what a shared store does while it is away; Config.Open is
	// told of it.
	OnFailure string
}

// quota is the section's, which has one of both forms.
func (s Section) quota() Quota {
	if s.Limit != nil {
		return *s.Limit
	}
	return Quota{Rate: int64(*s.Rate), Period: time.Second, Burst: int64(*s.Burst)}
}

// Wide is the wider network around each address of a limiter: Factor times
// the limiter's quota; 0 is none.
type Wide struct{ Factor, IPv6Prefix, IPv4Prefix int }

// Route is the policy of some routes; see RoutePolicy.
type Route struct {
	Name                                string
	Paths                               []string
	PerAddress, PerClient, PerPrincipal *Quota
	Prices                              Prices
	Exempt                              bool
	// Shape holds the rest of the section: mode and store.
	Shape Section
}

// Config is what Build needs of the configuration.
type Config struct {
	GlobalIP, UserAuth, TrustedPair Section
	// Decoy shapes the store of the decoy, whose quota and mode are UserAuth's.
	Decoy                       Section
	FailedAddress, FailedPair   Section
	SprayAddress, SprayPassword Section
	Default, SignedIn           Section
	GlobalIPWide, FailedWide    Wide
	DefaultPrices               Prices
	Routes                      []Route
	TrustFor                    time.Duration
	GrowingPenalty              bool
	PasswordPrice               int64

	// Mode is over the limiters' own: Shadow enforces nothing, Off builds
	// nothing; empty is Enforce.
	Mode Mode
	// External leaves Default and Routes out: a gateway in front limits.
	External bool

	// Trusted are the networks of trusted proxies, as clientaddr.Config has
	// them, Exempted those without a limit by address. Build only warns about
	// them.
	Trusted, Exempted []string
	// Store names where the counters live, Instances the declared number of
	// servers; nil and "" are not known. Build only warns about them.
	Store     string
	Instances *int

	// Now replaces the monotonic clock of the process, as in Spec.
	Now func() time.Duration
	// Observe is told what each limiter decides, as in Spec.
	Observe func(limiter, outcome string)
	// Make replaces New for each limiter, for a server that keeps its limiters
	// through a change of the configuration. Build does not close what it
	// gives when another limiter fails.
	Make func(spec Spec, sec Section) (*Limiter, error)
}

// Build makes the limiters that the configuration switches on, each with a
// store of its own from open. The error names every section and option at
// fault; a limiter that is switched off may hold any numbers. The warnings are
// for the log at the start.
func Build(cfg Config, open Opener) (*Set, []string, error) {
	b := &build{cfg: cfg, open: open}
	s := b.all()
	if err := errors.Join(b.errs...); err != nil {
		if cfg.Make == nil {
			s.Close()
		}
		return nil, nil, err
	}
	return s, warnings(cfg, s), nil
}

type build struct {
	cfg  Config
	open Opener
	errs []error
}

func (b *build) all() *Set {
	c := b.cfg
	s := &Set{
		TrustFor: c.TrustFor, GrowingPenalty: c.GrowingPenalty, PasswordPrice: c.PasswordPrice, DefaultPrices: c.DefaultPrices,
	}
	s.GlobalIP = b.limiter(GlobalIP, c.GlobalIP, Evict)
	s.GlobalIPWide = b.wide(GlobalIPWide, c.GlobalIP, c.GlobalIPWide)
	s.UserAuth = b.limiter(UserAuth, c.UserAuth, Shared)
	if s.UserAuth != nil {
		decoy := c.UserAuth
		decoy.MaxEntries, decoy.Algorithm, decoy.Overflow, decoy.OnFailure = c.Decoy.MaxEntries, c.Decoy.Algorithm, c.Decoy.Overflow, c.Decoy.OnFailure
		decoy.Enabled = c.Decoy.Enabled
		// Shared would tell in a flood of invented names who exists: a new one of
		// those would find a spent bucket, a user his own.
		s.Decoy = b.limiter(Decoy, decoy, Evict)
		s.TrustedPair = b.limiter(TrustedPair, c.TrustedPair, Shared)
	}
	s.FailedAddress = b.limiter(FailedAddress, c.FailedAddress, Evict)
	s.FailedAddressWide = b.wide(FailedAddressWide, c.FailedAddress, c.FailedWide)
	s.FailedPair = b.limiter(FailedPair, c.FailedPair, Shared)
	s.FailedPairWide = b.wide(FailedPairWide, c.FailedPair, c.FailedWide)
	s.SprayAddress = b.limiter(SprayAddress, c.SprayAddress, Evict)
	s.SprayPassword = b.limiter(SprayPassword, c.SprayPassword, Shared)
	if !c.External {
		b.prices(Default, "per_address", c.DefaultPrices, c.Default.Limit)
		s.Default = b.limiter(Default, c.Default, Evict)
		for _, r := range c.Routes {
			s.Routes = append(s.Routes, b.route(r))
		}
	}
	s.SignedIn = b.limiter(SignedIn, c.SignedIn, Shared)
	return s
}

// route makes the limiters of a route's policy. What of it is off leaves the
// rest: a policy in mode off is no policy.
func (b *build) route(r Route) *RoutePolicy {
	section := "rate_limit_route:" + r.Name
	b.prices(section, "per_address", r.Prices, r.PerAddress)
	b.prices(section, "per_client", r.Prices, r.PerClient)
	one := func(kind string, q *Quota, usual Overflow) *Limiter {
		sec := r.Shape
		sec.Limit = q
		return b.limiter(RouteName(r.Name, kind), sec, usual)
	}
	return &RoutePolicy{
		Name: r.Name, Paths: r.Paths, Prices: r.Prices, Exempt: r.Exempt && r.Shape.Mode != Off,
		PerAddress:   one("per_address", r.PerAddress, Evict),
		PerClient:    one("per_client", r.PerClient, Shared),
		PerPrincipal: one("per_principal", r.PerPrincipal, Shared),
	}
}

func (b *build) on(sec Section) bool {
	return (sec.Enabled || sec.Limit != nil) && sec.Mode != Off && b.cfg.Mode != Off
}

// limiter makes one limiter, nil if it is off.
func (b *build) limiter(name string, sec Section, usual Overflow) *Limiter {
	if !b.on(sec) {
		return nil
	}
	sec.MaxEntries = orUsual(sec.MaxEntries, usualEntries)
	sec.IPv6Prefix = orUsual(sec.IPv6Prefix, 64)
	sec.IPv4Prefix = orUsual(sec.IPv4Prefix, 32)
	errs := []error{
		within(name, "max_entries", sec.MaxEntries, minEntries, maxEntries),
		within(name, "ipv6_prefix", sec.IPv6Prefix, minIPv6, maxIPv6),
		within(name, "ipv4_prefix", sec.IPv4Prefix, minIPv4, maxIPv4),
	}
	if sec.Limit == nil {
		errs = append([]error{
			given(name, "burst_size", sec.Burst, MaxBurst),
			given(name, "replenish_rate_per_second", sec.Rate, MaxRate),
		}, errs...)
	}
	if err := errors.Join(errs...); err != nil {
		b.errs = append(b.errs, err)
		return nil
	}
	return b.make(name, sec, usual)
}

// make gives the limiter of a section that is on and within its bounds.
func (b *build) make(name string, sec Section, usual Overflow) *Limiter {
	sec.Overflow = orElse(sec.Overflow, usual)
	spec := Spec{
		Name: name, Quota: sec.quota(), Algorithm: sec.Algorithm, Mode: sec.Mode, Overflow: sec.Overflow,
		MaxEntries: sec.MaxEntries, IPv4Prefix: sec.IPv4Prefix, IPv6Prefix: sec.IPv6Prefix,
		Now: b.cfg.Now, Observe: b.cfg.Observe,
	}
	if b.cfg.Mode == Shadow {
		spec.Mode = Shadow
	}
	construct := b.cfg.Make
	if construct == nil {
		construct = func(spec Spec, _ Section) (*Limiter, error) { return New(spec, b.open) }
	}
	l, err := construct(spec, sec)
	if err != nil {
		b.errs = append(b.errs, fmt.Errorf("[%s] %w", name, err))
	}
	return l
}

// wide makes the limiter of the wider networks around the addresses of a
// section's limiter.
func (b *build) wide(name string, sec Section, w Wide) *Limiter {
	if !b.on(sec) || w.Factor == 0 || sec.Limit == nil && (sec.Burst == nil || sec.Rate == nil) {
		return nil
	}
	q := sec.quota()
	q.Rate, q.Burst = q.Rate*int64(w.Factor), q.Burst*int64(w.Factor)
	if q.Rate > MaxRate || q.Burst > MaxBurst || w.Factor < 0 {
		b.errs = append(b.errs, fmt.Errorf("[%s] aggregate_factor = %d makes a rate of %d and a burst of %d; both must be in 1..%d", name, w.Factor, q.Rate, q.Burst, MaxRate))
		return nil
	}
	sec.Limit, sec.IPv6Prefix, sec.IPv4Prefix = &q, w.IPv6Prefix, w.IPv4Prefix
	sec.MaxEntries = orUsual(sec.MaxEntries, usualEntries)
	return b.make(name, sec, Evict)
}

// prices refuses a price that the burst can never pay.
func (b *build) prices(section, limit string, p Prices, q *Quota) {
	if q != nil && p.Most() > q.Burst {
		b.errs = append(b.errs, fmt.Errorf("[%s] a price of %d is above the burst of %s, %d", section, p.Most(), limit, q.Burst))
	}
}

func orUsual(n, usual int) int {
	if n == 0 {
		return usual
	}
	return n
}

func given(section, option string, n *int, most int) error {
	if n == nil {
		return fmt.Errorf("[%s] enabled needs %s, a whole number in 1..%d", section, option, most)
	}
	return within(section, option, *n, 1, most)
}

func within(section, option string, n, least, most int) error {
	if n < least || n > most {
		return fmt.Errorf("[%s] %s = %d is not in %d..%d", section, option, n, least, most)
	}
	return nil
}
