package wire

import (
	"context"
	"fmt"
	"net/netip"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/clientaddr"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

// limits makes the resolver of clients' addresses and the limiters.
func (b *builder) limits(ctx context.Context) error {
	clients, err := resolverOf(b.cfg)
	if err != nil {
		return b.blame("rate_limit_trusted_proxies", "trusted_proxies", err)
	}
	open, err := b.limitStores(ctx)
	if err != nil {
		return err
	}
	limits := limitConfig(b.cfg)
	limits.Now, limits.Observe = b.Tick, b.stats.Decided
	limits.Make = func(spec ratelimit.Spec, sec ratelimit.Section) (*ratelimit.Limiter, error) {
		return b.keep(spec, sec.OnFailure, open(sec.OnFailure))
	}
	set, warnings, err := ratelimit.Build(limits, nil)
	if err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	b.clients, b.app.Limits, b.app.backend = clients, set, b.cfg.RateLimit.Store
	b.refusals() // there are none to log without limits, but what they show is asked for
	b.app.Warnings = append(b.app.Warnings, warnings...)
	return nil
}

// resolverOf finds clients' addresses as a configuration says.
func resolverOf(cfg *conf.Config) (*clientaddr.Resolver, error) {
	p := cfg.RateLimitTrustedProxies
	return clientaddr.New(clientaddr.Config{
		Header: p.TrustedHeader, Trusted: p.TrustedProxies, PeerLocal: cfg.KeystoneGo.SocketPeer == "local",
	})
}

// limitConfig is what the limiters are told of a configuration.
func limitConfig(cfg *conf.Config) ratelimit.Config {
	all, g, u, t := cfg.RateLimit, cfg.RateLimitGlobalIP, cfg.RateLimitUserAuth, cfg.RateLimitTrustedPair
	f, s, d, i := cfg.RateLimitFailedLogin, cfg.RateLimitSpray, cfg.RateLimitDefault, cfg.RateLimitSignedIn
	failed := sectionOf(f.Mode, f.LimiterStore, f.AddressKeys, all.OnStoreFailure)
	spray := sectionOf(s.Mode, s.LimiterStore, s.AddressKeys, all.OnStoreFailure)
	none := conf.AddressKeys{}
	c := ratelimit.Config{
		GlobalIP:      perSecond(g.Enabled, g.BurstSize, g.ReplenishRatePerSecond, sectionOf(g.Mode, g.LimiterStore, g.AddressKeys, all.OnStoreFailure)),
		GlobalIPWide:  wideOf(g.Aggregate),
		UserAuth:      perSecond(u.Enabled, u.BurstSize, u.ReplenishRatePerSecond, sectionOf(u.Mode, u.LimiterStore, none, all.OnStoreFailure)),
		TrustedPair:   perSecond(t.Enabled, t.BurstSize, t.ReplenishRatePerSecond, sectionOf(t.Mode, t.LimiterStore, t.AddressKeys, all.OnStoreFailure)),
		Decoy:         sectionOf("", cfg.RateLimitDecoy.LimiterStore, none, all.OnStoreFailure),
		FailedAddress: limited(f.PerAddress, failed),
		FailedPair:    limited(f.PerUserAddress, failed),
		FailedWide:    wideOf(f.Aggregate),
		SprayAddress:  limited(s.PerAddress, spray),
		SprayPassword: limited(s.PerPassword, spray),
		Default:       limited(d.PerAddress, sectionOf(d.Mode, d.LimiterStore, d.AddressKeys, all.OnStoreFailure)),
		DefaultPrices: pricesOf(d.Prices),
		SignedIn:      limited(i.PerPrincipal, sectionOf(i.Mode, i.LimiterStore, none, all.OnStoreFailure)),
		TrustFor:      seconds(t.TrustDuration), GrowingPenalty: f.GrowingPenalty, PasswordPrice: int64(s.PasswordPrice),
		Mode: ratelimit.Mode(all.Mode), External: all.Front == "external",
		Trusted: cfg.RateLimitTrustedProxies.TrustedProxies, Exempted: all.ExemptNetworks,
		Store: all.Store, Instances: all.Instances,
	}
	c.Decoy.Enabled = cfg.RateLimitDecoy.Enabled
	for _, r := range cfg.RateLimitRoutes {
		c.Routes = append(c.Routes, routeOf(r, all.OnStoreFailure))
	}
	return c
}

// limitingOf is what the API is told of [rate_limit].
func limitingOf(c conf.RateLimit) v3.Limiting {
	return v3.Limiting{
		Headers: v3.LimitHeaders(c.Headers), Legacy: c.LegacyHeaders,
		Exempt: networks(c.ExemptNetworks), Blocked: networks(c.BlockNetworks),
		Roles: c.ExemptRoles, Users: c.ExemptUsers, Domains: c.ExemptDomains,
	}
}

// networks reads what the configuration has checked; an address is a network
// of one.
func networks(list []string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range list {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, p)
		} else if a, err := netip.ParseAddr(text); err == nil {
			out = append(out, netip.PrefixFrom(a, a.BitLen()))
		}
	}
	return out
}

