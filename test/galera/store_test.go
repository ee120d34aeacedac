//go:build galera

package galera_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
)

// ledger is a table that shows what was lost or applied twice: an entry for each
// operation, which nothing keeps from being there twice, and their number.
type ledger struct {
	*stand
	mu    sync.Mutex
	acked map[string]bool // by operation; false: nobody can tell
	lost  int             // refused with nothing done
}

func newLedger(t *testing.T) *ledger {
	t.Helper()
	l := &ledger{stand: newStand(t), acked: map[string]bool{}}
	d := l.on(t, 0, db.Config{MaxPoolSize: 1})
	exec(t, d, `create table entry (id integer auto_increment primary key, op varchar(64) not null)`)
	exec(t, d, `create table tally (id integer primary key, n integer not null)`)
	for i := range 2 {
		exec(t, d, `insert into tally (id, n) values ($1, 0)`, i)
	}
	return l
}

const (
	addEntry = `insert into entry (op) values ($1)`
	addTally = `update tally set n = n + 1 where id = 0`
)

// enter does one operation: in a transaction that reads before it writes, or in a
// batch.
func (l *ledger) enter(t *testing.T, d db.DB, op string, batch bool) {
	var err error
	if batch {
		var b db.Batch
		b.Exec(addTally)
		b.Exec(addEntry, op)
		err = d.Send(t.Context(), &b)
	} else {
		err = d.Tx(t.Context(), func(c db.Conn) error {
			n, err := db.One(t.Context(), c, number(`select n from tally where id = 0`+db.ForUpdate(c.Dialect())))
			if err != nil {
				return err
			}
			if _, err := c.Exec(t.Context(), addEntry, op); err != nil {
				return err
			}
			_, err = c.Exec(t.Context(), `update tally set n = $1 where id = 0`, n+1)
			return err
		})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		l.acked[op] = true
	case errors.Is(err, db.ErrSerialize):
		l.lost++
	case errors.Is(err, db.ErrUnavailable):
		l.acked[op] = false
	default:
		t.Errorf("%s: %v, which is answered by 500", op, err)
	}
}

// verify holds what the nodes have against what was acknowledged.
func (l *ledger) verify(t *testing.T, on ...int) (acked, doubtful int) {
	t.Helper()
	for _, node := range on {
		d := l.causal(t, node)
		rows, err := db.All(t.Context(), d, db.Query[string]{Text: `select op from entry`, Scan: db.ScanText})
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]int{}
		for _, op := range rows {
			if found[op]++; found[op] == 2 {
				t.Errorf("node %d: %s was done twice", node, op)
			}
			if _, known := l.acked[op]; !known {
				t.Errorf("node %d: %s was done, and refused", node, op)
			}
		}
		acked, doubtful = 0, 0
		for op, sure := range l.acked {
			switch {
			case sure && found[op] == 0:
				t.Errorf("node %d: %s was acknowledged and is lost", node, op)
			case sure:
				acked++
			default:
				doubtful++
			}
		}
		if n := get(t, d, `select n from tally where id = 0`); n != len(rows) {
			t.Errorf("node %d: %d entries, and %d counted", node, len(rows), n)
		}
	}
	return acked, doubtful
}

// TestTwoNodesChangeOneRow: who commits second is refused at his commit, runs
// again, and works on what the first has left.
func TestTwoNodesChangeOneRow(t *testing.T) {
	l := newLedger(t)
	var seen retried
	one, other := l.on(t, 0, db.Config{Observe: seen.see}), l.on(t, 1, db.Config{})
	runs := 0
	err := one.Tx(t.Context(), func(c db.Conn) error {
		runs++
		n, err := db.One(t.Context(), c, number(`select n from tally where id = 0`))
		if err != nil {
			return err
		}
		if _, err := c.Exec(t.Context(), `update tally set n = $1 where id = 0`, n+1); err != nil || runs > 1 {
			return err
		}
		_, err = other.Exec(t.Context(), `update tally set n = n + 10 where id = 0`)
		return err
	})
	if err != nil || runs != 2 || seen.commits != 1 {
		t.Errorf("%v after %d runs, refused at %d commits and %d other statements; want none, 2, 1 and 0", err, runs, seen.commits, seen.others)
	}
	for node := range nodes {
		if n := get(t, l.causal(t, node), `select n from tally where id = 0`); n != 11 {
			t.Errorf("node %d has %d, want 11", node, n)
		}
	}
}

