package test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/test/harness"
)

// guessed runs f on every engine, with two tries a second by user and what else
// set asks for.
func guessed(t *testing.T, set func(*conf.Config), f func(t *testing.T, s limited)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		s := limited{count: dbtest.Count(t, d), tick: &atomic.Int64{}, t: t}
		s.Server = harness.New(t, harness.Options{
			DB: s.count, Tick: func() time.Duration { return time.Duration(s.tick.Load()) },
			Conf: func(c *conf.Config) {
				u := &c.RateLimitUserAuth
				u.Enabled, u.BurstSize, u.ReplenishRatePerSecond = limit(2)
				if set != nil {
					set(c)
				}
			},
		})
		f(t, s)
	})
}

func aMinute(n int) *conf.Limit { return &conf.Limit{Requests: n, Period: time.Minute, Burst: n} }

func trusting(c *conf.Config) {
	sixty, ten := 60, 10
	p := &c.RateLimitTrustedPair
	p.Enabled, p.BurstSize, p.ReplenishRatePerSecond = true, &sixty, &ten
}

// user is a login of the text of a user, without his password.
func (s limited) user(n int, user, password string) harness.Answer {
	return s.Do(harness.Call{
		Method: "POST", Path: "/v3/auth/tokens", From: from(n),
		Body: `{"auth":{"identity":{"methods":["password"],"password":{"user":{` + user + `,"password":"` + password + `"}}}}}`,
	})
}

func (s limited) change(n int, id, original string) harness.Answer {
	return s.Do(harness.Call{
		Method: "POST", Path: "/v3/users/" + id + "/password", From: from(n),
		Body: harness.M{"user": harness.M{"original_password": original, "password": "new"}},
	})
}

// sameAnswers holds the answers to one kind of name against those to another,
// all but the request's id.
func sameAnswers(t *testing.T, what string, a, b harness.Answer) {
	t.Helper()
	g, w := a.Header.Clone(), b.Header.Clone()
	g.Del("X-Openstack-Request-Id")
	w.Del("X-Openstack-Request-Id")
	if a.Status != b.Status || a.Body != b.Body || fmt.Sprint(g) != fmt.Sprint(w) {
		t.Errorf("%s: %d %v %s\nbut %d %v %s", what, a.Status, g, a.Body, b.Status, w, b.Body)
	}
}

// TestRL_H04: whoever does not exist is limited as whoever does, byte for byte,
// in every way of naming him; the limiter of users never hears of him.
func TestRL_H04(t *testing.T) {
	guessed(t, nil, func(t *testing.T, s limited) {
		id := s.alice()
		users := s.Limits.UserAuth
		known := repeat(4, func(i int) harness.Answer { return s.login(i, "alice", "wrong") })
		statuses(t, known, 401, 401, 429, 429)
		before := users.Stats()
		hashes := s.Hasher.Stats().Done
		for what, try := range map[string]func(i int) harness.Answer{
			"name":           func(i int) harness.Answer { return s.login(i, "alice-nonexistent", "wrong") },
			"id":             func(i int) harness.Answer { return s.user(i, `"id":"nobody"`, "wrong") },
			"unknown domain": func(i int) harness.Answer { return s.user(i, `"name":"alice","domain":{"id":"none"}`, "wrong") },
			"name of none":   func(i int) harness.Answer { return s.user(i, `"name":"alice","domain":{"name":"none"}`, "wrong") },
			"no password":    func(i int) harness.Answer { return s.user(i, `"name":"bob","domain":{"id":"default"}`, "") },
			"change":         func(i int) harness.Answer { return s.change(i, "somebody", "wrong") },
			"NUL":            func(i int) harness.Answer { return s.user(i, `"name":"a\u0000","domain":{"name":"Default"}`, "x") },
		} {
			s.count.Reset()
			for i, a := range repeat(4, try) {
				sameAnswers(t, fmt.Sprintf("%s, try %d", what, i), a, known[i])
			}
			if s.count.Writes != 0 {
				t.Errorf("%s: %d writes", what, s.count.Writes)
			}
		}
		if n := s.Hasher.Stats().Done - hashes; n != 14 {
			t.Errorf("%d hashes, want two for each", n)
		}
		if after := users.Stats(); after != before {
			t.Errorf("the limiter of users: %+v, before %+v", after, before)
		}
		if a := s.user(9, `"id":"`+id+`"`, "wrong"); a.Status != 429 {
			t.Errorf("alice by id: %d", a.Status)
		}
	})
}

// sequence is what tries at names of the default domain are answered.
func (s limited) sequence(names ...string) string {
	var got []string
	for i, name := range names {
		got = append(got, fmt.Sprint(s.login(i, name, "wrong").Status))
	}
	return strings.Join(got, " ")
}

