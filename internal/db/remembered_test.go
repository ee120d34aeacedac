package db_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/dbtest/pgserver"
)

func descriptions(id string) db.Query[string] {
	return db.Query[string]{
		Text: `select r.description from region r where r.id = $1`, Args: []any{id},
		Scan: func(r db.Row) (string, error) {
			var s string
			err := r.Scan(&s)
			return s, err
		},
	}
}

func remembered(t *testing.T, r *db.Remembered, id string) string {
	t.Helper()
	var b db.Batch
	first, second := db.Add(&b, descriptions(id)), db.Add(&b, descriptions("other"))
	if err := r.Send(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	v, err := first.One()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.One(); err == nil {
		t.Fatal("a row that is not there was found")
	}
	return v
}

// recalled reads the same by name.
func recalled(t *testing.T, c db.Conn, id string) string {
	t.Helper()
	found, err := db.Recall(t.Context(), c, []string{"region", id}, func(b *db.Batch) *db.Result[string] {
		return db.Add(b, descriptions(id))
	})
	if err != nil {
		t.Fatal(err)
	}
	v, err := found.One()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// seen tries until it has seen what commits of other tests on the same server can
// hide, since each of them ends the memory.
func seen(t *testing.T, what string, try func() bool) {
	t.Helper()
	for start := time.Now(); time.Since(start) < 30*time.Second; {
		if try() {
			return
		}
	}
	t.Errorf("never seen: %s", what)
}

func describe(t testing.TB, c db.Conn, id, text string) {
	t.Helper()
	if _, err := c.Exec(context.Background(), `update region set description = $1 where id = $2`, text, id); err != nil {
		t.Fatal(err)
	}
}

func newRegion(t *testing.T, d db.DB, id string) {
	t.Helper()
	if _, err := d.Exec(t.Context(), `insert into region (id, description) values ($1, $2)`, id, "0"); err != nil {
		t.Fatal(err)
	}
}

// TestRemembered: while nothing is committed a read costs one statement; what
// anybody commits is seen by the very next one.
func TestRemembered(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		newRegion(t, d, "r")
		c := dbtest.Count(t, d)
		r := db.Remember(c)
		want := 1
		if d.Dialect() != db.Postgres {
			want = 2 // it cannot prove anything, so it reads
		}
		seen(t, fmt.Sprintf("1 round trip of %d statements", want), func() bool {
			remembered(t, r, "r")
			remembered(t, r, "r")
			c.Reset()
			if got := remembered(t, r, "r"); got != "0" {
				t.Errorf("read %q", got)
			}
			return c.RoundTrips == 1 && c.Statements == want
		})
		for i := range 20 {
			describe(t, d, "r", fmt.Sprint(i))
			if got := remembered(t, r, "r"); got != fmt.Sprint(i) {
				t.Fatalf("read %q after %d was written", got, i)
			}
		}
	})
}

// TestRecall: what was queued by a name is queued again only when somebody has
// committed something; rows that several names have in common are there once.
func TestRecall(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		if d.Dialect() != db.Postgres {
			newRegion(t, d, "r")
			for _, want := range []string{"0", "1"} {
				if got := recalled(t, db.Remember(d), "r"); got != want {
					t.Errorf("read %q, want %q", got, want)
				}
				describe(t, d, "r", "1")
			}
			return
		}
		newRegion(t, d, "r")
		c := dbtest.Count(t, d)
		r := db.Remember(c)
		queued := 0
		ask := func(words ...string) *[]string {
			t.Helper()
			all, err := db.Recall(t.Context(), r, words, func(b *db.Batch) *db.Result[string] {
				queued++
				return db.Add(b, descriptions("r"))
			})
			if err != nil {
				t.Fatal(err)
			}
			rows := all.All()
			return &rows
		}
		seen(t, "a name known is one statement and queues nothing", func() bool {
			ask("a", "b")
			ask("a", "b")
			c.Reset()
			queued = 0
			ask("a", "b")
			return queued == 0 && c.RoundTrips == 1 && c.Statements == 1
		})
		seen(t, "rows of two names are the same", func() bool {
			ask("a", "b")
			first, second := ask("a", "b"), ask("ab", "")
			return &(*first)[0] == &(*second)[0] && queued > 0
		})
		for i := range 20 {
			describe(t, d, "r", fmt.Sprint(i))
			if got := *ask("a", "b"); got[0] != fmt.Sprint(i) {
				t.Fatalf("read %q after %d was written", got, i)
			}
		}
		queued = 0
		describe(t, d, "r", "last")
		ask("a", "b")
		if queued != 1 {
			t.Errorf("queued %d times after a commit, want 1", queued)
		}
	})
}

