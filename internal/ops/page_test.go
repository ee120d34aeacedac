package ops_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/ops"
)

// desk is a set of limits in the hand of the test.
type desk struct {
	limiters []ops.LimiterView
	locked   []ops.Lockout
	asked    ops.Subject
	err      error
}

func (d *desk) Limiters(_ context.Context, top int) ([]ops.LimiterView, error) {
	out := make([]ops.LimiterView, len(d.limiters))
	for i, l := range d.limiters {
		l.Debtors = l.Debtors[:min(top, len(l.Debtors))]
		out[i] = l
	}
	return out, d.err
}

func (d *desk) Standing(_ context.Context, s ops.Subject) ([]ops.Standing, error) {
	d.asked = s
	if s.UserID == "nobody" {
		return nil, fault.NoSuch("user", s.UserID)
	}
	return []ops.Standing{{Limiter: "rate_limit_global_ip", Key: "k3", Remaining: 0, Burst: 3, Retry: .4}}, nil
}

func (d *desk) Lockouts(context.Context) ([]ops.Lockout, bool, error) { return d.locked, false, nil }

func newDesk() *desk {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	return &desk{
		limiters: []ops.LimiterView{
			{
				Name: "rate_limit_global_ip", Mode: "enforce", Backend: "memory", Keyed: "address", Burst: 3, Rate: 1, Period: "1m0s", Entries: 2, Capacity: 10000, Refused: 7,
				Debtors: []ops.Debtor{{Key: "k1", Debt: 3, Retry: 1.2, Reset: 4}, {Key: "k2<script>", Debt: 1, Reset: 1}},
			},
			{Name: "rate_limit_default", Mode: "shadow", Backend: "memory", Keyed: "address", Burst: 300, Rate: 300, Period: "1m0s"},
		},
		locked: []ops.Lockout{{UserID: "u1", DomainID: "default", Failures: 3, Last: &at}},
	}
}

func pageOf(t *testing.T, d ops.Desk) (http.Handler, *ops.Metrics) {
	t.Helper()
	m := ops.NewMetrics(ops.Sources{Version: "v1"})
	a := ops.NewAdmin(m, slog.New(slog.DiscardHandler))
	if d != nil {
		a.Show(d)
	}
	return a.Handler(), m
}

// here is a request as a browser on this host makes it.
func here(method, path string) *http.Request {
	r := httptest.NewRequest(method, "http://127.0.0.1:5009"+path, nil)
	r.RemoteAddr = "127.0.0.1:40000"
	return r
}

func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestPage(t *testing.T) {
	d := newDesk()
	h, m := pageOf(t, d)
	for range 5 {
		m.Decided("rate_limit_global_ip", "rejected")
	}
	m.Decided("rate_limit_default", "shadow_rejected")
	w := serve(h, here("GET", "/?address=192.0.2.7"))
	text := w.Body.String()
	for _, want := range []string{
		"rate_limit_global_ip: 5", "rate_limit_default (shadow): 1", "3 at once, 1 each 1m", "k1", "k2&lt;script&gt;", "1.2s", `class="n remaining">0<`, "u1", "2026-11-30 12:00:00", "v1",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if d.asked.Address != "192.0.2.7" {
		t.Errorf("asked about %+v", d.asked)
	}
	if csp := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; style-src 'sha256-") || !strings.Contains(csp, "frame-ancestors 'none'") {
		t.Errorf("policy %q", csp)
	}
	if strings.Contains(text, "<script") || strings.Contains(text, "http://") || strings.Contains(text, "https://") {
		t.Error("the page holds a script or an address of elsewhere")
	}
	if text := serve(h, here("GET", "/?user_id=nobody")).Body.String(); !strings.Contains(text, "Could not find user: nobody.") || !strings.Contains(text, "rate_limit_default") {
		t.Error("an unknown user is not told, or hides the rest")
	}
}

// TestPageIsForThisHost: limits and locks are shown to loopback peers that use
// a loopback name, and to unix sockets; metrics to everybody who reaches them.
func TestPageIsForThisHost(t *testing.T) {
	h, _ := pageOf(t, newDesk())
	for _, c := range []struct {
		peer, host string
		status     int
	}{
		{"127.0.0.1:1", "127.0.0.1:5009", 200},
		{"127.0.0.1:1", "localhost:5009", 200},
		{"[::1]:1", "[::1]:5009", 200},
		{"[::ffff:127.0.0.1]:1", "127.0.0.1", 200},
		{"@", "localhost", 200},
		{"", "anything", 200},
		{"127.0.0.1:1", "attacker.example:5009", 403},
		{"127.0.0.1:1", "127.0.0.1.attacker.example", 403},
		{"127.0.0.1:1", "", 403},
		{"192.0.2.7:1", "127.0.0.1:5009", 403},
		{"10.0.0.7:1", "10.0.0.1:5009", 403},
	} {
		for _, path := range []string{"/", "/ratelimit", "/?user_id=u1"} {
			r := here("GET", path)
			r.RemoteAddr, r.Host = c.peer, c.host
			w := serve(h, r)
			if w.Code != c.status {
				t.Errorf("%s from %q to %q: %d, want %d", path, c.peer, c.host, w.Code, c.status)
			}
			if shown := strings.Contains(w.Body.String(), "rate_limit"); shown != (c.status == 200) {
				t.Errorf("%s from %q to %q: limits are shown: %v", path, c.peer, c.host, shown)
			}
		}
		r := here("GET", "/metrics")
		r.RemoteAddr, r.Host = c.peer, c.host
		if w := serve(h, r); w.Code != 200 {
			t.Errorf("metrics from %q: %d", c.peer, w.Code)
		}
	}
}

// TestAdminChangesNothing: no other method does anything on any path.
func TestAdminChangesNothing(t *testing.T) {
	h, _ := pageOf(t, newDesk())
	for _, path := range []string{"/", "/ratelimit", "/metrics", "/livez", "/readyz"} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			if w := serve(h, here(method, path)); w.Code != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d", method, path, w.Code)
			}
		}
	}
}

func TestLimitsAsJSON(t *testing.T) {
	d := newDesk()
	h, _ := pageOf(t, d)
	var got struct {
		Limiters []ops.LimiterView
		Standing []ops.Standing
	}
	w := serve(h, here("GET", "/ratelimit?top=1&user_id=u1"))
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	if len(got.Limiters) != 2 || len(got.Limiters[0].Debtors) != 1 || got.Limiters[0].Debtors[0].Key != "k1" || len(got.Standing) != 1 || got.Standing[0].Burst != 3 {
		t.Errorf("%+v", got)
	}
	for path, status := range map[string]int{
		"/ratelimit?top=many": 400, "/ratelimit?top=-1": 400, "/ratelimit?top=1001": 400, "/ratelimit?user_id=nobody": 404,
	} {
		if w := serve(h, here("GET", path)); w.Code != status {
			t.Errorf("%s: %d %s, want %d", path, w.Code, w.Body, status)
		}
	}
	d.err = errors.New("secret detail")
	if w := serve(h, here("GET", "/ratelimit")); w.Code != 500 || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("a failure: %d %s", w.Code, w.Body)
	}
	none, _ := pageOf(t, nil)
	if w := serve(none, here("GET", "/ratelimit")); w.Code != 503 {
		t.Errorf("without a server: %d", w.Code)
	}
	if w := serve(none, here("GET", "/")); w.Code != 200 || !strings.Contains(w.Body.String(), "log says why") {
		t.Errorf("the page without a server: %d", w.Code)
	}
}
