package conf_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// TestAllFaultsAtOnce plants faults of every kind in two files.
func TestAllFaultsAtOnce(t *testing.T) {
	dir := tree(t, map[string]string{
		"a.conf": `early = 1
[DEFAULT]
debug = maybe
 continues a wrong value
no separator
   so is this one part of it

   indented
[token
= no name
[]
[identity] # note
[database]
connection = postgresql://u:pa$word@h/k
[token]
expiration = 10
expiration = 86_400x
`,
		"b.conf": `[identity]
max_password_length = 5000
password_hash_algorithm = Bcrypt
[rate_limit_global_ip]
enabled = yes
burst = 5
[rate_limit_glob_ip]
enabled = yes
[ldap]
query_scope = all
[token]
allow_expired_window =
[DEFAULT]
log_dir = $log_file
log_file = $log_dir
`,
	})
	want := strings.Split(strings.TrimSpace(`
a.conf:1: the option stands before any section; put [DEFAULT] above it
a.conf:3: [DEFAULT] debug: "maybe\ncontinues a wrong value" is not a truth value; give true or false
a.conf:5: expected a [section], a comment, or: option = value
a.conf:8: the line is indented but continues nothing; start it in the first column
a.conf:9: a section header must end with ], with nothing after it
a.conf:10: there is no option name before the =
a.conf:11: the section has no name
a.conf:12: a section header must end with ], with nothing after it
a.conf:14: [database] connection: $word names no option; write $$ where a dollar is meant
a.conf:17: [token] expiration: "86_400x" is not a whole number; give a whole number of at least 0
b.conf:2: [identity] max_password_length: 5000 is out of range; give a whole number of at most 4096
b.conf:3: [identity] password_hash_algorithm: "Bcrypt" is not known; did you mean bcrypt?
b.conf:5: [rate_limit_global_ip] burst_size: a number is needed while enabled is true; give a whole number from 1 to 100000
b.conf:5: [rate_limit_global_ip] replenish_rate_per_second: a number is needed while enabled is true; give a whole number from 1 to 100000
b.conf:6: [rate_limit_global_ip] burst: no such option; there are enabled, burst_size, replenish_rate_per_second, mode, aggregate_factor, aggregate_ipv6_prefix, aggregate_ipv4_prefix, ipv6_prefix, ipv4_prefix, max_entries, algorithm, overflow, on_store_failure
b.conf:7: [rate_limit_glob_ip]: no such section; did you mean [rate_limit_global_ip]?
b.conf:10: [ldap] query_scope: "all" is not known; give one of one, sub
b.conf:12: [token] allow_expired_window: the value is empty; give a whole number, or leave the line out for 172800
b.conf:14: [DEFAULT] log_dir: $log_file leads back to itself
b.conf:15: [DEFAULT] log_file: $log_dir is not valid itself`), "\n")
	_, err := conf.Load(conf.Sources{Files: []string{filepath.Join(dir, "a.conf"), filepath.Join(dir, "b.conf")}})
	faults, ok := errors.AsType[conf.Faults](err)
	if !ok {
		t.Fatalf("got %v, want faults", err)
	}
	got := strings.Split(strings.ReplaceAll(faults.Error(), dir+"/", ""), "\n")
	for i := range max(len(got), len(want)) {
		g, w := "", ""
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("fault %d:\n got %s\nwant %s", i+1, g, w)
		}
	}
}

