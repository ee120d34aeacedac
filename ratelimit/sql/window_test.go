package sql_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/sql"
)

func sliding(name string, period time.Duration, burst int64) ratelimit.Spec {
	s := spec(name, burst, period, burst)
	s.Algorithm = ratelimit.SlidingWindow
	return s
}

// Processes that share the database have one window, however they meet.
func TestOneWindow(t *testing.T) {
	each(t, func(t *testing.T, d db.DB, portable bool) {
		var stores []*sql.Store
		for range 3 {
			stores = append(stores, open(t, client(d), portable, sliding(fmt.Sprint("window", portable), time.Hour, 10)))
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
				case d.Retry <= 0 || d.Retry > 2*time.Hour:
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

// A window is decided in one statement on Postgres too.
func TestWindowOneStatement(t *testing.T) {
	each(t, func(t *testing.T, d db.DB, portable bool) {
		if d.Dialect() != db.Postgres || portable {
			return
		}
		counted := dbtest.Count(t, d)
		s := open(t, client(counted), false, sliding("one", time.Hour, 2))
		take(t, s, key(2), 2)
		for what, f := range map[string]func(){
			"a new key": func() { take(t, s, key(10+rand.IntN(1<<30)), 1) },
			"a charge and its refund": func() {
				take(t, s, key(1), 1)
				counted.Texts = counted.Texts[1:]
				if err := s.Refund(t.Context(), key(1), 1); err != nil {
					t.Fatal(err)
				}
			},
			"a refusal": func() {
				if d := take(t, s, key(2), 1); d.Allowed {
					t.Errorf("%+v", d)
				}
			},
			"a look": func() { take(t, s, key(2), 0) },
		} {
			counted.Reset()
			f()
			if len(counted.Texts) != 1 {
				t.Errorf("%s: %d statements: %q", what, len(counted.Texts), counted.Texts)
			}
		}
	})
}

// The database's clock is stepped under a window. Forward, what was taken fades
// early. Back, nothing is forgiven, and nobody waits for the length of the step.
func TestWindowClockSteps(t *testing.T) {
	each(t, func(t *testing.T, d db.DB, portable bool) {
		at := 1_780_000_000 * time.Second
		c := client(d)
		c.SetClock(func() time.Duration { return at })
		s := open(t, c, portable, sliding(fmt.Sprint("steps", portable), time.Hour, 2))
		for i, c := range []struct {
			step    time.Duration
			allowed bool
			retry   time.Duration
		}{
			{0, true, 0},
			{0, false, 2 * time.Hour},
			{-5 * time.Second, false, 2 * time.Hour}, // a statement that waited: no step
			{-24 * time.Hour, false, 2 * time.Hour},
			{time.Hour, false, time.Hour},
			{time.Hour - time.Microsecond, false, time.Microsecond},
			{time.Microsecond, true, 0},
			{365 * 24 * time.Hour, true, 0},
		} {
			at += c.step
			if d := take(t, s, key(1), 2); d.Allowed != c.allowed || d.Retry != c.retry {
				t.Errorf("step %d: %+v, want %v and %v", i, d, c.allowed, c.retry)
			}
		}
	})
}

// Rows of windows that are over go, as others do; an algorithm that is changed
// meets no row that it would read wrongly.
func TestWindowRows(t *testing.T) {
	each(t, func(t *testing.T, d db.DB, portable bool) {
		at := 1_780_000_000 * time.Second
		c := client(d)
		c.SetClock(func() time.Duration { return at })
		name := fmt.Sprint("rows", portable)
		s := open(t, c, portable, sliding(name, time.Minute, 4))
		steady := open(t, c, portable, spec(name, 4, time.Hour, 4))
		take(t, s, key(1), 4)
		take(t, steady, key(1), 3)
		if w, g := take(t, s, key(1), 0), take(t, steady, key(1), 0); w.Remaining != 0 || g.Remaining != 1 {
			t.Errorf("%+v and %+v of one key, want 0 and 1", w, g)
		}
		at += 2*time.Minute - time.Microsecond
		for _, want := range []uint64{0, 1} {
			if _, err := s.Sweep(t.Context(), "", 10, 1); err != nil || s.Stats().Swept != want {
				t.Errorf("%d rows are gone, want %d: %v", s.Stats().Swept, want, err)
			}
			at += time.Microsecond
		}
		if g := take(t, steady, key(1), 0); g.Remaining != 1 {
			t.Errorf("the sweep took another row: %+v", g)
		}
	})
}
