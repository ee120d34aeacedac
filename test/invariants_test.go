package test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/test/harness"
)

// The ten invariants of rate limiting that no change may violate; CONTRIBUTING
// has them in words.

// TestInvariant01: quotas come from the configuration and from nowhere else: an
// empty one limits nothing, and a number in the file is what is admitted.
func TestInvariant01(t *testing.T) {
	withLimits(t, 0, 0, func(t *testing.T, s limited) {
		if all := s.Limits.All(); len(all) != 0 {
			t.Errorf("without a configuration there are %d limiters", len(all))
		}
		for i := range 60 {
			if a := s.login(1, "nobody", "x"); a.Status != 401 {
				t.Fatalf("login %d: %d", i, a.Status)
			}
		}
	})
	for _, burst := range []int{1, 4, 7} {
		withLimits(t, burst, 0, func(t *testing.T, s limited) {
			for i := range burst + 2 {
				want := 401
				if i >= burst {
					want = 429
				}
				if a := s.login(1, "nobody", "x"); a.Status != want {
					t.Errorf("burst_size %d, login %d: %d, want %d", burst, i+1, a.Status, want)
				}
			}
		})
	}
}

// TestInvariant02: what is switched on and cannot be built stops the start; no
// server runs without a limit that was asked for.
func TestInvariant02(t *testing.T) {
	good, zero, many := 5, 0, ratelimit.MaxBurst+1
	for _, c := range []struct {
		what        string
		burst, rate *int
		fails       bool
	}{
		{"both numbers", &good, &good, false},
		{"no burst", nil, &good, true},
		{"no rate", &good, nil, true},
		{"burst 0", &zero, &good, true},
		{"rate 0", &good, &zero, true},
		{"burst out of bounds", &many, &good, true},
	} {
		for _, enabled := range []bool{true, false} {
			cfg := conf.Default()
			g := &cfg.RateLimitGlobalIP
			g.Enabled, g.BurstSize, g.ReplenishRatePerSecond = enabled, c.burst, c.rate
			_, err := wire.Build(context.Background(), cfg, wire.Options{DB: dbtest.Open(t, "sqlite")})
			told := err != nil && strings.Contains(err.Error(), "rate_limit_global_ip")
			if want := c.fails && enabled; told != want {
				t.Errorf("%s, enabled %v: the start says %v", c.what, enabled, err)
			}
		}
	}
}

// TestInvariant03: a 429 is the same whichever limit made it, and names
// neither limit nor key.
func TestInvariant03(t *testing.T) {
	withLimits(t, 20, 2, func(t *testing.T, s limited) {
		id := s.alice()
		refusals := map[string]harness.Answer{
			"by user":    repeat(3, func(i int) harness.Answer { return s.login(50+i, "alice", "wrong") })[2],
			"by address": repeat(21, func(int) harness.Answer { return s.login(2, "nobody", "x") })[20],
		}
		refusals["change of password"] = s.Do(harness.Call{
			Method: "POST", Path: "/v3/users/" + id + "/password", From: from(60),
			Body: harness.M{"user": harness.M{"original_password": "x", "password": "y"}},
		})
		refusals["token"] = s.Do(harness.Call{Method: "GET", Path: "/v3/regions", Token: "rubbish", From: from(2)})
		var first string
		for who, a := range refusals {
			h := a.Header.Clone()
			h.Del("X-Openstack-Request-Id")
			text := fmt.Sprint(a.Status, h, a.Body)
			if a.Status != http.StatusTooManyRequests || first != "" && text != first {
				t.Errorf("%s: %s\nother: %s", who, text, first)
			}
			first = text
			for _, word := range []string{"address", "198.51.100", "alice", id, "rate_limit", "remaining"} {
				if strings.Contains(strings.ToLower(text), word) {
					t.Errorf("%s: the answer says %q: %s", who, word, text)
				}
			}
		}
	})
}

