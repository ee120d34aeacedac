package test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/test/harness"
)

// limited is a server with both limiters on, at one unit a second, and a clock
// that stands still until moved.
type limited struct {
	*harness.Server
	count *dbtest.Counter
	tick  *atomic.Int64
	t     *testing.T
}

func limit(burst int) (enabled bool, size, rate *int) {
	one := 1
	return burst > 0, &burst, &one
}

// withLimits runs f on every engine; a burst of 0 switches a limiter off.
func withLimits(t *testing.T, addressBurst, userBurst int, f func(t *testing.T, s limited)) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		s := limited{count: dbtest.Count(t, d), tick: &atomic.Int64{}, t: t}
		three := 3
		s.Server = harness.New(t, harness.Options{
			DB:   s.count,
			Tick: func() time.Duration { return time.Duration(s.tick.Load()) },
			Conf: func(c *conf.Config) {
				g, u := &c.RateLimitGlobalIP, &c.RateLimitUserAuth
				g.Enabled, g.BurstSize, g.ReplenishRatePerSecond = limit(addressBurst)
				u.Enabled, u.BurstSize, u.ReplenishRatePerSecond = limit(userBurst)
				c.SecurityCompliance.LockoutFailureAttempts = &three
			},
		})
		f(t, s)
	})
}

// alice makes the user that is attacked.
func (s limited) alice() string {
	name, password := "alice", "alice-pw"
	pw := &password
	v, err := s.Users.Create(context.Background(), "default", identity.Change{Name: &name, Password: &pw})
	if err != nil {
		s.t.Fatal(err)
	}
	return v.Account.ID
}

func from(n int) string { return fmt.Sprintf("198.51.100.%d:4711", n) }

func (s limited) login(n int, name, password string) harness.Answer {
	return s.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login(name, password, nil), From: from(n)})
}

func (s limited) failures(id string) int {
	a, err := db.One(context.Background(), s.Server.DB, identity.AccountByID(id))
	if err != nil {
		s.t.Fatal(err)
	}
	return a.FailedAuthCount
}

func statuses(t *testing.T, got []harness.Answer, want ...int) {
	t.Helper()
	var g []int
	for _, a := range got {
		g = append(g, a.Status)
	}
	if fmt.Sprint(g) != fmt.Sprint(want) {
		t.Fatalf("statuses %v, want %v", g, want)
	}
}

