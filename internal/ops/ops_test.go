package ops_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/ops"
	"github.com/keystone-go/keystone-go/internal/passhash"
	"github.com/keystone-go/keystone-go/internal/pycache"
)

func get(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w
}

func TestMetrics(t *testing.T) {
	m := ops.NewMetrics(ops.Sources{
		Pool: func() db.PoolStats {
			return db.PoolStats{Max: 10, Open: 5, InUse: 3, Idle: 2, Waits: 7, Waited: 1500 * time.Millisecond}
		},
		Gate: func() passhash.Stats { return passhash.Stats{Done: 8, Refused: 1, Waiting: 4, Running: 2} },
		Limiters: func() []ops.Limiter {
			return []ops.Limiter{{Name: "rate_limit_global_ip", Backend: "memory", Entries: 6, Evictions: 2}}
		},
		Guesses: func() []ops.Guesses { return []ops.Guesses{{Kind: "trusted", Marks: 9, Evicted: 4}, {Kind: "tried"}} },
		Keys: func() []ops.Keys {
			return []ops.Keys{{Repository: "fernet_tokens", Count: 3, PrimaryID: "2", PrimaryAge: time.Minute}, {Repository: "credential"}}
		},
		Caches: func() pycache.Stats {
			return pycache.Stats{Regions: map[string]pycache.Deletions{"tokens": {Done: 4, Failed: 2}}, Owing: 1}
		},
		Version: "1.2.3", Revision: "abc", GoVersion: "go1.26",
	})
	m.Request("GET", "/v3/users/{user_id}", 200, 30*time.Millisecond)
	m.InFlight(1)
	m.Limit("per_user", "rejected")
	m.Policy("identity:get_user", false)
	m.Login("password", "failure", "wrong_password")
	m.Issued("fernet")
	m.Validated("expired")
	m.Revoked()
	m.Hashed("bcrypt", 200*time.Millisecond)
	m.Queried("postgres", 7, 0, time.Millisecond)
	m.Queried("postgres", 2, 1, time.Millisecond)
	w := get(t, ops.NewAdmin(m, slog.New(slog.DiscardHandler)).Handler(), "/metrics")
	if w.Code != http.StatusOK {
		t.Fatalf("got %d", w.Code)
	}
	for _, line := range []string{
		`keystone_http_requests_total{method="GET",route="/v3/users/{user_id}",status="200"} 1`,
		`keystone_http_request_duration_seconds_bucket{method="GET",route="/v3/users/{user_id}",le="0.05"} 1`,
		`keystone_http_request_duration_seconds_bucket{method="GET",route="/v3/users/{user_id}",le="0.025"} 0`,
		`keystone_http_requests_in_flight{listener="public"} 1`,
		`keystone_rate_limit_evaluations_total{outcome="rejected",scope="per_user"} 1`,
		`keystone_rate_limit_rejections_total{scope="per_user"} 1`,
		`keystone_policy_decisions_total{decision="denied",rule="identity:get_user"} 1`,
		`keystone_auth_attempts_total{method="password",outcome="failure",reason="wrong_password"} 1`,
		`keystone_tokens_issued_total{provider="fernet"} 1`,
		`keystone_token_validations_total{outcome="expired"} 1`,
		`keystone_tokens_revoked_total 1`,
		`keystone_cache_invalidations_total{outcome="done",region="tokens"} 4`,
		`keystone_cache_invalidations_total{outcome="failed",region="tokens"} 2`,
		`keystone_cache_servers_owing 1`,
		`keystone_password_hash_duration_seconds_count{algorithm="bcrypt"} 1`,
		`keystone_db_query_duration_seconds_count{engine="postgres",operation="read"} 1`,
		`keystone_db_statements_total{engine="postgres",operation="write"} 2`,
		`keystone_db_pool_acquired_connections 3`,
		`keystone_db_pool_idle_connections 2`,
		`keystone_db_pool_max_connections 10`,
		`keystone_db_pool_acquire_waits_total 7`,
		`keystone_db_pool_acquire_wait_seconds_total 1.5`,
		`keystone_password_hash_slots_in_use 2`,
		`keystone_password_hash_waiting 4`,
		`keystone_password_hashes_total 8`,
		`keystone_password_hash_refused_total 1`,
		`keystone_rate_limit_store_entries{backend="memory",limiter="rate_limit_global_ip"} 6`,
		`keystone_rate_limit_store_evictions_total{backend="memory",limiter="rate_limit_global_ip"} 2`,
		`keystone_rate_limit_guess_marks{kind="trusted"} 9`,
		`keystone_rate_limit_guess_evictions_total{kind="trusted"} 4`,
		`keystone_rate_limit_guess_evictions_total{kind="tried"} 0`,
		`keystone_fernet_keys{repository="fernet_tokens"} 3`,
		`keystone_fernet_primary_key_info{key_id="2",repository="fernet_tokens"} 1`,
		`keystone_fernet_key_age_seconds{repository="fernet_tokens"} 60`,
		`keystone_fernet_keys{repository="credential"} 0`,
		`keystone_build_info{goversion="go1.26",revision="abc",version="1.2.3"} 1`,
		`go_goroutines `,
		`process_open_fds `,
	} {
		if !strings.Contains(w.Body.String(), "\n"+line) {
			t.Errorf("no %s", line)
		}
	}
}

