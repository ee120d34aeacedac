package test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/redistest"
	"github.com/keystone-go/keystone-go/test/harness"
)

// perMinute is a limit as a file has it.
func perMinute(n int) *conf.Limit {
	return &conf.Limit{Requests: n, Period: time.Minute, Burst: n}
}

// guessing are the prices of the packaged file for routes that take secrets.
var guessing = conf.Prices{Price401: 10, Price403: 5, PriceOther: 1}

// withLayers is a server whose clock of limits stands still.
func withLayers(t *testing.T, change func(*conf.Config), f func(t *testing.T, s limited)) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		s := limited{count: dbtest.Count(t, d), tick: &atomic.Int64{}, t: t}
		s.Server = harness.New(t, harness.Options{
			DB: s.count, Tick: func() time.Duration { return time.Duration(s.tick.Load()) }, Conf: change,
		})
		f(t, s)
	})
}

// R101, C-19: on the token route guesses cost ten, and who knows his password
// pays nothing, whatever the number of his logins.
func TestLoginPrices(t *testing.T) {
	withLayers(t, func(c *conf.Config) {
		c.RateLimitRoutes = []conf.RateLimitRoute{{Name: "tokens", Paths: []string{"POST:/v3/auth/tokens"}, PerAddress: perMinute(40), Prices: guessing}}
	}, func(t *testing.T, s limited) {
		s.alice()
		for range 30 {
			statuses(t, []harness.Answer{s.login(1, "alice", "alice-pw")}, 201)
		}
		statuses(t, repeat(6, func(int) harness.Answer { return s.login(1, "alice", "wrong") }), 401, 401, 401, 401, 429, 429)
		statuses(t, []harness.Answer{s.login(1, "alice", "alice-pw"), s.login(2, "alice", "alice-pw")}, 429, 201)
		s.tick.Add(int64(15 * time.Second))
		statuses(t, []harness.Answer{s.login(1, "alice", "alice-pw"), s.login(1, "alice", "alice-pw")}, 201, 201)
	})
}

// TestRL_H31: a loop of revocations is limited by who runs it (OSSN-0068),
// wherever it comes from, and his other requests are not.
func TestRL_H31(t *testing.T) {
	withLayers(t, func(c *conf.Config) {
		c.RateLimitSignedIn.PerPrincipal = perMinute(100)
		c.RateLimitRoutes = []conf.RateLimitRoute{{Name: "revoke", Paths: []string{"DELETE:/v3/auth/tokens"}, PerPrincipal: perMinute(3)}}
	}, func(t *testing.T, s limited) {
		admin := s.Admin()
		revoke := func(i int) harness.Answer {
			return s.Do(harness.Call{Method: "DELETE", Path: "/v3/auth/tokens", Token: admin, Subject: s.Admin(), From: from(i)})
		}
		got := repeat(3, revoke)
		s.count.Reset()
		fourth := s.Do(harness.Call{Method: "DELETE", Path: "/v3/auth/tokens", Token: admin, Subject: admin, From: from(9)})
		statuses(t, append(got, fourth), 204, 204, 204, 429)
		if s.count.Writes != 0 {
			t.Errorf("%d writes for a refused revocation", s.count.Writes)
		}
		statuses(t, []harness.Answer{s.Do(harness.Call{Method: "GET", Path: "/v3/regions", Token: admin})}, 200)
	})
}

// TestRL_H24: the address of an exempt network is free, and the user's limit
// trips all the same.
func TestRL_H24(t *testing.T) {
	two, one := 2, 1
	withLayers(t, func(c *conf.Config) {
		g, u := &c.RateLimitGlobalIP, &c.RateLimitUserAuth
		g.Enabled, g.BurstSize, g.ReplenishRatePerSecond = true, &one, &one
		u.Enabled, u.BurstSize, u.ReplenishRatePerSecond = true, &two, &one
		c.RateLimitDefault.PerAddress = perMinute(1)
		c.RateLimit.ExemptNetworks = []string{"198.51.100.0/24"}
	}, func(t *testing.T, s limited) {
		s.alice()
		statuses(t, repeat(5, func(i int) harness.Answer { return s.login(1, fmt.Sprint("nobody", i), "x") }), 401, 401, 401, 401, 401)
		statuses(t, repeat(3, func(int) harness.Answer { return s.login(1, "alice", "wrong") }), 401, 401, 429)
	})
}

