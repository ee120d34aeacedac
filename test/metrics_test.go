package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v4"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/test/harness"
)

// busyCloud has answered a call of each kind, some of them from limits.
func busyCloud(t *testing.T, engine string) *cloud {
	t.Helper()
	three, burst, rate := 3, 200, 1
	c := newCloud(t, harness.Options{Engine: engine, Conf: func(c *conf.Config) {
		withTOTP(c)
		// A memcached of Python Keystone's that is away.
		c.Cache.Enabled, c.Cache.Backend, c.Cache.MemcacheServers = true, "dogpile.cache.pymemcache", []string{"127.0.0.1:1"}
		c.OsloMessagingNotifications.Driver = []string{"log"}
		c.SecurityCompliance.LockoutFailureAttempts = &three
		c.RateLimitGlobalIP.Enabled, c.RateLimitGlobalIP.BurstSize, c.RateLimitGlobalIP.ReplenishRatePerSecond = true, &burst, &rate
		c.RateLimitUserAuth.Enabled, c.RateLimitUserAuth.BurstSize, c.RateLimitUserAuth.ReplenishRatePerSecond = true, &burst, &rate
	}})
	s := secrets{}
	everything(&cloud{Server: c.Server, t: t, engine: engine, ids: c.ids, ahead: c.ahead}, s)
	c.pass(time.Hour)
	for i := range 210 { // one address guesses, and many guess at one user
		c.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("nobody", "x", nil), From: "192.0.2.77:1"})
		c.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("mia", "x", nil), From: fmt.Sprintf("198.51.100.%d:1", i)})
	}
	for range 3 {
		c.Do(harness.Call{Method: "BREW", Path: "/v3/" + c.ids["ana"], From: "192.0.2.78:1"})
	}
	c.Metrics.Certificate("public", time.Now().Add(time.Hour))
	return c
}

// families reads /metrics as Prometheus does.
func families(t *testing.T, c *cloud) map[string]*dto.MetricFamily {
	t.Helper()
	w := httptest.NewRecorder()
	c.App.Admin.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	parser := expfmt.NewTextParser(model.LegacyValidation)
	f, err := parser.TextToMetricFamilies(w.Body)
	if err != nil {
		t.Fatalf("/metrics: %v", err)
	}
	return f
}

// labelsOf lists the labels that the program puts on each metric, and
// what they may say: a list of words, or a form.
var labelsOf = map[string]map[string]string{
	"keystone_http_requests_total":                      {"method": "verb", "route": "route", "status": `[1-5]\d\d`},
	"keystone_http_request_duration_seconds":            {"method": "verb", "route": "route"},
	"keystone_http_requests_in_flight":                  {"listener": "public"},
	"keystone_auth_attempts_total":                      {"method": "password|token|totp|several|none|password_change", "outcome": "success|partial|failure|refused|error|gone", "reason": "reason"},
	"keystone_tokens_issued_total":                      {"provider": "fernet|jws"},
	"keystone_token_validations_total":                  {"outcome": "valid|expired|revoked|disabled|gone|no_role|unusable|invalid"},
	"keystone_tokens_revoked_total":                     {},
	"keystone_password_hash_duration_seconds":           {"algorithm": "bcrypt|bcrypt_sha256|scrypt|pbkdf2_sha512|sha512_crypt|argon2id|argon2i"},
	"keystone_password_hash_slots_in_use":               {},
	"keystone_password_hash_waiting":                    {},
	"keystone_password_hashes_total":                    {},
	"keystone_password_hash_refused_total":              {},
	"keystone_rate_limit_evaluations_total":             {"scope": "per_ip|per_user|global|auth_endpoint", "outcome": "allowed|rejected|shadow_rejected|exempt|fallback|error"},
	"keystone_rate_limit_rejections_total":              {"scope": "per_ip|per_user|global|auth_endpoint"},
	"keystone_rate_limit_decisions_total":               {"limiter": "limiter", "outcome": "allowed|rejected|shadow_rejected|exempt|fallback|error"},
	"keystone_rate_limit_near_limit_keys":               {"limiter": "limiter", "backend": "memory"},
	"keystone_rate_limit_store_capacity":                {"limiter": "limiter", "backend": "memory"},
	"keystone_rate_limit_store_live_evictions_total":    {"limiter": "limiter", "backend": "memory"},
	"keystone_rate_limit_store_overflow_total":          {"limiter": "limiter", "backend": "memory"},
	"keystone_rate_limit_guess_marks":                   {"kind": "trusted|failing|tried|passwords"},
	"keystone_rate_limit_guess_evictions_total":         {"kind": "trusted|failing|tried|passwords"},
	"keystone_client_address_total":                     {"how": "peer|header|no-header|malformed|repeated|too-many-hops|all-trusted|no-peer"},
	"keystone_rate_limit_store_entries":                 {"limiter": "limiter", "backend": "memory"},
	"keystone_rate_limit_store_evictions_total":         {"limiter": "limiter", "backend": "memory"},
	"keystone_rate_limit_store_errors_total":            {"limiter": "limiter", "backend": "memory"},
	"keystone_rate_limit_store_fallback_active":         {"limiter": "limiter", "backend": "memory"},
	"keystone_policy_decisions_total":                   {"rule": "rule", "decision": "allowed|denied"},
	"keystone_db_query_duration_seconds":                {"operation": "read|write", "engine": "sqlite|postgres|mariadb"},
	"keystone_db_statements_total":                      {"operation": "read|write", "engine": "sqlite|postgres|mariadb"},
	"keystone_db_pool_acquired_connections":             {},
	"keystone_db_pool_idle_connections":                 {},
	"keystone_db_pool_max_connections":                  {},
	"keystone_db_pool_acquire_waits_total":              {},
	"keystone_db_pool_acquire_wait_seconds_total":       {},
	"keystone_db_pool_acquire_duration_seconds":         {},
	"keystone_fernet_keys":                              {"repository": "fernet_tokens|fernet_receipts"},
	"keystone_fernet_primary_key_info":                  {"repository": "fernet_tokens|fernet_receipts", "key_id": `\d+`},
	"keystone_fernet_key_age_seconds":                   {"repository": "fernet_tokens|fernet_receipts"},
	"keystone_revocation_events":                        {},
	"keystone_config_reload_success":                    {},
	"keystone_config_last_reload_timestamp_seconds":     {},
	"keystone_config_reloads_total":                     {"outcome": "success|failure"},
	"keystone_config_warnings":                          {},
	"keystone_tls_certificate_expiry_timestamp_seconds": {"listener": "public|admin"},
	"keystone_cache_invalidations_total":                {"region": "shared default|computed assignments|computed catalog region|id mapping|receipts|revoke|tokens", "outcome": "done|failed"},
	"keystone_cache_servers_owing":                      {},
	"keystone_notifications_total":                      {"driver": "log", "outcome": "sent|failed|dropped"},
	"keystone_notifications_waiting":                    {},
	"keystone_trace_spans_total":                        {"outcome": "sent|lost"},
	"keystone_build_info":                               {"version": ".*", "revision": "[0-9a-f]*", "goversion": "go.*"},
}

