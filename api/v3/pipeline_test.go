package v3_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/ops"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/ratelimit"
)

func TestBodies(t *testing.T) {
	st := newStand(t, setup{rows: []v3.Route{{Method: "POST", Path: "/v3/echo", Limit: ratelimit.ClassAuth, Do: func(c *v3.Call) (v3.Reply, error) {
		return v3.Reply{Status: http.StatusOK, Body: c.JSON(), Bare: true}, nil
	}}}})
	typed := func(s string) map[string]string { return map[string]string{"Content-Type": s} }
	const notJSON, badJSON = "Expecting to find application/json in Content-Type header.", "Expecting to find valid JSON in request body."
	cases := []struct {
		name   string
		c      call
		status int
		want   string
	}{
		{"no body", call{}, 200, `{}`},
		{"order is kept", call{body: `{"b":1,"a":{"z":[],"y":null}}`}, 200, `{"b": 1, "a": {"z": [], "y": null}}`},
		{"no type", call{body: `{"é":1}`}, 200, `{"\u00e9": 1}`},
		{"json", call{body: `{}`, header: typed("application/json")}, 200, `{}`},
		{"json with charset", call{body: `{}`, header: typed("Application/JSON; charset=utf-8")}, 200, `{}`},
		{"json with rubbish behind", call{body: `{}`, header: typed("application/json; x; x; charset=a; charset=b")}, 200, `{}`},
		{"+json", call{body: `{}`, header: typed("application/vnd.x+json")}, 200, `{}`},
		{"text", call{body: `{}`, header: typed("text/plain")}, 400, notJSON},
		{"form", call{body: `a=b`, header: typed("application/x-www-form-urlencoded")}, 400, notJSON},
		{"json-home", call{body: `{}`, header: typed("application/json-home")}, 400, notJSON},
		{"text without a body", call{header: typed("text/plain")}, 200, `{}`},
		{"broken", call{body: `{"a":`}, 400, badJSON},
		{"array", call{body: `[]`}, 400, badJSON},
		{"null", call{body: `null`}, 400, badJSON},
		{"blank", call{body: ` `}, 400, badJSON},
		{"lone surrogate", call{body: `{"a":"\ud800"}`}, 400, badJSON},
		{"no UTF-8", call{body: "{\"a\":\"\xff\"}"}, 400, badJSON},
		{"deep", call{body: `{"a":` + strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000) + `}`}, 400, badJSON},
		{"NUL", call{body: `{"a":"\u0000"}`}, 200, `{"a": "\u0000"}`},
		{"as large as may be", call{body: `{"a":"` + strings.Repeat("x", 114688-8) + `"}`}, 200, `{"a": "x`},
		{"one byte more", call{body: `{"a":"` + strings.Repeat("x", 114688-7) + `"}`}, 413, "Request is too large. Larger than max_request_body_size (114688)."},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.c.method, c.c.path = "POST", "/v3/echo"
			w := st.do(c.c)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("got %d %.200s, want %d with %s", w.Code, w.Body, c.status, c.want)
			}
			if c.status >= 400 {
				wantEnvelope(t, w.Result(), w.Body.String(), c.status)
			}
			if vary := w.Header().Get("Vary"); (vary == "X-Auth-Token") == (c.status == http.StatusRequestEntityTooLarge) {
				t.Errorf("Vary: got %q", vary)
			}
		})
	}
	t.Run("chunked", func(t *testing.T) {
		r := call{method: "POST", path: "/v3/echo"}.request(t)
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(`{"a":"`+strings.Repeat("x", 200_000)+`"}`)), -1
		w := httptest.NewRecorder()
		st.api.ServeHTTP(w, r)
		wantEnvelope(t, w.Result(), w.Body.String(), http.StatusRequestEntityTooLarge)
	})
}

