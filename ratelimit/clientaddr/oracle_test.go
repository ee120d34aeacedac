package clientaddr_test

import (
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/keystone-go/keystone-go/ratelimit/clientaddr"
)

// The oracle answers the same question in another way: it judges the whole
// chain, by regular expressions and package net, and only then chooses.

var (
	bracketed = regexp.MustCompile(`(?s)^\[([^%\]]*:[^%\]]*)(%[^\]]+)?\](?::([0-9]{1,5}|_[A-Za-z0-9._-]+))?$`)
	withPort  = regexp.MustCompile(`^([0-9.]+):([0-9]{1,5}|_[A-Za-z0-9._-]+)$`)
	bare      = regexp.MustCompile(`(?s)^([^%]*)(%.+)?$`)
	quoted    = regexp.MustCompile(`(?s)"(?:\\.|[^"\\])*(?:"|\\?\z)`)
	parameter = regexp.MustCompile(`(?s)^([^="]*)(?:=(?:"((?:\\.|[^"\\])*)"|([^"]*)))?$`)
)

// judged is what the oracle thinks of one entry: empty, a proxy, bad or good.
type judged struct {
	verdict string
	addr    string
}

func judgeAddress(cfg clientaddr.Config, text string, obfuscated bool) judged {
	ip, ok := oracleAddress(text, obfuscated)
	switch {
	case !ok || ip.IsUnspecified() || ip.IsMulticast() || ip.Equal(net.IPv4bcast):
		return judged{verdict: "bad"}
	case slices.ContainsFunc(cfg.Trusted, func(cidr string) bool {
		_, n, err := net.ParseCIDR(cidr)
		return err == nil && n.Contains(ip)
	}):
		return judged{verdict: "proxy"}
	}
	return judged{"good", ip.String()}
}

func oracleAddress(text string, obfuscated bool) (net.IP, bool) {
	port, zone, host := "", "", ""
	if m := bracketed.FindStringSubmatch(text); m != nil {
		host, zone, port = m[1], m[2], m[3]
	} else if m := withPort.FindStringSubmatch(text); m != nil {
		host, port = m[1], m[2]
	} else if m := bare.FindStringSubmatch(text); m != nil {
		host, zone = m[1], m[2]
	}
	if n, err := strconv.Atoi(port); port != "" && (err != nil || n > 65535) && !(obfuscated && port[0] == '_') {
		return nil, false
	}
	ip := net.ParseIP(host)
	if ip == nil || zone != "" && ip.To4() != nil || strings.Contains(text, "%") && zone == "" {
		return nil, false
	}
	if strings.Count(text, ":") == 1 && port == "" {
		return nil, false
	}
	return ip, true
}

// splitOutside splits at a separator after hiding what is quoted.
func splitOutside(text, sep string) []string {
	hidden := quoted.ReplaceAllStringFunc(text, func(q string) string { return strings.Repeat("q", len(q)) })
	var parts []string
	at := 0
	for _, p := range strings.Split(hidden, sep) {
		parts = append(parts, text[at:at+len(p)])
		at += len(p) + len(sep)
	}
	return parts
}

func judgeElement(cfg clientaddr.Config, element string) judged {
	var nodes []string
	for _, pair := range splitOutside(element, ";") {
		m := parameter.FindStringSubmatchIndex(strings.Trim(pair, " \t"))
		if m == nil {
			return judged{verdict: "bad"}
		}
		pair = strings.Trim(pair, " \t")
		if !strings.EqualFold(pair[m[2]:m[3]], "for") {
			continue
		}
		switch {
		case m[4] >= 0:
			nodes = append(nodes, pair[m[4]:m[5]])
		case m[6] >= 0:
			nodes = append(nodes, pair[m[6]:m[7]])
		default:
			return judged{verdict: "bad"}
		}
	}
	if len(nodes) != 1 {
		return judged{verdict: "bad"}
	}
	return judgeAddress(cfg, nodes[0], true)
}

func judgeChain(cfg clientaddr.Config, lines []string) []judged {
	var entries []string
	judge := func(e string) judged { return judgeAddress(cfg, e, false) }
	switch {
	case strings.HasPrefix(cfg.Header, "single:"):
		entries = lines
	case cfg.Header == "forwarded":
		judge = func(e string) judged { return judgeElement(cfg, e) }
		for _, l := range lines {
			entries = append(entries, splitOutside(l, ",")...)
		}
	case len(lines) > 0:
		entries = strings.Split(strings.Join(lines, ","), ",")
	}
	var chain []judged
	for _, e := range entries {
		short := strings.Trim(e, " \t")
		switch {
		case len(e) > 1024:
			chain = append(chain, judged{verdict: "bad"})
		case short == "":
			chain = append(chain, judged{verdict: "empty"})
		default:
			chain = append(chain, judge(short))
		}
	}
	return chain
}

func oracle(cfg clientaddr.Config, peer string, lines []string) (string, clientaddr.How) {
	var from judged
	if ip, ok := oracleAddress(peer, false); ok {
		if from = judgeAddress(cfg, peer, false); from.verdict != "proxy" {
			return ip.String(), clientaddr.Peer
		}
		from.addr = ip.String()
	} else {
		return "", clientaddr.NoPeer
	}
	if strings.HasPrefix(cfg.Header, "single:") && len(lines) > 1 {
		return from.addr, clientaddr.Repeated
	}
	chain := judgeChain(cfg, lines)
	near := chain[max(0, len(chain)-32):]
	for i := range near {
		switch e := near[len(near)-1-i]; e.verdict {
		case "good":
			return e.addr, clientaddr.Header
		case "bad":
			return from.addr, clientaddr.Malformed
		}
	}
	switch {
	case len(chain) > 32:
		return from.addr, clientaddr.TooManyHops
	case slices.ContainsFunc(chain, func(e judged) bool { return e.verdict == "proxy" }):
		return from.addr, clientaddr.AllTrusted
	}
	return from.addr, clientaddr.NoHeader
}

