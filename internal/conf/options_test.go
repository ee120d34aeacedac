package conf_test

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/conf"
)

const testdata = "../../test/testdata/conf/"

// TestOptionsEqualPython compares every option with two lists: config.tsv, the
// options of Keystone 30.0.0 as test/oslo takes them from the program itself,
// and retired.tsv, what releases since Zed had besides and files still have:
// options, and older names of options, which have no type there.
func TestOptionsEqualPython(t *testing.T) {
	ours := map[string]*conf.Option{}
	for _, o := range conf.Options() {
		if o.Section != "keystone_go" && !strings.HasPrefix(o.Section, "rate_limit") {
			ours[o.Section+"/"+o.Option] = o
		}
	}
	retiredNames, gone := map[string]string{}, map[string]bool{}
	rows := readTSV(t, testdata+"config.tsv")
	for _, row := range readTSV(t, testdata+"retired.tsv") {
		if row["type"] == "" {
			retiredNames[row["section"]+"/"+row["name"]] = row["older"]
		} else {
			rows = append(rows, row)
			gone[row["section"]+"/"+row["name"]] = true
		}
	}
	for _, row := range rows {
		key := row["section"] + "/" + row["name"]
		o := ours[key]
		if o == nil {
			t.Errorf("%s: no such option", key)
			continue
		}
		delete(ours, key)
		row["older"] = strings.Trim(row["older"]+","+retiredNames[key], ",")
		delete(retiredNames, key)
		compareOption(t, key, o, row)
		if o.Gone != gone[key] {
			t.Errorf("%s: tagged as gone: %v, want %v", key, o.Gone, gone[key])
		}
	}
	for key := range ours {
		t.Errorf("%s: Python has no such option", key)
	}
	for key := range retiredNames {
		t.Errorf("%s has older names in retired.tsv and is in no list", key)
	}
	if len(rows) < 460 {
		t.Errorf("compared %d options, want at least 460", len(rows))
	}
}

func compareOption(t *testing.T, key string, o *conf.Option, row map[string]string) {
	t.Helper()
	kinds := map[string]conf.Kind{
		"String": conf.String, "URI": conf.URI, "Integer": conf.Int, "Float": conf.Float,
		"Boolean": conf.Bool, "List<String>": conf.List, "MultiString": conf.Multi, "Dict": conf.Dict, "Dict<List>": conf.Lists,
	}
	check := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s %q, want %q", key, what, got, want)
		}
	}
	check("kind", string(o.Kind), string(kinds[row["type"]]))
	def := "(none)"
	if o.Default != nil {
		def = *o.Default
	}
	want := row["default"]
	if want == "''" || want == "[]" || want == "{}" {
		want = ""
	}
	check("default", def, want)
	check("min", bound(o.Min), strings.TrimSuffix(row["min"], ".0"))
	if o.Kind == conf.URI {
		check("length", strconv.Itoa(o.MaxLength), cmp.Or(row["max"], "0"))
	} else {
		check("max", bound(o.Max), strings.TrimSuffix(row["max"], ".0"))
	}
	check("choices", strings.Join(slices.Concat(o.Choices, o.Items, o.Schemes), ","), row["choices"])
	if o.Dashed && row["dashed"] == "" || !o.Dashed && row["dashed"] != "" && len(o.Was) > 0 {
		t.Errorf("%s: registered with dashes: %v, want %q", key, o.Dashed, row["dashed"])
	}
	check("any letter case", strconv.FormatBool(o.AnyCase), strconv.FormatBool(row["any_case"] != ""))
	check("for removal", o.Removal, row["removal"])
	if row["secret"] != "" && !o.Secret {
		t.Errorf("%s is a secret", key)
	}
	var was []string
	for _, n := range o.Was {
		was = append(was, n.Section+"/"+n.Option)
	}
	var wantWas []string
	for w := range strings.SplitSeq(row["older"], ",") {
		if w != "" && w != key {
			wantWas = append(wantWas, w)
		}
	}
	check("older names", strings.Join(was, ","), strings.Join(wantWas, ","))
	if nullable := want == "(none)" && (o.Kind == conf.Int || o.Kind == conf.Bool || o.Kind == conf.Float); o.Nullable != nullable {
		t.Errorf("%s: the field can be unset: %v, want %v", key, o.Nullable, nullable)
	}
}

func bound(f *float64) string {
	switch {
	case f == nil:
		return ""
	case *f == 1<<63:
		return "9223372036854775807"
	}
	return strconv.FormatFloat(*f, 'f', -1, 64)
}

func readTSV(t *testing.T, path string) []map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	heads := strings.Split(lines[0], "\t")
	rows := make([]map[string]string, 0, len(lines))
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, cell := range strings.Split(line, "\t") {
			row[heads[i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

// TestDefaults pins the defaults of our own sections and one of each kind.
func TestDefaults(t *testing.T) {
	c := conf.Default()
	k := c.KeystoneGo
	for _, x := range []struct {
		what      string
		got, want any
	}{
		{"listen", strings.Join(k.Listen, " "), ":5000"},
		{"admin_listen", k.AdminListen, "127.0.0.1:5009"},
		{"hash_slots", k.HashSlots, 0},
		{"hash_queue", k.HashQueue, 0},
		{"hash_wait", k.HashWait, 15},
		{"argon2", [3]int{k.Argon2Time, k.Argon2Memory, k.Argon2Threads}, [3]int{3, 65536, 1}},
		{"graceful_timeout", k.GracefulTimeout, 25},
		{"max_entries", c.RateLimitGlobalIP.MaxEntries, 10000},
		{"ipv6_prefix", c.RateLimitGlobalIP.IPv6Prefix, 64},
		{"ipv4_prefix", c.RateLimitGlobalIP.IPv4Prefix, 32},
		{"[token] expiration", c.Token.Expiration, 3600},
		{"[identity] password_hash_rounds", c.Identity.PasswordHashRounds == nil, true},
		{"[ldap] pool_retry_delay", c.LDAP.PoolRetryDelay, 0.1},
		{"[ldap] chase_referrals", c.LDAP.ChaseReferrals == nil, true},
		{"[oslo_policy] policy_dirs", strings.Join(c.OsloPolicy.PolicyDirs, " "), "policy.d"},
		{"[cors] allowed_origin", c.CORS.AllowedOrigin == nil, true},
	} {
		if x.got != x.want {
			t.Errorf("%s: got %v, want %v", x.what, x.got, x.want)
		}
	}
}

// TestRL_C20 shows that no limit exists which no file names.
func TestRL_C20(t *testing.T) {
	c := conf.Default()
	if c.RateLimitGlobalIP.Enabled || c.RateLimitGlobalIP.BurstSize != nil || c.RateLimitGlobalIP.ReplenishRatePerSecond != nil {
		t.Errorf("[rate_limit_global_ip] of an empty file: %+v", c.RateLimitGlobalIP)
	}
	if c.RateLimitUserAuth.Enabled || c.RateLimitUserAuth.BurstSize != nil || c.RateLimitUserAuth.ReplenishRatePerSecond != nil {
		t.Errorf("[rate_limit_user_auth] of an empty file: %+v", c.RateLimitUserAuth)
	}
}