func TestNilMetricsCountNothing(t *testing.T) {
	var m *ops.Metrics
	m.Request("GET", "/", 200, 0)
	m.InFlight(1)
	m.Limit("per_ip", "rejected")
	m.Policy("x", true)
	m.Login("password", "success", "")
	m.Issued("fernet")
	m.Validated("valid")
	m.Revoked()
	m.Hashed("bcrypt", 0)
	m.Queried("sqlite", 1, 1, 0)
}

// Whatever a client sends as a method or a path, the number of series stays.
func TestLabelsAreBounded(t *testing.T) {
	m := ops.NewMetrics(ops.Sources{})
	for _, method := range []string{"BREW", "get", "", "PROPFIND", "\xff"} {
		m.Request(method, "", 404, 0)
	}
	w := get(t, ops.NewAdmin(m, slog.New(slog.DiscardHandler)).Handler(), "/metrics")
	if got := strings.Count(w.Body.String(), "\nkeystone_http_requests_total{"); got != 1 {
		t.Errorf("got %d series, want 1", got)
	}
}

func TestReady(t *testing.T) {
	var log bytes.Buffer
	var broken error
	asked := 0
	a := ops.NewAdmin(ops.NewMetrics(ops.Sources{}), slog.New(slog.NewTextHandler(&log, nil)),
		ops.Probe{Name: "keys", Check: func(context.Context) error { return nil }},
		ops.Probe{Name: "database", Check: func(ctx context.Context) error {
			asked++
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("a probe without a deadline")
			}
			return broken
		}})
	h := a.Handler()
	if w := get(t, h, "/livez"); w.Code != http.StatusOK {
		t.Errorf("livez: %d", w.Code)
	}
	for range 5 {
		if w := get(t, h, "/readyz"); w.Code != http.StatusOK || w.Body.String() != "ok\n" {
			t.Fatalf("got %d %q", w.Code, w.Body)
		}
	}
	if asked != 1 {
		t.Errorf("five readers asked the database %d times", asked)
	}
	broken = errors.New("no route to host")
	time.Sleep(1100 * time.Millisecond)
	w := get(t, h, "/readyz")
	if w.Code != http.StatusServiceUnavailable || w.Body.String() != "not ready\n" {
		t.Errorf("got %d %q", w.Code, w.Body)
	}
	w = get(t, h, "/readyz?verbose")
	if want := "keys ok\ndatabase failed: no route to host\nnot ready\n"; w.Body.String() != want {
		t.Errorf("verbose: got %q, want %q", w.Body, want)
	}
	if !strings.Contains(log.String(), "no route to host") {
		t.Errorf("log: %q", log.String())
	}
}

// What fails and only degrades is told, and takes no traffic away; what fails
// beside it does.
func TestDegradedIsReady(t *testing.T) {
	var log bytes.Buffer
	var database error
	a := ops.NewAdmin(ops.NewMetrics(ops.Sources{}), slog.New(slog.NewTextHandler(&log, nil)),
		ops.Probe{Name: "database", Check: func(context.Context) error { return database }},
		ops.Probe{Name: "limits", Degrades: true, Check: func(context.Context) error { return errors.New("the store is away") }})
	if w := get(t, a.Handler(), "/readyz"); w.Code != http.StatusOK || w.Body.String() != "degraded\n" {
		t.Errorf("got %d %q", w.Code, w.Body)
	}
	if w := get(t, a.Handler(), "/readyz?verbose"); w.Code != http.StatusOK || w.Body.String() != "database ok\nlimits degraded: the store is away\ndegraded\n" {
		t.Errorf("verbose: got %d %q", w.Code, w.Body)
	}
	if log.Len() > 0 {
		t.Errorf("log: %s", log.String())
	}
	database = errors.New("no route to host")
	time.Sleep(1100 * time.Millisecond)
	if w := get(t, a.Handler(), "/readyz"); w.Code != http.StatusServiceUnavailable || w.Body.String() != "not ready\n" {
		t.Errorf("without a database: got %d %q", w.Code, w.Body)
	}
}

func TestDrainingIsNotReady(t *testing.T) {
	a := ops.NewAdmin(ops.NewMetrics(ops.Sources{}), slog.New(slog.DiscardHandler))
	if w := get(t, a.Handler(), "/readyz"); w.Code != http.StatusOK {
		t.Fatalf("got %d", w.Code)
	}
	a.Drain()
	if w := get(t, a.Handler(), "/readyz?verbose"); w.Code != http.StatusServiceUnavailable || w.Body.String() != "draining\nnot ready\n" {
		t.Errorf("got %d %q", w.Code, w.Body)
	}
	if w := get(t, a.Handler(), "/livez"); w.Code != http.StatusOK {
		t.Errorf("livez while draining: %d", w.Code)
	}
}

func TestAdminServesNothingElse(t *testing.T) {
	h := ops.NewAdmin(ops.NewMetrics(ops.Sources{}), slog.New(slog.DiscardHandler)).Handler()
	for _, path := range []string{"/v3", "/ratelimit/x", "/debug/pprof/", "/metrics/x"} {
		if w := get(t, h, path); w.Code != http.StatusNotFound {
			t.Errorf("%s: got %d", path, w.Code)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/readyz", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: got %d", w.Code)
	}
}
