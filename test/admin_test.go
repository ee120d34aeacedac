package test

import (
	"bytes"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/test/harness"
)

// notes is a log that a test reads while a server writes it.
type notes struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.buf.Write(p)
}

// lines are those that hold a word.
func (n *notes) lines(word string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []string
	for l := range strings.SplitSeq(n.buf.String(), "\n") {
		if strings.Contains(l, word) {
			out = append(out, l)
		}
	}
	return out
}

// guarded is a cloud with limits, a lock after three failures, and its log.
func guarded(t *testing.T, f func(c *cloud, log *notes)) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			var log notes
			three, two, hundred, one := 3, 2, 100, 1
			f(newCloud(t, harness.Options{Engine: engine, Log: &log, Conf: func(c *conf.Config) {
				c.SecurityCompliance.LockoutFailureAttempts, c.SecurityCompliance.LockoutDuration = &three, 1800
				g, u := &c.RateLimitGlobalIP, &c.RateLimitUserAuth
				g.Enabled, g.BurstSize, g.ReplenishRatePerSecond = true, &hundred, &one
				u.Enabled, u.BurstSize, u.ReplenishRatePerSecond = true, &two, &one
			}}), &log)
		})
	}
}

func (c *cloud) attempt(name, password, from string) int {
	c.t.Helper()
	return c.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login(name, password, nil), From: from}).Status
}

var adminRows = []struct{ method, path string }{
	{"GET", "/v3/keystone-go/ratelimit"},
	{"DELETE", "/v3/keystone-go/ratelimit?user_id={ana}"},
	{"GET", "/v3/keystone-go/lockouts"},
	{"GET", "/v3/users/{ana}/lockout"},
	{"DELETE", "/v3/users/{ana}/lockout"},
}

// TestAdminRowsAreForAdmins: the rows of our own answer administrators of a
// project or the system, and nobody else, not even about themselves.
func TestAdminRowsAreForAdmins(t *testing.T) {
	guarded(t, func(c *cloud, _ *notes) {
		admins := map[string]string{
			"admin":  c.Admin(),
			"system": c.Token("admin", harness.Password, harness.M{"system": harness.M{"all": true}}),
		}
		others := map[string]string{
			"ana, about herself": c.Token("ana", "ana-pw", harness.OnProject("p1")),
			"manager":            c.Token("mia", "mia-pw", harness.M{"domain": harness.M{"id": "default"}}),
			"reader":             c.Token("rex", "rex-pw", harness.M{"system": harness.M{"all": true}}),
			"service":            c.Token("svc", "svc-pw", harness.OnProject("p1")),
		}
		for _, r := range adminRows {
			path := strings.ReplaceAll(r.path, "{ana}", c.ids["ana"])
			for who, token := range admins {
				if a := c.Do(harness.Call{Method: r.method, Path: path, Token: token}); a.Status >= 300 {
					c.t.Errorf("%s %s by %s: %d %s", r.method, path, who, a.Status, a.Body)
				}
			}
			for who, token := range others {
				if a := c.Do(harness.Call{Method: r.method, Path: path, Token: token}); a.Status != 403 {
					c.t.Errorf("%s %s by %s: %d, want 403", r.method, path, who, a.Status)
				}
			}
			if a := c.Do(harness.Call{Method: r.method, Path: path}); a.Status != 401 {
				c.t.Errorf("%s %s by nobody: %d, want 401", r.method, path, a.Status)
			}
		}
	})
}

