package conf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// globalIP writes [rate_limit_global_ip] with the lines.
func globalIP(lines ...string) string {
	return "[rate_limit_global_ip]\n" + strings.Join(lines, "\n") + "\n"
}

// refused checks that a file does not load, and that the fault says where.
func refused(t *testing.T, text string, parts ...string) {
	t.Helper()
	_, err := load(t, text)
	if err == nil {
		t.Errorf("%q: loaded, want a fault", text)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%q: %v\nwant it to say %q", text, err, p)
		}
	}
}

func TestRL_C01(t *testing.T) {
	c := mustLoad(t, "[DEFAULT]\n")
	if c.RateLimitGlobalIP.Enabled || c.RateLimitUserAuth.Enabled {
		t.Error("a limiter is on without its section")
	}
}

func TestRL_C02(t *testing.T) {
	c := mustLoad(t, globalIP("enabled = true", "burst_size = 100", "replenish_rate_per_second = 10"))
	r := c.RateLimitGlobalIP
	if !r.Enabled || *r.BurstSize != 100 || *r.ReplenishRatePerSecond != 10 || len(c.RateLimitTrustedProxies.TrustedProxies) != 0 {
		t.Errorf("got %+v, %+v", r, c.RateLimitTrustedProxies)
	}
}

func TestRL_C03(t *testing.T) {
	refused(t, globalIP("enabled = true", "burst_size = 0", "replenish_rate_per_second = 10"),
		"keystone.conf:3: [rate_limit_global_ip] burst_size: 0 is out of range; give a whole number from 1 to 100000")
}

func TestRL_C04(t *testing.T) {
	c := mustLoad(t, globalIP("enabled = true", "burst_size = 100000", "replenish_rate_per_second = 100000"))
	if *c.RateLimitGlobalIP.BurstSize != 100000 {
		t.Errorf("got %+v", c.RateLimitGlobalIP)
	}
}

func TestRL_C05(t *testing.T) {
	refused(t, globalIP("enabled = true", "burst_size = 100001", "replenish_rate_per_second = 1"), "burst_size: 100001 is out of range")
}

func TestRL_C06(t *testing.T) {
	for _, rate := range []string{"0", "-1", "1.5", "1e3", "ten", "", "+5", "1_000", "5.0", "0x5", "99999999999999999999"} {
		refused(t, globalIP("enabled = true", "burst_size = 5", "replenish_rate_per_second = "+rate),
			"keystone.conf:4: [rate_limit_global_ip] replenish_rate_per_second: ", "a whole number from 1 to 100000")
		refused(t, "[rate_limit_user_auth]\nenabled = true\nburst_size = "+rate+"\nreplenish_rate_per_second = 1\n",
			"keystone.conf:3: [rate_limit_user_auth] burst_size: ", "a whole number from 1 to 100000")
	}
}

func TestRL_C07(t *testing.T) {
	c := mustLoad(t, globalIP("enabled = false", "burst_size = 0"))
	if c.RateLimitGlobalIP.Enabled {
		t.Error("enabled")
	}
}

func TestRL_C08(t *testing.T) {
	refused(t, globalIP("enabled = true", "replenish_rate_per_second = 10"),
		"keystone.conf:2: [rate_limit_global_ip] burst_size: a number is needed while enabled is true")
}

func TestRL_C09(t *testing.T) {
	refused(t, globalIP("enabled = maybe"), `keystone.conf:2: [rate_limit_global_ip] enabled: "maybe" is not a truth value; give true or false`)
	for _, word := range []string{"yes", "on", "1", "True"} {
		if c := mustLoad(t, globalIP("enabled = "+word, "burst_size = 1", "replenish_rate_per_second = 1")); !c.RateLimitGlobalIP.Enabled {
			t.Errorf("enabled = %s: off", word)
		}
	}
}

func proxies(list string) string {
	return "[rate_limit_trusted_proxies]\ntrusted_proxies = " + list + "\n"
}