// TestInvariant04: all limits are asked before anything costly: a refused
// login computes no hash, and one that the address is refused for asks the
// database nothing.
func TestInvariant04(t *testing.T) {
	withLimits(t, 3, 2, func(t *testing.T, s limited) {
		s.alice()
		repeat(2, func(i int) harness.Answer { return s.login(10+i, "alice", "wrong") })
		repeat(3, func(int) harness.Answer { return s.login(1, "nobody", "x") })
		hashes := s.Hasher.Stats().Done
		s.count.Reset()
		statuses(t, []harness.Answer{s.login(1, "nobody", "x"), s.login(1, "alice", "alice-pw")}, 429, 429)
		if s.count.RoundTrips != 0 {
			t.Errorf("refused by address, after %d round trips", s.count.RoundTrips)
		}
		statuses(t, []harness.Answer{s.login(20, "alice", "wrong"), s.login(21, "alice", "alice-pw")}, 429, 429)
		if n := s.Hasher.Stats().Done - hashes; n != 0 {
			t.Errorf("four refused logins computed %d hashes", n)
		}
		if s.count.Writes != 0 {
			t.Errorf("four refused logins wrote %d times", s.count.Writes)
		}
	})
}

// TestInvariant05: each kind of caller has a limiter with a store of its own:
// the same bytes as a key in one are nothing in another.
func TestInvariant05(t *testing.T) {
	withLimits(t, 3, 2, func(t *testing.T, s limited) {
		all, names := s.Limits.All(), map[string]bool{}
		if len(all) < 2 {
			t.Fatalf("%d limiters", len(all))
		}
		for i, l := range all {
			if names[l.Name()] {
				t.Errorf("two limiters are called %s", l.Name())
			}
			names[l.Name()] = true
			k := ratelimit.Key{Hi: 0xAB, Lo: uint64(i)}
			if _, err := l.TakeCost(t.Context(), k, l.Quota().Burst); err != nil {
				t.Fatal(err)
			}
			for j, other := range all {
				d, err := other.Peek(t.Context(), k)
				if err != nil {
					t.Fatal(err)
				}
				if spent := d.Remaining == 0; spent != (i == j) {
					t.Errorf("%s was spent; %s has %d of %d left", l.Name(), other.Name(), d.Remaining, other.Quota().Burst)
				}
			}
		}
	})
}

// TestInvariant06: a step of the system's clock neither gives quota back nor
// takes it; time that passes does.
func TestInvariant06(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			var wall, tick atomic.Int64
			base, burst, one := time.Now(), 2, 1
			s := harness.New(t, harness.Options{
				Engine: engine,
				Now:    func() time.Time { return base.Add(time.Duration(wall.Load())) },
				Tick:   func() time.Duration { return time.Duration(tick.Load()) },
				Conf: func(c *conf.Config) {
					g := &c.RateLimitGlobalIP
					g.Enabled, g.BurstSize, g.ReplenishRatePerSecond = true, &burst, &one
				},
			})
			try := func() int {
				return s.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("nobody", "x", nil), From: from(1)}).Status
			}
			for _, step := range []struct {
				wall, tick time.Duration
				want       int
			}{
				{0, 0, 401},
				{0, 0, 401},
				{0, 0, 429},
				{time.Hour, 0, 429},
				{-48 * time.Hour, 0, 429},
				{365 * 24 * time.Hour, 0, 429},
				{-time.Hour, time.Second, 401},
				{0, time.Second - 1, 429},
			} {
				wall.Store(int64(step.wall))
				tick.Add(int64(step.tick))
				if got := try(); got != step.want {
					t.Errorf("clock set by %v, %v passed: %d, want %d", step.wall, step.tick, got, step.want)
				}
			}
		})
	}
}

// TestInvariant07: keys made of what clients write are normalised: spellings of
// a name that nobody has are one key, while users whose names differ in case
// stay two.
func TestInvariant07(t *testing.T) {
	withLimits(t, 0, 2, func(t *testing.T, s limited) {
		spellings := []string{"ghost", "GHOST", "ｇｈｏｓｔ", "Ghost@"}
		for i, name := range spellings {
			want := 401
			if i >= 2 {
				want = 429
			}
			if a := s.login(10+i, name, "x"); a.Status != want {
				t.Errorf("%s, the %d. spelling: %d, want %d", name, i+1, a.Status, want)
			}
		}
		if a := s.login(20, "gh\u043est", "x"); a.Status != 401 { // with a Cyrillic o
			t.Errorf("a look-alike in another script: %d", a.Status)
		}
		lower := s.alice()
		statuses(t, repeat(3, func(i int) harness.Answer { return s.login(30+i, "alice", "wrong") }), 401, 401, 429)
		if a := s.login(40, "Alice", "wrong"); a.Status != 401 && dbtest.Exact(s.DB) {
			t.Errorf("Alice, whom nobody is, shares the bucket of alice (%s): %d", lower, a.Status)
		}
	})
}