// agree reports a difference between the resolver and the oracle.
func agree(t interface{ Errorf(string, ...any) }, r *clientaddr.Resolver, cfg clientaddr.Config, peer string, lines []string) {
	addr, how := r.Resolve(peer, http.Header{headerOf(cfg): lines})
	got := ""
	if addr.IsValid() {
		got = addr.String()
	}
	if want, wantHow := oracle(cfg, peer, lines); got != want || how != wantHow {
		t.Errorf("%s: Resolve(%q, %q) = %q, %s; the oracle says %q, %s", cfg.Header, peer, lines, got, how, want, wantHow)
	}
	if addr.Zone() != "" || addr.Is4In6() || addr.IsValid() == (how == clientaddr.NoPeer) {
		t.Errorf("%s: Resolve(%q, %q) = %v, %s: not in normal form", cfg.Header, peer, lines, addr, how)
	}
}

var forms = []clientaddr.Config{behind, forwarded, single, {Header: "forwarded", Trusted: []string{"10.0.0.0/8", "fe80::/10", "2001:db8::/32"}}}

// Pieces from which headers grow that are nearly right.
var (
	addresses = []string{
		"10.0.0.5", "10.9.9.9", "198.51.100.9", "203.0.113.7", "2001:db8::7", "::ffff:10.0.0.6", "fe80::1%eth0", "fe80::1",
		"unknown", "_hidden", "0.0.0.0", "ff02::1", "010.0.0.1", "1.2.3", "::", "[2001:db8::7]", "[10.0.0.5]", "", " ",
	}
	ports    = []string{"", "", "", ":80", ":", ":_x", ":65535", ":65536", ":123456", "]", ":80:80"}
	wrappers = []string{"", "", " ", "\t", "\"", "\\"}
	params   = []string{"", ";proto=https", ";by=agent/1.0 (x; y)", `;host="a,b;c"`, `;host="a\"b"`, `;x="`, ";for=192.0.2.1", ";=", `;"`}
)

func drawNode(t *rapid.T) string {
	pick := func(from []string) string { return rapid.SampledFrom(from).Draw(t, "piece") }
	node := pick(addresses) + pick(ports)
	if strings.Count(node, ":") > 1 && rapid.Bool().Draw(t, "brackets") {
		node = "[" + node + "]" + pick(ports)
	}
	return pick(wrappers) + node + pick(wrappers)
}

func drawLine(t *rapid.T, form string) string {
	return strings.Join(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		node := drawNode(t)
		if form != "forwarded" {
			return node
		}
		name := rapid.SampledFrom([]string{"for=", "For=", "for=", "for", "by=", " for=", "for ="}).Draw(t, "name")
		if rapid.Bool().Draw(t, "quoted") {
			node = `"` + node + `"`
		}
		return name + node + rapid.SampledFrom(params).Draw(t, "parameter")
	}), 0, 5).Draw(t, "entries"), ",")
}

func TestResolveAgainstOracle(t *testing.T) {
	for _, cfg := range forms {
		r := resolver(t, cfg)
		rapid.Check(t, func(t *rapid.T) {
			lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return drawLine(t, cfg.Header) }), 0, 4).Draw(t, "lines")
			peer := rapid.SampledFrom([]string{proxy, "[::ffff:10.0.0.1]:1", "203.0.113.5:1", "@", "10.0.0.1"}).Draw(t, "peer")
			agree(t, r, cfg, peer, lines)
		})
	}
}

// What stands before the entry of the last proxy never matters, not even when
// it is long or broken, as long as it is a line or an entry of its own.
func TestLastHopDecides(t *testing.T) {
	r := resolver(t, behind)
	f := resolver(t, forwarded)
	want := netip.MustParseAddr("198.51.100.9")
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SliceOf(rapid.String()).Draw(t, "before")
		proxies := strings.Repeat(", 10.0.0.5", rapid.IntRange(0, 31).Draw(t, "proxies"))
		lines := append(slices.Clone(before), strings.Join(before, " ")+", 198.51.100.9"+proxies)
		if got, how := r.Resolve(proxy, http.Header{"X-Forwarded-For": lines}); got != want {
			t.Errorf("X-Forwarded-For %q: got %v, %s; want %v", lines, got, how, want)
		}
		lines = append(slices.Clone(before), "for=198.51.100.9"+strings.ReplaceAll(proxies, ", ", ", for="))
		if got, how := f.Resolve(proxy, http.Header{"Forwarded": lines}); got != want {
			t.Errorf("Forwarded %q: got %v, %s; want %v", lines, got, how, want)
		}
		if got, how := r.Resolve("203.0.113.5:1", http.Header{"X-Forwarded-For": lines}); how != clientaddr.Peer {
			t.Errorf("an untrusted peer with %q: got %v, %s; want the peer", lines, got, how)
		}
	})
}

// FuzzResolve compares with the oracle on any bytes. The seeds in testdata are
// the rows of the table above and what earlier runs found; lines are separated
// by line feeds, which no header can hold.
func FuzzResolve(f *testing.F) {
	resolvers := make([]*clientaddr.Resolver, len(forms))
	for i, cfg := range forms {
		resolvers[i] = resolver(f, cfg)
	}
	f.Fuzz(func(t *testing.T, form uint, peer, header string) {
		i := form % uint(len(forms))
		agree(t, resolvers[i], forms[i], peer, strings.Split(header, "\n"))
	})
}