// TestLockoutRows: an administrator sees who is locked and since when, unlocks,
// and the audit log says who did it; the user himself is told nothing.
func TestLockoutRows(t *testing.T) {
	guarded(t, func(c *cloud, log *notes) {
		t := c.t
		admin, ana := c.Admin(), c.ids["ana"]
		path := "/v3/users/" + ana + "/lockout"
		show := func() harness.Answer { return c.Do(harness.Call{Method: "GET", Path: path, Token: admin}) }
		if a := show(); a.Status != 200 || a.At(t, "lockout", "locked") != false || a.At(t, "lockout", "failures") != 0.0 || a.At(t, "lockout", "locked_until") != nil {
			t.Errorf("before: %d %s", a.Status, a.Body)
		}
		for range 3 {
			c.attempt("ana", "wrong", "192.0.2.9:1")
			c.pass(time.Minute)
		}
		if got := c.attempt("ana", "ana-pw", "192.0.2.9:1"); got != 401 {
			t.Fatalf("the right password of a locked account: %d", got)
		}
		a := show()
		if a.At(t, "lockout", "locked") != true || a.At(t, "lockout", "failures") != 3.0 || a.At(t, "lockout", "last_failure_at") == nil {
			t.Errorf("locked: %s", a.Body)
		}
		last, err1 := time.Parse("2006-01-02T15:04:05.000000", a.At(t, "lockout", "last_failure_at").(string))
		until, err2 := time.Parse("2006-01-02T15:04:05.000000", a.At(t, "lockout", "locked_until").(string))
		if err1 != nil || err2 != nil || until.Sub(last) != 30*time.Minute {
			t.Errorf("last failure %v, locked until %v", last, until)
		}
		list := c.Do(harness.Call{Method: "GET", Path: "/v3/keystone-go/lockouts", Token: admin})
		if n := len(list.At(t, "lockouts").([]any)); n != 1 || list.At(t, "lockouts", 0, "user_id") != ana || list.At(t, "lockouts", 0, "name") != "ana" {
			t.Errorf("list: %s", list.Body)
		}
		c.pass(time.Minute)
		admin = c.Admin()
		if a := c.Do(harness.Call{Method: "DELETE", Path: path, Token: admin}); a.Status != 204 || a.Body != "" {
			t.Errorf("unlock: %d %s", a.Status, a.Body)
		}
		if got := c.attempt("ana", "ana-pw", "192.0.2.9:1"); got != 201 {
			t.Errorf("after the unlock: %d", got)
		}
		list = c.Do(harness.Call{Method: "GET", Path: "/v3/keystone-go/lockouts", Token: admin})
		if n := len(list.At(t, "lockouts").([]any)); n != 0 {
			t.Errorf("list after the unlock: %s", list.Body)
		}
		audited(t, log, "action=unlock", "outcome=success", "target_type=user", "target="+ana)
		if a := c.Do(harness.Call{Method: "GET", Path: "/v3/users/nobody/lockout", Token: admin}); a.Status != 404 {
			t.Errorf("nobody: %d %s", a.Status, a.Body)
		}
	})
}

// The list leaves out locks that have run out and users who are exempt.
func TestLockoutListIsOfTheLocked(t *testing.T) {
	guarded(t, func(c *cloud, _ *notes) {
		t := c.t
		for _, name := range []string{"ana", "ben"} {
			for range 3 {
				c.attempt(name, "wrong", "192.0.2.9:1")
				c.pass(time.Minute)
			}
			c.pass(20 * time.Minute)
		}
		admin := c.Admin()
		list := func() (names []any) {
			for _, l := range c.Do(harness.Call{Method: "GET", Path: "/v3/keystone-go/lockouts", Token: admin}).At(t, "lockouts").([]any) {
				names = append(names, l.(map[string]any)["name"])
			}
			return names
		}
		if got := list(); len(got) != 1 || got[0] != "ben" {
			t.Errorf("locked: %v, want ben alone: ana's lock has run out", got)
		}
		a := c.Do(harness.Call{Method: "PATCH", Path: "/v3/users/" + c.ids["ben"], Token: admin, Body: harness.M{"user": harness.M{"options": harness.M{"ignore_lockout_failure_attempts": true}}}})
		if a.Status != 200 {
			t.Fatalf("exempt ben: %d %s", a.Status, a.Body)
		}
		if got := list(); len(got) != 0 {
			t.Errorf("locked: %v, want nobody: ben is exempt", got)
		}
	})
}

