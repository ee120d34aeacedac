package test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
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

// meeting is a database whose next answers wait for one another, or fail.
type meeting struct {
	db.DB
	mu      sync.Mutex
	expect  int           // answers that have yet to come
	all     chan struct{} // closed when they are there
	failure atomic.Pointer[error]
}

// meet lets the next n batches answer together.
func (m *meeting) meet(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expect, m.all = n, make(chan struct{})
}

func (m *meeting) fail(err error) { m.failure.Store(&err) }

func (m *meeting) Send(ctx context.Context, b *db.Batch) error {
	if err := m.failure.Load(); err != nil && *err != nil {
		return *err
	}
	err := m.DB.Send(ctx, b)
	m.mu.Lock()
	all := m.all
	if m.expect > 0 {
		if m.expect--; m.expect == 0 {
			close(all)
		}
	} else {
		all = nil
	}
	m.mu.Unlock()
	if all != nil {
		<-all
	}
	return err
}

// withMeeting is withLimits whose database is a meeting.
func withMeeting(t *testing.T, set func(*conf.Config), f func(t *testing.T, s limited, m *meeting)) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			s := limited{count: dbtest.Count(t, dbtest.Open(t, engine)), tick: &atomic.Int64{}, t: t}
			m := &meeting{DB: s.count}
			s.Server = harness.New(t, harness.Options{DB: m, Conf: set, Tick: func() time.Duration { return time.Duration(s.tick.Load()) }})
			f(t, s, m)
		})
	}
}

// together makes n calls at once and counts their statuses.
func together(n int, call func(i int) harness.Answer) (answers []harness.Answer, count map[int]int) {
	answers, count = make([]harness.Answer, n), map[int]int{}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { answers[i] = call(i) })
	}
	wg.Wait()
	for _, a := range answers {
		count[a.Status]++
	}
	return answers, count
}

// TestRL_A53: limits, the access log and the events that auditors read know one
// address: the one that the trusted proxy tells.
func TestRL_A53(t *testing.T) {
	var log lockedBuffer
	one, two := 1, 2
	s := harness.New(t, harness.Options{Engine: "sqlite", Log: &log, Tick: func() time.Duration { return 0 }, Conf: func(c *conf.Config) {
		g := &c.RateLimitGlobalIP
		g.Enabled, g.BurstSize, g.ReplenishRatePerSecond = true, &two, &one
		c.RateLimitTrustedProxies.TrustedProxies = []string{"10.0.0.0/24"}
		c.OsloMessagingNotifications.Driver = []string{"log"}
	}})
	var logged, told []string
	for i, x := range []struct{ peer, header, want string }{
		{"10.0.0.1:4711", "192.0.2.66, 198.51.100.9, 10.0.0.5", "198.51.100.9"},
		{"203.0.113.5:4711", "192.0.2.67", "203.0.113.5"},
		{"10.0.0.2:4711", "2001:db8:cafe:1::1", "2001:db8:cafe:1::1"},
		{"10.0.0.3:4711", "garbage", "10.0.0.3"},
		{"[::ffff:10.0.0.1]:4711", "198.51.100.8", "198.51.100.8"},
	} {
		for n, want := range []int{401, 401, 429} {
			a := s.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("nobody", "x", nil), From: x.peer, Header: map[string]string{"X-Forwarded-For": x.header}})
			if a.Status != want {
				t.Errorf("case %d, request %d: status %d, want %d", i, n, a.Status, want)
			}
			logged = append(logged, x.want)
			if want == 401 { // a refusal by a limit is no event
				told = append(told, x.want)
			}
		}
	}
	for name, c := range map[string]struct {
		form string
		want []string
	}{
		"access lines": {`msg="(\S+) \\"POST /v3/auth/tokens `, logged},
		"events":       {`\\"event_type\\": \\"identity.authenticate\\"[^\n]*\\"host\\": \{\\"address\\": \\"([^"\\]+)`, told},
	} {
		var got []string
		for late := time.Now().Add(10 * time.Second); len(got) < len(c.want) && time.Now().Before(late); time.Sleep(time.Millisecond) {
			got = nil // events are sent behind the answers
			for _, m := range regexp.MustCompile(c.form).FindAllStringSubmatch(log.String(), -1) {
				got = append(got, m[1])
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s of %v, want %v", name, got, c.want)
		}
	}
}

// TestRL_K12: a name of 255 characters and 765 bytes is one like any other.
func TestRL_K12(t *testing.T) {
	withLimits(t, 100, 2, func(t *testing.T, s limited) {
		name, password := strings.Repeat("名", 255), "x-pw"
		pw := &password
		if _, err := s.Users.Create(t.Context(), "default", identity.Change{Name: &name, Password: &pw}); err != nil {
			t.Fatal(err)
		}
		statuses(t, repeat(2, func(i int) harness.Answer { return s.login(i, name, "x-pw") }), 201, 201)
		statuses(t, repeat(3, func(i int) harness.Answer { return s.login(i, name, "wrong") }), 401, 401, 429)
	})
}