// A layer's refusal asks no database, and the limits add no statement.
func TestLayersAskNoDatabase(t *testing.T) {
	for name, change := range map[string]func(*conf.Config){
		"off": func(*conf.Config) {},
		"on": func(c *conf.Config) {
			c.RateLimitDefault.PerAddress, c.RateLimitSignedIn.PerPrincipal = perMinute(1000), perMinute(1000)
			c.RateLimitRoutes = []conf.RateLimitRoute{{Name: "regions", Paths: []string{"GET:/v3/regions"}, PerAddress: perMinute(2), PerPrincipal: perMinute(1000), Prices: conf.Default().RateLimitDefault.Prices}}
		},
	} {
		withLayers(t, func(c *conf.Config) {
			change(c)
			c.KeystoneGo.RememberReads = false // any commit on the server has them read again
		}, func(t *testing.T, s limited) {
			admin := s.Admin()
			list := harness.Call{Method: "GET", Path: "/v3/regions", Token: admin}
			s.Do(list) // what is read once is read
			s.count.Reset()
			statuses(t, []harness.Answer{s.Do(list)}, 200)
			if s.count.Statements == 0 {
				t.Fatal("nothing was counted")
			}
			_, key, _ := strings.Cut(strings.TrimSuffix(t.Name(), "#01"), "/")
			if before, ok := statementsOfLayers[key]; ok && before != s.count.Statements {
				t.Errorf("%s: %d statements, and %d the other way", name, s.count.Statements, before)
			}
			statementsOfLayers[key] = s.count.Statements
			if name == "off" {
				return
			}
			s.count.Reset()
			statuses(t, []harness.Answer{s.Do(list)}, 429)
			if s.count.RoundTrips != 0 {
				t.Errorf("%d round trips for a refused request", s.count.RoundTrips)
			}
		})
	}
}

var statementsOfLayers = map[string]int{}

// TestRL_C16: Redis that is not there stops no start: the limits hold in the
// process, which is said in the warnings, and are shared when it comes.
func TestRL_C16(t *testing.T) {
	server := redistest.Start(t)
	server.Kill()
	burst, rate, one := 4, 1, 1
	var log bytes.Buffer
	shared := func(c *conf.Config) {
		c.RateLimit.Store, c.RateLimit.RedisURL, c.RateLimit.KeySecret, c.RateLimit.Instances = "redis", "redis://"+server.Addr, "a secret of the test", &one
		g := &c.RateLimitGlobalIP
		g.Enabled, g.BurstSize, g.ReplenishRatePerSecond = true, &burst, &rate
		c.RateLimitDefault.PerAddress, c.RateLimitDefault.Mode = perMinute(100), "shadow"
		c.Healthcheck.Detailed = true
	}
	s := limited{Server: harness.New(t, harness.Options{Engine: "sqlite", Conf: shared, Log: &log}), t: t}
	if all := strings.Join(s.Warnings, "\n"); !strings.Contains(all, "the store of the limits does not answer") {
		t.Errorf("warnings: %s", all)
	}
	got := repeat(8, func(int) harness.Answer { return s.login(1, "nobody", "x") })
	if n := answered(got, 401); n < 4 || n > 6 || answered(got, 429) != 8-n {
		t.Errorf("without Redis %d of 8 were admitted, want 4 or little more: %v", n, got)
	}
	statuses(t, []harness.Answer{s.Do(harness.Call{Method: "GET", Path: "/healthcheck"}), s.Do(harness.Call{Method: "GET", Path: "/v3"})}, 200, 200)

	health(t, s, true)

	closed := limited{Server: harness.New(t, harness.Options{Engine: "sqlite", Conf: func(c *conf.Config) {
		shared(c)
		c.RateLimit.OnStoreFailure = "closed"
	}}), t: t}
	a := closed.login(1, "nobody", "x")
	if a.Status != 503 || a.Header.Get("Retry-After") == "" {
		t.Errorf("closed: got %d, Retry-After %q", a.Status, a.Header.Get("Retry-After"))
	}
	statuses(t, []harness.Answer{closed.Do(harness.Call{Method: "GET", Path: "/v3"})}, 200)

	server.Restart()
	var open limited
	for range 5 { // a busy machine may miss the time of the question
		if open = (limited{Server: harness.New(t, harness.Options{Engine: "sqlite", Conf: shared}), t: t}); len(open.Warnings) < len(s.Warnings) {
			break
		}
	}
	if all := strings.Join(open.Warnings, "\n"); strings.Contains(all, "does not answer") {
		t.Errorf("warnings with Redis there: %s", all)
	}
	health(t, open, false)
	got = append(repeat(3, func(int) harness.Answer { return open.login(2, "nobody", "x") }), repeat(4, func(int) harness.Answer { return closed.login(2, "nobody", "x") })...)
	if n := answered(got, 401); n < 4 || n > 6 {
		t.Errorf("two servers admitted %d of one address, want 4 or little more: %v", n, got)
	}
}

// health holds both health answers to a store that is away or not: neither is
// down.
func health(t *testing.T, s limited, degraded bool) {
	t.Helper()
	want := "ok\n"
	if degraded {
		want = "degraded\n"
	}
	w := httptest.NewRecorder()
	s.App.Admin.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
	if w.Code != http.StatusOK || w.Body.String() != want {
		t.Errorf("readyz: %d %q, want %q", w.Code, w.Body, want)
	}
	for _, media := range []string{"application/json", "text/html", "text/plain"} {
		a := s.Do(harness.Call{Method: "GET", Path: "/healthcheck", Header: map[string]string{"Accept": media}})
		if told := strings.Contains(a.Body, "DEGRADED"); a.Status != http.StatusOK || told != (degraded && media != "text/plain") {
			t.Errorf("healthcheck as %s: %d %s, degraded %v", media, a.Status, a.Body, degraded)
		}
	}
}

func answered(got []harness.Answer, status int) (n int) {
	for _, a := range got {
		if a.Status == status {
			n++
		}
	}
	return n
}