// TestRL_H34: a reset gives the user his quota back, and is audited.
func TestRL_H34(t *testing.T) {
	guarded(t, func(c *cloud, log *notes) {
		t := c.t
		admin := c.Admin()
		spend := func() {
			t.Helper()
			for _, want := range []int{401, 401, 429} {
				if got := c.attempt("ana", "wrong", "192.0.2.9:1"); got != want {
					t.Fatalf("a wrong password: %d, want %d", got, want)
				}
			}
		}
		spend()
		standing := c.Do(harness.Call{Method: "GET", Path: "/v3/keystone-go/ratelimit?user_id=" + c.ids["ana"], Token: admin})
		if standing.Status != 200 || standing.At(t, "ratelimit", "standing", 0, "limiter") != "rate_limit_user_auth" || standing.At(t, "ratelimit", "standing", 0, "remaining") != 0.0 {
			t.Errorf("standing: %d %s", standing.Status, standing.Body)
		}
		for _, who := range []string{"user_id=" + c.ids["ana"], "name=ana&domain_id=default"} {
			a := c.Do(harness.Call{Method: "DELETE", Path: "/v3/keystone-go/ratelimit?" + who, Token: admin})
			if a.Status != 200 || !strings.Contains(a.Body, "rate_limit_user_auth") {
				t.Fatalf("reset by %s: %d %s", who, a.Status, a.Body)
			}
			if got := c.attempt("ana", "wrong", "192.0.2.9:1"); got != 401 {
				t.Errorf("after the reset: %d", got)
			}
			c.pass(time.Hour)
			admin = c.Admin()
		}
		audited(t, log, "action=reset", "outcome=success", "target_type=user", "target="+c.ids["ana"])
		for _, q := range []string{"", "?name=ana", "?address=x", "?top=1", "?" + url.Values{"address": {"192.0.2.9/24"}}.Encode()} {
			if a := c.Do(harness.Call{Method: "DELETE", Path: "/v3/keystone-go/ratelimit" + q, Token: admin}); a.Status != 400 {
				t.Errorf("reset of %q: %d %s", q, a.Status, a.Body)
			}
		}
		if a := c.Do(harness.Call{Method: "DELETE", Path: "/v3/keystone-go/ratelimit?name=nobody&domain_id=default", Token: admin}); a.Status != 404 {
			t.Errorf("reset of nobody: %d %s", a.Status, a.Body)
		}
		audited(t, log, "action=reset", "outcome=failure", "target=default/nobody")
	})
}

// audited looks for a line of the audit log with all words.
func audited(t *testing.T, log *notes, words ...string) {
	t.Helper()
	lines := log.lines("logger=keystone.audit")
	for _, l := range lines {
		all := true
		for _, w := range append(words, "initiator_address=192.0.2.1") {
			all = all && strings.Contains(l, w)
		}
		if all {
			return
		}
	}
	t.Errorf("no audit line with %v:\n%s", words, strings.Join(lines, "\n"))
}

// What a user owes together with an address is given back when both are named,
// and not before; what others owe there stays.
func TestResetOfAPair(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			c := newCloud(t, harness.Options{Engine: engine, Conf: func(c *conf.Config) {
				c.RateLimitFailedLogin.PerUserAddress = &conf.Limit{Requests: 2, Period: time.Hour, Burst: 2}
			}})
			admin, here, elsewhere := c.Admin(), "192.0.2.9:1", "192.0.2.10:1"
			for _, name := range []string{"ana", "ben"} {
				for _, want := range []int{401, 401, 429} {
					if got := c.attempt(name, "wrong", here); got != want {
						t.Fatalf("%s: %d, want %d", name, got, want)
					}
				}
			}
			if got := c.attempt("ana", "ana-pw", elsewhere); got != 201 {
				t.Fatalf("ana elsewhere: %d", got)
			}
			reset := func(query string) {
				t.Helper()
				if a := c.Do(harness.Call{Method: "DELETE", Path: "/v3/keystone-go/ratelimit?" + query, Token: admin}); a.Status != 200 {
					t.Fatalf("reset of %s: %d %s", query, a.Status, a.Body)
				}
			}
			reset("user_id=" + c.ids["ana"])
			reset("address=192.0.2.9")
			if got := c.attempt("ana", "ana-pw", here); got != 429 {
				t.Errorf("ana, after resets of one half each: %d", got)
			}
			reset("user_id=" + c.ids["ana"] + "&address=192.0.2.9")
			if got := c.attempt("ana", "ana-pw", here); got != 201 {
				t.Errorf("ana, after the reset of both: %d", got)
			}
			if got := c.attempt("ben", "ben-pw", here); got != 429 {
				t.Errorf("ben: %d", got)
			}
		})
	}
}

