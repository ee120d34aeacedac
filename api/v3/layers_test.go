package v3_test

import (
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/clientaddr"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

// per is n requests a minute, with prices of 1 where none are given.
func per(n int64) ratelimit.Section {
	return ratelimit.Section{Limit: perMinute(n)}
}

func perMinute(n int64) *ratelimit.Quota {
	return &ratelimit.Quota{Rate: n, Period: time.Minute, Burst: n}
}

var (
	flat     = ratelimit.Prices{Success: 1, Unauthorized: 1, Forbidden: 1, NotFound: 1, TooMany: 0, Other: 1}
	guessing = ratelimit.Prices{Unauthorized: 10, Forbidden: 5, Other: 1}
)

func shadowed(s ratelimit.Section) ratelimit.Section {
	s.Mode = ratelimit.Shadow
	return s
}

// answers are rows whose outcome the path names: POST /v3/ends/401.
func answers() []v3.Route {
	var rows []v3.Route
	for _, status := range []int{200, 400, 401, 403, 404, 429, 500} {
		rows = append(rows, v3.Route{Method: "POST", Path: "/v3/ends/" + strconv.Itoa(status), Do: func(*v3.Call) (v3.Reply, error) {
			if status == http.StatusOK {
				return fine(nil)
			}
			return v3.Reply{}, fault.New(fault.Kind(status), "so it ends")
		}})
	}
	return rows
}

func ends(status int) call {
	return call{method: "POST", path: "/v3/ends/" + strconv.Itoa(status), body: "{}"}
}

// R100, R069: the default layer counts every route and every path by address,
// before anybody is asked who he is.
func TestDefaultLayer(t *testing.T) {
	st := newStand(t, setup{rows: append(open(fine), guarded(fine)...), limits: ratelimit.Config{Default: per(5), DefaultPrices: flat}})
	st.want("a valid token", call{path: "/v3/guarded", token: "tok-admin"}, 200)
	st.want("no token", call{path: "/v3/guarded"}, 401)
	st.want("open", call{method: "POST", path: "/v3/open", body: "{}"}, 200)
	st.want("no row", call{path: "/nosuch"}, 404)
	asked := st.tokens.count()
	st.want("a valid token, the last of it", call{path: "/v3/guarded", token: "tok-admin"}, 200, 429)
	if got := st.tokens.count() - asked; got != 1 {
		t.Errorf("tokens looked at: %d; a refused request must not be", got)
	}
	st.want("another address", call{path: "/v3/guarded", token: "tok-admin", peer: "192.0.2.7:1"}, 200)
}

// R101, R102: a policy limits the routes that it names, beside the default
// layer.
func TestRoutePolicy(t *testing.T) {
	st := newStand(t, setup{rows: append(open(fine), guarded(fine)...), limits: ratelimit.Config{
		Default: per(100), DefaultPrices: flat,
		Routes: []ratelimit.Route{{Name: "open", Paths: []string{"POST:/v3/open"}, PerAddress: perMinute(2), Prices: flat}},
	}})
	st.want("its route", call{method: "POST", path: "/v3/open", body: "{}"}, 200, 200, 429)
	st.want("another route", call{path: "/v3/guarded", token: "tok-admin"}, 200, 200, 200)
	if d := cmp.Diff(6, st.outcomes["rate_limit_default allowed"]); d != "" {
		t.Errorf("the default layer was asked: %s", d)
	}
}

// R014: the longest path that names a route decides, and names of arguments
// do not matter.
func TestLongestPathWins(t *testing.T) {
	limits := func(name string, paths ...string) ratelimit.Route {
		return ratelimit.Route{Name: name, Paths: paths, PerAddress: perMinute(9)}
	}
	row := func(method, path string) v3.Route {
		return v3.Route{Method: method, Path: path, Rule: "identity:list_regions", Do: fine}
	}
	rows := []v3.Route{
		row("GET", "/v3/users"), row("GET", "/v3/users/{user_id}"), row("PATCH", "/v3/users/{user_id}"),
		row("GET", "/v3/users/{user_id}/groups"), row("GET", "/v3/usage"), row("DELETE", "/v3/users/{user_id}"),
	}
	st := newStand(t, setup{rows: rows, limits: ratelimit.Config{Routes: []ratelimit.Route{
		limits("all", "*:/v3/*"), limits("users", "GET:/v3/users*"), limits("one", "GET:/v3/users/{id}"), limits("any", "*:/v3/users/{whoever}"),
		limits("none", "GET:/v3/nosuch"), limits("literal", "GET:/v3/users/4711"),
	}}})
	got := map[string]string{}
	for _, r := range st.api.Rows() {
		got[r.Method+" "+r.Path] = st.api.LimitsOf(r).Policy
	}
	want := map[string]string{
		"GET /v3/users": "users", "HEAD /v3/users": "users",
		"GET /v3/users/{user_id}": "one", "HEAD /v3/users/{user_id}": "one",
		"PATCH /v3/users/{user_id}": "any", "DELETE /v3/users/{user_id}": "any",
		"GET /v3/users/{user_id}/groups": "users", "HEAD /v3/users/{user_id}/groups": "users",
		"GET /v3/usage": "all", "HEAD /v3/usage": "all",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	warned := strings.Join(st.api.LimitWarnings(), "\n")
	for _, path := range []string{"GET:/v3/nosuch", "GET:/v3/users/4711"} {
		if !strings.Contains(warned, path) {
			t.Errorf("no warning about %s in %q", path, warned)
		}
	}
	if strings.Count(warned, "\n") != 1 {
		t.Errorf("warnings: %q", warned)
	}
}

func TestOnePathTwoPolicies(t *testing.T) {
	set, _, err := ratelimit.Build(ratelimit.Config{Routes: []ratelimit.Route{
		{Name: "a", Paths: []string{"GET:/v3/users/{id}"}, PerAddress: perMinute(1)}, {Name: "b", Paths: []string{"GET:/v3/users/{user_id}"}, PerAddress: perMinute(1)},
	}}, memory.Open)
	if err != nil {
		t.Fatal(err)
	}
	var cfg v3.Config
	newStand(t, setup{rows: guarded(fine), change: func(c *v3.Config) { cfg = *c }})
	cfg.Limits = set
	if _, err := v3.New(cfg); err == nil || !strings.Contains(err.Error(), "is a path of a too") {
		t.Errorf("got %v", err)
	}
}

// RL-H22, R106: an inner policy counts a request once, and the principal's
// limit of a policy holds in place of the one for all routes.
func TestRL_H22(t *testing.T) {
	st := newStand(t, setup{rows: guarded(fine), limits: ratelimit.Config{
		SignedIn: per(100),
		Routes: []ratelimit.Route{
			{Name: "inner", Paths: []string{"GET:/v3/guarded"}, PerAddress: perMinute(50), PerPrincipal: perMinute(50), Prices: flat},
			{Name: "outer", Paths: []string{"*:/v3/*"}, PerAddress: perMinute(50), PerPrincipal: perMinute(50), Prices: flat},
		},
	}})
	st.want("a request", call{path: "/v3/guarded", token: "tok-admin"}, 200)
	want := map[string]int{"rate_limit_route:inner.per_address allowed": 1, "rate_limit_route:inner.per_principal allowed": 1}
	if d := cmp.Diff(want, st.outcomes); d != "" {
		t.Error(d)
	}
}

// R108: the signed-in limit is of the principal, wherever he comes from, and
// an application credential has its own.
func TestSignedIn(t *testing.T) {
	st := newStand(t, setup{rows: guarded(fine), limits: ratelimit.Config{SignedIn: per(2)}})
	at := call{path: "/v3/guarded", token: "tok-member"}
	st.want("first", at, 200)
	at.peer = "192.0.2.77:1"
	st.want("from elsewhere", at, 200, 429)
	at.token = "tok-appcred"
	st.want("his application credential", at, 200, 200, 429)
	at.token = "tok-admin"
	st.want("another user", at, 200)
	at.token = ""
	st.want("nobody", at, 401, 401, 401)
	st.clock += 30 * time.Second
	at.token = "tok-member"
	st.want("half a minute later", at, 200, 429)
}

// C-13: what one limit refuses is charged under none.
func TestAllOrNone(t *testing.T) {
	st := newStand(t, setup{burst: 10, rows: append(open(fine), guarded(fine)...), limits: ratelimit.Config{
		Default: per(10), DefaultPrices: flat, SignedIn: per(1),
		Routes: []ratelimit.Route{{Name: "open", Paths: []string{"POST:/v3/open"}, PerAddress: perMinute(1), Prices: flat}},
	}})
	in := call{method: "POST", path: "/v3/open", body: "{}"}
	st.want("the narrow limit refuses", in, 200, 429, 429, 429)
	st.want("the principal's refuses", call{path: "/v3/guarded", token: "tok-member"}, 200, 429, 429)
	// Of ten, one was for the first and one for the second.
	st.want("the default layer", call{path: "/v3/guarded", token: "tok-admin"}, 200)
	st.want("its rest", call{path: "/v3/guarded"}, 401, 401, 401, 401, 401, 401, 401, 429)
}

// RL-H26: of several limits that refuse, the longest wait is told.
func TestRL_H26(t *testing.T) {
	burst := int64(1)
	slow := &ratelimit.Quota{Rate: 1, Period: 7200 * time.Millisecond, Burst: burst}
	quick := &ratelimit.Quota{Rate: 1, Period: 400 * time.Millisecond, Burst: burst}
	st := newStand(t, setup{rows: open(fine), limits: ratelimit.Config{
		Default: ratelimit.Section{Limit: quick}, DefaultPrices: flat,
		Routes: []ratelimit.Route{{Name: "open", Paths: []string{"POST:/v3/open"}, PerAddress: slow, Prices: flat}},
	}})
	in := call{method: "POST", path: "/v3/open", body: "{}"}
	st.want("first", in, 200)
	w := st.do(in)
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "8" {
		t.Errorf("got %d, Retry-After %q, want 429 and 8", w.Code, w.Header().Get("Retry-After"))
	}
}

// RL-H05, RL-H06: the answers of all layers are one, but for how long to wait.
func TestRL_H05Layers(t *testing.T) {
	blocked := func(c *v3.Config) { c.Limiting.Blocked = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} }
	in := call{method: "POST", path: "/v3/open", body: "{}"}
	policy := []ratelimit.Route{{Name: "open", Paths: []string{"POST:/v3/open"}, PerAddress: perMinute(1), Prices: flat}}
	rows := append(open(fine), guarded(fine)...)
	seen := map[string]string{}
	for name, s := range map[string]struct {
		setup
		call
	}{
		"global_ip": {setup{burst: 1}, in},
		"default":   {setup{limits: ratelimit.Config{Default: per(1), DefaultPrices: flat}}, in},
		"route":     {setup{limits: ratelimit.Config{Routes: policy}}, in},
		"signed_in": {setup{limits: ratelimit.Config{SignedIn: per(1)}}, call{path: "/v3/guarded", token: "tok-admin"}},
		"blocked":   {setup{change: blocked}, in},
		"headers": {setup{limits: ratelimit.Config{Default: per(1), DefaultPrices: flat, SignedIn: per(9)}, change: func(c *v3.Config) {
			c.Limiting.Headers, c.Limiting.Legacy = v3.HeadersAll, true
		}}, call{path: "/v3/guarded", token: "tok-admin"}},
	} {
		s.rows = rows
		st := newStand(t, s.setup)
		st.do(s.call)
		w := st.do(s.call)
		if w.Code != http.StatusTooManyRequests {
			t.Errorf("%s: got %d", name, w.Code)
		}
		h := w.Header().Clone()
		if n := h.Get("Retry-After"); n == "" || n == "0" {
			t.Errorf("%s: Retry-After %q", name, n)
		}
		h.Set("Retry-After", "n")
		h.Del("X-Openstack-Request-Id")
		var b strings.Builder
		for _, k := range slices.Sorted(maps.Keys(h)) {
			b.WriteString(k + ": " + strings.Join(h[k], "|") + "\n")
		}
		b.WriteString("\n" + w.Body.String())
		seen[b.String()] = name
	}
	if len(seen) != 1 {
		t.Errorf("%d different answers: %v", len(seen), seen)
	}
}

// A shadow changes no answer, and is counted (mode, R097's neighbour).
func TestShadowChangesNothing(t *testing.T) {
	on := func(s ratelimit.Section) ratelimit.Section { return s }
	for name, mode := range map[string]func(ratelimit.Section) ratelimit.Section{"enforce": on, "shadow": shadowed} {
		st := newStand(t, setup{rows: append(open(fine), guarded(fine)...), limits: ratelimit.Config{
			Default: mode(per(2)), DefaultPrices: flat, SignedIn: mode(per(3)),
		}, change: func(c *v3.Config) { c.Limiting.Headers = v3.HeadersAll }})
		at := call{path: "/v3/guarded", token: "tok-admin"}
		if name == "enforce" {
			st.want(name, at, 200, 200, 429, 429)
			continue
		}
		st.want(name, at, 200, 200, 200, 200, 200)
		w := st.do(at)
		for k := range w.Header() {
			if strings.HasPrefix(strings.ToLower(k), "ratelimit") {
				t.Errorf("a shadow shows in %s", k)
			}
		}
		want := map[string]int{
			"rate_limit_default allowed": 2, "rate_limit_default shadow_rejected": 4,
			"rate_limit_signed_in allowed": 3, "rate_limit_signed_in shadow_rejected": 3,
		}
		if d := cmp.Diff(want, st.outcomes); d != "" {
			t.Error(d)
		}
		st.want("no peer, and only shadows ask for one", call{path: "/v3/guarded", token: "tok-admin", peer: "@"}, 200)
	}
}

// R017: a gateway in front limits routes; the principal's limit stays.
func TestExternalFront(t *testing.T) {
	st := newStand(t, setup{rows: append(open(fine), guarded(fine)...), limits: ratelimit.Config{
		External: true, Default: per(1), DefaultPrices: flat, SignedIn: per(2),
		Routes: []ratelimit.Route{{Name: "open", Paths: []string{"POST:/v3/open"}, PerAddress: perMinute(1), Prices: flat}},
	}})
	st.want("routes", call{method: "POST", path: "/v3/open", body: "{}"}, 200, 200, 200)
	st.want("principals", call{path: "/v3/guarded", token: "tok-admin"}, 200, 200, 429)
}

// A policy that exempts takes its routes out of the layers, never out of the
// limit on strangers.
func TestExemptPolicy(t *testing.T) {
	st := newStand(t, setup{burst: 3, rows: guarded(fine), limits: ratelimit.Config{
		Default: per(1), DefaultPrices: flat, SignedIn: per(1),
		Routes: []ratelimit.Route{{Name: "free", Paths: []string{"GET:/v3/guarded"}, Exempt: true}},
	}})
	st.want("a valid token", call{path: "/v3/guarded", token: "tok-admin"}, 200, 200, 200)
	st.want("no token", call{path: "/v3/guarded"}, 401, 401, 401, 429)
}

func trusting(c *v3.Config, exempt string) error {
	var err error
	c.Clients, err = clientaddr.New(clientaddr.Config{Header: "x_forwarded_for", Trusted: []string{"10.0.0.0/8"}})
	c.Limiting.Exempt = []netip.Prefix{netip.MustParsePrefix(exempt)}
	return err
}

// RL-A52: the address of a proxy whose header cannot be believed is never
// exempt, though the proxy's network is.
func TestRL_A52(t *testing.T) {
	s := setup{burst: 1, rows: open(fine)}
	s.change = func(c *v3.Config) {
		if err := trusting(c, "10.0.0.0/8"); err != nil {
			t.Fatal(err)
		}
	}
	st := newStand(t, s)
	in := call{method: "POST", path: "/v3/open", body: "{}", peer: "10.0.0.1:4711", header: map[string]string{"X-Forwarded-For": "not-an-address"}}
	st.want("malformed", in, 200, 429)
	in.header = map[string]string{"X-Forwarded-For": "10.0.0.7"}
	st.want("all trusted", in, 429)
	in.header = nil
	st.want("no header", in, 429)
	in.peer = "192.0.2.5:1"
	st.want("a stranger", in, 200, 429)
}

// R016: a direct peer or a client that a proxy names may be exempt; the
// principal's limit holds for him all the same.
func TestExemptNetworks(t *testing.T) {
	s := setup{burst: 1, rows: append(open(fine), guarded(fine)...), limits: ratelimit.Config{Default: per(1), DefaultPrices: flat, SignedIn: per(2)}}
	s.change = func(c *v3.Config) {
		if err := trusting(c, "192.0.2.0/24"); err != nil {
			t.Fatal(err)
		}
	}
	st := newStand(t, s)
	st.want("direct", call{method: "POST", path: "/v3/open", body: "{}", peer: "192.0.2.9:1"}, 200, 200, 200)
	named := call{method: "POST", path: "/v3/open", body: "{}", peer: "10.0.0.1:1", header: map[string]string{"X-Forwarded-For": "192.0.2.9"}}
	st.want("named by the proxy", named, 200, 200, 200)
	st.want("by principal", call{path: "/v3/guarded", token: "tok-member", peer: "192.0.2.9:1"}, 200, 200, 429)
	if n := st.outcomes["rate_limit_global_ip exempt"]; n != 6 {
		t.Errorf("counted as exempt: %d, want 6", n)
	}
}

// block_networks answers all but the health check with the constant refusal.
func TestBlockedNetworks(t *testing.T) {
	st := newStand(t, setup{change: func(c *v3.Config) { c.Limiting.Blocked = []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")} }, rows: v3.Table(v3.Resources{})})
	for _, c := range []call{{path: "/v3"}, {path: "/nosuch"}, {path: "/v3/regions", token: "tok-admin"}, {method: "POST", path: "/v3/auth/tokens", body: "{"}} {
		c.peer = "198.51.100.3:1"
		st.want(c.path, c, 429)
	}
	st.want("health", call{path: "/healthcheck", peer: "198.51.100.3:1"}, 200)
	st.want("another network", call{path: "/v3", peer: "198.51.101.3:1"}, 200)
}

// Holders of the service role, and users and domains that are listed, are over
// the principal's limit and are answered all the same; it is counted and logged.
func TestExemptPrincipals(t *testing.T) {
	at := call{path: "/v3/guarded", token: "tok-service"}
	for name, change := range map[string]func(*v3.Limiting){
		"role":   func(l *v3.Limiting) { l.Roles = []string{"service"} },
		"user":   func(l *v3.Limiting) { l.Users = []string{"u-service"} },
		"domain": func(l *v3.Limiting) { l.Domains = []string{"default"} },
		"none":   func(*v3.Limiting) {},
	} {
		st := newStand(t, setup{rows: guarded(fine), limits: ratelimit.Config{SignedIn: per(2)}, change: func(c *v3.Config) { change(&c.Limiting) }})
		if name == "none" {
			st.want(name, at, 200, 200, 429)
			continue
		}
		st.want(name, at, 200, 200, 200, 200, 200)
		if n := st.outcomes["rate_limit_signed_in exempt"]; n != 3 {
			t.Errorf("%s: counted %d times over the limit, want 3", name, n)
		}
		if n := strings.Count(st.log.String(), "Over a limit"); n != 1 {
			t.Errorf("%s: %d log lines in one minute, want 1", name, n)
		}
	}
}