// TestInvariant08: before a user is known only the address is a limit, and the
// limiter of users never sees a name that nobody has.
func TestInvariant08(t *testing.T) {
	withLimits(t, 30, 2, func(t *testing.T, s limited) {
		for i := range 30 {
			name := "nobody-" + strconv.Itoa(i)
			if a := s.login(1, name, "x"); a.Status != 401 {
				t.Fatalf("%s: %d", name, a.Status)
			}
		}
		if n := s.Limits.UserAuth.Stats().Entries; n != 0 {
			t.Errorf("the limiter of users holds %d keys of names that nobody has", n)
		}
		s.count.Reset()
		if a := s.login(1, "another", "x"); a.Status != 429 || s.count.RoundTrips != 0 {
			t.Errorf("over the address' limit: %d after %d round trips", a.Status, s.count.RoundTrips)
		}
		s.alice()
		s.login(2, "alice", "wrong")
		if n := s.Limits.UserAuth.Stats().Entries; n != 1 {
			t.Errorf("a user was tried, and the limiter of users holds %d keys", n)
		}
	})
}

// TestInvariant09: the client is the direct peer, unless that is a trusted
// proxy; then it is who the one configured header names.
func TestInvariant09(t *testing.T) {
	burst, one := 1, 1
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			s := harness.New(t, harness.Options{Engine: engine, Tick: func() time.Duration { return 0 }, Conf: func(c *conf.Config) {
				g := &c.RateLimitGlobalIP
				g.Enabled, g.BurstSize, g.ReplenishRatePerSecond = true, &burst, &one
				c.RateLimitTrustedProxies.TrustedProxies = []string{"10.0.0.0/24"}
			}})
			try := func(peer string, headers map[string]string) int {
				return s.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("nobody", "x", nil), From: peer, Header: headers}).Status
			}
			forwarded := func(v string) map[string]string { return map[string]string{"X-Forwarded-For": v} }
			for _, c := range []struct {
				what, peer string
				headers    map[string]string
				want       int
			}{
				{"a client", "203.0.113.1:1", nil, 401},
				{"the same with a header of his own", "203.0.113.1:1", forwarded("198.51.100.1"), 429},
				{"a client behind the proxy", "10.0.0.1:1", forwarded("198.51.100.1"), 401},
				{"another one behind it", "10.0.0.1:1", forwarded("198.51.100.2"), 401},
				{"the first, by another proxy", "10.0.0.2:1", forwarded("198.51.100.1"), 429},
				{"with an entry that he wrote himself", "10.0.0.1:1", forwarded("192.0.2.9, 198.51.100.1"), 429},
				{"with a header that is not the configured one", "203.0.113.1:2", map[string]string{"Forwarded": "for=192.0.2.9", "X-Real-Ip": "192.0.2.9"}, 429},
				{"behind the proxy, with such a header", "10.0.0.1:1", map[string]string{"X-Forwarded-For": "198.51.100.1", "Forwarded": "for=192.0.2.9"}, 429},
			} {
				if got := try(c.peer, c.headers); got != c.want {
					t.Errorf("%s: %d, want %d", c.what, got, c.want)
				}
			}
		})
	}
}

// TestInvariant10: Retry-After is a whole number of seconds, at least one,
// rounded up: who waits that long is admitted, and who is told less would not
// be.
func TestInvariant10(t *testing.T) {
	for wait, want := range map[time.Duration]int{
		0: 1, 1: 1, time.Second: 1, time.Second + 1: 2, 1900 * time.Millisecond: 2, 59*time.Second + 1: 60,
	} {
		if got := ratelimit.RetryAfter(wait); got != want {
			t.Errorf("a wait of %v: Retry-After %d, want %d", wait, got, want)
		}
	}
	withLimits(t, 3, 0, func(t *testing.T, s limited) {
		repeat(3, func(int) harness.Answer { return s.login(1, "nobody", "x") })
		for _, passed := range []time.Duration{0, 1, 500 * time.Millisecond, 999_999_999} {
			s.tick.Store(int64(passed))
			a := s.login(1, "nobody", "x")
			n, err := strconv.Atoi(a.Header.Get("Retry-After"))
			if a.Status != 429 || err != nil || n != 1 {
				t.Errorf("after %v: %d, Retry-After %q", passed, a.Status, a.Header.Get("Retry-After"))
			}
		}
		s.tick.Store(int64(time.Second))
		if a := s.login(1, "nobody", "x"); a.Status != 401 {
			t.Errorf("after the wait that was told: %d", a.Status)
		}
	})
}
