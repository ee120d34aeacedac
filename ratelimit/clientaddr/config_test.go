package clientaddr_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/ratelimit/clientaddr"
)

// Case ids are those of the limiter's case list, group C.
func TestTrusted(t *testing.T) {
	for _, c := range []struct {
		id      string
		trusted []string
		fails   string // a word of the error; "" accepts
		inside  []string
		outside []string
	}{
		{"RL-C10", list("10.0.0.0/8", "192.168.1.0/24"), "", list("10.255.0.1", "192.168.1.7"), list("11.0.0.1", "192.168.2.1")},
		{"RL-C11 no network", list("10.0.0.0/8", "bogus"), `"bogus" is no network`, nil, nil},
		{"RL-C11 host bits", list("10.0.0.1/8"), "the network is 10.0.0.0/8", nil, nil},
		{"RL-C11 zone", list("fe80::1%eth0/64"), "is no network", nil, nil},
		{"RL-C11 mapped", list("::ffff:10.0.0.0/104"), "", list("10.1.2.3", "::ffff:10.1.2.3"), list("11.0.0.1", "::1")},
		{"RL-C12 everyone", list("0.0.0.0/0"), "would trust everyone", nil, nil},
		{"RL-C12 everyone in IPv6", list("::/0"), "would trust everyone", nil, nil},
		{"RL-C12 everyone mapped", list("::ffff:0.0.0.0/96"), "would trust everyone", nil, nil},
		{"RL-C14", list("10.0.0.5"), "", list("10.0.0.5"), list("10.0.0.4")},
		{"address in IPv6", list("2001:db8::5"), "", list("2001:db8::5"), list("2001:db8::6")},
		{"address, mapped", list("::ffff:10.0.0.5"), "", list("10.0.0.5"), list("10.0.0.6")},
		{"address with a zone", list("fe80::1%eth0"), "has a zone", nil, nil},
		{"wider than mapped", list("::/64"), "", list("::1"), list("10.0.0.1")},
		{"mapped and others", list("::ffff:0.0.0.0/80"), "covers IPv4 addresses and others", nil, nil},
		{"loopback", list("loopback"), "", list("127.0.0.1", "::1"), list("127.0.0.2", "10.0.0.1")},
		{"length too long", list("10.0.0.0/33"), "is no network", nil, nil},
		{"leading zero", list("10.0.0.0/08"), "is no network", nil, nil},
		{"empty", list(""), "is no network", nil, nil},
		{"blank", list(" 10.0.0.0/8"), "is no network", nil, nil},
		{"every fault", list("one", "10.0.0.0/8", "two"), `"one" is no network and no address` + "\n" + `trusted_proxies: "two"`, nil, nil},
	} {
		t.Run(c.id, func(t *testing.T) {
			r, err := clientaddr.New(clientaddr.Config{Trusted: c.trusted})
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("New(%q): got %v, want an error with %q", c.trusted, err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatalf("New(%q): %v", c.trusted, err)
			}
			h := http.Header{"X-Forwarded-For": {"198.51.100.9"}}
			for _, peer := range c.inside {
				if _, how := r.Resolve(peer, h); how != clientaddr.Header {
					t.Errorf("%q trusts %s: got %s, want header", c.trusted, peer, how)
				}
			}
			for _, peer := range c.outside {
				if _, how := r.Resolve(peer, h); how != clientaddr.Peer {
					t.Errorf("%q does not trust %s: got %s, want peer", c.trusted, peer, how)
				}
			}
		})
	}
}

func TestRL_C13(t *testing.T) {
	for _, header := range list("X-Real-IP", "x_forwarded_for,forwarded", "single:X-Forwarded-For", "single:x-forwarded-for",
		"single:Forwarded", "single:", "single:X Real", "single:X-Real-IP,Other", "X_FORWARDED_FOR", "single:Ä") {
		if _, err := clientaddr.New(clientaddr.Config{Header: header}); err == nil || !strings.Contains(err.Error(), "trusted_header") {
			t.Errorf("New with header %q: got %v, want an error that names trusted_header", header, err)
		}
	}
	for _, header := range list("", "x_forwarded_for", "forwarded", "single:X-Real-IP", "single:cf-connecting-ip") {
		if _, err := clientaddr.New(clientaddr.Config{Header: header}); err != nil {
			t.Errorf("New with header %q: %v", header, err)
		}
	}
}
