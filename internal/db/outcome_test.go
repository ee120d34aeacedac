package db_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

func TestErrorKinds(t *testing.T) {
	every(t, func(t *testing.T, d db.DB) {
		ctx := t.Context()
		addRegion(t, d, "r", "")
		exec(t, d, insertUser, "u", true, nil, nil, "d")
		exec(t, d, insertLocal, "u", "d", "name")
		exec(t, d, insertUser, "v", true, nil, nil, "d")
		exec(t, d, `insert into service (id, type, enabled) values ($1, $2, $3)`, "s", "compute", true)
		exec(t, d, `insert into endpoint (id, interface, service_id, url, region_id) values ($1, $2, $3, $4, $5)`, "e", "public", "s", "http://x", "r")
		for what, c := range map[string]struct {
			text string
			args []any
			want error
		}{
			"a primary key twice":      {insertRegion, []any{"r", "", nil, nil}, db.ErrDuplicate},
			"a unique pair twice":      {insertLocal, []any{"v", "d", "name"}, db.ErrDuplicate},
			"a key changed to another": {`update "user" set id = $1 where id = $2`, []any{"u", "v"}, db.ErrDuplicate},
			"a reference to nothing":   {`insert into endpoint (id, interface, service_id, url) values ($1, $2, $3, $4)`, []any{"f", "public", "none", "http://x"}, db.ErrReference},
			"a row that is pointed at": {`delete from region where id = $1`, []any{"r"}, db.ErrReference},
			"a null where none may be": {insertRegion, []any{"n", nil, nil, nil}, nil},
			"a table that is not":      {`delete from nosuch`, nil, nil},
		} {
			_, err := d.Exec(ctx, c.text, c.args...)
			if err == nil {
				t.Errorf("%s: no error", what)
				continue
			}
			for _, kind := range []error{db.ErrNoRow, db.ErrDuplicate, db.ErrReference, db.ErrSerialize, db.ErrUnavailable, db.ErrBadValue} {
				if errors.Is(err, kind) != (kind == c.want) {
					t.Errorf("%s: %v is %v: %t", what, err, kind, errors.Is(err, kind))
				}
			}
			var b db.Batch
			b.Exec(insertRegion, "before", "", nil, nil)
			b.Exec(c.text, c.args...)
			if err := d.Send(ctx, &b); c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%s in a batch: got %v, want %v", what, err, c.want)
			}
		}
		if _, err := db.One(ctx, d, value[string](`select id from region where id = $1`, "before")); !errors.Is(err, db.ErrNoRow) {
			t.Errorf("a failed batch left a row behind: %v", err)
		}
		exec(t, d, `delete from "user" where id = $1`, "u")
		if n := get[int](t, d, `select count(*) from local_user`); n != 0 {
			t.Errorf("the cascade left %d rows", n)
		}
	})
}