// TestAllNodesWriteOneRow has many on all nodes at once change the same row.
func TestAllNodesWriteOneRow(t *testing.T) {
	l := newLedger(t)
	var seen retried
	var writers sync.WaitGroup
	for node := range nodes {
		d := l.on(t, node, db.Config{Observe: seen.see})
		for w := range 3 {
			writers.Go(func() {
				for i := range 40 {
					l.enter(t, d, fmt.Sprintf("%d.%d.%d", node, w, i), i%2 == 0)
				}
			})
		}
	}
	writers.Wait()
	acked, doubtful := l.verify(t, 0, 1, 2)
	t.Logf("figure: %d acknowledged, %d refused; run again after %d commits and %d other statements", acked, l.lost, seen.commits, seen.others)
	if acked < 300 || doubtful > 0 || seen.commits == 0 {
		t.Errorf("%d acknowledged, %d in doubt, %d commits refused: want most of 360, none, and some", acked, doubtful, seen.commits)
	}
}

// TestDeadlock: two lock the same two rows crosswise, on one node and on two.
func TestDeadlock(t *testing.T) {
	for name, at := range map[string][2]int{"on one node": {0, 0}, "on two nodes": {0, 1}} {
		t.Run(name, func(t *testing.T) {
			l := newLedger(t)
			var meet, both sync.WaitGroup
			meet.Add(2)
			runs := [2]int{}
			for i := range 2 {
				d := l.on(t, at[i], db.Config{})
				both.Go(func() {
					err := d.Tx(t.Context(), func(c db.Conn) error {
						runs[i]++
						if _, err := c.Exec(t.Context(), `update tally set n = n + 1 where id = $1`, i); err != nil {
							return err
						}
						if runs[i] == 1 {
							meet.Done()
							meet.Wait()
						}
						_, err := c.Exec(t.Context(), `update tally set n = n + 1 where id = $1`, 1-i)
						return err
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			both.Wait()
			if runs[0]+runs[1] < 3 {
				t.Errorf("%v runs: nobody was in the other's way", runs)
			}
			for node := range nodes {
				d := l.causal(t, node)
				if a, b := get(t, d, `select n from tally where id = 0`), get(t, d, `select n from tally where id = 1`); a != 2 || b != 2 {
					t.Errorf("node %d has %d and %d, want 2 and 2", node, a, b)
				}
			}
		})
	}
}

// TestConnectionsKilled ends connections in the midst of what they do. What was
// acknowledged is there, and nothing is there twice.
func TestConnectionsKilled(t *testing.T) {
	l := newLedger(t)
	done, stop := context.WithCancel(t.Context())
	var killers, writers sync.WaitGroup
	var kills [2]int
	for node := range 2 {
		d := l.on(t, node, db.Config{})
		for w := range 3 {
			writers.Go(func() {
				for i := range 60 {
					l.enter(t, d, fmt.Sprintf("%d.%d.%d", node, w, i), i%2 == 0)
				}
			})
		}
		killer := l.on(t, node, db.Config{MaxPoolSize: 1})
		killers.Go(func() {
			for done.Err() == nil {
				// Of those who work just now.
				id, err := db.One(t.Context(), killer, number(`select id from information_schema.processlist
					where db = database() and id <> connection_id() and command <> 'Sleep' order by rand() limit 1`))
				if err == nil {
					if _, err = killer.Exec(t.Context(), fmt.Sprintf(`kill connection %d`, id)); err == nil {
						kills[node]++
					}
				}
				time.Sleep(15 * time.Millisecond)
			}
		})
	}
	writers.Wait()
	stop()
	killers.Wait()
	acked, doubtful := l.verify(t, 0, 1, 2)
	t.Logf("figure: %d acknowledged, %d in doubt, %d refused, %d connections killed", acked, doubtful, l.lost, kills[0]+kills[1])
	if acked < 200 || doubtful == 0 {
		t.Errorf("%d acknowledged, %d in doubt: want most of 360, and some", acked, doubtful)
	}
}