// TestRL_K14: hostile names are 400 or 401, at their address' expense, and
// write no line of the log.
func TestRL_K14(t *testing.T) {
	var log bytes.Buffer
	for _, engine := range dbtest.Engines() {
		s := harness.New(t, harness.Options{Engine: engine, Log: &log, Tick: func() time.Duration { return 0 }, Conf: bothLimits})
		const forged = "time=2026-01-01 level=INFO msg=forged"
		for _, name := range []string{`a\u0000b`, `\u0000`, `a\n` + forged, `a\r\n` + forged, `\u001b[2J`, "a\xff", "\xc3\x28", `\ud800`, `a\udc00\ud800`, `\u202e`, `'; drop table "user"; --`} {
			log.Reset()
			a := s.Do(harness.Call{
				Method: "POST", Path: "/v3/auth/tokens", From: from(3),
				Body: `{"auth":{"identity":{"methods":["password"],"password":{"user":{"name":"` + strings.ReplaceAll(name, `"`, `\"`) + `","domain":{"id":"default"},"password":"x"}}}}}`,
			})
			if a.Status != 400 && a.Status != 401 {
				t.Errorf("%s: %q: %d %s", engine, name, a.Status, a.Body)
			}
			for line := range strings.Lines(log.String()) {
				if !strings.HasPrefix(line, "time=") || strings.HasPrefix(line, forged) || strings.Contains(line, "\x1b") {
					t.Errorf("%s: %q writes %q", engine, name, line)
				}
			}
		}
	}
}

// TestRL_K15: one user has one bucket, however he is named.
func TestRL_K15(t *testing.T) {
	withLimits(t, 100, 3, func(t *testing.T, s limited) {
		id := s.alice()
		login := func(n int, user string) harness.Answer {
			return s.Do(harness.Call{
				Method: "POST", Path: "/v3/auth/tokens", From: from(n),
				Body: `{"auth":{"identity":{"methods":["password"],"password":{"user":{` + user + `,"password":"wrong"}}}}}`,
			})
		}
		statuses(t, []harness.Answer{
			login(1, `"id":"`+id+`"`),
			login(2, `"name":"alice","domain":{"id":"default"}`),
			login(3, `"name":"alice","domain":{"name":"Default"}`),
			login(4, `"name":"alice","domain":{"name":"Default"}`),
			login(5, `"name":"alice","domain":{"id":"default"}`),
			login(6, `"id":"`+id+`"`),
		}, 401, 401, 401, 429, 429, 429)
	})
}

// TestRL_H07b: charged first and given back after, ten right passwords at once
// are as many as the burst.
func TestRL_H07b(t *testing.T) {
	two, one, rounds := 2, 1, 12 // a hash outlasts the start of all ten
	withMeeting(t, func(c *conf.Config) {
		u := &c.RateLimitUserAuth
		u.Enabled, u.BurstSize, u.ReplenishRatePerSecond = true, &two, &one
		c.Identity.PasswordHashRounds = &rounds
	}, func(t *testing.T, s limited, m *meeting) {
		s.alice()
		m.meet(10)
		if _, count := together(10, func(i int) harness.Answer { return s.login(i, "alice", "alice-pw") }); count[201] != 2 || count[429] != 8 {
			t.Errorf("%v, want 2 × 201 and 8 × 429", count)
		}
		statuses(t, repeat(4, func(i int) harness.Answer { return s.login(i, "alice", "alice-pw") }), 201, 201, 201, 201)
	})
}

// TestRL_H11: a lookup that fails is no unknown user: 500, or 503 when the
// database is not there; nothing is hashed, and the user's bucket keeps what
// it has. The limit by address holds all the while.
func TestRL_H11(t *testing.T) {
	two, one, many := 2, 1, 7
	for name, x := range map[string]struct {
		err    func(s limited) error // nil: the table is gone
		status int
	}{
		"query fails":          {nil, 500},
		"database is not here": {func(limited) error { return fmt.Errorf("read: %w", db.ErrUnavailable) }, 503},
		"some other failure":   {func(limited) error { return errors.New("the disk is on fire") }, 500},
	} {
		t.Run(name, func(t *testing.T) {
			withMeeting(t, func(c *conf.Config) {
				g, u := &c.RateLimitGlobalIP, &c.RateLimitUserAuth
				g.Enabled, g.BurstSize, g.ReplenishRatePerSecond = true, &many, &one
				u.Enabled, u.BurstSize, u.ReplenishRatePerSecond = true, &two, &one
			}, func(t *testing.T, s limited, m *meeting) {
				id := s.alice()
				before := s.Hasher.Stats().Done
				rename := func(from, to string) {
					if _, err := s.count.Exec(t.Context(), `alter table `+from+` rename to `+to); err != nil {
						t.Fatal(err)
					}
				}
				if x.err == nil {
					rename("user_option", "gone")
				} else {
					m.fail(x.err(s))
				}
				for range 4 {
					a := s.login(1, "alice", "alice-pw")
					if a.Status != x.status || strings.Contains(a.Body, "gone") || strings.Contains(a.Body, "user_option") || strings.Contains(a.Body, "fire") {
						t.Fatalf("status %d, want %d: %s", a.Status, x.status, a.Body)
					}
					if (a.Header.Get("Retry-After") != "") != (a.Status == 503) {
						t.Errorf("Retry-After %q on a %d", a.Header.Get("Retry-After"), a.Status)
					}
				}
				statuses(t, repeat(5, func(int) harness.Answer { return s.login(1, "nobody", "x") }), x.status, x.status, x.status, 429, 429)
				if x.err == nil {
					rename("gone", "user_option")
				} else {
					m.fail(nil)
				}
				if n := s.Hasher.Stats().Done - before; n != 0 {
					t.Errorf("%d hashes, want none", n)
				}
				if n := s.failures(id); n != 0 {
					t.Errorf("failed_auth_count %d, want 0", n)
				}
				statuses(t, repeat(3, func(int) harness.Answer { return s.login(2, "alice", "wrong") }), 401, 401, 429)
			})
		})
	}
}