func routeOf(r conf.RateLimitRoute, onFailure string) ratelimit.Route {
	return ratelimit.Route{
		Name: r.Name, Paths: r.Paths, Exempt: r.Exempt, Prices: pricesOf(r.Prices),
		PerAddress: quotaOf(r.PerAddress), PerClient: quotaOf(r.PerClient), PerPrincipal: quotaOf(r.PerPrincipal),
		Shape: sectionOf(r.Mode, r.LimiterStore, r.AddressKeys, onFailure),
	}
}

func sectionOf(mode string, s conf.LimiterStore, keys conf.AddressKeys, onFailure string) ratelimit.Section {
	if s.OnStoreFailure != "" {
		onFailure = s.OnStoreFailure
	}
	return ratelimit.Section{
		Mode: ratelimit.Mode(mode), MaxEntries: s.MaxEntries, IPv6Prefix: keys.IPv6Prefix, IPv4Prefix: keys.IPv4Prefix,
		Algorithm: ratelimit.Algorithm(s.Algorithm), Overflow: ratelimit.Overflow(s.Overflow), OnFailure: onFailure,
	}
}

func perSecond(enabled bool, burst, rate *int, sec ratelimit.Section) ratelimit.Section {
	sec.Enabled, sec.Burst, sec.Rate = enabled, burst, rate
	return sec
}

func limited(l *conf.Limit, sec ratelimit.Section) ratelimit.Section {
	sec.Limit = quotaOf(l)
	return sec
}

func quotaOf(l *conf.Limit) *ratelimit.Quota {
	if l == nil {
		return nil
	}
	return &ratelimit.Quota{Rate: int64(l.Requests), Period: l.Period, Burst: int64(l.Burst)}
}

func wideOf(a conf.Aggregate) ratelimit.Wide {
	return ratelimit.Wide{Factor: a.AggregateFactor, IPv6Prefix: a.AggregateIPv6Prefix, IPv4Prefix: a.AggregateIPv4Prefix}
}

func pricesOf(p conf.Prices) ratelimit.Prices {
	return ratelimit.Prices{
		Success: int64(p.PriceSuccess), Unauthorized: int64(p.Price401), Forbidden: int64(p.Price403),
		NotFound: int64(p.Price404), TooMany: int64(p.Price429), Other: int64(p.PriceOther),
	}
}

// LimitWarnings says what of the limits works and is probably not meant.
func LimitWarnings(cfg *conf.Config) []string {
	set, warnings, err := ratelimit.Build(limitConfig(cfg), memory.Open)
	if err != nil {
		return []string{err.Error()}
	}
	set.Close()
	return warnings
}
