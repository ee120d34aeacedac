package ratelimit

import (
	"fmt"
	"net/netip"
)

// warnings tells what works but is probably not meant.
func warnings(cfg Config, s *Set) []string {
	var w []string
	if len(s.All()) == 0 {
		none := fmt.Sprintf("no rate limit is on: neither [%s] nor [%s] is enabled", GlobalIP, UserAuth)
		if cfg.Mode == Off {
			none = "no rate limit is on: [rate_limit] mode is off"
		}
		return append(w, append([]string{none}, wide(cfg.Trusted)...)...)
	}
	if s.GlobalIP != nil && len(cfg.Trusted) == 0 {
		w = append(w, fmt.Sprintf("[%s] is enabled and [rate_limit_trusted_proxies] trusted_proxies is empty: behind a proxy all clients share the proxy's quota", GlobalIP))
	}
	w = append(w, wide(cfg.Trusted)...)
	for _, text := range cfg.Exempted {
		if at, ok := widerThan(text); ok {
			w = append(w, fmt.Sprintf("[rate_limit] exempt_networks has %s, wider than /%d: no limit by address holds for any host in it", text, at))
		}
	}
	switch {
	case cfg.Store == "":
	case cfg.Store != "memory" && cfg.Instances == nil:
		w = append(w, "[rate_limit] instances is not set: while the shared store is away each instance lets every limit through once more")
	case cfg.Store != "memory":
	case cfg.Instances == nil:
		w = append(w, "[rate_limit] store is memory and instances is not set: each instance lets every limit through once more; say instances = 1, or share the counters")
	case *cfg.Instances > 1:
		w = append(w, fmt.Sprintf("[rate_limit] store is memory with %d instances: they let through %d times each limit", *cfg.Instances, *cfg.Instances))
	}
	return w
}

func wide(trusted []string) (w []string) {
	for _, text := range trusted {
		if at, ok := widerThan(text); ok {
			w = append(w, fmt.Sprintf("[rate_limit_trusted_proxies] trusted_proxies has %s, wider than /%d: every host in it can pass for any client", text, at))
		}
	}
	return w
}

// widerThan tells whether a network is wider than anybody's own proxies need.
// What is no network at all is refused by clientaddr.New.
func widerThan(text string) (int, bool) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return 0, false
	}
	bits, widest := p.Bits(), 32
	if p.Addr().Is4In6() {
		bits -= 96
	}
	if p.Addr().Unmap().Is4() {
		widest = 16
	}
	return widest, bits < widest
}
