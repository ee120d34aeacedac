package db_test

import (
	"errors"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// TestMariaDBClosesIdle: a connection that the server has closed, for idleness or
// by hand, is found out before it is used.
func TestMariaDBClosesIdle(t *testing.T) {
	address := dbtest.OpenURL(t, "mariadb")
	d, killer := dbtest.Connect(t, db.Config{URL: address, MaxPoolSize: 1}), dbtest.Connect(t, db.Config{URL: address, MaxPoolSize: 1})
	exec(t, d, `set session wait_timeout = 1`)
	first := get[int](t, d, `select connection_id()`)
	for end := time.Now().Add(30 * time.Second); get[int](t, killer, `select count(*) from information_schema.processlist where id = $1`, first) > 0; {
		if time.Now().After(end) {
			t.Fatal("the server keeps the idle connection")
		}
		time.Sleep(50 * time.Millisecond)
	}
	second := get[int](t, d, `select connection_id()`)
	if first == second {
		t.Fatal("the connection is the same")
	}
	exec(t, killer, fmt.Sprintf(`kill connection %d`, second))
	time.Sleep(50 * time.Millisecond)
	if err := d.Tx(t.Context(), func(c db.Conn) error { addRegion(t, c, "r", ""); return nil }); err != nil {
		t.Errorf("a transaction on a killed connection: %v", err)
	}
	if n := get[int](t, d, `select count(*) from region`); n != 1 {
		t.Errorf("%d rows, want 1", n)
	}
}

// TestMariaDBConnectionIsLost: within a transaction that is told, nothing of it is
// stored, and the pool goes on.
func TestMariaDBConnectionIsLost(t *testing.T) {
	address := dbtest.OpenURL(t, "mariadb")
	d, killer := dbtest.Connect(t, db.Config{URL: address}), dbtest.Connect(t, db.Config{URL: address, MaxPoolSize: 1})
	err := d.Tx(t.Context(), func(c db.Conn) error {
		addRegion(t, c, "lost", "")
		exec(t, killer, fmt.Sprintf(`kill connection %d`, get[int](t, c, `select connection_id()`)))
		time.Sleep(50 * time.Millisecond)
		_, err := c.Exec(t.Context(), insertRegion, "after", "", nil, nil)
		return err
	})
	if !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	if n := get[int](t, d, `select count(*) from region`); n != 0 {
		t.Errorf("%d rows, want none", n)
	}
	if s := d.Stats(); s.InUse != 0 {
		t.Errorf("pool afterwards: %+v", s)
	}
}

// TestMariaDBKilledInABatch: a batch whose connection is killed under way is never
// taken for one that was stored.
func TestMariaDBKilledInABatch(t *testing.T) {
	address := dbtest.OpenURL(t, "mariadb")
	d, killer := dbtest.Connect(t, db.Config{URL: address}), dbtest.Connect(t, db.Config{URL: address, MaxPoolSize: 1})
	var writers, killers sync.WaitGroup
	var stop atomic.Bool
	killers.Go(func() {
		for !stop.Load() {
			id, err := db.One(t.Context(), killer, value[int](`select id from information_schema.processlist
				where db = database() and id <> connection_id() and command <> 'Sleep' limit 1`))
			if err == nil {
				_, _ = killer.Exec(t.Context(), fmt.Sprintf(`kill connection %d`, id)) // it may be gone
			}
		}
	})
	var mu sync.Mutex
	var stored []string
	broken := 0
	for w := range 4 {
		writers.Go(func() {
			for i := range 200 {
				id := fmt.Sprintf("%d.%d", w, i)
				var b db.Batch
				b.Exec(insertRegion, id, "", nil, nil)
				b.Exec(insertRegion, "beside "+id, "", nil, nil)
				err := d.Send(t.Context(), &b)
				mu.Lock()
				switch {
				case err == nil:
					stored = append(stored, id)
				case errors.Is(err, db.ErrUnavailable):
					broken++
				default:
					t.Errorf("got %v, want ErrUnavailable", err)
				}
				mu.Unlock()
			}
		})
	}
	writers.Wait()
	stop.Store(true)
	killers.Wait()
	for _, id := range stored {
		if n := get[int](t, d, `select count(*) from region where id in ($1, $2)`, id, "beside "+id); n != 2 {
			t.Errorf("%s: %d rows, want 2", id, n)
		}
	}
	if len(stored) == 0 || broken == 0 {
		t.Errorf("%d batches stored, %d broken off: want some of each", len(stored), broken)
	}
}

// TestMariaDBReadOnly: a server that was made a replica takes no write, reads go
// on, and the connection is not kept, so that a new primary is found. Root may
// write all the same, so other tests do not notice.
func TestMariaDBReadOnly(t *testing.T) {
	address := dbtest.OpenURL(t, "mariadb")
	root := dbtest.Connect(t, db.Config{URL: address})
	user := fmt.Sprintf("t%d", time.Now().UnixNano()%1e9)
	exec(t, root, `create user `+user+`@'%' identified by 'p@ss/w:rd'`)
	defer exec(t, root, `drop user `+user)
	name := get[string](t, root, `select database()`)
	exec(t, root, `grant all on "`+name+`".* to `+user)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	d := dbtest.Connect(t, db.Config{URL: u.Scheme + "://" + user + ":p%40ss%2Fw%3Ard@" + u.Host + u.Path, MaxPoolSize: 1})
	addRegion(t, d, "before", "")
	before := get[int](t, d, `select connection_id()`)
	exec(t, root, `set global read_only = 1`)
	defer exec(t, root, `set global read_only = 0`)
	if _, err := d.Exec(t.Context(), insertRegion, "r", "", nil, nil); !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("a write: got %v, want ErrUnavailable", err)
	}
	var b db.Batch
	b.Exec(insertRegion, "r", "", nil, nil)
	b.Exec(insertRegion, "s", "", nil, nil)
	if err := d.Send(t.Context(), &b); !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("a batch: got %v, want ErrUnavailable", err)
	}
	err = d.Tx(t.Context(), func(c db.Conn) error {
		_, err := c.Exec(t.Context(), insertRegion, "r", "", nil, nil)
		return err
	})
	if !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("a transaction: got %v, want ErrUnavailable", err)
	}
	if got := get[string](t, d, `select id from region`); got != "before" {
		t.Errorf("read: %q", got)
	}
	if before == get[int](t, d, `select connection_id()`) {
		t.Error("the connection was kept")
	}
}

