package ops_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/ops"
)

// Every limiter's section falls into one of the four scopes, and what is
// counted for it is found under both names.
func TestLimitMetrics(t *testing.T) {
	h, m := pageOf(t, nil)
	for limiter, scope := range map[string]string{
		"rate_limit_global_ip": "per_ip", "rate_limit_global_ip.aggregate": "per_ip",
		"rate_limit_failed_login.per_address": "per_ip", "rate_limit_failed_login.per_address.aggregate": "per_ip", "rate_limit_spray.per_address": "per_ip",
		"rate_limit_user_auth": "per_user", "rate_limit_decoy": "per_user", "rate_limit_trusted_pair": "per_user", "rate_limit_failed_login.per_user_address": "per_user",
		"rate_limit_signed_in": "per_user", "rate_limit_default": "global",
		"rate_limit_route:token.per_address": "auth_endpoint", "rate_limit_route:token.per_principal": "auth_endpoint",
	} {
		before := lines(h, `keystone_rate_limit_rejections_total{scope="`+scope+`"}`)
		m.Decided(limiter, "rejected")
		after := lines(h, `keystone_rate_limit_rejections_total{scope="`+scope+`"}`)
		if before == after {
			t.Errorf("%s is not in %s: %s", limiter, scope, after)
		}
		if got := lines(h, `keystone_rate_limit_decisions_total{limiter="`+limiter+`",outcome="rejected"}`); !strings.HasSuffix(got, " 1") {
			t.Errorf("%s: %q", limiter, got)
		}
	}
	m.Stored("redis", "done", 2*time.Millisecond)
	m.Stored("redis", "breaker", 0)
	m.Resolved("malformed")
	for text, want := range map[string]string{
		`keystone_rate_limit_store_calls_total{backend="redis",outcome="done"}`:           "1",
		`keystone_rate_limit_store_calls_total{backend="redis",outcome="breaker"}`:        "1",
		`keystone_rate_limit_store_duration_seconds_count{backend="redis"}`:               "1",
		`keystone_client_address_total{how="malformed"}`:                                  "1",
		`keystone_client_address_total{how="repeated"}`:                                   "0",
		`keystone_rate_limit_evaluations_total{outcome="fallback",scope="global"}`:        "0",
		`keystone_rate_limit_evaluations_total{outcome="rejected",scope="global"}`:        "1",
		`keystone_rate_limit_evaluations_total{outcome="shadow_rejected",scope="global"}`: "0",
	} {
		if got := lines(h, text); !strings.HasSuffix(got, "} "+want) {
			t.Errorf("%s: %q, want %s", text, got, want)
		}
	}
	var none *ops.Metrics
	none.Decided("x", "rejected")
	none.Stored("x", "done", 0)
	none.Resolved("peer")
}

// lines gives the line of /metrics that begins with a text.
func lines(h http.Handler, begin string) string {
	for l := range strings.SplitSeq(serve(h, here("GET", "/metrics")).Body.String(), "\n") {
		if strings.HasPrefix(l, begin) {
			return l
		}
	}
	return ""
}