// What a user's reset also forgets: where he was right before, and what his
// application credentials owe. Another's stay.
func TestResetForgetsGuesses(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			two, ten, one := 2, 10, 1
			c := newCloud(t, harness.Options{Engine: engine, Conf: func(c *conf.Config) {
				u, p := &c.RateLimitUserAuth, &c.RateLimitTrustedPair
				u.Enabled, u.BurstSize, u.ReplenishRatePerSecond = true, &two, &one
				p.Enabled, p.BurstSize, p.ReplenishRatePerSecond = true, &ten, &one
				c.RateLimitSignedIn.PerPrincipal = perMinute(100)
			}})
			admin, here, elsewhere := c.Admin(), "192.0.2.9:1", "192.0.2.10:1"
			l, credential := c.App.Limits.SignedIn, map[string]string{"ana": strings.Repeat("a", 32), "ben": strings.Repeat("b", 32)}
			for name, id := range credential {
				_, err := c.DB.Exec(t.Context(), `insert into application_credential (internal_id, id, name, secret_hash, user_id) values ($1, $2, 'x', '', $3)`, int(id[0]), id, c.ids[name])
				c.must(err)
				if _, err := l.TakeCost(t.Context(), l.Text(id), 7); err != nil {
					t.Fatal(err)
				}
				if got := c.attempt(name, name+"-pw", here); got != 201 {
					t.Fatalf("%s: %d", name, got)
				}
			}
			strangers := func(name string) {
				t.Helper()
				for _, want := range []int{401, 401, 429} {
					if got := c.attempt(name, "wrong", elsewhere); got != want {
						t.Fatalf("a stranger at %s: %d, want %d", name, got, want)
					}
				}
			}
			strangers("ana")
			strangers("ben")
			if got := c.attempt("ana", "ana-pw", here); got != 201 {
				t.Fatalf("ana where she was before: %d", got)
			}
			if a := c.Do(harness.Call{Method: "DELETE", Path: "/v3/keystone-go/ratelimit?user_id=" + c.ids["ana"], Token: admin}); a.Status != 200 || strings.Count(a.Body, "rate_limit_signed_in") != 1 {
				t.Fatalf("reset: %d %s", a.Status, a.Body)
			}
			for kind, want := range map[string]float64{"trusted": 2, "failing": 0} { // ben and admin
				for _, m := range families(t, c)["keystone_rate_limit_guess_marks"].GetMetric() {
					if l := m.GetLabel()[0]; l.GetValue() == kind && m.GetGauge().GetValue() != want {
						t.Errorf("%s: %v, want %v", kind, m.GetGauge().GetValue(), want)
					}
				}
			}
			strangers("ana")
			for name, want := range map[string]int{"ana": 429, "ben": 201} {
				if got := c.attempt(name, name+"-pw", here); got != want {
					t.Errorf("%s where both were before: %d, want %d", name, got, want)
				}
			}
			for name, want := range map[string]int64{"ana": 100, "ben": 93} {
				if d, err := l.Peek(t.Context(), l.Text(credential[name])); err != nil || d.Remaining != want {
					t.Errorf("the application credential of %s: %+v, %v, want %d", name, d, err, want)
				}
			}
		})
	}
}