func repeat(n int, f func(i int) harness.Answer) []harness.Answer {
	out := make([]harness.Answer, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

// TestRL_H01: an address gets its burst, each try costs a lookup and a dummy
// hash; the next one costs neither.
func TestRL_H01(t *testing.T) {
	withLimits(t, 3, 0, func(t *testing.T, s limited) {
		before := s.Hasher.Stats().Done
		s.count.Reset()
		statuses(t, repeat(4, func(int) harness.Answer { return s.login(1, "nobody", "x") }), 401, 401, 401, 429)
		if n := s.Hasher.Stats().Done - before; n != 3 {
			t.Errorf("%d hashes, want 3", n)
		}
		if s.count.RoundTrips != 3 {
			t.Errorf("%d round trips, want 3", s.count.RoundTrips)
		}
	})
}

// unread fails the test when anybody reads it.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

// TestRL_H02: a refused address is refused before its body is read.
func TestRL_H02(t *testing.T) {
	withLimits(t, 3, 0, func(t *testing.T, s limited) {
		repeat(3, func(int) harness.Answer { return s.login(1, "nobody", "x") })
		s.count.Reset()
		r := harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: "x", From: from(1)}.Request(t)
		r.Body, r.ContentLength = io.NopCloser(unread{t}), 100_000
		if a := s.Serve(r); a.Status != 429 {
			t.Errorf("status %d", a.Status)
		}
		if s.count.RoundTrips != 0 {
			t.Errorf("%d round trips after an address refusal", s.count.RoundTrips)
		}
	})
}

// TestRL_H03: the user's bucket holds whatever the address; a refusal neither
// hashes nor counts as a failure.
func TestRL_H03(t *testing.T) {
	withLimits(t, 100, 2, func(t *testing.T, s limited) {
		id := s.alice()
		before := s.Hasher.Stats().Done
		statuses(t, repeat(3, func(i int) harness.Answer { return s.login(i, "alice", "wrong") }), 401, 401, 429)
		if n := s.Hasher.Stats().Done - before; n != 2 {
			t.Errorf("%d hashes, want 2", n)
		}
		if n := s.failures(id); n != 2 {
			t.Errorf("failed_auth_count %d, want 2", n)
		}
		s.count.Reset()
		s.login(9, "alice", "wrong")
		if s.count.Writes != 0 {
			t.Errorf("%d writes after a user refusal", s.count.Writes)
		}
	})
}

// TestRL_H05 and the rest of the answer's form: every 429 is the same but for
// the request id.
func TestRL_H05(t *testing.T) {
	withLimits(t, 20, 2, func(t *testing.T, s limited) {
		s.alice()
		byUser := repeat(3, func(int) harness.Answer { return s.login(1, "alice", "wrong") })[2]
		byAddress := repeat(21, func(int) harness.Answer { return s.login(2, "nobody", "x") })[20]
		onToken := s.Do(harness.Call{Method: "GET", Path: "/v3/regions", Token: "rubbish", From: from(2)})
		onPath := s.Do(harness.Call{Method: "GET", Path: "/nothing", From: from(2)})
		for name, a := range map[string]harness.Answer{"address": byAddress, "token": onToken, "path": onPath} {
			if a.Body != byUser.Body {
				t.Errorf("%s: body %s, by user %s", name, a.Body, byUser.Body)
			}
			g, w := a.Header.Clone(), byUser.Header.Clone()
			g.Del("X-Openstack-Request-Id")
			w.Del("X-Openstack-Request-Id")
			if fmt.Sprint(g) != fmt.Sprint(w) {
				t.Errorf("%s: headers\n%v, by user\n%v", name, g, w)
			}
		}
	})
}

// TestRL_H06 is the form of a 429.
func TestRL_H06(t *testing.T) {
	withLimits(t, 1, 0, func(t *testing.T, s limited) {
		a := repeat(2, func(int) harness.Answer { return s.login(1, "nobody", "x") })[1]
		const want = `{"error":{"code":429,"message":"Too many requests. Wait before you try again.","title":"Too Many Requests"}}` + "\n"
		if a.Status != 429 || a.Body != want {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		for k, v := range map[string]string{"Content-Type": "application/json", "Retry-After": "1", "Vary": "X-Auth-Token", "Cache-Control": "no-store"} {
			if a.Header.Get(k) != v {
				t.Errorf("%s: %q, want %q", k, a.Header.Get(k), v)
			}
		}
		for k := range a.Header {
			if l := strings.ToLower(k); strings.HasPrefix(l, "ratelimit") || strings.HasPrefix(l, "x-ratelimit") {
				t.Errorf("header %s", k)
			}
		}
	})
}

// TestRL_H07: a success gives its unit back; at once, the burst is the bound.
func TestRL_H07(t *testing.T) {
	withLimits(t, 100, 2, func(t *testing.T, s limited) {
		s.alice()
		for i, a := range repeat(10, func(i int) harness.Answer { return s.login(i, "alice", "alice-pw") }) {
			if a.Status != 201 {
				t.Fatalf("login %d: %d", i, a.Status)
			}
		}
	})
}

// TestRL_H08: wrong, right, wrong, wrong.
func TestRL_H08(t *testing.T) {
	withLimits(t, 100, 2, func(t *testing.T, s limited) {
		s.alice()
		passwords := []string{"wrong", "alice-pw", "wrong", "wrong"}
		statuses(t, repeat(4, func(i int) harness.Answer { return s.login(i, "alice", passwords[i]) }), 401, 201, 401, 429)
	})
}

// TestRL_H09: of 50 wrong passwords at once, from 50 addresses, the burst is
// hashed and no more.
func TestRL_H09(t *testing.T) {
	withLimits(t, 100, 2, func(t *testing.T, s limited) {
		s.alice()
		before := s.Hasher.Stats().Done
		var refused atomic.Int64
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				if s.login(i, "alice", "wrong").Status == 429 {
					refused.Add(1)
				}
			})
		}
		wg.Wait()
		if n := s.Hasher.Stats().Done - before; n != 2 || refused.Load() != 48 {
			t.Errorf("%d hashes, %d refused; want 2 and 48", n, refused.Load())
		}
	})
}

// TestRL_H10: by id, by name and on the way to a new password it is one bucket.
func TestRL_H10(t *testing.T) {
	withLimits(t, 100, 2, func(t *testing.T, s limited) {
		id := s.alice()
		byID := harness.M{"auth": harness.M{"identity": harness.M{"methods": []string{"password"}, "password": harness.M{"user": harness.M{"id": id, "password": "wrong"}}}}}
		statuses(t, []harness.Answer{
			s.login(1, "alice", "wrong"),
			s.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: byID, From: from(2)}),
			s.Do(harness.Call{
				Method: "POST", Path: "/v3/users/" + id + "/password", From: from(3),
				Body: harness.M{"user": harness.M{"original_password": "wrong", "password": "new"}},
			}),
		}, 401, 401, 429)
	})
}

