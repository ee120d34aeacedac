// Package ops is what an operator asks a running server: metrics, alive,
// ready. It is served on a listener of its own, never on the public one.
package ops

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Metrics counts what the server does. Labels come from the code alone:
// methods, route templates, rules, outcomes; never ids, names or addresses. A
// nil *Metrics counts nothing.
type Metrics struct {
	registry *prometheus.Registry
	sources  Sources
	history  history

	requests    *prometheus.CounterVec
	durations   *prometheus.HistogramVec
	inFlight    prometheus.Gauge
	limits      limits
	decisions   *prometheus.CounterVec
	attempts    *prometheus.CounterVec
	issued      *prometheus.CounterVec
	validations *prometheus.CounterVec
	revoked     prometheus.Counter
	hashing     *prometheus.HistogramVec
	queries     *prometheus.HistogramVec
	waits       prometheus.Histogram
	statements  *prometheus.CounterVec
	reloads     reloads
}

// buckets reach from a cached answer to a queued login.
var buckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5}

// NewMetrics makes the counters and adds the gauges of s.
func NewMetrics(s Sources) *Metrics {
	if s.Now == nil {
		s.Now = time.Now
	}
	m := &Metrics{registry: prometheus.NewRegistry(), sources: s, history: history{now: s.Now}}
	m.requests = m.counter("keystone_http_requests_total", "Requests answered; status 499 is a client that hung up.", "method", "route", "status")
	m.durations = m.histogram("keystone_http_request_duration_seconds", "Time from the request's head to the end of its answer.", "method", "route")
	m.inFlight = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "keystone_http_requests_in_flight", Help: "Requests being answered.", ConstLabels: prometheus.Labels{"listener": "public"},
	})
	m.limits = m.newLimits()
	m.decisions = m.counter("keystone_policy_decisions_total", "Policy rules asked.", "rule", "decision")
	m.attempts = m.counter("keystone_auth_attempts_total", "Logins.", "method", "outcome", "reason")
	m.issued = m.counter("keystone_tokens_issued_total", "Tokens issued.", "provider")
	m.validations = m.counter("keystone_token_validations_total", "Tokens validated.", "outcome")
	m.revoked = prometheus.NewCounter(prometheus.CounterOpts{Name: "keystone_tokens_revoked_total", Help: "Tokens revoked by their holders or admins."})
	m.hashing = m.histogram("keystone_password_hash_duration_seconds", "Time to compute one password hash, without the queue.", "algorithm")
	m.queries = m.histogram("keystone_db_query_duration_seconds", "Time of one round trip.", "operation", "engine")
	m.waits = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "keystone_db_pool_acquire_duration_seconds", Help: "Time that a statement had to wait for a connection.",
		Buckets: []float64{.0001, .001, .005, .025, .1, .5, 1, 5, 30},
	})
	m.statements = m.counter("keystone_db_statements_total", "Statements sent.", "operation", "engine")
	m.reloads = m.newReloads()
	m.begin()
	if s.Revocations != nil {
		m.registry.MustRegister(&revocations{count: s.Revocations, now: s.Now})
	}
	m.registry.MustRegister(m.inFlight, m.revoked, m.waits, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), &state{Sources: s})
	return m
}

// begin makes the series that alerts look at, so that their first event is a
// rise.
func (m *Metrics) begin() {
	m.limits.begin()
	for _, outcome := range []string{"valid", "expired", "revoked", "disabled", "gone", "no_role", "unusable", "invalid"} {
		m.validations.WithLabelValues(outcome)
	}
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) histogram(name, help string, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour,
	}, labels)
	m.registry.MustRegister(v)
	return v
}

// methods are those that stand in a label; a client may send any word.
var methods = map[string]bool{
	http.MethodGet: true, http.MethodHead: true, http.MethodPost: true, http.MethodPut: true,
	http.MethodPatch: true, http.MethodDelete: true, http.MethodOptions: true,
}

// Request counts one answered request under its route template, "" for a path
// that is no route's.
func (m *Metrics) Request(method, route string, status int, took time.Duration) {
	if m == nil {
		return
	}
	if !methods[method] {
		method = "other"
	}
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.durations.WithLabelValues(method, route).Observe(took.Seconds())
}

// InFlight adds to the number of requests being answered.
func (m *Metrics) InFlight(n int) {
	if m != nil {
		m.inFlight.Add(float64(n))
	}
}

// Limit counts an evaluation of a limit: scope per_ip or per_user; outcome
// allowed, rejected, shadow_rejected, exempt, fallback or error.
func (m *Metrics) Limit(scope, outcome string) {
	if m == nil {
		return
	}
	m.limits.evaluations.WithLabelValues(scope, outcome).Inc()
	if outcome == "rejected" {
		m.limits.rejections.WithLabelValues(scope).Inc()
		m.history.add(scope)
	}
}

// Policy counts a decision about a rule.
func (m *Metrics) Policy(rule string, allowed bool) {
	if m == nil {
		return
	}
	decision := "denied"
	if allowed {
		decision = "allowed"
	}
	m.decisions.WithLabelValues(rule, decision).Inc()
}

// Login counts an attempt to log in, by the words of auth.
func (m *Metrics) Login(method, outcome, reason string) {
	if m != nil {
		m.attempts.WithLabelValues(method, outcome, reason).Inc()
	}
}

// Issued counts a token that was issued.
func (m *Metrics) Issued(provider string) {
	if m != nil {
		m.issued.WithLabelValues(provider).Inc()
	}
}

// Validated counts a validation, by the words of auth.
func (m *Metrics) Validated(outcome string) {
	if m != nil {
		m.validations.WithLabelValues(outcome).Inc()
	}
}

// Revoked counts a revoked token.
func (m *Metrics) Revoked() {
	if m != nil {
		m.revoked.Inc()
	}
}

// Hashed notes how long one password hash took to compute.
func (m *Metrics) Hashed(algorithm string, took time.Duration) {
	if m != nil {
		m.hashing.WithLabelValues(algorithm).Observe(took.Seconds())
	}
}

// Queried notes one round trip to the database and the statements in it.
func (m *Metrics) Queried(engine string, statements, writes int, took time.Duration) {
	if m == nil {
		return
	}
	operation := "read"
	if writes > 0 {
		operation = "write"
	}
	m.queries.WithLabelValues(operation, engine).Observe(took.Seconds())
	m.statements.WithLabelValues(operation, engine).Add(float64(statements))
}

// Waited notes how long a statement was kept from a connection.
func (m *Metrics) Waited(took time.Duration) {
	if m != nil {
		m.waits.Observe(took.Seconds())
	}
}
