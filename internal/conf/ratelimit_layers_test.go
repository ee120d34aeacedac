package conf_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/conf"
)

func route(name string, lines ...string) string {
	return "[rate_limit_route:" + name + "]\n" + strings.Join(lines, "\n") + "\n"
}

// R015: limits are requests a period, with a burst behind them where it is not
// the requests.
func TestLimitForms(t *testing.T) {
	for text, want := range map[string]conf.Limit{
		"300/1m":           {Requests: 300, Period: time.Minute, Burst: 300},
		"120/1m burst 240": {Requests: 120, Period: time.Minute, Burst: 240},
		"5/m":              {Requests: 5, Period: time.Minute, Burst: 5},
		"1 / 1d":           {Requests: 1, Period: 24 * time.Hour, Burst: 1},
		"100000/24h":       {Requests: 100_000, Period: 24 * time.Hour, Burst: 100_000},
		"7/90s burst 1":    {Requests: 7, Period: 90 * time.Second, Burst: 1},
	} {
		c := mustLoad(t, "[rate_limit_default]\nper_address = "+text+"\n")
		if d := cmp.Diff(&want, c.RateLimitDefault.PerAddress); d != "" {
			t.Errorf("%s: %s", text, d)
		}
		again := mustLoad(t, "[rate_limit_default]\nper_address = "+c.RateLimitDefault.PerAddress.String()+"\n")
		if d := cmp.Diff(&want, again.RateLimitDefault.PerAddress); d != "" {
			t.Errorf("%s, written and read again: %s", text, d)
		}
	}
	if c := mustLoad(t, "[rate_limit_default]\nper_address =\n"); c.RateLimitDefault.PerAddress != nil {
		t.Errorf("an empty limit: %v", c.RateLimitDefault.PerAddress)
	}
}

// RL-C15: what is no route or no limit stops the start.
func TestRL_C15(t *testing.T) {
	for text, says := range map[string]string{
		route("a", "paths = POST:v3/x", "per_address = 5/1m"):                                           `2: [rate_limit_route:a] paths: "POST:v3/x" is not a route`,
		route("a", "paths = /v3/x", "per_address = 5/1m"):                                               `2: [rate_limit_route:a] paths: "/v3/x" is not a route`,
		route("a", "paths = post:/v3/x", "per_address = 5/1m"):                                          `2: [rate_limit_route:a] paths: "post:/v3/x" is not a route`,
		route("a", "paths = GET:/v3/*/x", "per_address = 5/1m"):                                         `2: [rate_limit_route:a] paths: "GET:/v3/*/x" is not a route`,
		route("a", "paths = GET://v3", "per_address = 5/1m"):                                            `2: [rate_limit_route:a] paths: "GET://v3" has a doubled slash`,
		route("a", "paths = GET:/v3,GET:/v3", "per_address = 5/1m"):                                     `2: [rate_limit_route:a] paths: "GET:/v3" stands twice`,
		route("a", "paths = GET:/v3", "per_address = 5/0m"):                                             `3: [rate_limit_route:a] per_address: "5/0m": the period is out of range; give 1s to 1d`,
		route("a", "paths = GET:/v3", "per_address = 5/25h"):                                            `3: [rate_limit_route:a] per_address: "5/25h": the period is out of range`,
		route("a", "paths = GET:/v3", "per_address = 0/1m"):                                             `3: [rate_limit_route:a] per_address: "0/1m": the requests are out of range; give a whole number from 1 to 100000`,
		route("a", "paths = GET:/v3", "per_client = 100001/1m"):                                         `3: [rate_limit_route:a] per_client: "100001/1m": the requests are out of range`,
		route("a", "paths = GET:/v3", "per_principal = 5/1m burst 0"):                                   `3: [rate_limit_route:a] per_principal: "5/1m burst 0": the burst is out of range`,
		route("a", "paths = GET:/v3", "per_address = 5/1w"):                                             `3: [rate_limit_route:a] per_address: "5/1w" is not a limit`,
		route("a", "paths = GET:/v3", "per_address = 5.0/1m"):                                           `3: [rate_limit_route:a] per_address: "5.0/1m" is not a limit`,
		route("a", "paths = GET:/v3", "per_address = +5/1m"):                                            `3: [rate_limit_route:a] per_address: "+5/1m" is not a limit`,
		route("a", "per_address = 5/1m"):                                                                `1: [rate_limit_route:a] paths: the section names no route`,
		route("a", "paths = GET:/v3"):                                                                   `2: [rate_limit_route:a] paths: the section neither limits its routes nor exempts them`,
		route("a", "paths = GET:/v3", "exempt = true", "per_address = 5/1m"):                            `3: [rate_limit_route:a] exempt: the routes are exempt, and yet`,
		route("a", "paths = GET:/v3", "exempt = true") + route("a", "per_address = 5/1m"):               `4: [rate_limit_route:a]: the section stands twice in the file`,
		route("a", "paths = GET:/v3", "exempt = true") + route("b", "paths = GET:/v3", "exempt = true"): `5: [rate_limit_route:b] paths: GET:/v3 stands in [rate_limit_route:a] paths too`,
		route("", "paths = GET:/v3", "exempt = true"):                                                   `1: [rate_limit_route:]: no such section`,
		route("a", "path = GET:/v3", "paths = GET:/v3", "exempt = true"):                                `2: [rate_limit_route:a] path: no such option; did you mean [rate_limit_route:a] paths?`,
	} {
		refused(t, text, "keystone.conf:"+says)
	}
}

