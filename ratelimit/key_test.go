package ratelimit_test

import (
	"bytes"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

// Case ids are those of the limiter's case list, group K.
func TestAddressKeys(t *testing.T) {
	const a, b, c = "2001:db8:cafe:1::1", "2001:db8:cafe:1:ffff::2", "2001:db8:cafe:2::1"
	for _, k := range []struct {
		id     string
		v4, v6 int
		x, y   string
		same   bool
	}{
		{"RL-K01", 0, 0, "203.0.113.7", "203.0.113.8", false},
		{"RL-K02", 0, 0, a, b, true},
		{"RL-K03", 0, 0, a, c, false},
		{"RL-K04", 0, 128, a, b, false},
		{"RL-K06", 0, 0, "::ffff:203.0.113.7", "203.0.113.7", true},
		{"RL-K07", 0, 48, a, b, true},
		{"RL-K07 next", 0, 48, a, c, true},
		{"/48 ends", 0, 48, a, "2001:db8:caff::1", false},
		{"/61 within", 0, 61, "2001:db8::", "2001:db8:0:7::1", true},
		{"/61 beyond", 0, 61, "2001:db8::", "2001:db8:0:8::1", false},
		{"/24 within", 24, 0, "203.0.113.7", "203.0.113.200", true},
		{"/24 beyond", 24, 0, "203.0.113.7", "203.0.114.7", false},
		{"/30 within", 30, 0, "203.0.113.4", "203.0.113.7", true},
		{"/30 beyond", 30, 0, "203.0.113.4", "203.0.113.8", false},
		{"zone", 0, 128, "fe80::1%eth0", "fe80::1", true},
		{"NAT64", 0, 0, "64:ff9b::203.0.113.7", "203.0.113.7", true},
		{"NAT64 others", 0, 0, "64:ff9b::203.0.113.7", "64:ff9b::203.0.113.8", false},
		{"NAT64 ends", 0, 0, "64:ff9b:0:0:1::203.0.113.7", "203.0.113.7", false},
		{"IPv4 is not ::/64", 0, 0, "203.0.113.7", "::1", false},
	} {
		t.Run(k.id, func(t *testing.T) {
			l, err := ratelimit.New(ratelimit.Spec{
				Quota: ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 1}, MaxEntries: 1,
				IPv4Prefix: k.v4, IPv6Prefix: k.v6,
			}, memory.Open)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			x, y := l.Address(netip.MustParseAddr(k.x)), l.Address(netip.MustParseAddr(k.y))
			if (x == y) != k.same {
				t.Errorf("%s is %x, %s is %x; same should be %t", k.x, x, k.y, y, k.same)
			}
		})
	}
}

// The key of an address is its network and nothing else.
func TestAddressKeyIsTheNetwork(t *testing.T) {
	for v6 := 1; v6 <= 128; v6++ {
		l, err := ratelimit.New(ratelimit.Spec{
			Quota: ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 1}, MaxEntries: 1, IPv6Prefix: v6,
		}, memory.Open)
		if err != nil {
			t.Fatal(err)
		}
		addr := netip.MustParseAddr("2001:db8:ffff:ffff:ffff:ffff:ffff:ffff")
		want := netip.PrefixFrom(addr, v6).Masked().Addr().As16()
		if got := l.Address(addr); got.Bytes() != want || got != ratelimit.KeyOf(want) {
			t.Errorf("/%d: got %x, want %x", v6, got, want)
		}
		l.Close()
	}
}

// Keys are their bytes in another form: nothing is lost, and they are ordered
// as those.
func TestKeysAreBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (b [16]byte) {
			copy(b[:], rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0xff}), 16, 16).Draw(t, name))
			return b
		}
		x, y := draw("x"), draw("y")
		if got := ratelimit.KeyOf(x).Bytes(); got != x {
			t.Fatalf("%x became %x", x, got)
		}
		if got, want := ratelimit.KeyOf(x).Compare(ratelimit.KeyOf(y)), bytes.Compare(x[:], y[:]); got != want {
			t.Fatalf("%x and %x: %d, want %d", x, y, got, want)
		}
	})
}

// Go hands on in registers what has at most four fields and words. A check takes
// a sixth more where its answer is written to memory and read again at each step.
func TestFitsRegisters(t *testing.T) {
	for _, v := range []any{ratelimit.Key{}, ratelimit.Decision{}} {
		if typ := reflect.TypeOf(v); typ.NumField() > 4 || typ.Size() > 4*reflect.TypeFor[uintptr]().Size() {
			t.Errorf("%v has %d fields in %d bytes", typ, typ.NumField(), typ.Size())
		}
	}
}

func TestNameKeys(t *testing.T) {
	l := limiter(t, ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 1}, &clock{})
	other := limiter(t, ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 1}, &clock{})
	names := []string{"", "Alice", "alice", "аlice", "alice\x00", "\xff\xfe", "a\nb", strings.Repeat("漢", 255), strings.Repeat("x", 1<<20)}
	seen := map[ratelimit.Key]string{}
	for _, n := range names {
		k := l.Text(n)
		if before, ok := seen[k]; ok {
			t.Errorf("%.20q and %.20q share the key %x", n, before, k)
		}
		seen[k] = n
		if l.Text(strings.Clone(n)) != k {
			t.Errorf("%.20q has two keys", n)
		}
		if other.Text(n) == k {
			t.Errorf("%.20q has the same key under two limiters", n)
		}
	}
}

func TestPrefixBounds(t *testing.T) {
	for _, s := range []ratelimit.Spec{{IPv4Prefix: 33}, {IPv4Prefix: -1}, {IPv6Prefix: 129}, {IPv6Prefix: -1}} {
		s.Quota, s.MaxEntries = ratelimit.Quota{Rate: 1, Period: 1, Burst: 1}, 1
		if l, err := ratelimit.New(s, memory.Open); err == nil {
			l.Close()
			t.Errorf("New with /%d and /%d: no error", s.IPv4Prefix, s.IPv6Prefix)
		}
	}
}
