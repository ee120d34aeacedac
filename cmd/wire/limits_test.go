package wire

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

func configured(t *testing.T, text string) *conf.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "keystone.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := conf.Load(conf.Sources{Files: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func packaged(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := conf.WriteSample(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func limitsOf(t *testing.T, text string) (*ratelimit.Set, []string) {
	t.Helper()
	set, warnings, err := ratelimit.Build(limitConfig(configured(t, text)), memory.Open)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Close)
	return set, warnings
}

// RL-C20: the numbers stand in the file alone. An empty one makes no limiter,
// and neither does one that switches every section on and gives no number.
func TestRL_C20(t *testing.T) {
	set, _ := limitsOf(t, "")
	if all := set.All(); len(all) != 0 {
		t.Errorf("an empty file makes %d limiters, %s among them", len(all), all[0].Name())
	}
	set, _ = limitsOf(t, `[rate_limit]
mode = enforce
[rate_limit_default]
mode = enforce
[rate_limit_signed_in]
mode = enforce
[rate_limit_failed_login]
mode = enforce
growing_penalty = true
aggregate_factor = 8
[rate_limit_spray]
mode = enforce
[rate_limit_decoy]
enabled = true
`)
	if all := set.All(); len(all) != 0 {
		t.Errorf("a file without numbers makes %d limiters, %s among them", len(all), all[0].Name())
	}
}

// The packaged file makes the limits that it shows: one that refuses, and
// shadows. With user_auth on, its companions come too.
func TestPackagedLimits(t *testing.T) {
	set, warnings := limitsOf(t, packaged(t))
	modes := map[ratelimit.Mode]int{}
	for _, l := range set.All() {
		modes[l.Mode()]++
	}
	if modes[ratelimit.Enforce] != 1 || set.GlobalIP.Mode() != ratelimit.Enforce || modes[ratelimit.Shadow] < 10 {
		t.Errorf("modes %v", modes)
	}
	if set.UserAuth != nil || set.Decoy != nil || set.TrustedPair != nil {
		t.Error("limits of users are on")
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "trusted_proxies is empty") {
		t.Errorf("warnings: %q", warnings)
	}
	on := strings.Replace(packaged(t), "[rate_limit_user_auth]\n\n# Limit login attempts by user; both numbers are needed then.\n# (true or false)\nenabled = false", "[rate_limit_user_auth]\nenabled = true", 1)
	set, _ = limitsOf(t, on)
	if set.UserAuth == nil || set.Decoy == nil || set.TrustedPair == nil {
		t.Fatalf("with user_auth on: %v %v %v", set.UserAuth, set.Decoy, set.TrustedPair)
	}
	if set.Decoy.Quota() != set.UserAuth.Quota() {
		t.Errorf("unknown names have %+v, known ones %+v", set.Decoy.Quota(), set.UserAuth.Quota())
	}
}

// mode is over the limiters' own: shadow enforces nothing, off makes none.
func TestOverallMode(t *testing.T) {
	set, _ := limitsOf(t, strings.Replace(packaged(t), "\n#mode = enforce\n", "\nmode = shadow\n", 1))
	for _, l := range set.All() {
		if l.Mode() != ratelimit.Shadow {
			t.Errorf("%s: %s", l.Name(), l.Mode())
		}
	}
	set, warnings := limitsOf(t, strings.Replace(packaged(t), "\n#mode = enforce\n", "\nmode = off\n", 1))
	if len(set.All()) != 0 || !strings.Contains(warnings[0], "mode is off") {
		t.Errorf("%d limiters, %q", len(set.All()), warnings)
	}
}

// RL-C17, R019: counters of several instances in memory are worth a warning,
// and so is not to say how many instances there are.
func TestRL_C17(t *testing.T) {
	const on = "[rate_limit_global_ip]\nenabled = true\nburst_size = 1\nreplenish_rate_per_second = 1\n[rate_limit_trusted_proxies]\ntrusted_proxies = 10.0.0.1\n"
	const shared = "[rate_limit]\nstore = redis\nredis_url = redis://h\nkey_secret = sixteen-letters!\n"
	for text, want := range map[string]string{
		on:                                   "store is memory and instances is not set",
		"[rate_limit]\ninstances = 1\n" + on: "",
		"[rate_limit]\ninstances = 3\n" + on: "store is memory with 3 instances: they let through 3 times each limit",
		shared + on:                          "instances is not set: while the shared store is away",
		shared + "instances = 3\n" + on:      "",
		"":                                   "no rate limit is on",
	} {
		_, warnings := limitsOf(t, text)
		if len(warnings) > 1 || (len(warnings) == 1) != (want != "") || want != "" && !strings.Contains(warnings[0], want) {
			t.Errorf("%q: warned %q, want %q", text, warnings, want)
		}
	}
}

// The wider networks of aggregate_factor have that many times the limit.
func TestAggregates(t *testing.T) {
	set, _ := limitsOf(t, "[rate_limit_global_ip]\nenabled = true\nburst_size = 10\nreplenish_rate_per_second = 2\naggregate_factor = 8\n"+
		"[rate_limit_failed_login]\nper_address = 5/1m\naggregate_factor = 3\naggregate_ipv4_prefix = 16\n")
	if q := set.GlobalIPWide.Quota(); q.Burst != 80 || q.Rate != 16 {
		t.Errorf("the wider network of addresses: %+v", q)
	}
	if q := set.FailedAddressWide.Quota(); q.Burst != 15 || q.Rate != 15 {
		t.Errorf("the wider network of failures: %+v", q)
	}
	if set.FailedPairWide != nil {
		t.Error("a wider network of a limit that is off")
	}
	_, _, err := ratelimit.Build(limitConfig(configured(t, "[rate_limit_global_ip]\nenabled = true\nburst_size = 100000\nreplenish_rate_per_second = 2\naggregate_factor = 8\n")), memory.Open)
	if err == nil || !strings.Contains(err.Error(), "aggregate_factor = 8 makes a rate of 16 and a burst of 800000") {
		t.Errorf("got %v", err)
	}
}
