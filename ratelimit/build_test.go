package ratelimit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

func num(n int) *int { return &n }

func on(burst, rate int) ratelimit.Section {
	return ratelimit.Section{Enabled: true, Burst: &burst, Rate: &rate}
}

// Case ids are those of the limiter's case list, group C; what a file may hold
// besides whole numbers is refused where it is read.
func TestBuild(t *testing.T) {
	private := []string{"10.1.0.0/16"}
	for _, c := range []struct {
		id    string
		cfg   ratelimit.Config
		fails []string // words of the error; none accepts
		warns []string // words of the warnings, one each
	}{
		{"RL-C01", ratelimit.Config{}, nil, []string{"no rate limit is on"}},
		{"RL-C02", ratelimit.Config{GlobalIP: on(100, 10)}, nil, []string{"trusted_proxies is empty"}},
		{"RL-C03", ratelimit.Config{GlobalIP: on(0, 10)}, []string{"[rate_limit_global_ip] burst_size = 0 is not in 1..100000"}, nil},
		{"RL-C04", ratelimit.Config{GlobalIP: on(100_000, 100_000), Trusted: private}, nil, nil},
		{"RL-C05", ratelimit.Config{UserAuth: on(100_001, 1)}, []string{"[rate_limit_user_auth] burst_size = 100001 is not in 1..100000"}, nil},
		{"RL-C06 zero", ratelimit.Config{UserAuth: on(1, 0)}, []string{"replenish_rate_per_second = 0 is not in 1..100000"}, nil},
		{"RL-C06 below", ratelimit.Config{UserAuth: on(1, -1)}, []string{"replenish_rate_per_second = -1 is not"}, nil},
		{"RL-C06 above", ratelimit.Config{UserAuth: on(1, 100_001)}, []string{"replenish_rate_per_second = 100001 is not"}, nil},
		{
			"RL-C07",
			ratelimit.Config{GlobalIP: ratelimit.Section{Burst: num(0), Rate: num(-1), MaxEntries: 1}, UserAuth: on(5, 1)},
			nil, nil,
		},
		{
			"RL-C08",
			ratelimit.Config{GlobalIP: ratelimit.Section{Enabled: true, Rate: num(1)}},
			[]string{"[rate_limit_global_ip] enabled needs burst_size, a whole number in 1..100000"},
			nil,
		},
		{
			"RL-C12",
			ratelimit.Config{GlobalIP: on(1, 1), Trusted: []string{"10.0.0.0/8", "10.0.0.0/16", "2001:db8::/31", "2001:db8::/32", "::ffff:10.0.0.0/104", "loopback", "192.0.2.1"}},
			nil,
			[]string{"10.0.0.0/8, wider than /16", "2001:db8::/31, wider than /32", "::ffff:10.0.0.0/104, wider than /16"},
		},
		{
			"every fault",
			ratelimit.Config{GlobalIP: ratelimit.Section{Enabled: true, MaxEntries: 999, IPv4Prefix: 23, IPv6Prefix: 129}, UserAuth: on(0, 0)},
			[]string{
				"[rate_limit_global_ip] enabled needs burst_size", "[rate_limit_global_ip] enabled needs replenish_rate_per_second",
				"max_entries = 999 is not in 1000..10000000", "ipv4_prefix = 23 is not in 24..32", "ipv6_prefix = 129 is not in 32..128",
				"[rate_limit_user_auth] burst_size = 0", "[rate_limit_user_auth] replenish_rate_per_second = 0",
			},
			nil,
		},
	} {
		t.Run(c.id, func(t *testing.T) {
			set, warns, err := ratelimit.Build(c.cfg, memory.Open)
			if (err != nil) != (len(c.fails) > 0) {
				t.Fatalf("got the error %v, want %q", err, c.fails)
			}
			defer set.Close()
			for _, w := range c.fails {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("the error %q does not say %q", err, w)
				}
			}
			if err != nil && set != nil {
				t.Error("a set beside an error")
			}
			if set != nil && ((set.GlobalIP != nil) != c.cfg.GlobalIP.Enabled || (set.UserAuth != nil) != c.cfg.UserAuth.Enabled) {
				t.Errorf("made %+v", set.Stats())
			}
			if len(warns) != len(c.warns) {
				t.Fatalf("got the warnings %q, want %q", warns, c.warns)
			}
			for i, w := range c.warns {
				if !strings.Contains(warns[i], w) {
					t.Errorf("the warning %q does not say %q", warns[i], w)
				}
			}
		})
	}
}

// RL-C20: no number stands in the binary. Nothing configured, nothing limited.
func TestRL_C20(t *testing.T) {
	set, _, err := ratelimit.Build(ratelimit.Config{}, memory.Open)
	if err != nil {
		t.Fatal(err)
	}
	if set.GlobalIP != nil || set.UserAuth != nil || len(set.Stats()) != 0 {
		t.Errorf("limiters without a configuration: %+v", set.Stats())
	}
	set.Close()
}

// The limiters are those that the sections ask for, each with its own store.
func TestBuildSet(t *testing.T) {
	clk := &clock{}
	set, _, err := ratelimit.Build(ratelimit.Config{
		GlobalIP: ratelimit.Section{Enabled: true, Burst: num(3), Rate: num(2), MaxEntries: 5000},
		UserAuth: on(1, 4),
		Now:      clk.now,
	}, memory.Open)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	if got, want := set.GlobalIP.Quota(), (ratelimit.Quota{Rate: 2, Period: time.Second, Burst: 3}); got != want {
		t.Errorf("the quota of addresses is %+v, want %+v", got, want)
	}
	if d, _ := set.UserAuth.Take(t.Context(), key); !d.Allowed || d.Remaining != 0 {
		t.Errorf("the user's first: got %+v", d)
	}
	if d, _ := set.UserAuth.Take(t.Context(), key); d.Allowed || d.Retry != 250*time.Millisecond {
		t.Errorf("the user's second: got %+v, want refused for 250ms", d)
	}
	if d, _ := set.GlobalIP.Take(t.Context(), key); !d.Allowed || d.Remaining != 2 {
		t.Errorf("the same key as an address: got %+v, want its own quota", d)
	}
	want := []ratelimit.Stats{
		{Name: "rate_limit_global_ip", Entries: 1, Capacity: 5000, Allowed: 1},
		{Name: "rate_limit_user_auth", Entries: 1, Capacity: 10_000, Allowed: 1, Refused: 1},
	}
	if got := set.Stats(); len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("Stats: got %+v, want %+v", got, want)
	}
}