// TestRL_K09: spellings of one name that nobody has share a bucket, also with
// an @ behind, or the domain named otherwise.
func TestRL_K09(t *testing.T) {
	guessed(t, nil, func(t *testing.T, s limited) {
		if got := s.sequence("ａｌｉｃｅ", "ALICE", "alice", "Alice@"); got != "401 401 429 429" {
			t.Error(got)
		}
		for i, domain := range []string{`{"id":"default"}`, `{"name":"Default"}`} {
			if a := s.user(i, `"name":"alice","domain":`+domain, "x"); a.Status != 429 {
				t.Errorf("in the domain %s: %d", domain, a.Status)
			}
		}
		if got := s.sequence("bob", "bob"); got != "401 401" {
			t.Error(got)
		}
		if a := s.user(1, `"name":"BOB","domain":{"name":"Default"}`, "x"); a.Status != 429 {
			t.Errorf("by the name of the domain: %d", a.Status)
		}
	})
}

// TestRL_K10: letters of another script make another name.
func TestRL_K10(t *testing.T) {
	guessed(t, nil, func(t *testing.T, s limited) {
		if got := s.sequence("alice", "alice", "\u0430lice", "\u0430lice", "alice", "\u0430lice"); got != "401 401 401 401 429 429" {
			t.Error(got)
		}
	})
}

// TestRL_K11: case is folded, not lowered.
func TestRL_K11(t *testing.T) {
	guessed(t, nil, func(t *testing.T, s limited) {
		if got := s.sequence("straße", "STRASSE", "strasse"); got != "401 401 429" {
			t.Error(got)
		}
	})
}

// TestRL_H30: strangers who try nova's password are refused, nova's controller
// is not.
func TestRL_H30(t *testing.T) {
	guessed(t, trusting, func(t *testing.T, s limited) {
		s.alice()
		const controller = 200
		right := func() harness.Answer { return s.login(controller, "alice", "alice-pw") }
		statuses(t, []harness.Answer{right()}, 201)
		for round := range 5 {
			repeat(10, func(i int) harness.Answer { return s.login(i, "alice", "wrong") })
			if a := s.login(99, "alice", "alice-pw"); a.Status != 429 {
				t.Fatalf("a stranger, round %d: %d", round, a.Status)
			}
			statuses(t, repeat(20, func(int) harness.Answer { return right() }), repeatStatus(20, 201)...)
			statuses(t, repeat(10, func(int) harness.Answer { return s.login(controller, "alice", "wrong") }), repeatStatus(10, 401)...)
			s.tick.Add(int64(time.Second))
		}
	})
}

func repeatStatus(n, status int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = status
	}
	return out
}

// TestRL_H07bTrusted: ten right passwords at once from an address of the user
// are let in, all of them.
func TestRL_H07bTrusted(t *testing.T) {
	one, two, rounds := 1, 2, 12
	if raceEnabled {
		rounds = 8
	}
	withMeeting(t, func(c *conf.Config) {
		u := &c.RateLimitUserAuth
		u.Enabled, u.BurstSize, u.ReplenishRatePerSecond = true, &two, &one
		trusting(c)
		c.Identity.PasswordHashRounds, c.KeystoneGo.HashWait = &rounds, 600
	}, func(t *testing.T, s limited, m *meeting) {
		s.alice()
		statuses(t, []harness.Answer{s.login(1, "alice", "alice-pw")}, 201)
		m.meet(10)
		if _, count := together(10, func(int) harness.Answer { return s.login(1, "alice", "alice-pw") }); count[201] != 10 {
			t.Errorf("%v, want 10 × 201", count)
		}
	})
}

// TestFailedLogins: by address and by user and address, also on the way to a
// new password; who is right pays nothing, the network around an address pays
// too, and an exempt network pays as users alone.
func TestFailedLogins(t *testing.T) {
	guessed(t, func(c *conf.Config) {
		c.RateLimitUserAuth.Enabled = false
		f := &c.RateLimitFailedLogin
		f.PerAddress, f.PerUserAddress, f.AggregateFactor = aMinute(6), aMinute(3), 2
		c.RateLimit.ExemptNetworks = []string{"203.0.113.0/24"}
	}, func(t *testing.T, s limited) {
		id := s.alice()
		statuses(t, []harness.Answer{
			s.login(1, "alice", "wrong"), s.change(1, id, "wrong"), s.login(1, "alice", "alice-pw"), s.user(1, `"id":"`+id+`"`, "wrong"),
			s.login(1, "alice", "alice-pw"), // the pair has failed three times
			s.login(1, "bob", "x"), s.login(1, "carol", "x"), s.user(1, `"id":"x"`, "x"), s.login(1, "admin", "x"),
			s.login(2, "alice", "wrong"), s.login(2, "alice", "wrong"), s.login(2, "alice", "wrong"), s.login(2, "alice", "wrong"),
			s.login(3, "alice", "alice-pw"), // 198.51.100.0/24 has failed six times at alice
			s.login(3, "dora", "x"), s.login(3, "erik", "x"), s.login(3, "finn", "x"),
			s.login(4, "gail", "x"), // and twelve times in all
		}, 401, 401, 201, 401, 429, 401, 401, 401, 429, 401, 401, 401, 429, 429, 401, 401, 401, 429)
		exempt := func(i int) harness.Answer {
			return s.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", From: "203.0.113.7:1", Body: harness.Login(fmt.Sprint("n", i/3), "x", nil)})
		}
		statuses(t, repeat(12, exempt), repeatStatus(12, 401)...)
		if a := exempt(11); a.Status != 429 {
			t.Errorf("a pair of an exempt address: %d", a.Status)
		}
	})
}

