package dbtest

import (
	"sync"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
)

// Counter is a database that counts what it is asked. The fields are to be
// read when nothing runs.
type Counter struct {
	db.DB

	// RoundTrips went to the server and were waited for: single statements,
	// batches, and the begin and end of transactions.
	RoundTrips int
	// Statements are counted one by one, also in batches, with the begin and
	// end of transactions.
	Statements int
	// Writes are the statements that return no rows, without begin and end.
	Writes int
	// Texts are the statements in order.
	Texts []string

	mu sync.Mutex
}

// Count wraps a database in a counter, which stands at zero.
func Count(t testing.TB, d db.DB) *Counter {
	t.Helper()
	c := &Counter{}
	c.DB = db.Watch(d, c.add)
	if c.DB == d {
		t.Fatal("dbtest: this database cannot be watched")
	}
	return c
}

// Unwrap gives the database that reports to the counter.
func (c *Counter) Unwrap() db.DB { return c.DB }

func (c *Counter) add(e db.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.RoundTrips++
	c.Statements += len(e.Texts)
	c.Writes += e.Writes
	c.Texts = append(c.Texts, e.Texts...)
}

// Reset puts all counts to zero.
func (c *Counter) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.RoundTrips, c.Statements, c.Writes, c.Texts = 0, 0, 0, nil
}