// TestRL_H28: what does not fit the queue of the hashing gate is 503 at once,
// and nothing but logins waits for it.
func TestRL_H28(t *testing.T) {
	cost := 12 // one hash outlasts the coming of all
	if raceEnabled {
		cost = 10
	}
	withMeeting(t, func(c *conf.Config) {
		c.KeystoneGo.HashSlots, c.KeystoneGo.HashQueue, c.KeystoneGo.HashWait = 1, 4, 600
		c.Identity.PasswordHashRounds = &cost
	}, func(t *testing.T, s limited, m *meeting) {
		admin := s.Admin()
		before := s.Hasher.Stats()
		m.meet(20)
		var during, waited int
		done := make(chan struct{})
		go func() {
			defer close(done)
			for s.Hasher.Stats().Running == 0 && s.Hasher.Stats().Refused == before.Refused {
				time.Sleep(time.Millisecond)
			}
			for s.Hasher.Stats().Running > 0 {
				hashed := s.Hasher.Stats().Done
				a := s.Do(harness.Call{Method: "GET", Path: "/v3/auth/tokens", Token: admin, Subject: admin})
				if a.Status != 200 {
					t.Errorf("a validation meanwhile: %d", a.Status)
				}
				if during++; s.Hasher.Stats().Done-hashed > 1 {
					waited++
				}
			}
		}()
		answers, count := together(20, func(i int) harness.Answer { return s.login(i, "nobody", "x") })
		<-done
		if count[401] != 5 || count[503] != 15 {
			t.Errorf("%v, want 5 × 401 and 15 × 503", count)
		}
		for _, a := range answers {
			if a.Status != 503 {
				continue
			}
			if !wholeSeconds.MatchString(a.Header.Get("Retry-After")) || a.At(t, "error", "code") != float64(503) {
				t.Errorf("503: Retry-After %q, %s", a.Header.Get("Retry-After"), a.Body)
			}
		}
		if after := s.Hasher.Stats(); after.Done-before.Done != 5 || after.Refused-before.Refused != 15 {
			t.Errorf("%+v, before %+v", after, before)
		}
		// One that stood in the same queue would see four or five hashes pass.
		if during == 0 || waited*2 > during {
			t.Errorf("of %d validations meanwhile %d waited for more than one hash", during, waited)
		}
	})
}

// metrics reads what an operator's monitoring reads.
func metrics(t *testing.T, s *harness.Server) string {
	t.Helper()
	w := httptest.NewRecorder()
	s.App.Admin.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("/metrics: %d", w.Code)
	}
	return w.Body.String()
}

// TestRL_H32: evaluations and refusals are counted by limiter and outcome; no
// label carries a key.
func TestRL_H32(t *testing.T) {
	withLimits(t, 3, 2, func(t *testing.T, s limited) {
		id := s.alice()
		statuses(t, repeat(4, func(i int) harness.Answer { return s.login(1, fmt.Sprint("nobody", i), "x") }), 401, 401, 401, 429)
		statuses(t, repeat(3, func(i int) harness.Answer { return s.login(2+i, "alice", "wrong") }), 401, 401, 429)
		text := metrics(t, s.Server)
		for _, line := range []string{
			`keystone_rate_limit_evaluations_total{outcome="allowed",scope="per_ip"} 6`,
			`keystone_rate_limit_evaluations_total{outcome="rejected",scope="per_ip"} 1`,
			`keystone_rate_limit_rejections_total{scope="per_ip"} 1`,
			`keystone_rate_limit_evaluations_total{outcome="allowed",scope="per_user"} 5`, // two of alice, three of names that nobody has
			`keystone_rate_limit_evaluations_total{outcome="rejected",scope="per_user"} 1`,
			`keystone_rate_limit_rejections_total{scope="per_user"} 1`,
			`keystone_rate_limit_store_entries{backend="memory",limiter="rate_limit_global_ip"} 4`,
			`keystone_rate_limit_store_entries{backend="memory",limiter="rate_limit_user_auth"} 1`,
		} {
			if !strings.Contains(text, "\n"+line+"\n") {
				t.Errorf("no %s", line)
			}
		}
		for _, key := range []string{"198.51.100.", "alice", "nobody", id} {
			if strings.Contains(text, key) {
				t.Errorf("a label carries %s", key)
			}
		}
	})
}
