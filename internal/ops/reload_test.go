package ops_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/ops"
)

func TestReloadMetrics(t *testing.T) {
	m := ops.NewMetrics(ops.Sources{})
	h := ops.NewAdmin(m, slog.New(slog.DiscardHandler)).Handler()
	expect := func(lines ...string) {
		t.Helper()
		body := get(t, h, "/metrics").Body.String()
		for _, l := range lines {
			if !strings.Contains(body, "\n"+l+"\n") {
				t.Errorf("no %s", l)
			}
		}
	}
	m.Started(time.Unix(1000, 0))
	expect("keystone_config_reload_success 1", "keystone_config_last_reload_timestamp_seconds 1000",
		`keystone_config_reloads_total{outcome="failure"} 0`, `keystone_config_reloads_total{outcome="success"} 0`)
	m.Reloaded(false, time.Unix(2000, 0))
	expect("keystone_config_reload_success 0", "keystone_config_last_reload_timestamp_seconds 1000", `keystone_config_reloads_total{outcome="failure"} 1`)
	m.Reloaded(true, time.Unix(3000, 0))
	expect("keystone_config_reload_success 1", "keystone_config_last_reload_timestamp_seconds 3000", `keystone_config_reloads_total{outcome="success"} 1`)
	m.Certificate("public", time.Unix(1796083200, 0))
	expect(`keystone_tls_certificate_expiry_timestamp_seconds{listener="public"} 1.7960832e+09`)
	var none *ops.Metrics
	none.Started(time.Time{})
	none.Reloaded(true, time.Time{})
	none.Certificate("public", time.Time{})
}

func TestProfilesAreThereOnlyWhenAskedFor(t *testing.T) {
	a := ops.NewAdmin(ops.NewMetrics(ops.Sources{}), slog.New(slog.DiscardHandler))
	h := a.Handler()
	paths := []string{"/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/goroutine", "/debug/pprof/symbol"}
	for _, on := range []bool{false, true, false} {
		a.Profile(on)
		want := http.StatusNotFound
		if on {
			want = http.StatusOK
		}
		for _, path := range paths {
			if w := get(t, h, path); w.Code != want {
				t.Errorf("pprof %v: %s: got %d", on, path, w.Code)
			}
		}
	}
}