// R031, C-19: a price that its burst can never pay is refused, and both are
// named.
func TestPriceAboveBurst(t *testing.T) {
	refused(t, route("a", "paths = GET:/v3", "per_address = 5/1m", "price_401 = 10"),
		"keystone.conf:4: [rate_limit_route:a] price_401: the price 10 is above the burst of per_address = 5/1m")
	refused(t, "[rate_limit_default]\nper_address = 300/1m burst 4\nprice_other = 5\n",
		"keystone.conf:3: [rate_limit_default] price_other: the price 5 is above the burst of per_address = 300/1m burst 4")
	refused(t, "[rate_limit_spray]\nper_password = 3/1m\n[rate_limit_failed_login]\nper_address = 4/1m\n",
		"[rate_limit_spray] password_price: the price 5 is above the burst of [rate_limit_failed_login] per_address = 4/1m")
	mustLoad(t, route("a", "paths = GET:/v3", "per_address = 5/1m burst 10", "price_401 = 10", "per_principal = 1/1m"))
}

// All that is wrong with the limits is told at once.
func TestLimitFaultsAtOnce(t *testing.T) {
	_, err := load(t, "[rate_limit]\nmode = on\nstore = disk\nheaders = some\ninstances = 0\nexempt_networks = 0.0.0.0/0\nblock_networks = 10.0.0.1/8\n"+
		"[rate_limit_default]\nmode = dry\nalgorithm = leaky\noverflow = drop\non_store_failure = ignore\n"+
		"[rate_limit_signed_in]\nper_principal = many\n"+route("x", "paths = GET:/v3", "per_address = 1/1m", "price_403 = 2", "ipv6_prefix = 129"))
	if err == nil {
		t.Fatal("no fault")
	}
	for i, says := range []string{
		"2: [rate_limit] mode", "3: [rate_limit] store", "4: [rate_limit] headers", "5: [rate_limit] instances",
		`6: [rate_limit] exempt_networks: "0.0.0.0/0" would be everybody`, "7: [rate_limit] block_networks",
		"9: [rate_limit_default] mode", "10: [rate_limit_default] algorithm", "11: [rate_limit_default] overflow", "12: [rate_limit_default] on_store_failure",
		"14: [rate_limit_signed_in] per_principal", "18: [rate_limit_route:x] price_403", "19: [rate_limit_route:x] ipv6_prefix",
	} {
		if lines := strings.Split(err.Error(), "\n"); i >= len(lines) || !strings.Contains(lines[i], "keystone.conf:"+says) {
			t.Fatalf("fault %d does not say %q:\n%v", i, says, err)
		}
	}
}

// A shared store is reached as the file says, or not at all.
func TestSharedStoreOptions(t *testing.T) {
	const secret = "key_secret = sixteen-letters!\n"
	for text, says := range map[string]string{
		"store = redis\n" + secret: "1: [rate_limit] redis_url: store = redis needs redis_url or redis_url_file",
		"key_secret = short\n":     "2: [rate_limit] key_secret: the text is too short; give at least 16 characters",
		"store = redis\nredis_url = redis://h\nredis_url_file = /x\n" + secret:                             "4: [rate_limit] redis_url_file: redis_url is given too",
		"store = redis\nredis_url = redis://h\nredis_cluster = true\nredis_sentinel_master = m\n" + secret: "4: [rate_limit] redis_cluster: redis_sentinel_master is given too",
		"store = redis\nredis_url = redis://h\nredis_tls_cert_file = /c\n" + secret:                        "[rate_limit] redis_tls_key_file: redis_tls_cert_file and redis_tls_key_file belong together",
	} {
		refused(t, "[rate_limit]\n"+text, says)
	}
	mustLoad(t, "[rate_limit]\nstore = redis\nredis_url = redis://:secret@h:6379/2\n"+secret)
	mustLoad(t, "[rate_limit]\nmode = off\nstore = redis\n")
	c := mustLoad(t, "[rate_limit]\nredis_url = redis://:pa55@h\n"+secret)
	for _, option := range []string{"redis_url", "key_secret"} {
		if got := c.Setting("rate_limit", option).Text(); got != "****" {
			t.Errorf("%s is shown as %s", option, got)
		}
	}
}

