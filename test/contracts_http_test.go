package test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/listen"
	"github.com/keystone-go/keystone-go/test/harness"
)

// linksAreReachable: clients send their password to the address that discovery
// gives them.
func linksAreReachable(c *cloud) {
	proxied := map[string]string{"X-Forwarded-Proto": "https", "X-Forwarded-Host": "id.example.test", "X-Forwarded-Prefix": "/identity"}
	parse := func(c *conf.Config) { c.OsloMiddleware.EnableProxyHeadersParsing = true }
	listed := func(c *conf.Config) {
		parse(c)
		c.RateLimitTrustedProxies.TrustedProxies = []string{"10.0.0.0/24"}
	}
	for _, x := range []struct {
		name   string
		set    func(*conf.Config)
		host   string
		header map[string]string
		from   string
		want   string
	}{
		{"the request's host", nil, "id.example.test:5000", nil, "", "http://id.example.test:5000"},
		{"the usual port", nil, "id.example.test:80", nil, "", "http://id.example.test"},
		{"IPv6", nil, "[2001:db8::1]:5000", nil, "", "http://[2001:db8::1]:5000"},
		{"public_endpoint", func(c *conf.Config) { c.Default.PublicEndpoint = "https://cloud.test:8443/identity/" }, "x", nil, "", "https://cloud.test:8443/identity"},
		{"public_endpoint before proxy headers", func(c *conf.Config) { parse(c); c.Default.PublicEndpoint = "https://cloud.test" }, "x", proxied, "", "https://cloud.test"},
		{"proxy headers", parse, "inner:5000", proxied, "", "https://id.example.test/identity"},
		{"proxy headers not asked for", nil, "inner:5000", proxied, "", "https://inner:5000"}, // Python believes the scheme always
		{"proxy headers from a known proxy", listed, "inner:5000", proxied, "10.0.0.7:1", "https://id.example.test/identity"},
		{"proxy headers from a stranger", listed, "inner:5000", proxied, "192.0.2.7:1", "http://inner:5000"},
	} {
		s := c.again(x.set)
		ask := func(path, token string) harness.Answer {
			r := harness.Call{Method: "GET", Path: path, Token: token, Header: x.header, From: x.from}.Request(c.t)
			r.Host = x.host
			return s.Serve(r)
		}
		root := ask("/", "")
		regions := ask("/v3/regions?parent_region_id=x", c.Admin())
		region := ask("/v3/regions/RegionOne", c.Admin())
		for what, got := range map[string]any{
			"version link": root.At(c.t, "versions", "values", 0, "links", 0, "href"),
			"Location":     root.Header.Get("Location"),
			"401":          strings.TrimSuffix(strings.TrimPrefix(ask("/v3/regions", "").Header.Get("WWW-Authenticate"), `Keystone uri="`), `"`) + "/",
			"list link":    strings.TrimSuffix(fmt.Sprint(regions.At(c.t, "links", "self")), "regions?parent_region_id=x"),
			"object link":  strings.TrimSuffix(fmt.Sprint(region.At(c.t, "region", "links", "self")), "regions/RegionOne"),
		} {
			if got != x.want+"/v3/" {
				c.t.Errorf("%s: %s %v, want %s/v3/", x.name, what, got, x.want)
			}
		}
	}
}

