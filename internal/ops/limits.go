package ops

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// limits counts what the limiters decide, and where the addresses come from
// that they are asked about.
type limits struct {
	evaluations *prometheus.CounterVec
	rejections  *prometheus.CounterVec
	decisions   *prometheus.CounterVec
	addresses   *prometheus.CounterVec
	calls       *prometheus.CounterVec
	times       *prometheus.HistogramVec
}

func (m *Metrics) newLimits() limits {
	times := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "keystone_rate_limit_store_duration_seconds", Help: "Time of a call to the shared store of the limits.",
		Buckets: []float64{.00025, .0005, .001, .0025, .005, .01, .025, .05, .1},
	}, []string{"backend"})
	m.registry.MustRegister(times)
	return limits{
		times:       times,
		calls:       m.counter("keystone_rate_limit_store_calls_total", "Calls to the shared store of the limits; breaker counts those that were not made.", "backend", "outcome"),
		evaluations: m.counter("keystone_rate_limit_evaluations_total", "Limits asked.", "scope", "outcome"),
		rejections:  m.counter("keystone_rate_limit_rejections_total", "Requests refused by a limit.", "scope"),
		decisions:   m.counter("keystone_rate_limit_decisions_total", "Limits asked, by the section that they stand in.", "limiter", "outcome"),
		addresses:   m.counter("keystone_client_address_total", "Requests, by where the client's address was found.", "how"),
	}
}

// The scopes of limits.
const (
	perIP        = "per_ip"
	perUser      = "per_user"
	global       = "global"
	authEndpoint = "auth_endpoint"
)

// outcomes are what a limiter may say, hows where an address may come from.
var (
	outcomes = []string{"allowed", "rejected", "shadow_rejected", "exempt", "fallback", "error"}
	hows     = []string{"peer", "header", "no-header", "malformed", "repeated", "too-many-hops", "all-trusted", "no-peer"}
)

// begin makes the series that alerts look at, so that their first event is a
// rise.
func (l limits) begin() {
	for _, scope := range []string{perIP, perUser, global, authEndpoint} {
		l.rejections.WithLabelValues(scope)
		for _, outcome := range outcomes {
			l.evaluations.WithLabelValues(scope, outcome)
		}
	}
	for _, how := range hows {
		l.addresses.WithLabelValues(how)
	}
}

// scopeOf puts a limiter, by its section, among the scopes.
func scopeOf(limiter string) string {
	switch {
	case limiter == "rate_limit_default":
		return global
	case strings.HasPrefix(limiter, "rate_limit_route:"):
		return authEndpoint
	case strings.HasPrefix(limiter, "rate_limit_global_ip"), strings.HasSuffix(limiter, ".per_address"), strings.HasSuffix(limiter, ".per_address.aggregate"):
		return perIP
	}
	return perUser
}

// Decided counts what a limiter has said: allowed, rejected, shadow_rejected,
// exempt, fallback or error.
func (m *Metrics) Decided(limiter, outcome string) {
	if m == nil {
		return
	}
	scope := scopeOf(limiter)
	m.limits.evaluations.WithLabelValues(scope, outcome).Inc()
	m.limits.decisions.WithLabelValues(limiter, outcome).Inc()
	switch outcome {
	case "rejected":
		m.limits.rejections.WithLabelValues(scope).Inc()
		m.history.add(limiter)
	case "shadow_rejected":
		m.history.add(limiter + " (shadow)")
	}
}

// Stored counts a call to a shared store: done, error, gone when the caller
// went away, or breaker when none was made.
func (m *Metrics) Stored(backend, outcome string, took time.Duration) {
	if m == nil {
		return
	}
	m.limits.calls.WithLabelValues(backend, outcome).Inc()
	if outcome != "breaker" {
		m.limits.times.WithLabelValues(backend).Observe(took.Seconds())
	}
}

// Resolved counts where a request's client address was found.
func (m *Metrics) Resolved(how string) {
	if m != nil {
		m.limits.addresses.WithLabelValues(how).Inc()
	}
}
