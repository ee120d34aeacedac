package ratelimit

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Names of the limiters that Build makes: their sections of keystone.conf.
const (
	GlobalIP = "rate_limit_global_ip"
	UserAuth = "rate_limit_user_auth"
)

// Bounds and fallbacks of what shapes a store. They say how callers are kept
// apart, not how often they may try.
const (
	minEntries, maxEntries, usualEntries = 1_000, 10_000_000, 10_000
	minIPv4, maxIPv4                     = 24, 32
	minIPv6, maxIPv6                     = 32, 128
)

// Section is one limiter of the configuration. A number that is nil was not
// given; zero in the last three means 10,000 entries, /64 and /32.
type Section struct {
	Enabled                            bool
	Burst, Rate                        *int
	MaxEntries, IPv6Prefix, IPv4Prefix int
}

// Config is what Build needs of the configuration.
type Config struct {
	GlobalIP, UserAuth Section
	// Trusted are the networks of trusted proxies, as clientaddr.Config has
	// them. Build only warns about them.
	Trusted []string
	// Now replaces the monotonic clock of the process, as in Spec.
	Now func() time.Duration
}

// Set holds the limiters of a server; one that is switched off is nil. The
// zero Set and a nil Set limit nothing.
type Set struct {
	// GlobalIP is keyed by the client's address, UserAuth by the user's id.
	GlobalIP, UserAuth *Limiter
}

// Build makes the limiters that the configuration switches on, each with a
// store of its own from open. The error names every section and option at
// fault; a limiter that is switched off may hold any numbers. The warnings are
// for the log at the start.
func Build(cfg Config, open Opener) (*Set, []string, error) {
	global, err1 := build(GlobalIP, cfg.GlobalIP, cfg.Now, open)
	user, err2 := build(UserAuth, cfg.UserAuth, cfg.Now, open)
	s := &Set{GlobalIP: global, UserAuth: user}
	if err := errors.Join(err1, err2); err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, warnings(cfg), nil
}

func build(name string, sec Section, now func() time.Duration, open Opener) (*Limiter, error) {
	if !sec.Enabled {
		return nil, nil
	}
	sec.MaxEntries = orUsual(sec.MaxEntries, usualEntries)
	sec.IPv6Prefix = orUsual(sec.IPv6Prefix, 64)
	sec.IPv4Prefix = orUsual(sec.IPv4Prefix, 32)
	if err := errors.Join(
		given(name, "burst_size", sec.Burst, MaxBurst),
		given(name, "replenish_rate_per_second", sec.Rate, MaxRate),
		within(name, "max_entries", sec.MaxEntries, minEntries, maxEntries),
		within(name, "ipv6_prefix", sec.IPv6Prefix, minIPv6, maxIPv6),
		within(name, "ipv4_prefix", sec.IPv4Prefix, minIPv4, maxIPv4),
	); err != nil {
		return nil, err
	}
	return New(Spec{
		Name:       name,
		Quota:      Quota{Rate: int64(*sec.Rate), Period: time.Second, Burst: int64(*sec.Burst)},
		MaxEntries: sec.MaxEntries,
		IPv4Prefix: sec.IPv4Prefix,
		IPv6Prefix: sec.IPv6Prefix,
		Now:        now,
	}, open)
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

// warnings tells what works but is probably not meant.
func warnings(cfg Config) []string {
	var w []string
	if !cfg.GlobalIP.Enabled && !cfg.UserAuth.Enabled {
		w = append(w, fmt.Sprintf("no rate limit is on: neither [%s] nor [%s] is enabled", GlobalIP, UserAuth))
	}
	if cfg.GlobalIP.Enabled && len(cfg.Trusted) == 0 {
		w = append(w, fmt.Sprintf("[%s] is enabled and [rate_limit_trusted_proxies] trusted_proxies is empty: behind a proxy all clients share the proxy's quota", GlobalIP))
	}
	for _, text := range cfg.Trusted {
		// What is no network at all is refused by clientaddr.New.
		p, err := netip.ParsePrefix(text)
		if err != nil {
			continue
		}
		bits, widest := p.Bits(), 32
		if p.Addr().Is4In6() {
			bits -= 96
		}
		if p.Addr().Unmap().Is4() {
			widest = 16
		}
		if bits < widest {
			w = append(w, fmt.Sprintf("[rate_limit_trusted_proxies] trusted_proxies has %s, wider than /%d: every host in it can pass for any client", text, widest))
		}
	}
	return w
}

// Stats lists what each limiter did that is switched on.
func (s *Set) Stats() []Stats {
	if s == nil {
		return nil
	}
	var all []Stats
	for _, l := range []*Limiter{s.GlobalIP, s.UserAuth} {
		if l != nil {
			all = append(all, l.Stats())
		}
	}
	return all
}

// Close ends the stores of all limiters and waits for their sweepers.
func (s *Set) Close() {
	if s != nil {
		s.GlobalIP.Close()
		s.UserAuth.Close()
	}
}
