package clientaddr_test

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/keystone-go/keystone-go/ratelimit/clientaddr"
)

func TestExplain(t *testing.T) {
	r, err := clientaddr.New(clientaddr.Config{Trusted: []string{"10.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	addr := netip.MustParseAddr
	sameAddr := cmp.Comparer(func(a, b netip.Addr) bool { return a == b })
	for _, c := range []struct {
		peer, header string
		want         clientaddr.Explanation
	}{
		{"203.0.113.5:1", "198.51.100.9", clientaddr.Explanation{
			Peer: addr("203.0.113.5"), Client: addr("203.0.113.5"), How: clientaddr.Peer,
		}},
		{"10.0.0.1:1", "192.0.2.66, 198.51.100.9, , 10.0.0.5", clientaddr.Explanation{
			Peer: addr("10.0.0.1"), Trusted: true, Client: addr("198.51.100.9"), How: clientaddr.Header,
			Hops: []clientaddr.Hop{
				{Text: "10.0.0.5", Addr: addr("10.0.0.5"), Verdict: clientaddr.HopProxy},
				{Verdict: clientaddr.HopEmpty},
				{Text: "198.51.100.9", Addr: addr("198.51.100.9"), Verdict: clientaddr.HopClient},
			},
		}},
		{"10.0.0.1:1", "198.51.100.9, bogus", clientaddr.Explanation{
			Peer: addr("10.0.0.1"), Trusted: true, Client: addr("10.0.0.1"), How: clientaddr.Malformed,
			Hops: []clientaddr.Hop{{Text: "bogus", Verdict: clientaddr.HopMalformed}},
		}},
		{"@", "198.51.100.9", clientaddr.Explanation{How: clientaddr.NoPeer}},
	} {
		c.want.Header = "X-Forwarded-For"
		got := r.Explain(c.peer, http.Header{"X-Forwarded-For": {c.header}})
		if d := cmp.Diff(c.want, got, sameAddr); d != "" {
			t.Errorf("%s with %q (-want +got):\n%s", c.peer, c.header, d)
		}
	}
}

// What Explain tells is what Resolve does, whatever is sent.
func TestExplainIsResolve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, err := clientaddr.New(clientaddr.Config{
			Header:  rapid.SampledFrom([]string{"x_forwarded_for", "forwarded", "single:X-Real-Ip"}).Draw(t, "header"),
			Trusted: []string{"10.0.0.0/8"}, PeerLocal: rapid.Bool().Draw(t, "local"),
		})
		if err != nil {
			t.Fatal(err)
		}
		peer := rapid.SampledFrom([]string{"10.0.0.1:1", "192.0.2.1:1", "@", "", "x"}).Draw(t, "peer")
		entry := rapid.SampledFrom([]string{"10.0.0.2", "198.51.100.9", "for=198.51.100.9", "for=10.0.0.3", "bogus", "", ",", " , ", ";"})
		h := http.Header{}
		for _, name := range []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip"} {
			for range rapid.IntRange(0, 3).Draw(t, name) {
				h.Add(name, entry.Draw(t, "a")+","+entry.Draw(t, "b"))
			}
		}
		addr, how := r.Resolve(peer, h)
		e := r.Explain(peer, h)
		if e.Client != addr || e.How != how {
			t.Fatalf("%s with %v: Explain has %s %s, Resolve %s %s", peer, h, e.Client, e.How, addr, how)
		}
		if n := len(e.Hops); how == clientaddr.Header && (n == 0 || e.Hops[n-1].Addr != addr) {
			t.Fatalf("%s with %v: the last hop of %v is not %s", peer, h, e.Hops, addr)
		}
	})
}