func TestUnreadableFiles(t *testing.T) {
	dir := tree(t, map[string]string{"latin1.conf": "[DEFAULT]\nlog_file = caf\xe9\n", "bom.conf": "\ufeff[DEFAULT]\n", "ok.conf": "[DEFAULT]\ndebug = x\n"})
	p := func(n string) string { return filepath.Join(dir, n) }
	for _, x := range []struct {
		s    conf.Sources
		want string
	}{
		{conf.Sources{Files: []string{p("none.conf"), p("ok.conf")}}, "none.conf: cannot read the file: it does not exist\nok.conf:2: [DEFAULT] debug: \"x\" is not a truth value; give true or false"},
		{conf.Sources{Files: []string{dir}}, dir + ": cannot read the file: it is a folder"},
		{conf.Sources{Dirs: []string{p("none.d")}}, "none.d: cannot read the folder: it does not exist"},
		{conf.Sources{Files: []string{p("latin1.conf")}}, "latin1.conf:2: the line is not UTF-8 text"},
		{conf.Sources{Files: []string{p("bom.conf")}}, "bom.conf:1: expected a [section], a comment, or: option = value"},
	} {
		_, err := conf.Load(x.s)
		if err == nil || strings.ReplaceAll(err.Error(), dir+"/", "") != x.want {
			t.Errorf("%+v:\n got %v\nwant %s", x.s, err, x.want)
		}
	}
	if os.Getuid() == 0 {
		return // root reads everything
	}
	if err := os.Chmod(p("ok.conf"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := conf.Load(conf.Sources{Files: []string{p("ok.conf")}}); err == nil || !strings.HasSuffix(err.Error(), "permission denied") {
		t.Errorf("a file without permission: got %v", err)
	}
}

// TestUnknownNeverStops: what Python ignores silently is listed, with the
// nearest known name.
func TestUnknownNeverStops(t *testing.T) {
	c := mustLoad(t, `[token]
expirations = 1
[identity]
lockout_duration = 3
[lifesaver]
enabled = true
a b = 1
[x "y"]
z = 1
[DEFAULT]
verbose = true
- = 1
`)
	want := []string{
		"2 [token] expirations: [token] expiration",
		"4 [identity] lockout_duration: [security_compliance] lockout_duration",
		"6 [lifesaver] enabled: ",
		"7 [lifesaver] a b: ",
		`9 [x "y"] z: `,
		"11 [DEFAULT] verbose: ",
		"12 [DEFAULT] -: ",
	}
	var got []string
	for _, u := range c.Unknown {
		got = append(got, fmt.Sprintf("%d %s: %s", u.Line, u.Name, u.Near))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestUnknownInOurSectionsStops also for sections that differ from ours in
// their separators alone.
func TestUnknownInOurSectionsStops(t *testing.T) {
	for text, want := range map[string]string{
		"[keystone_go]\nlisten_on = :1":           "2: [keystone_go] listen_on: no such option; did you mean [keystone_go] listen?",
		"[keystone_go]\nhash_slot = 1":            "2: [keystone_go] hash_slot: no such option; did you mean [keystone_go] hash_slots?",
		"[Keystone_Go]\nHash_Slots = 1":           "2: [keystone_go] Hash_Slots: no such option; did you mean [keystone_go] hash_slots?",
		"[keystone-go]\nlisten = :1":              "1: [keystone-go]: no such section; did you mean [keystone_go]?",
		"[rate-limit-user-auth]\nenabled = true":  "1: [rate-limit-user-auth]: no such section; did you mean [rate_limit_user_auth]?",
		"[ratelimit_trusted_proxies]\nx=1\ny = 2": "1: [ratelimit_trusted_proxies]: no such section; did you mean [rate_limit_trusted_proxies]?",
		"[rate_limit_things]\n":                   "1: [rate_limit_things]: no such section; there are [keystone_go], [rate_limit], [rate_limit_decoy], [rate_limit_default], [rate_limit_failed_login], [rate_limit_global_ip], [rate_limit_route:NAME], [rate_limit_signed_in], [rate_limit_spray], [rate_limit_trusted_pair], [rate_limit_trusted_proxies], [rate_limit_user_auth]",
		"[rate_limit_global_ip]\na b = 1":         "2: [rate_limit_global_ip] a b: no such option; there are enabled, burst_size, replenish_rate_per_second, mode, aggregate_factor, aggregate_ipv6_prefix, aggregate_ipv4_prefix, ipv6_prefix, ipv4_prefix, max_entries, algorithm, overflow, on_store_failure",
	} {
		_, err := load(t, text)
		if err == nil {
			t.Errorf("%q: no fault", text)
			continue
		}
		if got := err.Error()[strings.Index(err.Error(), "keystone.conf:")+len("keystone.conf:"):]; got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestWithoutEffect(t *testing.T) {
	c := mustLoad(t, "[cache]\nproxies = a\n[assignment]\ndriver = sql\n[role]\ndriver = own\n[token]\nexpiration = 5\ncache_on_issue = true\n")
	var got []string
	for _, s := range c.WithoutEffect {
		got = append(got, s.String())
	}
	if strings.Join(got, ", ") != "[role] driver, [token] cache_on_issue, [cache] proxies" {
		t.Errorf("without effect: %v", got)
	}
	if len(c.Deprecated) != 1 || c.Deprecated[0].Removal != "since S" {
		t.Errorf("deprecated: %+v", c.Deprecated)
	}
}

func TestSecretsAreHidden(t *testing.T) {
	c := mustLoad(t, "[database]\nconnection = postgresql://u:hunter2@h/k\n[DEFAULT]\nadmin_token = hunter2\n[cache]\nbackend_argument = password:hunter2\n")
	for _, s := range c.Settings() {
		if strings.Contains(s.Text(), "hunter2") {
			t.Errorf("%s shows %s", s.Name, s.Text())
		}
	}
}
