package sql_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/migrations"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/conform"
	"github.com/keystone-go/keystone-go/ratelimit/sql"
)

// each gives a database with the table, on every engine and, where an engine
// has a statement of its own, the way of the others on it too.
func each(t *testing.T, f func(t *testing.T, d db.DB, portable bool)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		if err := migrations.SyncOwn(t.Context(), d, migrations.RateLimit); err != nil {
			t.Fatal(err)
		}
		f(t, d, false)
		if d.Dialect() == db.Postgres {
			t.Run("portable", func(t *testing.T) { f(t, d, true) })
		}
	})
}

// patient is a budget for tests that are not about time.
const patient = 30 * time.Second

func client(d db.DB) *sql.Client {
	return sql.New(sql.Config{DB: d, Secret: []byte("a secret of the tests"), Budget: patient})
}

func open(t testing.TB, c *sql.Client, portable bool, spec ratelimit.Spec) *sql.Store {
	t.Helper()
	st, err := c.Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Close)
	if portable {
		st.(*sql.Store).Portable()
	}
	return st.(*sql.Store)
}

func spec(name string, rate int64, period time.Duration, burst int64) ratelimit.Spec {
	return ratelimit.Spec{Name: name, Quota: ratelimit.Quota{Rate: rate, Period: period, Burst: burst}, Algorithm: ratelimit.GCRA}
}

func key(n int) ratelimit.Key { return ratelimit.Key{Lo: uint64(n)} }

func take(t testing.TB, s ratelimit.Store, k ratelimit.Key, cost int64) ratelimit.Decision {
	t.Helper()
	d, err := s.Take(context.Background(), k, cost)
	if err != nil {
		t.Fatalf("Take %d: %v", cost, err)
	}
	return d
}

// RL-L32: rows hold the contract of a quota.
func TestConform(t *testing.T) {
	// A check here costs a thousand times what one in memory costs.
	checks := flag.Lookup("rapid.checks").Value
	usual := checks.String()
	_ = checks.Set("15")
	defer func() { _ = checks.Set(usual) }()
	each(t, func(t *testing.T, d db.DB, portable bool) {
		for _, form := range []conform.Form{conform.GCRA, conform.Counter} {
			name := 0
			target := conform.Target{Form: form, Tick: time.Microsecond, Open: func(t testing.TB, spec ratelimit.Spec, clock *conform.Clock) ratelimit.Store {
				c := client(d)
				c.SetClock(clock.Now)
				name++
				spec.Name = fmt.Sprint("conform", name, portable)
				return open(t, c, portable, spec)
			}}
			t.Run(string(form), func(t *testing.T) { conform.Run(t, target) })
		}
	})
}

// Processes that share the database have one budget, however they meet.
func TestOneBudget(t *testing.T) {
	each(t, func(t *testing.T, d db.DB, portable bool) {
		var stores []*sql.Store
		for range 3 {
			stores = append(stores, open(t, client(d), portable, spec(fmt.Sprint("budget", portable), 1, time.Hour, 10)))
		}
		var allowed atomic.Int32
		var all sync.WaitGroup
		for i := range 60 {
			all.Go(func() {
				d, err := stores[i%3].Take(t.Context(), key(1), 1)
				switch {
				case err != nil:
					t.Error(err)
				case d.Allowed:
					allowed.Add(1)
				case d.Retry <= 0 || d.Retry > time.Hour:
					t.Errorf("refused: %+v", d)
				}
			})
		}
		all.Wait()
		if n := allowed.Load(); n != 10 {
			t.Errorf("%d of 60 were admitted, want 10", n)
		}
	})
}

// A decision is one statement on Postgres, whether it allows, refuses or gives
// back; a refusal writes nothing anywhere.
func TestOneStatement(t *testing.T) {
	each(t, func(t *testing.T, d db.DB, portable bool) {
		if d.Dialect() != db.Postgres || portable {
			return
		}
		counted := dbtest.Count(t, d)
		s := open(t, client(counted), false, spec("one", 1, time.Hour, 2))
		for what, f := range map[string]func(){
			"a charge": func() { take(t, s, key(rand.IntN(1<<30)), 1) },
			"a refund": func() {
				if err := s.Refund(t.Context(), key(1), 1); err != nil {
					t.Fatal(err)
				}
			},
			"a refusal": func() {
				take(t, s, key(2), 2)
				counted.Reset()
				if d := take(t, s, key(2), 1); d.Allowed {
					t.Errorf("%+v", d)
				}
			},
		} {
			counted.Reset()
			f()
			if len(counted.Texts) != 1 {
				t.Errorf("%s: %d statements", what, len(counted.Texts))
			}
		}
		version := db.Query[string]{Text: `select cast(xmin as text) || cast(ctid as text) from keystone_go_rate_limit where debt = 7200000000`, Scan: func(r db.Row) (s string, err error) { return s, r.Scan(&s) }}
		version.Scan = func(r db.Row) (s string, err error) { err = r.Scan(&s); return s, err }
		before, err := db.One(t.Context(), d, version)
		if err != nil {
			t.Fatal(err)
		}
		take(t, s, key(2), 1)
		if after, err := db.One(t.Context(), d, version); err != nil || after != before {
			t.Errorf("a refusal wrote the row: %s, then %s, %v", before, after, err)
		}
	})
}

