package clientaddr

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// parseHop reads an entry of X-Forwarded-For.
func parseHop(s string) (netip.Addr, bool) { return parseNode(s, isPort) }

// parseNode reads an address with or without a port: 192.0.2.1, 192.0.2.1:80,
// 2001:db8::1, [2001:db8::1], [2001:db8::1]:80. Without brackets the last group
// of an IPv6 address is never taken for a port.
func parseNode(s string, port func(string) bool) (netip.Addr, bool) {
	if rest, ok := strings.CutPrefix(s, "["); ok {
		host, after, ok := strings.Cut(rest, "]")
		after, hasPort := strings.CutPrefix(after, ":")
		if !ok || hasPort != port(after) || !hasPort && after != "" || !strings.Contains(host, ":") {
			return netip.Addr{}, false
		}
		return parseHost(host)
	}
	if host, after, ok := strings.Cut(s, ":"); ok && !strings.Contains(after, ":") {
		if !port(after) {
			return netip.Addr{}, false
		}
		return parseHost(host)
	}
	return parseHost(s)
}

// parseHost reads an address without a port, unmaps it and drops its zone. The
// zone is cut off first: netip would keep a copy of it, however long.
func parseHost(s string) (netip.Addr, bool) {
	s, zone, zoned := strings.Cut(s, "%")
	addr, err := netip.ParseAddr(s)
	if err != nil || zoned && (zone == "" || !addr.Is6() || addr.Is4In6()) {
		return netip.Addr{}, false
	}
	return addr.Unmap(), true
}

// isHost refuses addresses that no client can have.
func isHost(a netip.Addr) bool {
	return !a.IsUnspecified() && !a.IsMulticast() && a != netip.AddrFrom4([4]byte{255, 255, 255, 255})
}

// isPort accepts 0 to 65535 in decimal digits.
func isPort(s string) bool {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
		n = n*10 + int(s[i]-'0')
	}
	return s != "" && len(s) <= 5 && n <= 65535
}

// trim takes off the blanks that HTTP allows around an entry.
func trim(s string) string { return strings.Trim(s, " \t") }

func trusts(nets []netip.Prefix, a netip.Addr) bool {
	for _, n := range nets {
		if n.Contains(a) {
			return true
		}
	}
	return false
}

// form is how a header holds addresses.
type form int

const (
	list      form = iota // X-Forwarded-For: a list over all its lines
	forwarded             // Forwarded: elements of parameters
	single                // one address in one line
)

// parseHeader turns the configured header into its name and its form.
func parseHeader(s string) (string, form, error) {
	switch s {
	case "", "x_forwarded_for":
		return "X-Forwarded-For", list, nil
	case "forwarded":
		return "Forwarded", forwarded, nil
	}
	name, ok := strings.CutPrefix(s, "single:")
	if !ok || !isToken(name) {
		return "", 0, fmt.Errorf("trusted_header: %q is none of x_forwarded_for, forwarded, single:<Name>", s)
	}
	name = http.CanonicalHeaderKey(name)
	if name == "X-Forwarded-For" || name == "Forwarded" {
		return "", 0, fmt.Errorf("trusted_header: %s is a list; a header for one address cannot be read from it", name)
	}
	return name, single, nil
}

// isToken tells a name that a header may have (RFC 9110, 5.6.2).
func isToken(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// parseTrusted reads the networks of proxies; its error names every bad one.
func parseTrusted(texts []string) ([]netip.Prefix, error) {
	var nets []netip.Prefix
	var errs []error
	for _, text := range texts {
		if text == "loopback" {
			nets = append(nets, netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("::1/128"))
			continue
		}
		n, err := parseNetwork(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("trusted_proxies: %q %w", text, err))
		}
		nets = append(nets, n)
	}
	return nets, errors.Join(errs...)
}

// parseNetwork reads a network or an address. An IPv4 network in IPv6 form is
// unmapped as addresses are, or no address would ever be in it.
func parseNetwork(text string) (netip.Prefix, error) {
	n, err := netip.ParsePrefix(text)
	if !strings.Contains(text, "/") {
		var a netip.Addr
		a, err = netip.ParseAddr(text)
		n = netip.PrefixFrom(a, a.BitLen())
		if a.Zone() != "" {
			return netip.Prefix{}, errors.New("has a zone")
		}
	}
	if err != nil {
		return netip.Prefix{}, errors.New("is no network and no address")
	}
	if n.Addr().Is4In6() {
		if n.Bits() < 96 {
			return netip.Prefix{}, errors.New("covers IPv4 addresses and others")
		}
		n = netip.PrefixFrom(n.Addr().Unmap(), n.Bits()-96)
	}
	switch {
	case n.Bits() == 0:
		return netip.Prefix{}, errors.New("would trust everyone")
	case n != n.Masked():
		return netip.Prefix{}, fmt.Errorf("has bits beyond its length; the network is %s", n.Masked())
	}
	return n, nil
}
