package wire

import (
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

// limitConfig is what the limiters are told of a configuration.
func limitConfig(cfg *conf.Config) ratelimit.Config {
	g, u := cfg.RateLimitGlobalIP, cfg.RateLimitUserAuth
	return ratelimit.Config{
		GlobalIP: ratelimit.Section{Enabled: g.Enabled, Burst: g.BurstSize, Rate: g.ReplenishRatePerSecond, MaxEntries: g.MaxEntries, IPv6Prefix: g.IPv6Prefix, IPv4Prefix: g.IPv4Prefix},
		UserAuth: ratelimit.Section{Enabled: u.Enabled, Burst: u.BurstSize, Rate: u.ReplenishRatePerSecond, MaxEntries: u.MaxEntries},
		Trusted:  cfg.RateLimitTrustedProxies.TrustedProxies,
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