// RL-L15 for rows: the database's clock is stepped. Forward, what was owed is
// paid early. Back, nothing is forgiven, and nobody is kept out for the length
// of the step.
func TestClockSteps(t *testing.T) {
	each(t, func(t *testing.T, d db.DB, portable bool) {
		at := 1_780_000_000 * time.Second
		c := client(d)
		c.SetClock(func() time.Duration { return at })
		s := open(t, c, portable, spec(fmt.Sprint("step", portable), 1, time.Hour, 2))
		for i, c := range []struct {
			step    time.Duration
			allowed bool
			retry   time.Duration
		}{
			{0, true, 0},
			{2 * time.Hour, true, 0},
			{0, false, 2 * time.Hour},
			{-24 * time.Hour, false, 2 * time.Hour},
			{time.Hour, false, time.Hour},
			{time.Hour, true, 0},
			{-365 * 24 * time.Hour, false, 2 * time.Hour},
			{2*time.Hour - time.Microsecond, false, time.Microsecond},
			{time.Microsecond, true, 0},
			// A statement that waited reads a time before the row's: no step.
			{-5 * time.Second, false, 2 * time.Hour},
			{5*time.Second + time.Hour, false, time.Hour},
		} {
			at += c.step
			if d := take(t, s, key(1), 2); d.Allowed != c.allowed || d.Retry != c.retry {
				t.Errorf("step %d: %+v, want %v and %v", i, d, c.allowed, c.retry)
			}
		}
	})
}

// By the database's own clock a debt is paid as time passes.
func TestOwnClock(t *testing.T) {
	each(t, func(t *testing.T, d db.DB, portable bool) {
		s := open(t, client(d), portable, spec(fmt.Sprint("own", portable), 10, time.Second, 3))
		if d := take(t, s, key(1), 3); !d.Allowed || d.Reset > 300*time.Millisecond {
			t.Fatalf("%+v", d)
		}
		d2 := take(t, s, key(1), 3)
		for end := time.Now().Add(20 * time.Second); !d2.Allowed && time.Now().Before(end); d2 = take(t, s, key(1), 3) {
			if d2.Retry <= 0 || d2.Retry > 300*time.Millisecond {
				t.Fatalf("%+v", d2)
			}
			time.Sleep(d2.Retry)
		}
		if !d2.Allowed {
			t.Errorf("%+v", d2)
		}
	})
}

// Rows that owe nothing go, a bounded number at a time; those that owe stay.
func TestSweep(t *testing.T) {
	each(t, func(t *testing.T, d db.DB, portable bool) {
		at := 1_780_000_000 * time.Second
		c := client(d)
		c.SetClock(func() time.Duration { return at })
		s := open(t, c, portable, spec(fmt.Sprint("sweep", portable), 1, time.Second, 60))
		other := open(t, c, portable, spec(fmt.Sprint("other", portable), 1, time.Second, 60))
		take(t, other, key(1), 1)
		for i := range 40 {
			take(t, s, key(i), 1+59*int64(i%2))
		}
		at += 2 * time.Second
		after, steps := "", 0
		for ok := true; ok; ok = after != "" {
			var err error
			if after, err = s.Sweep(t.Context(), after, 7, 2); err != nil {
				t.Fatal(err)
			}
			steps++
		}
		if steps != 3 || s.Stats().Swept != 20 {
			t.Errorf("%d rows are gone in %d steps, want 20 in 3", s.Stats().Swept, steps)
		}
		for i := range 40 {
			if want := 60 - int64(i%2)*58; take(t, s, key(i), 0).Remaining != want {
				t.Errorf("key %d: %+v, want %d", i, take(t, s, key(i), 0), want)
			}
		}
	})
}

// No row names anybody, and each process with the secret finds it again.
func TestNothingPlain(t *testing.T) {
	each(t, func(t *testing.T, d db.DB, portable bool) {
		if portable {
			return
		}
		for _, secret := range []string{"one", "one", "two"} {
			l, err := ratelimit.New(spec("plain", 1, time.Hour, 5), sql.New(sql.Config{DB: d, Secret: []byte(secret), Budget: patient}).Open)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			for _, k := range []ratelimit.Key{l.Text("alice@example.org"), l.Address(netip.MustParseAddr("203.0.113.77"))} {
				if d, err := l.Take(t.Context(), k); err != nil || !d.Allowed {
					t.Fatalf("%+v, %v", d, err)
				}
			}
		}
		rows, err := db.All(t.Context(), d, db.Query[string]{Text: `select id from keystone_go_rate_limit`, Scan: func(r db.Row) (s string, err error) { err = r.Scan(&s); return s, err }})
		if err != nil || len(rows) != 4 {
			t.Errorf("%d rows, want 4: %v", len(rows), err)
		}
		for _, id := range rows {
			if len(id) != 32 || strings.Contains(id, "cb00714d") {
				t.Errorf("a row's id is %s", id)
			}
		}
	})
}

func TestRefused(t *testing.T) {
	each(t, func(t *testing.T, d db.DB, portable bool) {
		c := client(d)
		for _, bad := range []ratelimit.Spec{
			{Name: "a", Quota: ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 1}, Algorithm: "leaky"},
			{Name: "d", Quota: ratelimit.Quota{Rate: 1, Period: time.Hour, Burst: 25}, Algorithm: ratelimit.SlidingWindow},
			{Name: "b", Quota: ratelimit.Quota{Rate: 1, Period: 10 * time.Nanosecond, Burst: 1}},
			{Name: "c"},
		} {
			if _, err := c.Open(bad); err == nil {
				t.Errorf("%+v is taken", bad)
			}
		}
		s := open(t, c, portable, spec("bad", 1, time.Second, 4))
		if err := s.Refund(t.Context(), key(1), -1); !errors.Is(err, ratelimit.ErrCost) {
			t.Errorf("refund of -1: %v", err)
		}
		if err := s.Refund(t.Context(), key(1), 1); err != nil {
			t.Errorf("refund of what was never taken: %v", err)
		}
	})
}
