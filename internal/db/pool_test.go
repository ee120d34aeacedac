package db_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// endless runs until it is stopped.
func endless(d db.DB) string {
	switch d.Dialect() {
	case db.SQLite:
		return `with recursive n (i) as (select 1 union all select i + 1 from n) select count(*) from n where i < 0`
	case db.MariaDB:
		return `select count(*) from (select sleep(60)) s`
	}
	return `select count(*) from (select pg_sleep(60)) s`
}

func TestCancel(t *testing.T) {
	every(t, func(t *testing.T, d db.DB) {
		stop := map[string]func(ctx context.Context, f func(context.Context)){
			"cancelled": func(ctx context.Context, f func(context.Context)) {
				ctx, cancel := context.WithCancel(ctx)
				time.AfterFunc(100*time.Millisecond, cancel)
				f(ctx)
			},
			"timed out": func(ctx context.Context, f func(context.Context)) {
				ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
				defer cancel()
				f(ctx)
			},
		}
		calls := map[string]func(context.Context) error{
			"query": func(ctx context.Context) error {
				_, err := db.One(ctx, d, value[int](endless(d)))
				return err
			},
			"batch": func(ctx context.Context) error {
				var b db.Batch
				db.Add(&b, value[string](`select id from project`))
				db.Add(&b, value[int](endless(d)))
				return d.Send(ctx, &b)
			},
			"transaction": func(ctx context.Context) error {
				return d.Tx(ctx, func(c db.Conn) error {
					if _, err := c.Exec(ctx, insertRegion, "r", "", nil, nil); err != nil {
						return err
					}
					_, err := db.One(ctx, c, value[int](endless(d)))
					return err
				})
			},
		}
		for how, end := range stop {
			for what, call := range calls {
				within(t, 10*time.Second, how+" "+what, func() {
					end(t.Context(), func(ctx context.Context) {
						err := call(ctx)
						if !errors.Is(err, ctx.Err()) || ctx.Err() == nil || errors.Is(err, db.ErrUnavailable) {
							t.Errorf("%s %s: got %v, want %v", how, what, err, ctx.Err())
						}
					})
				})
				if n := get[int](t, d, `select count(*) from region`); n != 0 {
					t.Errorf("%s %s: %d rows stayed", how, what, n)
				}
			}
		}
		already, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := d.Exec(already, insertRegion, "r", "", nil, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled before: got %v", err)
		}
		// A connection that was cut short is closed in the background.
		for end := time.Now().Add(10 * time.Second); d.Stats().InUse > 0; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("pool afterwards: %+v", d.Stats())
			}
		}
		if d.Dialect() == db.Postgres {
			running := func() int {
				return get[int](t, d, `select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and query like '%pg_sleep(60)%' and state = 'active'`)
			}
			for end := time.Now().Add(10 * time.Second); running() > 0; {
				if time.Now().After(end) {
					t.Fatalf("%d cancelled statements still run on the server", running())
				}
				time.Sleep(20 * time.Millisecond)
			}
		}
	})
}

func TestPoolIsUsedUp(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, first db.DB) {
		first.Close()
		d := dbtest.Connect(t, db.Config{URL: dbtest.OpenURL(t, string(first.Dialect())), MaxPoolSize: 1, MaxOverflow: 1, PoolTimeout: 2 * time.Second})
		err := d.Tx(t.Context(), func(db.Conn) error {
			return d.Tx(t.Context(), func(db.Conn) error {
				return d.Tx(t.Context(), func(db.Conn) error { return nil })
			})
		})
		if !errors.Is(err, db.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want ErrUnavailable alone", err)
		}
		get[string](t, d, `select id from project`)
		if s := d.Stats(); s.InUse != 0 {
			t.Errorf("pool afterwards: %+v", s)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		err = d.Tx(t.Context(), func(db.Conn) error {
			return d.Tx(t.Context(), func(db.Conn) error { return d.Tx(ctx, func(db.Conn) error { return nil }) })
		})
		if d.Dialect() == db.Postgres && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the caller's own limit: got %v", err)
		}
	})
}

func TestRowsMustBeClosedOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		rows, err := d.Query(t.Context(), `select id from project`)
		if err != nil {
			t.Fatal(err)
		}
		if s := d.Stats(); s.InUse != 1 {
			t.Errorf("while open: %+v", s)
		}
		rows.Close()
		rows.Close()
		if err := rows.Err(); err != nil {
			t.Error(err)
		}
		if s := d.Stats(); s.InUse != 0 {
			t.Errorf("after close: %+v", s)
		}
	})
}