var requestID = regexp.MustCompile(`^req-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// headersOnEveryAnswer goes through the route table, and through what is no
// row.
func headersOnEveryAnswer(c *cloud) {
	seen := map[string]bool{}
	check := func(call harness.Call) {
		c.t.Helper()
		a := c.Do(call)
		where := fmt.Sprintf("%s %s: %d", call.Method, call.Path, a.Status)
		id := a.Header.Get("X-Openstack-Request-Id")
		if !requestID.MatchString(id) || seen[id] {
			c.t.Errorf("%s: request id %q, a new one: %v", where, id, !seen[id])
		}
		seen[id] = true
		want := "X-Auth-Token"
		if call.Path == "/healthcheck" && a.Status < 400 || a.Status == 413 {
			want = ""
		}
		if got := a.Header.Get("Vary"); got != want {
			c.t.Errorf("%s: Vary %q, want %q", where, got, want)
		}
		if got := a.Header.Get("WWW-Authenticate") != ""; got != (a.Status == 401) {
			c.t.Errorf("%s: WWW-Authenticate %q", where, a.Header.Get("WWW-Authenticate"))
		}
		if a.Status >= 400 && call.Method != "HEAD" {
			e, _ := a.At(c.t, "error").(map[string]any)
			if len(e) != 3 || e["code"] != float64(a.Status) || e["message"] == "" || e["title"] == "" || a.Header.Get("Content-Type") != "application/json" {
				c.t.Errorf("%s: %s %s", where, a.Header.Get("Content-Type"), a.Body)
			}
		}
		if (a.Status == 204) != (a.Header.Get("Content-Type") == "") {
			c.t.Errorf("%s: Content-Type %q", where, a.Header.Get("Content-Type"))
		}
	}
	for _, token := range []string{"", "rubbish", c.as("ben", "p1"), c.Admin()} {
		rows := v3.WithHeads(c.Routes)
		slices.SortStableFunc(rows, func(a, b v3.Route) int { return strings.Compare(a.Path, b.Path) })
		for _, r := range rows {
			path := params.Replace(r.Path)
			check(harness.Call{Method: r.Method, Path: path, Token: token, Subject: token})
			check(harness.Call{Method: "OPTIONS", Path: path, Token: token})
			check(harness.Call{Method: "BREW", Path: path, Token: token})
			if r.Method == "POST" || r.Method == "PUT" || r.Method == "PATCH" {
				check(harness.Call{Method: r.Method, Path: path, Token: token, Body: `{`})
				check(harness.Call{Method: r.Method, Path: path, Token: token, Body: strings.Repeat("x", 1001)})
			}
		}
		check(harness.Call{Method: "GET", Path: "/v3/nothing", Token: token})
		check(harness.Call{Method: "GET", Path: "//v3", Token: token})
		check(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Token: token, Body: harness.Login("ana", "wrong", nil)})
		check(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Token: token, Body: harness.Login("ana", "ana-pw", nil)})
	}
}

// wholeSeconds is what keystoneauth reads; it drops anything else.
var wholeSeconds = regexp.MustCompile(`^[1-9][0-9]*$`)

func retryAfterInSeconds(c *cloud) {
	for _, path := range []string{"/v3/auth/tokens", "/v3/nothing"} {
		c.call("POST", path, "", harness.Login("nobody", "x", nil))
		a := c.call("POST", path, "", harness.Login("nobody", "x", nil))
		c.status(path, a, 429)
		if got := a.Header.Get("Retry-After"); !wholeSeconds.MatchString(got) {
			c.t.Errorf("%s: Retry-After %q", path, got)
		}
	}
}

// servicesAreNeverLimited: nobody in OpenStack repeats a 429.
func servicesAreNeverLimited(c *cloud) {
	service := c.as("svc", "p1")
	c.status("the address has nothing left", c.call("POST", "/v3/auth/tokens", "", harness.Login("nobody", "x", nil)), 429)
	for range 200 {
		c.status("validation", c.validate(service, service, ""), 200)
		c.status("rubbish", c.validate(service, "rubbish", ""), 404)
		c.status("list", c.call("GET", "/v3/regions", service, nil), 200)
		c.status("no such thing", c.call("GET", "/v3/regions/none", service, nil), 404)
	}
}

func behindDashboard(c *conf.Config) {
	oneAnAddress(c)
	c.RateLimitTrustedProxies.TrustedHeader = "forwarded"
	c.RateLimitTrustedProxies.TrustedProxies = []string{"10.0.0.10"}
}

// forwardedByDashboard: the dashboard passes on who its user is, with a free
// text that RFC 7239 does not know, and IPv6 without brackets.
func forwardedByDashboard(c *cloud) {
	const by = ";by=openstack_auth keystoneauth1/5.0.0 python-requests/2.28.1 CPython/3.11.2"
	login := func(forwarded string) int {
		return c.Do(harness.Call{
			Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("nobody", "x", nil), From: "10.0.0.10:4711",
			Header: map[string]string{"Forwarded": forwarded},
		}).Status
	}
	for _, user := range []string{"203.0.113.7", "203.0.113.8", "2001:db8:1::7", "2001:db8:2::7"} {
		if first, second := login("for="+user+by), login("for="+user+by); first != 401 || second != 429 {
			c.t.Errorf("for=%s: %d, %d; want a bucket of its own: 401, 429", user, first, second)
		}
	}
}

func jsonHome(c *cloud) {
	for path, prefix := range map[string]string{"/": "/v3/", "/v3": "/"} {
		a := c.Do(harness.Call{Method: "GET", Path: path, Header: map[string]string{"Accept": "application/json-home"}})
		c.status(path, a, 200)
		if got := a.Header.Get("Content-Type"); got != "application/json-home" {
			c.t.Errorf("%s: Content-Type %q", path, got)
		}
		resources, _ := a.At(c.t, "resources").(map[string]any)
		if len(resources) < 100 {
			c.t.Errorf("%s: %d resources", path, len(resources))
		}
		for rel, r := range resources {
			home := r.(map[string]any)
			href, _ := home["href"].(string)
			template, _ := home["href-template"].(string)
			if !strings.HasPrefix(rel, "https://docs.openstack.org/api/openstack-identity/") || !strings.HasPrefix(href+template, prefix) || strings.HasPrefix(href+template, "/v3/") != (prefix == "/v3/") {
				c.t.Errorf("%s: %s is %v", path, rel, home)
			}
		}
		const tokens = "https://docs.openstack.org/api/openstack-identity/3/rel/auth_tokens"
		if got := a.At(c.t, "resources", tokens, "href"); got != prefix+"auth/tokens" {
			c.t.Errorf("%s: auth_tokens is at %v", path, got)
		}
	}
}

// pipes is a listener on pipes in the process, which know a test's own time.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.done); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Net: "unix", Name: "pipe"} }

// idleConnections: balancers keep connections for 60 s; one that the server
// closes earlier ends in a reset on a POST, which nobody repeats.
func idleConnections(c *cloud) {
	synctest.Test(c.t, func(*testing.T) {
		l := pipes{make(chan net.Conn), make(chan struct{})}
		s := listen.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }), slog.New(slog.DiscardHandler), listen.Times{})
		served := make(chan error, 1)
		go func() { served <- s.Serve(l) }()
		client, server := net.Pipe()
		l.conns <- server
		read := bufio.NewReader(client)
		for i := range 4 {
			if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: k\r\n\r\n"); err != nil {
				c.t.Fatalf("request %d: %v", i, err)
			}
			r, err := http.ReadResponse(read, nil)
			if err != nil {
				c.t.Fatalf("request %d on a connection idle for 65 s: %v", i, err)
			}
			_, _ = io.Copy(io.Discard, r.Body)
			if r.Close {
				c.t.Errorf("request %d: the server closes", i)
			}
			time.Sleep(65 * time.Second)
		}
		_ = client.Close()
		_ = s.Shutdown(c.t.Context())
		if err := <-served; err != nil {
			c.t.Errorf("serve: %v", err)
		}
	})
}

func bodyLimit(c *cloud) {
	send := func(n int) harness.Answer {
		return c.call("POST", "/v3/auth/tokens", "", `{"auth":"`+strings.Repeat("x", n-11)+`"}`)
	}
	c.status("114688 bytes", send(114688), 400)
	c.status("114689 bytes", send(114689), 413)
	d := c.again(func(c *conf.Config) { c.OsloMiddleware.MaxRequestBodySize = 200_000 })
	for n, want := range map[int]int{200_000: 400, 200_001: 413} {
		c.status(fmt.Sprint(n, " bytes"), d.call("POST", "/v3/auth/tokens", "", `{"auth":"`+strings.Repeat("x", n-11)+`"}`), want)
	}
}