// The order in which a request is judged: each step is only reached when the
// one before let it pass.
func TestOrderOfChecks(t *testing.T) {
	var steps []string
	note := func(s string) { steps = append(steps, s) }
	row := v3.Route{
		Method: "PATCH", Path: "/v3/things/{thing_id}", Rule: "identity:update_region", Limit: ratelimit.ClassToken,
		Check: func(c *v3.Call) error {
			note("check")
			if c.Query("bad") != "" {
				return fault.New(fault.BadRequest, "bad shape")
			}
			return nil
		},
		Target: func(c *v3.Call) (policy.Target, error) {
			note("target of " + c.Caller.User.Name)
			if c.Param("thing_id") == "none" {
				return nil, fault.NoSuch("thing", "none")
			}
			return policy.Target{"target.thing.id": c.Param("thing_id")}, nil
		},
		Do: func(c *v3.Call) (v3.Reply, error) {
			note("do")
			return fine(c)
		},
	}
	first := row
	first.Path, first.TargetFirst = "/v3/first/{thing_id}", true
	st := newStand(t, setup{rows: []v3.Route{row, first}})
	cases := []struct {
		name   string
		c      call
		status int
		steps  []string
	}{
		{"broken body", call{path: "/v3/things/1?bad=1", body: "x"}, 400, nil},
		{"bad shape before no token", call{path: "/v3/things/1?bad=1"}, 400, []string{"check"}},
		{"no token", call{path: "/v3/things/1"}, 401, []string{"check"}},
		{"member", call{path: "/v3/things/1", token: "tok-member"}, 403, []string{"check", "target of member"}},
		{"member and nothing there", call{path: "/v3/things/none", token: "tok-member"}, 403, []string{"check", "target of member"}},
		{"admin and nothing there", call{path: "/v3/things/none", token: "tok-admin"}, 404, []string{"check", "target of admin"}},
		{"admin", call{path: "/v3/things/1", token: "tok-admin"}, 200, []string{"check", "target of admin", "do"}},
		{"member, where 404 comes first", call{path: "/v3/first/none", token: "tok-member"}, 404, []string{"check", "target of member"}},
		{"project gone", call{path: "/v3/things/1", token: "tok-gone"}, 404, []string{"check"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			steps = nil
			c.c.method = "PATCH"
			w := st.do(c.c)
			if d := cmp.Diff(c.steps, steps); w.Code != c.status || d != "" {
				t.Errorf("got %d %s, want %d; steps: %s", w.Code, w.Body, c.status, d)
			}
		})
	}
}

func TestSubjectIsValidatedWithTheCaller(t *testing.T) {
	st := newStand(t, setup{rows: []v3.Route{{
		Method: "GET", Path: "/v3/subject", Rule: "identity:list_regions", Limit: ratelimit.ClassToken, Subject: true,
		Want: func(c *v3.Call, want *auth.Check) { want.Catalog = !c.QueryFlag("nocatalog") },
		Do: func(c *v3.Call) (v3.Reply, error) {
			return v3.Reply{Status: http.StatusOK, Body: pyjson.Object{{Key: "who", Value: c.Caller.User.Name + " " + c.Subject.User.Name}}}, nil
		},
	}}})
	w := st.do(call{path: "/v3/subject?nocatalog", token: "tok-admin", header: map[string]string{"X-Subject-Token": "tok-x", "X-Service-Token": "tok-y"}})
	if want := (auth.Check{Caller: "tok-admin", Subject: "tok-x", Service: "tok-y"}); st.tokens.last != want {
		t.Errorf("asked for: %+v", st.tokens.last)
	}
	if w.Body.String() != `{"who": "admin member"}`+"\n" || st.tokens.count() != 1 {
		t.Errorf("got %s in %d validations", w.Body, st.tokens.count())
	}
}