// TestGrowingPenalty: each failure in a row costs twice the last.
func TestGrowingPenalty(t *testing.T) {
	guessed(t, func(c *conf.Config) {
		c.RateLimitUserAuth.Enabled = false
		c.RateLimitFailedLogin.PerUserAddress, c.RateLimitFailedLogin.GrowingPenalty = aMinute(20), true
	}, func(t *testing.T, s limited) {
		s.alice()
		for _, name := range []string{"alice", "nobody"} {
			got := repeat(5, func(int) harness.Answer { return s.login(1, name, "wrong") })
			statuses(t, got, 401, 401, 401, 401, 429)
			if w := got[4].Header.Get("Retry-After"); w != "33" {
				t.Errorf("%s: Retry-After %s, want 33", name, w)
			}
		}
		s.tick.Add(int64(time.Minute))
		statuses(t, []harness.Answer{s.login(1, "alice", "alice-pw")}, 201)
		statuses(t, repeat(5, func(int) harness.Answer { return s.login(1, "alice", "wrong") }), 401, 401, 401, 401, 429)
	})
}

// TestSpray: an address that fails at many is refused, each counted once; a
// password that fails at many is dear.
func TestSpray(t *testing.T) {
	guessed(t, func(c *conf.Config) {
		c.RateLimitUserAuth.Enabled = false
		s := &c.RateLimitSpray
		s.PerAddress, s.PerPassword, s.PasswordPrice = aMinute(4), aMinute(3), 5
		c.RateLimitFailedLogin.PerAddress = aMinute(12)
	}, func(t *testing.T, s limited) {
		s.alice()
		statuses(t, []harness.Answer{
			s.login(1, "alice", "a"), s.login(1, "alice", "b"), s.login(1, "alice", "c"), s.login(1, "admin", "d"),
			s.login(1, "alice", "alice-pw"), s.login(1, "bob", "e"), s.login(1, "carol", "f"), s.login(1, "dora", "g"), s.login(1, "bob", "h"),
		}, 401, 401, 401, 401, 201, 401, 401, 429, 401)
		statuses(t, []harness.Answer{
			s.login(2, "alice", "Summer26"), s.login(3, "bob", "Summer26"), s.login(4, "admin", "Summer26"),
			s.login(5, "carol", "Summer26"), s.login(5, "carol", "Summer26"), s.login(5, "carol", "Summer26"),
			s.login(5, "carol", "Winter26"),
		}, 401, 401, 401, 401, 401, 429, 401)
	})
}

// TestOneBucketOfGuesses: RL-H10. By name, by id and on the way to a new
// password it is one bucket, and right in one way is right in all.
func TestOneBucketOfGuesses(t *testing.T) {
	guessed(t, trusting, func(t *testing.T, s limited) {
		id := s.alice()
		statuses(t, []harness.Answer{
			s.login(1, "alice", "wrong"), s.change(2, id, "wrong"), s.user(3, `"id":"`+id+`"`, "wrong"), s.change(4, id, "alice-pw"),
		}, 401, 401, 429, 429)
		s.tick.Add(int64(2 * time.Second))
		statuses(t, []harness.Answer{
			s.change(5, id, "alice-pw"), s.login(6, "alice", "x"), s.login(6, "alice", "x"), s.login(6, "alice", "x"), s.login(5, "alice", "new"),
		}, 204, 401, 401, 429, 201)
	})
}

// TestGuessesOfBoth: RL-K08. Alice and alice are two users; the decoy of what
// is spelt as one of them is neither's. On MariaDB they are one, however spelt.
func TestGuessesOfBoth(t *testing.T) {
	guessed(t, nil, func(t *testing.T, s limited) {
		s.alice()
		if !dbtest.Exact(s.DB) {
			if got := s.sequence("ALICE", "Alicé", "Alice", "alice"); got != "401 401 429 429" {
				t.Error(got)
			}
			return
		}
		name, password := "Alice", "Alice-pw"
		pw := &password
		if _, err := s.Users.Create(t.Context(), "default", identity.Change{Name: &name, Password: &pw}); err != nil {
			t.Fatal(err)
		}
		if got := s.sequence("ALICE", "ＡＬＩＣＥ", "ALICE", "alice", "Alice", "alice", "alice"); got != "401 401 429 401 401 401 429" {
			t.Error(got)
		}
		if a := s.login(7, "Alice", "Alice-pw"); a.Status != 201 {
			t.Errorf("Alice: %d", a.Status)
		}
	})
}
