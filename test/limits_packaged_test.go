package test

import (
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/test/harness"
)

// withPackaged is a server with the limits of the packaged file, every one
// enforced; their clock stands still.
func withPackaged(t *testing.T) limited {
	t.Helper()
	file := filepath.Join(t.TempDir(), "keystone.conf")
	if err := os.WriteFile(file, []byte(harness.EnforcedLimits(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	packaged, err := conf.Load(conf.Sources{Files: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	s := limited{tick: &atomic.Int64{}, t: t}
	s.Server = harness.New(t, harness.Options{
		Engine: "sqlite", Tick: func() time.Duration { return time.Duration(s.tick.Load()) },
		Conf: func(c *conf.Config) {
			from, to := reflect.ValueOf(packaged).Elem(), reflect.ValueOf(c).Elem()
			for i := range to.NumField() {
				if strings.HasPrefix(to.Type().Field(i).Name, "RateLimit") {
					to.Field(i).Set(from.Field(i))
				}
			}
		},
	})
	return s
}

// get asks with a token from the n-th address, and lets time pass.
func (s limited) get(n int, path, token string, pass time.Duration) int {
	s.tick.Add(int64(pass))
	return s.Do(harness.Call{Method: "GET", Path: path, Token: token, Subject: token, From: from(n)}).Status
}

// ended is a token of this cloud that is valid no more.
func (s limited) ended() string {
	token := s.Token("alice", "alice-pw", nil)
	statuses(s.t, []harness.Answer{s.Do(harness.Call{Method: "DELETE", Path: "/v3/auth/tokens", Token: token, Subject: token})}, 204)
	return token
}

// owes is what an address owes the default layer.
func (s limited) owes(n int, admin string) float64 {
	s.t.Helper()
	host, _, _ := strings.Cut(from(n), ":")
	a := s.Do(harness.Call{Method: "GET", Path: "/v3/keystone-go/ratelimit?address=" + host, Token: admin, From: from(99)})
	list, _ := a.At(s.t, "ratelimit", "standing").([]any)
	for i := range list {
		if a.At(s.t, "ratelimit", "standing", i, "limiter") == "rate_limit_default" {
			return 3000 - a.At(s.t, "ratelimit", "standing", i, "remaining").(float64)
		}
	}
	s.t.Fatalf("the default layer is not in %d %s", a.Status, a.Body)
	return 0
}

// A script that fails in one call of eleven is far from the packaged numbers:
// its 12 × 404, 6 × 403 and 2 × 401 a minute cost 26 of the 300 that an address
// gets back in that time, and 200 good calls nothing.
func TestFaultyScriptPasses(t *testing.T) {
	s := withPackaged(t)
	s.alice()
	admin, alice, ended := s.Admin(), s.Token("alice", "alice-pw", nil), s.ended()
	for i := range 220 {
		path, token, want := "/v3/regions", admin, http.StatusOK
		switch {
		case i < 12:
			path, want = "/v3/regions/nosuch", http.StatusNotFound
		case i < 18:
			path, token, want = "/v3/users", alice, http.StatusForbidden
		case i < 20:
			token, want = ended, http.StatusUnauthorized
		}
		if got := s.get(1, path, token, 0); got != want {
			t.Fatalf("call %d: %s: got %d, want %d", i, path, got, want)
		}
	}
	if owed := s.owes(1, admin); owed != 26 {
		t.Errorf("a minute of it costs %v, want 26", owed)
	}
	s.tick.Add(int64(6 * time.Second))
	if owed := s.owes(1, admin); owed != 0 {
		t.Errorf("six seconds later %v are owed, want none", owed)
	}
}

// A monitor whose token has ended, and that does not notice, may ask every two
// seconds for ever. Each second is twice what comes back: after ten minutes its
// address is refused, but neither the tokens that a service there validates nor
// anybody elsewhere.
func TestMonitorWithAnEndedToken(t *testing.T) {
	s := withPackaged(t)
	s.alice()
	admin, ended := s.Admin(), s.ended()
	for i := range 350 { // its burst without what comes back is 300
		if got := s.get(1, "/v3/projects", ended, 2*time.Second); got != http.StatusUnauthorized {
			t.Fatalf("every two seconds, call %d: %d", i, got)
		}
	}
	n := 0
	for s.get(2, "/v3/projects", ended, time.Second) == http.StatusUnauthorized && n < 1000 {
		n++
	}
	if n < 597 || n > 600 {
		t.Errorf("every second: refused after %d calls, want 3000/(10-5), the last of them whole", n)
	}
	for name, c := range map[string]struct {
		n    int
		path string
		want int
	}{
		"what else is asked there": {2, "/v3/regions", 429},
		"a validation there":       {2, "/v3/auth/tokens", 200},
		"elsewhere":                {3, "/v3/regions", 200},
	} {
		if got := s.get(c.n, c.path, admin, 0); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
	if got := s.get(2, "/v3/regions", admin, 2*time.Second); got != 200 {
		t.Errorf("two seconds after it has ended: %d", got)
	}
}