// TestRememberedOpenTransactions: a transaction that is still open, or was
// given up, or commits after a later one, never shows too early nor too late.
func TestRememberedOpenTransactions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		if d.Dialect() != db.Postgres {
			return // one writer at a time: there is no such order
		}
		newRegion(t, d, "r")
		newRegion(t, d, "s")
		r := db.Remember(d)
		read := func(id, want string) {
			t.Helper()
			for range 3 {
				for _, got := range []string{remembered(t, r, id), recalled(t, r, id)} {
					if got != want {
						t.Fatalf("region %s reads %q, want %q", id, got, want)
					}
				}
			}
		}
		read("r", "0")
		if err := d.Tx(t.Context(), func(early db.Conn) error {
			describe(t, early, "r", "early")
			read("r", "0")
			describe(t, d, "s", "late")
			read("s", "late")
			read("r", "0")
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		read("r", "early")
		read("s", "late")
		_ = d.Tx(t.Context(), func(c db.Conn) error {
			describe(t, c, "r", "never")
			read("r", "early")
			return context.Canceled
		})
		read("r", "early")
	})
}

// TestRememberedUnderWrites has writers and readers at once: a reader never
// gets less than what was acknowledged before it began.
func TestRememberedUnderWrites(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		newRegion(t, d, "r")
		r := db.Remember(d)
		var acknowledged atomic.Int64
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			for n := int64(1); ctx.Err() == nil; n++ {
				describe(t, d, "r", fmt.Sprint(n))
				acknowledged.Store(n)
				time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
			}
		})
		for i := range 4 {
			name := []string{fmt.Sprint("reader", i)}
			if i%2 == 0 {
				name = []string{"readers"}
			}
			wg.Go(func() {
				for ctx.Err() == nil {
					least := acknowledged.Load()
					q, err := db.Recall(t.Context(), r, name, func(b *db.Batch) *db.Result[string] { return db.Add(b, descriptions("r")) })
					if err != nil {
						t.Error(err)
						return
					}
					text, err := q.One()
					var n int64
					if _, e := fmt.Sscan(text, &n); err != nil || e != nil || n < least {
						t.Errorf("read %q (%v) after %d was acknowledged", text, err, least)
						return
					}
				}
			})
		}
		wg.Wait()
		if acknowledged.Load() < 10 {
			t.Errorf("only %d writes", acknowledged.Load())
		}
	})
}

// TestRememberedTogether: who asks at the same time shares the look at the
// snapshot; one that hangs, or whose asker goes away, holds nobody up.
func TestRememberedTogether(t *testing.T) {
	t.Run("postgres", func(t *testing.T) { // the others look at nothing
		d := undisturbed(t)
		newRegion(t, d, "r")
		slow := &slowLook{DB: d, entered: make(chan struct{}, 1), leave: make(chan struct{})}
		r := db.Remember(slow)
		remembered(t, r, "r")
		remembered(t, r, "r")
		slow.hold.Store(true)
		ctx, hangUp := context.WithCancel(t.Context())
		var first sync.WaitGroup
		first.Go(func() {
			// Again, where a commit of another test emptied the memory: then it is
			// read anew, without a look.
			for slow.hold.Load() && ctx.Err() == nil {
				var b db.Batch
				db.Add(&b, descriptions("r"))
				_ = r.Send(ctx, &b)
			}
		})
		<-slow.entered
		slow.looks.Store(0)
		var others sync.WaitGroup
		for range 32 {
			others.Go(func() { remembered(t, r, "r") })
		}
		others.Wait() // though the first still hangs
		if n := slow.looks.Load(); n > 32 {
			t.Errorf("%d looks for 32 who lost patience", n)
		}
		hangUp()
		close(slow.leave)
		first.Wait()
		seen(t, "looks at the snapshot", func() bool {
			slow.looks.Store(0)
			for range 32 {
				others.Go(func() {
					for range 100 {
						remembered(t, r, "r")
					}
				})
			}
			others.Wait()
			n := slow.looks.Load()
			if n > 1600 {
				t.Errorf("%d looks for 3200 reads of 32 at a time", n)
			}
			return n > 0
		})
	})
}

// undisturbed is a database on a server where nobody else commits, which would end
// the memory sooner than 32 readers can fill it; where none can be started it is
// one like any other.
func undisturbed(t *testing.T) db.DB {
	t.Helper()
	own, err := pgserver.Start()
	if err != nil {
		return dbtest.Open(t, "postgres")
	}
	t.Cleanup(own.Stop)
	d, err := db.Open(t.Context(), db.Config{URL: own.URL, MaxPoolSize: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	if _, err := d.Exec(t.Context(), `create table region (id varchar(255) primary key, description text)`); err != nil {
		t.Fatal(err)
	}
	return d
}

// slowLook counts single reads, and holds one of them up.
type slowLook struct {
	db.DB
	hold    atomic.Bool
	looks   atomic.Int64
	entered chan struct{}
	leave   chan struct{}
}

func (s *slowLook) Query(ctx context.Context, text string, args ...any) (db.Rows, error) {
	s.looks.Add(1)
	if s.hold.CompareAndSwap(true, false) {
		s.entered <- struct{}{}
		<-s.leave
	}
	return s.DB.Query(ctx, text, args...)
}