// TestRL_H12: a refused try is no failure.
func TestRL_H12(t *testing.T) {
	withLimits(t, 100, 2, func(t *testing.T, s limited) {
		id := s.alice()
		repeat(20, func(i int) harness.Answer { return s.login(i, "alice", "wrong") })
		if n := s.failures(id); n != 2 {
			t.Errorf("failed_auth_count %d, want 2", n)
		}
		s.tick.Add(int64(2 * time.Second))
		if a := s.login(1, "alice", "alice-pw"); a.Status != 201 {
			t.Errorf("locked by refused tries: %d", a.Status)
		}
	})
}

// TestRL_H15: validations by a service are never limited by its address.
func TestRL_H15(t *testing.T) {
	withLimits(t, 3, 0, func(t *testing.T, s limited) {
		admin := s.Admin()
		for i := range 2_000 {
			a := s.Do(harness.Call{Method: "GET", Path: "/v3/auth/tokens?nocatalog", Token: admin, Subject: admin})
			if a.Status != 200 {
				t.Fatalf("validation %d: %d", i, a.Status)
			}
		}
	})
}

// TestRL_H16: rubbish in X-Auth-Token is limited, without a statement.
func TestRL_H16(t *testing.T) {
	withLimits(t, 3, 0, func(t *testing.T, s limited) {
		s.count.Reset()
		statuses(t, repeat(5, func(i int) harness.Answer {
			return s.Do(harness.Call{Method: "GET", Path: "/v3/auth/tokens", Token: fmt.Sprint("rubbish", i), Subject: "x", From: from(1)})
		}), 401, 401, 401, 429, 429)
		if s.count.RoundTrips != 0 {
			t.Errorf("%d round trips for rubbish", s.count.RoundTrips)
		}
	})
}

// TestRL_H17: no spelling of the path reaches the handler uncounted.
func TestRL_H17(t *testing.T) {
	for _, path := range []string{"/v3/auth/tokens", "/v3/auth/tokens/", "//v3/auth/tokens", "/identity/v3/auth/tokens", "/v3/%61uth/tokens", "/v3//auth/tokens", "/v3/auth/tokens?x=1", "/v3/./auth/tokens"} {
		t.Run(path, func(t *testing.T) {
			withLimits(t, 2, 0, func(t *testing.T, s limited) {
				got := repeat(3, func(int) harness.Answer {
					return s.Do(harness.Call{Method: "POST", Path: path, Body: harness.Login("admin", "wrong", nil), From: from(1)})
				})
				if got[2].Status != 429 || got[0].Status != 401 && got[0].Status != 404 {
					t.Errorf("%d, %d, %d", got[0].Status, got[1].Status, got[2].Status)
				}
			})
		})
	}
}

// TestRL_H23: discovery and health are never limited.
func TestRL_H23(t *testing.T) {
	withLimits(t, 1, 0, func(t *testing.T, s limited) {
		for range 1_000 {
			for path, status := range map[string]int{"/healthcheck": 200, "/": 300, "/v3": 200} {
				if a := s.Do(harness.Call{Method: "GET", Path: path}); a.Status != status {
					t.Fatalf("%s: %d", path, a.Status)
				}
			}
		}
	})
}

// TestRL_K08: names that differ in case are two users with two buckets, and one
// with one where the database takes them for the same.
func TestRL_K08(t *testing.T) {
	withLimits(t, 100, 2, func(t *testing.T, s limited) {
		s.alice()
		if !dbtest.Exact(s.DB) {
			statuses(t, []harness.Answer{s.login(1, "alice", "wrong"), s.login(2, "ALICE", "wrong"), s.login(3, "Alice", "alice-pw")}, 401, 401, 429)
			return
		}
		name, password := "Alice", "Alice-pw"
		pw := &password
		if _, err := s.Users.Create(t.Context(), "default", identity.Change{Name: &name, Password: &pw}); err != nil {
			t.Fatal(err)
		}
		repeat(3, func(i int) harness.Answer { return s.login(i, "alice", "wrong") })
		if a := s.login(1, "Alice", "Alice-pw"); a.Status != 201 {
			t.Errorf("Alice: %d", a.Status)
		}
		if a := s.login(1, "alice", "alice-pw"); a.Status != 429 {
			t.Errorf("alice: %d", a.Status)
		}
	})
}

// TestRL_K13: a name of 256 characters is refused, its address charged, nobody
// looked up.
func TestRL_K13(t *testing.T) {
	withLimits(t, 2, 2, func(t *testing.T, s limited) {
		s.count.Reset()
		statuses(t, repeat(3, func(int) harness.Answer { return s.login(1, strings.Repeat("é", 256), "x") }), 400, 400, 429)
		if s.count.RoundTrips != 0 {
			t.Errorf("%d round trips", s.count.RoundTrips)
		}
	})
}