// TestMariaDBLockWait: who waits too long for a row tries again, in Tx alone.
func TestMariaDBLockWait(t *testing.T) {
	address := dbtest.OpenURL(t, "mariadb")
	d, other := dbtest.Connect(t, db.Config{URL: address, MaxPoolSize: 1}), dbtest.Connect(t, db.Config{URL: address, MaxPoolSize: 1})
	addRegion(t, d, "r", "")
	exec(t, d, `set session innodb_lock_wait_timeout = 1`)
	change := `update region set description = 'x' where id = 'r'`
	tries := 0
	err := other.Tx(t.Context(), func(held db.Conn) error {
		exec(t, held, change)
		if _, err := d.Exec(t.Context(), change); !errors.Is(err, db.ErrSerialize) {
			t.Errorf("alone: got %v, want ErrSerialize", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	go func() {
		_ = other.Tx(t.Context(), func(held db.Conn) error {
			_, err := held.Exec(t.Context(), change)
			release <- struct{}{}
			<-release
			return err
		})
		release <- struct{}{}
	}()
	<-release
	err = d.Tx(t.Context(), func(c db.Conn) error {
		if tries++; tries == 2 {
			release <- struct{}{}
			<-release
		}
		_, err := c.Exec(t.Context(), change)
		return err
	})
	if err != nil || tries != 2 {
		t.Errorf("in a transaction: %v after %d runs, want 2", err, tries)
	}
}