func TestBatch(t *testing.T) {
	every(t, func(t *testing.T, plain db.DB) {
		ctx := t.Context()
		d := dbtest.Count(t, plain)
		addRegion(t, d, "a", "1")
		addRegion(t, d, "b", "2")
		d.Reset()
		var b db.Batch
		none := db.Add(&b, value[string](`select id from region where id = $1`, "none"))
		both := db.Add(&b, value[string](`select id from region order by id`))
		time1 := db.Add(&b, value[*time.Time](`select failed_auth_at from local_user`))
		if _, err := both.One(); err == nil {
			t.Error("a result before its batch was sent: no error")
		}
		if err := d.Send(ctx, &b); err != nil {
			t.Fatal(err)
		}
		if d.RoundTrips != 1 || d.Statements != 3 || b.Len() != 3 || d.Writes != 0 {
			t.Errorf("reads: %d round trips, %d statements, %d writes, want 1, 3, 0", d.RoundTrips, d.Statements, d.Writes)
		}
		if _, err := none.One(); !errors.Is(err, db.ErrNoRow) {
			t.Errorf("no row: got %v", err)
		}
		if first, err := both.One(); err != nil || first != "a" || !slices.Equal(both.All(), []string{"a", "b"}) {
			t.Errorf("both: got %q, %v, %q", first, err, both.All())
		}
		if len(time1.All()) != 0 {
			t.Errorf("times: got %v", time1.All())
		}
		d.Reset()
		var w db.Batch
		changed := w.Exec(`update region set description = $1`, "3")
		seen := db.Add(&w, value[string](`select description from region where id = $1`, "a"))
		gone := w.Exec(`delete from region where id = $1`, "b")
		nothing := w.Exec(`delete from region where id = $1`, "b")
		if err := d.Send(ctx, &w); err != nil {
			t.Fatal(err)
		}
		if d.RoundTrips != 1 || d.Writes != 3 {
			t.Errorf("writes: %d round trips, %d writes, want 1, 3", d.RoundTrips, d.Writes)
		}
		if s, _ := seen.One(); s != "3" || changed.Rows() != 2 || gone.Rows() != 1 || nothing.Rows() != 0 {
			t.Errorf("got %q and %d, %d, %d rows, want 3 and 2, 1, 0", s, changed.Rows(), gone.Rows(), nothing.Rows())
		}
		if err := d.Send(ctx, &b); err != nil || !slices.Equal(both.All(), []string{"a"}) {
			t.Errorf("sent again: got %q, %v", both.All(), err)
		}
		if err := d.Send(ctx, &db.Batch{}); err != nil {
			t.Errorf("an empty batch: %v", err)
		}
	})
}

// TestBatchWithAFailedWrite: nothing of it is stored, alone or in a transaction,
// and what comes next is not in its way.
func TestBatchWithAFailedWrite(t *testing.T) {
	every(t, func(t *testing.T, d db.DB) {
		for i, send := range []func(*db.Batch) error{
			func(b *db.Batch) error { return d.Send(t.Context(), b) },
			func(b *db.Batch) error {
				return d.Tx(t.Context(), func(c db.Conn) error { return c.Send(t.Context(), b) })
			},
		} {
			var b db.Batch
			before := db.Add(&b, value[int](`select count(*) from region`))
			b.Exec(insertRegion, "twice", "", nil, nil)
			b.Exec(insertRegion, "twice", "", nil, nil)
			b.Exec(insertRegion, "behind", "", nil, nil)
			if err := send(&b); !errors.Is(err, db.ErrDuplicate) {
				t.Errorf("%d: got %v, want ErrDuplicate", i, err)
			}
			if n, err := before.One(); err == nil && n != 0 {
				t.Errorf("%d: %d rows before", i, n)
			}
			if n := get[int](t, d, `select count(*) from region`); n != 0 {
				t.Errorf("%d: %d rows are stored, want none", i, n)
			}
		}
		if s := d.Stats(); s.InUse != 0 {
			t.Errorf("pool afterwards: %+v", s)
		}
	})
}

func TestBatchStopsAtAFailedScan(t *testing.T) {
	every(t, func(t *testing.T, d db.DB) {
		var b db.Batch
		bad := errors.New("no good")
		db.Add(&b, db.Query[int]{Text: `select id from project`, Scan: func(db.Row) (int, error) { return 0, bad }})
		b.Exec(insertRegion, "r", "", nil, nil)
		if err := d.Send(t.Context(), &b); !errors.Is(err, bad) {
			t.Errorf("got %v, want the error of the scan", err)
		}
		if _, err := db.All(t.Context(), d, db.Query[int]{Text: `select id from project`, Scan: func(db.Row) (int, error) { return 0, bad }}); !errors.Is(err, bad) {
			t.Errorf("alone: got %v, want the error of the scan", err)
		}
		get[string](t, d, `select id from project`)
	})
}