func TestConnectionIsLost(t *testing.T) {
	address := dbtest.OpenURL(t, "postgres")
	d := dbtest.Connect(t, db.Config{URL: address, MaxPoolSize: 1})
	killer := dbtest.Connect(t, db.Config{URL: address, MaxPoolSize: 1})
	pid := get[int](t, d, `select pg_backend_pid()`)
	done := make(chan error, 1)
	go func() {
		_, err := db.One(t.Context(), d, value[int](endless(d)))
		done <- err
	}()
	const running = `select count(*) from pg_stat_activity where pid = $1 and state = 'active' and query like '%pg_sleep%'`
	for end := time.Now().Add(20 * time.Second); get[int](t, killer, running, pid) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the statement does not begin")
		}
	}
	get[bool](t, killer, `select pg_terminate_backend($1)`, pid)
	if err := <-done; !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("a statement whose connection was cut: got %v, want ErrUnavailable", err)
	}
	get[string](t, d, `select id from project`)
	err := d.Tx(t.Context(), func(c db.Conn) error {
		get[bool](t, killer, `select pg_terminate_backend($1)`, get[int](t, c, `select pg_backend_pid()`))
		_, err := c.Exec(t.Context(), insertRegion, "r", "", nil, nil)
		return err
	})
	if !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("a transaction whose connection was cut: got %v, want ErrUnavailable", err)
	}
	if n := get[int](t, d, `select count(*) from region`); n != 0 {
		t.Errorf("%d rows stayed", n)
	}
}

func TestServerIsFull(t *testing.T) {
	admin := dbtest.Open(t, "postgres")
	exec(t, admin, `drop role if exists keystone_go_one`)
	exec(t, admin, `create role keystone_go_one login superuser connection limit 1`)
	exec(t, admin, `alter role keystone_go_one nosuperuser`)
	u, err := url.Parse(dbtest.OpenURL(t, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User("keystone_go_one")
	d := dbtest.Connect(t, db.Config{URL: u.String(), MaxPoolSize: 2})
	err = d.Tx(t.Context(), func(db.Conn) error { return d.Ping(t.Context()) })
	if !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("one connection too many: got %v, want ErrUnavailable", err)
	}
	d.Close()
	if err := d.Ping(t.Context()); !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("after close: got %v, want ErrUnavailable", err)
	}
	exec(t, admin, `drop role keystone_go_one`)
}

func TestNoServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	_, err = db.Open(t.Context(), db.Config{
		URL: (&url.URL{Scheme: "postgresql", User: url.UserPassword("me", "hush/hush"), Host: "127.0.0.1:" + strconv.Itoa(port), Path: "/keystone"}).String(), MaxRetries: 2, RetryInterval: 50 * time.Millisecond,
	})
	if !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	if took := time.Since(begin); took < 100*time.Millisecond {
		t.Errorf("gave up after %s, want two more tries 50 ms apart", took)
	}
	if strings.Contains(err.Error(), "hush") {
		t.Errorf("the password is in %q", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	within(t, 5*time.Second, "an open that tries for ever", func() {
		if _, err := db.Open(ctx, db.Config{URL: "postgresql://me@127.0.0.1:" + strconv.Itoa(port) + "/x", MaxRetries: -1, RetryInterval: time.Minute}); err == nil {
			t.Error("no error")
		}
	})
}

func TestSQLiteWaitsForAnotherProcess(t *testing.T) {
	address := dbtest.OpenURL(t, "sqlite")
	one := dbtest.Connect(t, db.Config{URL: address})
	two := dbtest.Connect(t, db.Config{URL: address + "?timeout=0.01"})
	locked, free := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- one.Tx(t.Context(), func(c db.Conn) error {
			_, err := c.Exec(t.Context(), insertRegion, "one", "", nil, nil)
			close(locked)
			<-free
			return err
		})
	}()
	<-locked
	if _, err := two.Exec(t.Context(), insertRegion, "two", "", nil, nil); !errors.Is(err, db.ErrSerialize) {
		t.Errorf("a single write: got %v, want ErrSerialize", err)
	}
	time.AfterFunc(30*time.Millisecond, func() { close(free) })
	if err := two.Tx(t.Context(), func(c db.Conn) error {
		_, err := c.Exec(t.Context(), insertRegion, "two", "", nil, nil)
		return err
	}); err != nil {
		t.Errorf("a transaction, which tries again: %v", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n := get[int](t, two, `select count(*) from region`); n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
}

func TestSQLiteReadsDoNotWrite(t *testing.T) {
	d := dbtest.Open(t, "sqlite")
	if _, err := db.All(t.Context(), d, value[string](`insert into region (id, description) values ('r', '') returning id`)); err == nil {
		t.Error("a query wrote")
	}
}