func TestRL_C10(t *testing.T) {
	c := mustLoad(t, proxies("10.0.0.0/8, 192.168.1.0/24"))
	if d := cmp.Diff([]string{"10.0.0.0/8", "192.168.1.0/24"}, c.RateLimitTrustedProxies.TrustedProxies); d != "" {
		t.Error(d)
	}
}

func TestRL_C11(t *testing.T) {
	for list, says := range map[string]string{
		"10.0.0.0/8, bogus":    `"bogus" is not a network`,
		"10.0.0.1/8":           "did you mean 10.0.0.0/8?",
		"fe80::1%eth0/64":      "a network has no zone",
		"::ffff:10.0.0.0/104":  "write an IPv4 network as such",
		"10.0.0.0/8,,10.1.1.1": `"" is not a network`,
		"10.0.0.0/33":          "is not a network",
		"010.0.0.0/8":          "is not a network",
	} {
		refused(t, proxies(list), "keystone.conf:2: [rate_limit_trusted_proxies] trusted_proxies: ", says)
	}
}

func TestRL_C12(t *testing.T) {
	refused(t, proxies("0.0.0.0/0"), `"0.0.0.0/0" would trust everybody`)
	refused(t, proxies("::/0"), `"::/0" would trust everybody`)
	mustLoad(t, proxies("10.0.0.0/8"))
}

func TestRL_C13(t *testing.T) {
	for _, h := range []string{"X-Real-IP", "x_forwarded_for,forwarded", "single:X-Forwarded-For", "single:forwarded", "single:", "single:a b", "X_Forwarded_For", ""} {
		refused(t, "[rate_limit_trusted_proxies]\ntrusted_header = "+h+"\n", "keystone.conf:2: [rate_limit_trusted_proxies] trusted_header: ")
	}
	for _, h := range []string{"x_forwarded_for", "forwarded", "single:X-Real-IP"} {
		if c := mustLoad(t, "[rate_limit_trusted_proxies]\ntrusted_header = "+h+"\n"); c.RateLimitTrustedProxies.TrustedHeader != h {
			t.Errorf("trusted_header = %s: got %q", h, c.RateLimitTrustedProxies.TrustedHeader)
		}
	}
}

func TestRL_C14(t *testing.T) {
	mustLoad(t, proxies("10.0.0.5, 2001:db8::1"))
}

// The word for proxies on this host is one for proxies alone.
func TestLoopbackIsAProxy(t *testing.T) {
	mustLoad(t, proxies("loopback, 10.0.0.0/24"))
	for _, option := range []string{"exempt_networks", "block_networks"} {
		refused(t, "[rate_limit]\n"+option+" = loopback\n", `"loopback" is not a network`)
	}
}

func TestRL_C18(t *testing.T) {
	refused(t, globalIP("enabled = true", "burst_sise = 5", "burst_size = 5", "replenish_rate_per_second = 1"),
		"keystone.conf:3: [rate_limit_global_ip] burst_sise: no such option; did you mean [rate_limit_global_ip] burst_size?")
}

func TestLimiterBounds(t *testing.T) {
	for _, x := range []struct {
		option   string
		min, max int
	}{{"max_entries", 1000, 10_000_000}, {"ipv6_prefix", 32, 128}, {"ipv4_prefix", 24, 32}} {
		for _, section := range []string{"rate_limit_global_ip", "rate_limit_user_auth"} {
			for _, n := range []int{x.min, x.max} {
				mustLoad(t, fmt.Sprintf("[%s]\n%s = %d\n", section, x.option, n))
			}
			for _, n := range []int{x.min - 1, x.max + 1} {
				refused(t, fmt.Sprintf("[%s]\n%s = %d\n", section, x.option, n), fmt.Sprintf("give a whole number from %d to %d", x.min, x.max))
			}
		}
	}
}