func TestTx(t *testing.T) {
	every(t, func(t *testing.T, d db.DB) {
		ctx, stop := t.Context(), errors.New("stop")
		ids := func() []string {
			t.Helper()
			got, err := db.All(ctx, d, value[string](`select id from region order by id`))
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if err := d.Tx(ctx, func(c db.Conn) error {
			addRegion(t, c, "kept", "")
			if n := get[int](t, c, `select count(*) from region`); n != 1 {
				t.Errorf("inside: %d rows, want 1", n)
			}
			if len(ids()) != 0 {
				t.Error("outside sees what is not committed")
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		err := d.Tx(ctx, func(c db.Conn) error { addRegion(t, c, "lost", ""); return stop })
		if !errors.Is(err, stop) || !slices.Equal(ids(), []string{"kept"}) {
			t.Errorf("given up: got %v, %q", err, ids())
		}
		func() {
			defer func() { _ = recover() }()
			_ = d.Tx(ctx, func(c db.Conn) error { addRegion(t, c, "lost", ""); panic("boom") })
		}()
		if !slices.Equal(ids(), []string{"kept"}) {
			t.Errorf("after a panic: %q", ids())
		}
		// A failed statement whose error is dropped.
		err = d.Tx(ctx, func(c db.Conn) error {
			addRegion(t, c, "beside", "")
			_, _ = c.Exec(ctx, insertRegion, "kept", "", nil, nil)
			return nil
		})
		if d.Dialect() == db.Postgres && (err == nil || slices.Contains(ids(), "beside")) {
			t.Errorf("a dropped error: got %v, %q", err, ids())
		}
		exec(t, d, `delete from region`)
	})
}

func TestNested(t *testing.T) {
	every(t, func(t *testing.T, d db.DB) {
		ctx := t.Context()
		err := db.Nested(ctx, d, func(c db.Conn) error {
			addRegion(t, c, "outer", "")
			err := db.Nested(ctx, c, func(c db.Conn) error {
				addRegion(t, c, "undone", "")
				return db.Nested(ctx, c, func(c db.Conn) error {
					_, err := c.Exec(ctx, insertRegion, "outer", "", nil, nil)
					return err
				})
			})
			if !errors.Is(err, db.ErrDuplicate) {
				t.Errorf("the inner unit: got %v, want ErrDuplicate", err)
			}
			return db.Nested(ctx, c, func(c db.Conn) error {
				var b db.Batch
				b.Exec(insertRegion, "inner", "", nil, nil)
				return c.Send(ctx, &b)
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := db.All(ctx, d, value[string](`select id from region order by id`))
		if err != nil || !slices.Equal(got, []string{"inner", "outer"}) {
			t.Errorf("got %q, %v, want inner and outer", got, err)
		}
	})
}

func TestTxTriesAgain(t *testing.T) {
	every(t, func(t *testing.T, d db.DB) {
		lost := fmt.Errorf("as if: %w", db.ErrSerialize)
		runs := 0
		err := d.Tx(t.Context(), func(c db.Conn) error {
			runs++
			addRegion(t, c, "r", "")
			if runs < 3 {
				return lost
			}
			return nil
		})
		if err != nil || runs != 3 || get[int](t, d, `select count(*) from region`) != 1 {
			t.Errorf("lost twice: %d runs, %v", runs, err)
		}
		runs = 0
		if err := d.Tx(t.Context(), func(db.Conn) error { runs++; return lost }); !errors.Is(err, db.ErrSerialize) || runs < 2 || runs > 10 {
			t.Errorf("lost always: %d runs, %v", runs, err)
		}
		runs = 0
		if err := d.Tx(t.Context(), func(db.Conn) error { runs++; return db.ErrDuplicate }); !errors.Is(err, db.ErrDuplicate) || runs != 1 {
			t.Errorf("another error: %d runs, %v", runs, err)
		}
	})
}

// TestDeadlock crosses two transactions; Postgres gives one up, SQLite lets
// one wait. Both end well.
func TestDeadlock(t *testing.T) {
	every(t, func(t *testing.T, d db.DB) {
		addRegion(t, d, "a", "0")
		addRegion(t, d, "b", "0")
		var tries, halfway atomic.Int32
		var both sync.WaitGroup
		errs := make([]error, 2)
		meet := make(chan struct{})
		for i, order := range [][]string{{"a", "b"}, {"b", "a"}} {
			both.Go(func() {
				errs[i] = d.Tx(t.Context(), func(c db.Conn) error {
					tries.Add(1)
					change := `update region set description = description || $1 where id = $2`
					if _, err := c.Exec(t.Context(), change, "x", order[0]); err != nil {
						return err
					}
					if halfway.Add(1) == 2 {
						close(meet)
					}
					if d.Dialect() == db.Postgres {
						<-meet
					}
					_, err := c.Exec(t.Context(), change, "x", order[1])
					return err
				})
			})
		}
		both.Wait()
		if errs[0] != nil || errs[1] != nil {
			t.Fatalf("got %v and %v", errs[0], errs[1])
		}
		if d.Dialect() == db.Postgres && tries.Load() < 3 {
			t.Errorf("%d runs: the two did not meet", tries.Load())
		}
		if got := get[string](t, d, `select description from region where id = $1`, "a"); got != "0xx" {
			t.Errorf("got %q, want each change once", got)
		}
	})
}

func TestManyAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		const workers, rounds = 12, 15
		addRegion(t, d, "n", "")
		var all sync.WaitGroup
		for w := range workers {
			all.Go(func() {
				for i := range rounds {
					if err := d.Tx(t.Context(), func(c db.Conn) error {
						if _, err := c.Exec(t.Context(), `update region set description = description || $1 where id = $2`, "x", "n"); err != nil {
							return err
						}
						_, err := c.Exec(t.Context(), insertRegion, fmt.Sprintf("%d-%d", w, i), "", nil, nil)
						return err
					}); err != nil {
						t.Error(err)
						return
					}
					if _, err := db.All(t.Context(), d, value[string](`select id from region`)); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		if got := get[string](t, d, `select description from region where id = $1`, "n"); got != strings.Repeat("x", workers*rounds) {
			t.Errorf("%d changes, want %d", len(got), workers*rounds)
		}
		if s := d.Stats(); s.InUse != 0 || s.Open == 0 || s.Max < s.Open {
			t.Errorf("pool afterwards: %+v", s)
		}
	})
}

// TestDeadlockWithin: MariaDB gives up all of a transaction at a deadlock, also
// when only a unit within it is undone. What comes after must not be stored on
// its own.
func TestDeadlockWithin(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		ctx := t.Context()
		tries := 0
		err := d.Tx(ctx, func(c db.Conn) error {
			tries++
			addRegion(t, c, fmt.Sprintf("first %d", tries), "")
			err := db.Nested(ctx, c, func(c db.Conn) error {
				if tries == 1 && d.Dialect() == db.MariaDB {
					return deadlocked(t, d, c)
				}
				return nil
			})
			if err != nil && !errors.Is(err, db.ErrSerialize) {
				t.Errorf("got %v, want ErrSerialize", err)
			}
			// As if the error did not matter.
			_, err = c.Exec(ctx, insertRegion, fmt.Sprintf("second %d", tries), "", nil, nil)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := db.All(ctx, d, value[string](`select id from region where id like 'first%' or id like 'second%' order by id`))
		want := []string{fmt.Sprintf("first %d", tries), fmt.Sprintf("second %d", tries)}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("stored %q, %v, want %q", got, err, want)
		}
		if d.Dialect() == db.MariaDB && tries != 2 {
			t.Errorf("%d runs, want 2", tries)
		}
	})
}

// deadlocked gives the error of c, which loses against another transaction that
// has changed more.
func deadlocked(t *testing.T, d db.DB, c db.Conn) error {
	t.Helper()
	ctx := t.Context()
	change := `update region set description = description || 'x' where id = $1`
	addRegion(t, d, "a", "")
	addRegion(t, d, "b", "")
	for i := range 20 {
		addRegion(t, d, fmt.Sprintf("heavy %d", i), "")
	}
	if _, err := c.Exec(ctx, change, "a"); err != nil {
		return err
	}
	done, waits := make(chan error), make(chan struct{})
	go func() {
		done <- d.Tx(ctx, func(other db.Conn) error {
			if _, err := other.Exec(ctx, `update region set description = 'y' where id like 'heavy%' or id = 'b'`); err != nil {
				return err
			}
			close(waits)
			_, err := other.Exec(ctx, change, "a")
			return err
		})
	}()
	<-waits
	_, err := c.Exec(ctx, change, "b")
	if e := <-done; e != nil {
		t.Errorf("the other: %v", e)
	}
	return err
}