// sharedOnly are there with a shared store of limits alone.
var sharedOnly = map[string]bool{"keystone_rate_limit_store_calls_total": true, "keystone_rate_limit_store_duration_seconds": true}

// words are the forms of labels that come from the program's tables.
func words(c *cloud) map[string]string {
	routes := []string{"none"}
	for _, r := range v3.WithHeads(c.Routes) {
		routes = append(routes, regexp.QuoteMeta(r.Path))
	}
	var rules []string
	for _, r := range slices.Concat(policy.Defaults, policy.Own) {
		rules = append(rules, regexp.QuoteMeta(r.Name))
	}
	var limiters []string
	for _, l := range c.Limits.All() {
		limiters = append(limiters, regexp.QuoteMeta(l.Name()))
	}
	return map[string]string{
		"reason": "none|bad_request|unsupported_method|unknown_user|user_disabled|domain_disabled|no_password|locked|wrong_password|password_expired|" +
			"password_too_long|bad_scope|no_role|users_differ|factors_missing|bad_receipt|token_may_not|unknown_token|expired|revoked|disabled|unusable|" +
			"forbidden|denied|limited|hash_queue|gone|database|internal",
		"verb": "GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|other", "route": strings.Join(routes, "|"), "rule": strings.Join(rules, "|"),
		"limiter": strings.Join(limiters, "|"),
	}
}

// TestMetricsAreWhatIsDocumented: /metrics parses; every metric of ours is in
// the table above with its labels, has a help text, and no label says anything
// but what the code knows.
func TestMetricsAreWhatIsDocumented(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			c := busyCloud(t, engine)
			forms := words(c)
			all := families(t, c)
			series := 0
			for name, f := range all {
				if f.GetHelp() == "" || f.GetType() == dto.MetricType_UNTYPED {
					t.Errorf("%s: help %q, type %v", name, f.GetHelp(), f.GetType())
				}
				if strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") || sharedOnly[name] {
					continue
				}
				if counter := f.GetType() == dto.MetricType_COUNTER; counter != strings.HasSuffix(name, "_total") {
					t.Errorf("%s is a %v", name, f.GetType())
				}
				want, known := labelsOf[name]
				if !known {
					t.Errorf("%s is not in the table", name)
				}
				series += len(f.GetMetric())
				for _, m := range f.GetMetric() {
					checkLabels(t, name, m, want, forms)
				}
			}
			for name := range labelsOf {
				if all[name] == nil {
					t.Errorf("%s is missing", name)
				}
			}
			t.Logf("%d series of %d metrics of ours", series, len(labelsOf))
		})
	}
}

