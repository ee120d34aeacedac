package ops

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// reloads tell how reading the configuration again went, and how long the
// certificates that were read last are good for.
type reloads struct {
	success, at  prometheus.Gauge
	warnings     prometheus.Gauge
	outcomes     *prometheus.CounterVec
	certificates *prometheus.GaugeVec
}

func (m *Metrics) newReloads() reloads {
	r := reloads{
		success: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "keystone_config_reload_success", Help: "Whether the configuration was good when it was read last: 1 or 0.",
		}),
		at: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "keystone_config_last_reload_timestamp_seconds", Help: "When the configuration in use was read.",
		}),
		warnings: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "keystone_config_warnings", Help: "Things in the configuration that work and are probably not meant; the log names them.",
		}),
		outcomes: m.counter("keystone_config_reloads_total", "Times that the configuration was to be read again; a failure leaves the last good one in use.", "outcome"),
		certificates: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "keystone_tls_certificate_expiry_timestamp_seconds", Help: "When the certificate ends.",
		}, []string{"listener"}),
	}
	r.success.Set(1)
	m.registry.MustRegister(r.success, r.at, r.warnings, r.certificates)
	for _, outcome := range []string{reloadDone, reloadFailed} {
		r.outcomes.WithLabelValues(outcome)
	}
	return r
}

const (
	reloadDone   = "success"
	reloadFailed = "failure"
)

// Started notes when the configuration was read at the start.
func (m *Metrics) Started(at time.Time) {
	if m != nil {
		m.reloads.at.Set(float64(at.UnixMilli()) / 1e3)
	}
}

// Warned notes how many warnings the log has of the configuration in use.
func (m *Metrics) Warned(n int) {
	if m != nil {
		m.reloads.warnings.Set(float64(n))
	}
}

// Reloaded counts a reading of the configuration, and when it was done if all
// of it was good.
func (m *Metrics) Reloaded(good bool, at time.Time) {
	switch {
	case m == nil:
	case good:
		m.reloads.success.Set(1)
		m.reloads.at.Set(float64(at.UnixMilli()) / 1e3)
		m.reloads.outcomes.WithLabelValues(reloadDone).Inc()
	default:
		m.reloads.success.Set(0)
		m.reloads.outcomes.WithLabelValues(reloadFailed).Inc()
	}
}

// Certificate notes when the certificate of a listener, public or admin, ends.
func (m *Metrics) Certificate(listener string, end time.Time) {
	if m != nil {
		m.reloads.certificates.WithLabelValues(listener).Set(float64(end.Unix()))
	}
}
