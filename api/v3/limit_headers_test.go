package v3_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/ratelimit"
)

func headersOf(t testing.TB, st *stand, c call) map[string]string {
	t.Helper()
	w, got := st.do(c), map[string]string{}
	for k, v := range w.Header() {
		if strings.Contains(strings.ToLower(k), "ratelimit") {
			got[k] = strings.Join(v, "|")
		}
	}
	return got
}

func (s *stand) wantHeaders(c call, want ...string) {
	s.t.Helper()
	got := headersOf(s.t, s, c)
	for i := 0; i < len(want); i += 2 {
		if got[want[i]] != want[i+1] {
			s.t.Errorf("%s: got %q, want %q", want[i], got[want[i]], want[i+1])
		}
		delete(got, want[i])
	}
	for k, v := range got {
		s.t.Errorf("%s: %s", k, v)
	}
}

// RL-H20, R078, R080: who holds a valid token is told of his own quota.
func TestRL_H20(t *testing.T) {
	st := newStand(t, setup{rows: append(open(fine), guarded(fine)...), limits: ratelimit.Config{
		Default: per(300), DefaultPrices: flat, SignedIn: per(1200),
	}, change: func(c *v3.Config) { c.Limiting.Headers = v3.HeadersPrincipal }})
	at := call{path: "/v3/guarded", token: "tok-admin"}
	st.wantHeaders(at, "Ratelimit-Policy", `"signed_in";q=1200;w=60`, "Ratelimit", `"signed_in";r=1199;t=1`)
	st.wantHeaders(at, "Ratelimit-Policy", `"signed_in";q=1200;w=60`, "Ratelimit", `"signed_in";r=1198;t=1`)
	st.wantHeaders(call{path: "/v3/guarded"})
	st.wantHeaders(call{method: "POST", path: "/v3/open", body: "{}"})
	st.wantHeaders(call{path: "/v3/nosuch", token: "tok-admin"}, "Ratelimit-Policy", `"signed_in";q=1200;w=60`, "Ratelimit", `"signed_in";r=1197;t=1`)
}

// RL-H21: headers = off sends none of them.
func TestRL_H21(t *testing.T) {
	for _, off := range []v3.LimitHeaders{v3.HeadersOff, ""} {
		st := newStand(t, setup{rows: guarded(fine), limits: ratelimit.Config{SignedIn: per(1200)}, change: func(c *v3.Config) { c.Limiting.Headers, c.Limiting.Legacy = off, true }})
		st.wantHeaders(call{path: "/v3/guarded", token: "tok-admin"})
	}
}

// R079: headers = all tells of the limits by address too, after prices; the
// older headers tell of the one with the least left.
func TestAllHeaders(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	st := newStand(t, setup{rows: guarded(fine), limits: ratelimit.Config{
		Default: per(60), DefaultPrices: guessing, SignedIn: per(50),
	}, change: func(c *v3.Config) {
		c.Limiting.Headers, c.Limiting.Legacy = v3.HeadersAll, true
		c.Now = func() time.Time { return now }
	}})
	st.wantHeaders(call{path: "/v3/guarded", token: "tok-admin"},
		"Ratelimit-Policy", `"default";q=60;w=60, "signed_in";q=50;w=60`, "Ratelimit", `"default";r=60, "signed_in";r=49;t=2`,
		"X-Ratelimit-Limit", "50", "X-Ratelimit-Remaining", "49", "X-Ratelimit-Reset", "1800000002")
	st.wantHeaders(call{path: "/v3/guarded"},
		"Ratelimit-Policy", `"default";q=60;w=60`, "Ratelimit", `"default";r=50;t=1`,
		"X-Ratelimit-Limit", "60", "X-Ratelimit-Remaining", "50", "X-Ratelimit-Reset", "1800000010")
	if w := st.api.LimitWarnings(); len(w) != 1 || !strings.Contains(w[0], "headers is all") {
		t.Errorf("warnings: %q", w)
	}
}

// C-25: w covers the time in which a spent quota comes back whole, and t is the
// time to the next unit, both rounded up and never 0.
func TestHeaderTimes(t *testing.T) {
	st := newStand(t, setup{rows: guarded(fine), limits: ratelimit.Config{
		SignedIn: ratelimit.Section{Limit: &ratelimit.Quota{Rate: 7, Period: time.Minute, Burst: 10}},
	}, change: func(c *v3.Config) { c.Limiting.Headers = v3.HeadersPrincipal }})
	at := call{path: "/v3/guarded", token: "tok-admin"}
	const policy = `"signed_in";q=10;w=86`
	st.wantHeaders(at, "Ratelimit-Policy", policy, "Ratelimit", `"signed_in";r=9;t=9`)
	st.clock += 8 * time.Second
	st.wantHeaders(at, "Ratelimit-Policy", policy, "Ratelimit", `"signed_in";r=8;t=1`)
	st.want("others", at, 200, 200, 200, 200, 200, 200, 200)
	st.wantHeaders(at, "Ratelimit-Policy", policy, "Ratelimit", `"signed_in";r=0;t=1`)
	w := st.do(at)
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" {
		t.Errorf("got %d after %q", w.Code, w.Header().Get("Retry-After"))
	}
}
