package v3_test

import (
	"net/http"
	"regexp"
	"testing"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// layered has every layer, and limits that no test of coverage reaches.
func layered() ratelimit.Config {
	return ratelimit.Config{
		Default: per(100_000), DefaultPrices: flat, SignedIn: per(100_000), GlobalIPWide: ratelimit.Wide{Factor: 2, IPv6Prefix: 48, IPv4Prefix: 24},
	}
}

// RL-H25, R114: each row that is served has a policy or says why it has none.
func TestRL_H25(t *testing.T) {
	st := newStand(t, setup{burst: 50_000, limits: layered()})
	rows := st.api.Rows()
	if len(rows) < 20 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		wantCovered(t, r, st.api.LimitsOf(r))
	}
	l := st.api.LimitsOf(nil)
	if len(l.Stranger) != 2 || len(l.Address) != 1 || l.Principal == "" {
		t.Errorf("a path without a row: %+v", l)
	}
}

func wantCovered(t *testing.T, r *v3.Route, l v3.Limits) {
	t.Helper()
	name := r.Method + " " + r.Path
	switch l.Class {
	case ratelimit.ClassExempt:
		if l.Exempt == "" {
			t.Errorf("%s: exempt, and nobody says why", name)
		}
		return
	case ratelimit.ClassAuth:
		if r.Rule != v3.Open {
			t.Errorf("%s: wants a token and is limited as if it did not", name)
		}
	case ratelimit.ClassToken:
		if l.Principal == "" {
			t.Errorf("%s: no limit by principal", name)
		}
	default:
		t.Errorf("%s: class %q", name, l.Class)
	}
	if len(l.Stranger) == 0 || len(l.Address) == 0 {
		t.Errorf("%s: no limit by address: %+v", name, l)
	}
}

// The rows that are not served yet are limited by their shape as soon as they
// are: a new row needs nothing of its own.
func TestLaterRowsAreCovered(t *testing.T) {
	var rows []v3.Route
	have := map[string]bool{}
	for _, w := range python(t) {
		rule := "identity:list_regions"
		if w.open {
			rule = v3.Open
		}
		if !have[w.key()] {
			rows = append(rows, v3.Route{Method: w.method, Path: w.path, Rule: rule, Do: fine})
		}
		have[w.key()] = true
	}
	st := newStand(t, setup{burst: 50_000, rows: rows, limits: layered()})
	open := 0
	argument := regexp.MustCompile(`{[^}]*}`)
	for _, r := range st.api.Rows() {
		wantCovered(t, r, st.api.LimitsOf(r))
		if found := st.api.RowOf(r.Method, argument.ReplaceAllString(r.Path, "x")); found != r {
			t.Errorf("%s %s is found as %+v", r.Method, r.Path, found)
		}
		if r.Rule == v3.Open {
			open++
		}
	}
	if n := len(st.api.Rows()); n < 300 || open < 10 || open > 60 {
		t.Errorf("%d rows, %d of them open", n, open)
	}
	for _, path := range []string{"/v3/nosuch", "/v3//users", "/v3/users/a/b/c/d"} {
		if found := st.api.RowOf("GET", path); found != nil {
			t.Errorf("%s is found as %+v", path, found)
		}
	}
}

// RL-H15, R144, C-26: who validates tokens by a valid one is never counted by
// address; who does it without one is, as a failed login is.
func TestValidationIsNotCountedByAddress(t *testing.T) {
	rows := []v3.Route{{Method: "GET", Path: "/v3/auth/tokens", Rule: "identity:list_regions", Do: fine}}
	st := newStand(t, setup{burst: 3, rows: rows, limits: ratelimit.Config{
		Default: per(3), DefaultPrices: flat, SignedIn: per(3),
		Routes: []ratelimit.Route{{Name: "validate", Paths: []string{"GET:/v3/auth/tokens"}, PerAddress: perMinute(3), PerPrincipal: perMinute(60_000), Prices: flat}},
	}})
	at := call{path: "/v3/auth/tokens", token: "tok-service"}
	for range 10_000 {
		if w := st.do(at); w.Code != http.StatusOK {
			t.Fatalf("got %d", w.Code)
		}
	}
	for _, method := range []string{"HEAD", "GET"} {
		at.method = method
		st.want(method, at, 200)
	}
	st.want("an expired token", call{path: "/v3/auth/tokens", token: "tok-expired"}, 401, 401, 401, 429)
	st.want("a made-up token, elsewhere", call{path: "/v3/auth/tokens", token: "rubbish", peer: "192.0.2.8:1"}, 401, 401, 401, 429)
	st.want("and still the service", at, 200)
}