func TestUnauthorized(t *testing.T) {
	cases := []struct {
		name   string
		change func(*v3.Config)
		header map[string]string
		want   string
	}{
		{"of the request", nil, nil, "http://127.0.0.1:5000/v3"},
		{"https by the proxy", nil, map[string]string{"X-Forwarded-Proto": "http, https"}, "https://127.0.0.1:5000/v3"},
		{"public endpoint", func(c *v3.Config) { c.PublicEndpoint = "https://id.example/identity/" }, nil, "https://id.example/identity/v3"},
		{"standard port", nil, map[string]string{"Host": "id.example:80"}, "http://id.example/v3"},
		{"standard port of https", nil, map[string]string{"Host": "id.example:443", "X-Forwarded-Proto": "https"}, "https://id.example/v3"},
		{"host of the proxy not asked for", nil, map[string]string{"X-Forwarded-Host": "evil", "X-Forwarded-Prefix": "/x"}, "http://127.0.0.1:5000/v3"},
		{
			"host of the proxy", func(c *v3.Config) { c.ParseProxy = true },
			map[string]string{"X-Forwarded-Host": "id.example.test", "X-Forwarded-Prefix": "/identity", "X-Forwarded-Proto": "https"},
			"https://id.example.test/identity/v3",
		},
		{
			"a stranger among known proxies", func(c *v3.Config) { c.ParseProxy, c.ProxiesListed = true, true },
			map[string]string{"X-Forwarded-Host": "evil", "X-Forwarded-Proto": "https"},
			"http://127.0.0.1:5000/v3",
		},
		{"no scheme at all", nil, map[string]string{"X-Forwarded-Proto": `x"y`}, "http://127.0.0.1:5000/v3"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			st := newStand(t, setup{rows: guarded(fine), change: c.change})
			w := st.do(call{path: "/v3/guarded", header: c.header})
			wantEnvelope(t, w.Result(), w.Body.String(), http.StatusUnauthorized)
			if got, want := w.Header().Get("WWW-Authenticate"), `Keystone uri="`+c.want+`"`; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestPathPrefix(t *testing.T) {
	st := newStand(t, setup{burst: 100, change: func(c *v3.Config) { c.PathPrefix = "identity/" }})
	for path, status := range map[string]int{"/identity": 300, "/identity/": 300, "/identity/v3": 200, "/identity/healthcheck": 200, "/": 404, "/v3": 404, "/identityx/v3": 404, "/identity/identity/v3": 404} {
		if w := st.do(call{path: path}); w.Code != status {
			t.Errorf("%s: got %d, want %d", path, w.Code, status)
		}
	}
	w := st.do(call{path: "/identity"})
	if got := w.Header().Get("Location"); got != "http://127.0.0.1:5000/identity/v3/" {
		t.Errorf("Location: got %q", got)
	}
	if !strings.Contains(w.Body.String(), `"href": "http://127.0.0.1:5000/identity/v3/"`) {
		t.Errorf("links: %s", w.Body)
	}
}

func TestHeadEqualsGet(t *testing.T) {
	st := newStand(t, setup{rows: guarded(fine)})
	for _, token := range []string{"tok-admin", ""} {
		get := st.do(call{path: "/v3/guarded", token: token})
		head := st.do(call{path: "/v3/guarded", token: token, method: "HEAD"})
		get.Header().Del("X-Openstack-Request-Id")
		head.Header().Del("X-Openstack-Request-Id")
		if d := cmp.Diff(get.Header(), head.Header()); d != "" || head.Code != get.Code || head.Body.Len() != 0 || get.Body.Len() == 0 {
			t.Errorf("GET %d %q, HEAD %d %q: %s", get.Code, get.Body, head.Code, head.Body, d)
		}
	}
}

func TestOptions(t *testing.T) {
	st := newStand(t, setup{})
	w := st.do(call{method: "OPTIONS", path: "/v3/regions/x", header: map[string]string{"Origin": "http://dashboard.example", "Access-Control-Request-Method": "POST"}})
	if w.Code != http.StatusOK || w.Body.Len() != 0 || sorted(w.Header().Get("Allow")) != "DELETE GET HEAD OPTIONS PATCH PUT" {
		t.Errorf("got %d %q, %v", w.Code, w.Body, w.Header())
	}
	if ct, vary := w.Header().Get("Content-Type"), w.Header().Get("Vary"); ct != "text/html; charset=utf-8" || vary != "X-Auth-Token" {
		t.Errorf("got %q, %q", ct, vary)
	}
}

func TestRequestIDs(t *testing.T) {
	const theirs = "req-11111111-2222-3333-4444-555555555555"
	form := regexp.MustCompile(`^req-[0-9a-f-]{36}$`)
	st := newStand(t, setup{rows: guarded(fine)})
	for _, sent := range []string{theirs, "req-zzz", "evil\nline", ""} {
		st.log.Reset()
		w := st.do(call{path: "/v3/guarded", token: "tok-admin", header: map[string]string{"X-Openstack-Request-Id": sent}})
		id := w.Header().Get("X-Openstack-Request-Id")
		if !form.MatchString(id) || id == sent {
			t.Errorf("%q: answered %q", sent, id)
		}
		global := "None"
		if sent == theirs {
			global = theirs
		}
		if want := "[" + global + " " + id + " u-admin p1 - - default default]"; !strings.Contains(st.log.String(), want) {
			t.Errorf("%q: no %q in %q", sent, want, st.log)
		}
	}
}

func TestPanicIsA500(t *testing.T) {
	st := newStand(t, setup{rows: guarded(func(*v3.Call) (v3.Reply, error) { panic("secret of the machine") })})
	w := st.do(call{path: "/v3/guarded", token: "tok-admin"})
	wantEnvelope(t, w.Result(), w.Body.String(), http.StatusInternalServerError)
	if strings.Contains(w.Body.String(), "secret") {
		t.Errorf("the client sees %s", w.Body)
	}
	log := st.log.String()
	if id := w.Header().Get("X-Openstack-Request-Id"); strings.Count(log, "panic: secret of the machine") != 1 || !strings.Contains(log, id) || !strings.Contains(log, "pipeline_test.go") {
		t.Errorf("log: %s", log)
	}
	if !strings.Contains(log, "status: 500") {
		t.Errorf("no access line in %s", log)
	}
}

func TestClientGone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	st := newStand(t, setup{rows: guarded(func(c *v3.Call) (v3.Reply, error) {
		cancel()
		return v3.Reply{}, fmt.Errorf("read: %w", c.Ctx().Err())
	})})
	w := httptest.NewRecorder()
	st.api.ServeHTTP(w, call{path: "/v3/guarded", token: "tok-admin"}.request(t).WithContext(ctx))
	if log := st.log.String(); !strings.Contains(log, "status: 499") || strings.Contains(log, "ERROR") || w.Body.Len() != 0 {
		t.Errorf("answered %q, logged %s", w.Body, log)
	}
}

func TestLogHoldsNoSecrets(t *testing.T) {
	st := newStand(t, setup{rows: append(open(func(*v3.Call) (v3.Reply, error) { return v3.Reply{}, fault.Denied("wrong password of %s", "u1") }), guarded(fine)...)})
	st.do(call{method: "POST", path: "/v3/open?secret=s3cret", body: `{"password": "hunter2"}`, token: "tok-admin", header: map[string]string{"Authorization": "Basic hunter2"}})
	st.do(call{path: "/v3/guarded", token: "tok-admin", header: map[string]string{"X-Subject-Token": "tok-member"}})
	st.do(call{path: "/v3/x%0a2026-01-01%2000:00:00.000%201%20INFO%20forged%0a"})
	log := st.log.String()
	for _, s := range []string{"hunter2", "s3cret", "tok-"} {
		if strings.Contains(log, s) {
			t.Errorf("%s in the log:\n%s", s, log)
		}
	}
	for line := range strings.Lines(log) {
		if strings.HasPrefix(line, "2026-01-01 00:00:00.000 1 INFO forged") {
			t.Errorf("a client wrote a line of the log: %s", line)
		}
	}
}

func TestMetricsCountTemplates(t *testing.T) {
	m := ops.NewMetrics(ops.Sources{})
	st := newStand(t, setup{burst: 2, change: func(c *v3.Config) { c.Metrics = m }, rows: []v3.Route{{
		Method: "GET", Path: "/v3/things/{thing_id}", Rule: "identity:list_regions", Limit: ratelimit.ClassToken, Do: fine,
	}}})
	st.do(call{path: "/v3/things/1", token: "tok-admin"})
	st.do(call{path: "/v3/things/2", token: "tok-admin"})
	st.do(call{path: "/v3/things/3"})
	st.do(call{path: "/v3/secret-path", method: "BREW"})
	st.do(call{path: "/v3/things/4"})
	w := httptest.NewRecorder()
	ops.NewAdmin(m, nil).Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	text := w.Body.String()
	for _, line := range []string{
		`keystone_http_requests_total{method="GET",route="/v3/things/{thing_id}",status="200"} 2`,
		`keystone_http_requests_total{method="GET",route="/v3/things/{thing_id}",status="401"} 1`,
		`keystone_http_requests_total{method="GET",route="/v3/things/{thing_id}",status="429"} 1`,
		`keystone_http_requests_total{method="other",route="none",status="404"} 1`,
		`keystone_http_requests_in_flight{listener="public"} 0`,
		`keystone_rate_limit_evaluations_total{outcome="allowed",scope="per_ip"} 2`,
		`keystone_rate_limit_evaluations_total{outcome="rejected",scope="per_ip"} 1`,
		`keystone_rate_limit_rejections_total{scope="per_ip"} 1`,
		`keystone_policy_decisions_total{decision="allowed",rule="identity:list_regions"} 2`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no %s", line)
		}
	}
	if strings.Contains(text, "secret-path") || strings.Contains(text, "192.0.2") {
		t.Error("a label from the client")
	}
}
