package dbtest

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest/pgserver"
	"github.com/keystone-go/keystone-go/migrations"
)

// Env names the variable with the URL of a superuser's database on a server to
// be used. Without it, a process starts a server of its own.
const Env = "KEYSTONE_GO_TEST_POSTGRES"

// Databases are named prefix_owner_number; an owner is a process, which holds
// an advisory lock of class ownerLock as long as it lives.
const (
	prefix       = "keystone_go_test_"
	templateLock = 7450
	ownerLock    = 7451
)

// pgServer is the server of this process and a connection to administer it.
type pgServer struct {
	url    string
	admin  db.DB
	owner  uint32
	number atomic.Int64

	mu     sync.Mutex
	spare  []string // databases as good as new
	intact string   // what print gives for a new one
}

var postgres = sync.OnceValues(func() (*pgServer, error) {
	s := &pgServer{url: os.Getenv(Env)}
	if s.url == "" {
		own, err := pgserver.Start()
		if err != nil {
			return nil, err
		}
		s.url = own.URL
	}
	var id [4]byte
	_, _ = rand.Read(id[:])
	s.owner = binary.BigEndian.Uint32(id[:]) >> 1
	var err error
	if s.admin, err = db.Open(context.Background(), db.Config{URL: s.url, MaxPoolSize: 4}); err != nil {
		return nil, err
	}
	return s, errors.Join(s.claim(), s.sweep())
})

// claim takes the lock that tells other processes not to sweep our databases.
// It is held by a transaction that ends with the process.
func (s *pgServer) claim() error {
	held := make(chan error, 1)
	go func() {
		ctx := context.Background()
		held <- s.admin.Tx(ctx, func(c db.Conn) error {
			if _, err := c.Exec(ctx, `select pg_advisory_xact_lock($1, $2)`, ownerLock, int32(s.owner)); err != nil {
				return err
			}
			held <- nil
			select {}
		})
	}()
	return <-held
}

// sweep drops what processes left that are no more.
func (s *pgServer) sweep() error {
	ctx := context.Background()
	return s.admin.Tx(ctx, func(c db.Conn) error {
		names, err := db.All(ctx, c, db.Query[string]{
			Text: `select datname from pg_database where datname like $1 escape '!'`, Args: []any{db.EscapeLike(prefix) + "%"}, Scan: scanString,
		})
		if err != nil {
			return err
		}
		for _, name := range names {
			var owner uint32
			if _, err := fmt.Sscanf(name, prefix+"%d_", &owner); err != nil || owner == s.owner {
				continue
			}
			dead, err := db.One(ctx, c, db.Query[bool]{
				Text: `select pg_try_advisory_xact_lock($1, $2)`, Args: []any{ownerLock, int32(owner)},
				Scan: func(r db.Row) (b bool, err error) { err = r.Scan(&b); return b, err },
			})
			if err != nil {
				return err
			}
			if dead {
				// Another process may sweep as well.
				_, _ = s.admin.Exec(ctx, `drop database if exists `+name+` with (force)`)
			}
		}
		return nil
	})
}

// pgTemplate is the name of a migrated database, made once a schema and server.
var pgTemplate = sync.OnceValues(func() (string, error) {
	return template("keystone_go_template_"+migrations.Digest(), func(d db.DB) error {
		return migrations.Sync(context.Background(), d)
	})
})

// template makes a database of that name unless there is one. One process
// makes it; the others wait for a lock that goes with a transaction.
func template(name string, fill func(db.DB) error) (string, error) {
	s, err := postgres()
	if err != nil {
		return "", err
	}
	ctx := context.Background()
	return name, s.admin.Tx(ctx, func(c db.Conn) error {
		if _, err := c.Exec(ctx, `select pg_advisory_xact_lock($1)`, templateLock); err != nil {
			return err
		}
		found := db.Query[string]{Text: `select datname from pg_database where datname = $1`, Args: []any{name}, Scan: scanString}
		if _, err := db.One(ctx, c, found); !errors.Is(err, db.ErrNoRow) {
			return err
		}
		// Filled under another name, so that a half-made one is never taken.
		draft := s.freshName()
		if _, err := s.admin.Exec(ctx, `create database `+draft); err != nil {
			return err
		}
		if err := s.inside(ctx, draft, fill); err != nil {
			return err
		}
		_, err := s.admin.Exec(ctx, `alter database `+draft+` rename to `+name)
		return err
	})
}

// inside opens another database of the server for f.
func (s *pgServer) inside(ctx context.Context, name string, f func(db.DB) error) error {
	d, err := db.Open(ctx, db.Config{URL: s.database(name), MaxPoolSize: 1})
	if err != nil {
		return err
	}
	defer d.Close()
	return f(d)
}

func postgresCopy(t testing.TB) string {
	t.Helper()
	template, err := pgTemplate()
	if err != nil {
		t.Fatal(fmt.Errorf("dbtest: a Postgres database: %w", err))
	}
	s, _ := postgres()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	name, err := s.take(ctx, template)
	if err != nil {
		t.Fatal(fmt.Errorf("dbtest: a Postgres database: %w", err))
	}
	t.Cleanup(func() { s.giveBack(t, name) })
	return s.database(name)
}

func postgresEmpty(t testing.TB) string {
	t.Helper()
	return postgresOnce(t, "")
}

// postgresOnce makes a database that is dropped with the test.
func postgresOnce(t testing.TB, how string) string {
	t.Helper()
	s, err := postgres()
	if err != nil {
		t.Fatal(fmt.Errorf("dbtest: a Postgres server: %w", err))
	}
	name := s.freshName()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := s.admin.Exec(ctx, `create database `+name+how); err != nil {
		t.Fatal(fmt.Errorf("dbtest: a Postgres database: %w", err))
	}
	t.Cleanup(func() { s.drop(t, name) })
	return s.database(name)
}

func (s *pgServer) drop(t testing.TB, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := s.admin.Exec(ctx, `drop database if exists `+name+` with (force)`); err != nil {
		t.Errorf("dbtest: drop %s: %v", name, err)
	}
}

// database gives the URL of another database on the server.
func (s *pgServer) database(name string) string {
	u, err := url.Parse(s.url)
	if err != nil {
		return s.url
	}
	u.Path = "/" + name
	// A socket's URL has no host, which the standard library writes with one
	// slash too few.
	return strings.Replace(u.String(), ":/"+name, ":///"+name, 1)
}

func (s *pgServer) freshName() string {
	return fmt.Sprintf("%s%d_%d", prefix, s.owner, s.number.Add(1))
}

func scanString(r db.Row) (s string, err error) {
	err = r.Scan(&s)
	return s, err
}
