package main

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/keystone-go/keystone-go/internal/ops"
)

// limitedProcess is a server whose address limit gives three requests, one
// back in a second.
func limitedProcess(t *testing.T, more ...string) (place, *process) {
	t.Helper()
	p := running(t, append([]string{"[rate_limit_global_ip]", "enabled = true", "burst_size = 3", "replenish_rate_per_second = 1"}, more...)...)
	return p, launch(t, nil, nil, "--config-file", p.conf, "serve")
}

// flood asks until it is refused.
func (p *process) flood(t *testing.T) {
	t.Helper()
	for range 20 {
		status, _, _, err := p.call("GET", "/v3/regions", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if status == http.StatusTooManyRequests {
			return
		}
	}
	t.Fatal("20 requests are not too many")
}

// TestRL_C19: a file that no start would take leaves the running limits as they
// are, is logged and counted.
func TestRL_C19(t *testing.T) {
	p, s := limitedProcess(t)
	s.flood(t)
	p.edit(t, "burst_size = 3", "burst_size = 0")
	s.signal(t, syscall.SIGHUP)
	s.says(t, refused, 1)
	if log := s.log.String(); !strings.Contains(log, "burst_size") || !strings.Contains(log, "1 to 100000") {
		t.Errorf("the log does not name option and range:\n%s", tail(log))
	}
	for name, want := range map[string]string{"keystone_config_reload_success": "0", `keystone_config_reloads_total{outcome="failure"}`: "1"} {
		if got := s.metric(t, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	l := s.limiter(t, "rate_limit_global_ip")
	if l.Burst != 3 || l.Rate != 1 || l.Mode != "enforce" || l.Refused == 0 {
		t.Errorf("the limit is %+v", l)
	}
	s.flood(t)
}

// limiter reads how a limit stands, as ratelimit show does.
func (p *process) limiter(t *testing.T, name string) ops.LimiterView {
	t.Helper()
	var answer struct{ Limiters []ops.LimiterView }
	status, body := get(t, p.admin+"/ratelimit")
	if status != http.StatusOK {
		t.Fatalf("/ratelimit: %d %s", status, body)
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	for _, l := range answer.Limiters {
		if l.Name == name {
			return l
		}
	}
	t.Fatalf("there is no limiter %s in %s", name, body)
	return ops.LimiterView{}
}

// TestRateLimitShow: show prints limits, debts and how a caller stands, through
// the admin listener and without a token; addresses are hashed.
func TestRateLimitShow(t *testing.T) {
	p, s := limitedProcess(t)
	s.flood(t)
	listen := strings.TrimPrefix(s.admin, "http://")
	p.edit(t, "admin_listen = 127.0.0.1:0", "admin_listen = "+listen)
	r := call{}.run(t, "--config-file", p.conf, "ratelimit", "show", "--address", "127.0.0.1")
	for _, want := range []string{"rate_limit_global_ip  enforce  3 at once, 1 each 1s", "owing in", "stands in", "of 3"} {
		if r.code != 0 || !strings.Contains(r.out, want) {
			t.Errorf("show does not say %q (code %d):\n%s%s", want, r.code, r.out, r.err)
		}
	}
	if strings.Contains(r.out, "127.0.0.1") {
		t.Errorf("show tells an address:\n%s", r.out)
	}
	r = call{}.run(t, "--config-file", p.conf, "ratelimit", "show", "--json", "--top", "0")
	var answer struct{ Limiters []ops.LimiterView }
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || len(answer.Limiters) == 0 || len(answer.Limiters[0].Debtors) != 0 {
		t.Errorf("as JSON: %v\n%s", err, r.out)
	}
	r = call{}.run(t, "--config-file", p.conf, "ratelimit", "show", "--user", "nobody", "--domain", "default")
	if r.code != failed || !strings.Contains(r.err, "Could not find user") {
		t.Errorf("somebody unknown: %d %s", r.code, r.err)
	}
}

// TestRateLimitShowOnASocket: the admin listener may be a unix socket.
func TestRateLimitShowOnASocket(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "admin.sock")
	p := running(t, "[rate_limit_global_ip]", "enabled = true", "burst_size = 3", "replenish_rate_per_second = 1")
	p.edit(t, "admin_listen = 127.0.0.1:0", "admin_listen = unix:"+socket)
	s := launch(t, nil, nil, "--config-file", p.conf, "serve")
	_ = s
	r := call{}.run(t, "--config-file", p.conf, "ratelimit", "show")
	if r.code != 0 || !strings.Contains(r.out, "rate_limit_global_ip") {
		t.Errorf("show: %d\n%s%s", r.code, r.out, r.err)
	}
}

// TestRateLimitReset: reset logs in as OpenStack's clients do, or takes a token,
// gives the quota back, and fails for who may not.
func TestRateLimitReset(t *testing.T) {
	_, s := limitedProcess(t, "[rate_limit_user_auth]", "enabled = true", "burst_size = 2", "replenish_rate_per_second = 1")
	env := []string{"OS_AUTH_URL=" + s.url + "/v3", "OS_USERNAME=admin", "OS_PASSWORD=s3cret", "OS_PROJECT_NAME=admin"}
	token, err := s.login()
	if err != nil {
		t.Fatal(err)
	}
	s.flood(t)
	if l := s.limiter(t, "rate_limit_global_ip"); len(l.Debtors) != 1 {
		t.Fatalf("debtors: %+v", l.Debtors)
	}
	r := call{env: []string{"OS_AUTH_URL=" + s.url, "OS_TOKEN=" + token}}.run(t, "ratelimit", "reset", "--address", "127.0.0.1")
	if r.code != 0 || r.out != "rate_limit_global_ip: nothing is owed\n" {
		t.Errorf("reset by token: %d %q %s", r.code, r.out, r.err)
	}
	if l := s.limiter(t, "rate_limit_global_ip"); len(l.Debtors) != 0 {
		t.Errorf("debtors after the reset: %+v", l.Debtors)
	}
	r = call{env: env}.run(t, "ratelimit", "reset", "--user", "admin", "--domain", "default")
	if r.code != 0 || !strings.Contains(r.out, "rate_limit_user_auth: nothing is owed") {
		t.Errorf("reset by login: %d %q %s", r.code, r.out, r.err)
	}
	s.says(t, "audit: reset", 2)
	if strings.Contains(s.log.String(), "s3cret") || strings.Contains(r.out+r.err, token) {
		t.Error("a secret is shown")
	}
	for what, c := range map[string]struct {
		env  []string
		args []string
		code int
		says string
	}{
		"a bad token":   {[]string{"OS_AUTH_URL=" + s.url, "OS_TOKEN=x"}, []string{"--address", "::1"}, failed, "401"},
		"nobody":        {nil, nil, misuse, "--user, --address"},
		"no server":     {nil, []string{"--address", "::1"}, failed, "OS_AUTH_URL"},
		"no login":      {[]string{"OS_AUTH_URL=" + s.url}, []string{"--address", "::1"}, failed, "OS_TOKEN"},
		"no address":    {[]string{"OS_AUTH_URL=" + s.url, "OS_TOKEN=" + token}, []string{"--address", "x"}, failed, "no IP address"},
		"only a domain": {nil, []string{"--domain", "default"}, misuse, "--user"},
	} {
		r := call{env: c.env}.run(t, append([]string{"ratelimit", "reset"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: %d %s", what, r.code, r.err)
		}
	}
}

// TestRateLimitExplain: what the examples of the document do not show.
func TestRateLimitExplain(t *testing.T) {
	p := running(t, "[rate_limit_global_ip]", "enabled = true", "burst_size = 3", "replenish_rate_per_second = 1",
		"[rate_limit]", "exempt_networks = 10.0.0.0/24", "block_networks = 203.0.113.0/24",
		"[rate_limit_trusted_proxies]", "trusted_proxies = 10.0.0.1",
		"[rate_limit_user_auth]", "enabled = true", "burst_size = 5", "replenish_rate_per_second = 1",
		"[rate_limit_default]", "per_address = 300/1m", "mode = shadow",
		"[rate_limit_signed_in]", "per_principal = 1200/1m",
		"[rate_limit_route:token]", "paths = POST:/v3/auth/tokens", "per_address = 120/1m",
		"[rate_limit_route:health]", "paths = GET:/v3/regions*", "exempt = true")
	for _, c := range []struct {
		args []string
		says []string
		not  []string
	}{
		{
			[]string{"--peer", "198.51.100.9:1"},
			[]string{"  1  rate_limit_global_ip ", "  2  rate_limit_default  ", "shadow", "  3  rate_limit_route:token.per_address ", "rate_limit_user_auth", "the policy [rate_limit_route:token]", "given back on success"},
			[]string{"rate_limit_signed_in"},
		},
		{
			[]string{"--peer", "198.51.100.9:1", "--path", "GET:/v3/users/u1/lockout"},
			[]string{"GET /v3/users/{user_id}/lockout", "without a valid token", "rate_limit_signed_in", "with a valid token"},
			[]string{"rate_limit_user_auth", "policy"},
		},
		{[]string{"--peer", "198.51.100.9:1", "--path", "GET:/v3/auth/tokens"}, []string{"without a token of this cloud"}, nil},
		{[]string{"--peer", "198.51.100.9:1", "--path", "GET:/v3/regions/r1"}, []string{"[rate_limit_route:health]"}, []string{"rate_limit_default", "rate_limit_signed_in"}},
		{[]string{"--peer", "198.51.100.9:1", "--path", "GET:/nothing"}, []string{"no such route", "rate_limit_global_ip"}, nil},
		{[]string{"--peer", "198.51.100.9:1", "--path", "GET:/healthcheck"}, []string{"never limited", "no limit is on that counts it"}, nil},
		{[]string{"--peer", "203.0.113.9:1"}, []string{"block_networks (203.0.113.0/24): every request is refused"}, []string{"  1  "}},
		{[]string{"--peer", "10.0.0.7:1"}, []string{"exempt_networks (10.0.0.0/24): no limit by address counts it", "  1  rate_limit_user_auth"}, []string{"rate_limit_global_ip"}},
		{[]string{"--peer", "10.0.0.1:1", "--header", "X-Forwarded-For: bogus"}, []string{"bogus: no address of a host", "nothing proves that it is the client", "rate_limit_global_ip"}, nil},
		{[]string{"--peer", "@"}, []string{"peer    (none)", "answered 503", "(none: 503)"}, nil},
	} {
		r := call{}.run(t, append([]string{"--config-file", p.conf, "ratelimit", "explain"}, c.args...)...)
		if r.code != 0 {
			t.Errorf("%v: %d %s", c.args, r.code, r.err)
		}
		for _, want := range c.says {
			if !strings.Contains(r.out, want) {
				t.Errorf("%v does not say %q:\n%s", c.args, want, r.out)
			}
		}
		for _, word := range c.not {
			if strings.Contains(r.out, word) {
				t.Errorf("%v says %q:\n%s", c.args, word, r.out)
			}
		}
	}
	for _, args := range [][]string{{}, {"--peer", "10.0.0.1", "--header", "x"}, {"--peer", "10.0.0.1", "--path", "x"}} {
		if r := (call{}).run(t, append([]string{"--config-file", p.conf, "ratelimit", "explain"}, args...)...); r.code != misuse {
			t.Errorf("%v: code %d", args, r.code)
		}
	}
}
