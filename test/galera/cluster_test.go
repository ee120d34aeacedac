//go:build galera

// Package galera_test has stores and servers work on the nodes of a real Galera
// cluster at the same time, and takes nodes and connections away from them.
package galera_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/dbtest/mariaserver"
	"github.com/keystone-go/keystone-go/migrations"
)

const nodes = 3

var cluster = sync.OnceValues(func() (*mariaserver.Cluster, error) { return mariaserver.StartCluster(nodes) })

var started bool

func TestMain(m *testing.M) {
	code := m.Run()
	if started {
		if c, err := cluster(); err == nil {
			c.Stop()
		}
	}
	os.Exit(code)
}

// stand is a migrated database, on every node.
type stand struct {
	*mariaserver.Cluster
	name string
}

func newStand(t *testing.T) *stand {
	t.Helper()
	started = true
	c, err := cluster()
	if err != nil {
		t.Fatal(err)
	}
	s := &stand{Cluster: c, name: "keystone_" + strings.ToLower(rand.Text()[:8])}
	exec(t, dbtest.Connect(t, db.Config{URL: c.Nodes[0].URL, MaxPoolSize: 1}), `create database `+s.name)
	if err := migrations.Sync(t.Context(), s.on(t, 0, db.Config{})); err != nil {
		t.Fatal(err)
	}
	for i := range nodes {
		s.caughtUp(t, i)
	}
	return s
}

// url is that of the database on a node.
func (s *stand) url(node int) string {
	return strings.TrimSuffix(s.Nodes[node].URL, "mysql") + s.name
}

// on opens the database on a node.
func (s *stand) on(t *testing.T, node int, c db.Config) db.DB {
	t.Helper()
	c.URL = s.url(node)
	return dbtest.Connect(t, c)
}

// causal opens it so that its reads wait for what other nodes have committed.
func (s *stand) causal(t *testing.T, node int) db.DB {
	t.Helper()
	return s.on(t, node, db.Config{SyncWait: new(1)})
}

// caughtUp waits until a node has all that the others committed before.
func (s *stand) caughtUp(t *testing.T, node int) {
	t.Helper()
	d := s.causal(t, node)
	eventually(t, fmt.Sprint("node ", node, " catches up"), func() bool {
		n, err := db.One(t.Context(), d, number(`select count(*) from project`))
		return err == nil && n > 0
	})
}

// behind holds up what comes to a node from others while f runs: reads go on,
// and find what was.
func (s *stand) behind(t *testing.T, node int, f func()) {
	t.Helper()
	err := s.on(t, node, db.Config{MaxPoolSize: 1}).Tx(t.Context(), func(c db.Conn) error {
		if _, err := c.Exec(t.Context(), `flush tables with read lock`); err != nil {
			return err
		}
		f()
		_, err := c.Exec(context.WithoutCancel(t.Context()), `unlock tables`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func exec(t *testing.T, c db.Conn, text string, args ...any) {
	t.Helper()
	if _, err := c.Exec(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func number(text string, args ...any) db.Query[int] {
	return db.Query[int]{Text: text, Args: args, Scan: func(r db.Row) (n int, err error) { err = r.Scan(&n); return n, err }}
}

func get(t *testing.T, c db.Conn, text string, args ...any) int {
	t.Helper()
	n, err := db.One(t.Context(), c, number(text, args...))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("in vain: " + what)
		}
	}
}

// retried counts what the engine gave up for another's sake: at commits, where a
// node finds out what the others did, and elsewhere.
type retried struct {
	mu              sync.Mutex
	commits, others int
}

func (r *retried) see(e db.Event) {
	if !errors.Is(e.Err, db.ErrSerialize) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(e.Texts) == 1 && e.Texts[0] == "commit" {
		r.commits++
	} else {
		r.others++
	}
}