// R014: a later file replaces a route's section option by option, adds others,
// and the environment is over both.
func TestRoutesOfSeveralFiles(t *testing.T) {
	dir := tree(t, map[string]string{
		"a.conf": route("one", "paths = GET:/v3/x", "per_address = 5/1m", "mode = shadow") + route("two", "paths = GET:/v3/y", "exempt = true"),
		"b.conf": route("one", "per_address = 9/1m") + route("Three", "paths = GET:/v3/z", "per_principal = 1/1s"),
	})
	c, err := conf.Load(conf.Sources{
		Files: []string{filepath.Join(dir, "a.conf"), filepath.Join(dir, "b.conf")},
		Env:   []string{"OS_RATE_LIMIT_ROUTE:TWO__MODE=off"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range c.RateLimitRoutes {
		got = append(got, fmt.Sprintln(r.Name, r.Paths, r.PerAddress, r.PerPrincipal, r.Exempt, r.Mode))
	}
	want := []string{"one [GET:/v3/x] 9/1m <nil> false shadow\n", "two [GET:/v3/y] <nil> <nil> true off\n", "three [GET:/v3/z] <nil> 1/1s false enforce\n"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if s := c.Setting("rate_limit_route:one", "per_address"); s.Text() != "9/1m" || s.Line != 2 {
		t.Errorf("%s from %s", s.Text(), s.Origin())
	}
}

// The packaged file shows every limit: the two of the design as they are, and
// all layers as shadows, which change no answer.
func TestPackagedLimits(t *testing.T) {
	var b bytes.Buffer
	if err := conf.WriteSample(&b); err != nil {
		t.Fatal(err)
	}
	c := mustLoad(t, b.String())
	if g := c.RateLimitGlobalIP; !g.Enabled || *g.BurstSize != 100 || *g.ReplenishRatePerSecond != 10 || g.Mode != "enforce" {
		t.Errorf("[rate_limit_global_ip] %+v", g)
	}
	if u := c.RateLimitUserAuth; u.Enabled || *u.BurstSize != 5 || *u.ReplenishRatePerSecond != 1 {
		t.Errorf("[rate_limit_user_auth] %+v", u)
	}
	if p := c.RateLimitTrustedPair; *p.BurstSize != 60 || *p.ReplenishRatePerSecond != 10 {
		t.Errorf("[rate_limit_trusted_pair] %+v", p)
	}
	if len(c.RateLimitTrustedProxies.TrustedProxies) != 0 {
		t.Errorf("trusted_proxies %v", c.RateLimitTrustedProxies.TrustedProxies)
	}
	modes := map[string]string{
		"default": c.RateLimitDefault.Mode, "signed_in": c.RateLimitSignedIn.Mode,
		"failed_login": c.RateLimitFailedLogin.Mode, "spray": c.RateLimitSpray.Mode,
	}
	for _, r := range c.RateLimitRoutes {
		modes[r.Name] = r.Mode
	}
	for name, mode := range modes {
		if mode != "shadow" {
			t.Errorf("%s: mode = %s", name, mode)
		}
	}
	if len(c.RateLimitRoutes) < 4 || c.RateLimitDefault.PerAddress.Requests != 300 || c.RateLimitSignedIn.PerPrincipal.Requests != 1200 {
		t.Errorf("the layers: %v %v %v", c.RateLimitDefault.PerAddress, c.RateLimitSignedIn.PerPrincipal, modes)
	}
	for _, section := range []string{
		"rate_limit", "rate_limit_global_ip", "rate_limit_user_auth", "rate_limit_trusted_proxies", "rate_limit_trusted_pair",
		"rate_limit_decoy", "rate_limit_failed_login", "rate_limit_spray", "rate_limit_default", "rate_limit_signed_in", "rate_limit_route:tokens",
	} {
		if !strings.Contains(b.String(), "\n["+section+"]\n") {
			t.Errorf("the packaged file has no [%s]", section)
		}
	}
}