func checkLabels(t *testing.T, name string, m *dto.Metric, want, forms map[string]string) {
	t.Helper()
	if len(m.GetLabel()) != len(want) {
		t.Errorf("%s: %v, want the labels of %v", name, m.GetLabel(), want)
	}
	for _, l := range m.GetLabel() {
		form, known := want[l.GetName()]
		if long, ok := forms[form]; ok {
			form = long
		}
		if !known || !regexp.MustCompile("^(?:"+form+")$").MatchString(l.GetValue()) {
			t.Errorf("%s: label %s says %q", name, l.GetName(), l.GetValue())
		}
	}
}

// expressions are those of etc/, by where they stand.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join("../etc", name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	var rules struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	if err := yaml.Unmarshal(read("prometheus-alerts.yml"), &rules); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			found["alert "+r.Alert] = r.Expr
		}
	}
	var board struct {
		Annotations struct{ List []struct{ Name, Expr string } }
		Panels      []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(read("grafana-dashboard.json"), &board); err != nil {
		t.Fatal(err)
	}
	for _, a := range board.Annotations.List {
		found["annotation "+a.Name] = a.Expr
	}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			// The labels of a legend are held against the metrics as if the
			// expression were grouped by them.
			legend := regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(target.LegendFormat, -1)
			expr := target.Expr
			for _, l := range legend {
				expr += " on (" + l[1] + ")"
			}
			found["panel "+p.Title+": "+target.Expr] = expr
		}
	}
	return found
}

// TestExpressionsAreLive holds every expression of the dashboard and of the
// alerts against the metrics of a server: each metric is there, has the
// labels that are asked for, with such values, and is of the right type.
func TestExpressionsAreLive(t *testing.T) {
	all := families(t, busyCloud(t, "sqlite"))
	found := expressions(t)
	if len(found) < 50 {
		t.Fatalf("only %d expressions", len(found))
	}
	for where, text := range found {
		q, err := parseQuery(text)
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		labels := []string{"instance"}
		for _, s := range q.selectors {
			labels = append(labels, checkSelector(t, where, s, all)...)
		}
		for _, g := range q.grouped {
			if !slices.Contains(labels, g) {
				t.Errorf("%s: none of its metrics has a label %s", where, g)
			}
		}
	}
	t.Logf("%d expressions", len(found))
}

// checkSelector gives the labels of a metric.
func checkSelector(t *testing.T, where string, s selector, all map[string]*dto.MetricFamily) []string {
	t.Helper()
	f, part := all[s.metric], ""
	for _, suffix := range []string{"_bucket", "_count", "_sum"} {
		if base, ok := strings.CutSuffix(s.metric, suffix); f == nil && ok && all[base].GetType() == dto.MetricType_HISTOGRAM {
			f, part = all[base], suffix
		}
	}
	if f == nil {
		t.Errorf("%s: there is no metric %s", where, s.metric)
		return nil
	}
	rated := slices.ContainsFunc(s.within, func(f string) bool { return f == "rate" || f == "increase" })
	if counts := f.GetType() == dto.MetricType_COUNTER || part != ""; rated != counts {
		t.Errorf("%s: %s is a %v, within %v", where, s.metric, f.GetType(), s.within)
	}
	if slices.Contains(s.within, "histogram_quantile") != (part == "_bucket") {
		t.Errorf("%s: %s within %v", where, s.metric, s.within)
	}
	var labels []string
	for _, l := range f.GetMetric()[0].GetLabel() {
		labels = append(labels, l.GetName())
	}
	if part == "_bucket" {
		labels = append(labels, "le")
	}
	if !slices.ContainsFunc(f.GetMetric(), func(m *dto.Metric) bool { return s.matches(m) }) {
		t.Errorf("%s: no series of %s is as %v", where, s.metric, s.matchers)
	}
	return labels
}

func (s selector) matches(m *dto.Metric) bool {
	for _, want := range s.matchers {
		if want.label == "instance" {
			continue // Prometheus' own
		}
		value, has := "", false
		for _, l := range m.GetLabel() {
			if l.GetName() == want.label {
				value, has = l.GetValue(), true
			}
		}
		form := regexp.QuoteMeta(want.value)
		if strings.HasSuffix(want.op, "~") {
			form = want.value
		}
		if equal := regexp.MustCompile("^(?:" + form + ")$").MatchString(value); !has || equal != (want.op[0] == '=') {
			return false
		}
	}
	return true
}

// TestMetricsAreInTheManual looks for every metric of the table in
// docs/observability.md, where those of one kind are listed by their ends.
func TestMetricsAreInTheManual(t *testing.T) {
	text, err := os.ReadFile("../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	manual := string(text)
	ends := regexp.MustCompile("`(_[a-z_]+)`").FindAllStringSubmatch(manual, -1)
	for name := range labelsOf {
		listed := slices.ContainsFunc(ends, func(end []string) bool { return strings.HasSuffix(name, end[1]) })
		if !strings.Contains(manual, "`"+name+"`") && !listed {
			t.Errorf("docs/observability.md does not have %s", name)
		}
	}
}
