package dbtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest/pgserver"
	"github.com/keystone-go/keystone-go/migrations"
)

// Env names the variable with the URL of a superuser's database on a server to
// be used. Without it, a process starts a server of its own.
const Env = "KEYSTONE_GO_TEST_POSTGRES"

// pgServer is the server of this process and a connection to administer it.
type pgServer struct {
	url   string
	admin db.DB
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
	var err error
	s.admin, err = db.Open(context.Background(), db.Config{URL: s.url, MaxPoolSize: 2})
	return s, err
})

// pgTemplate is the name of a migrated database, made once a schema and server.
var pgTemplate = sync.OnceValues(func() (string, error) {
	s, err := postgres()
	if err != nil {
		return "", err
	}
	name := "keystone_go_template_" + migrations.Digest()
	// One process makes it; the lock goes with the transaction.
	err = s.admin.Tx(context.Background(), func(c db.Conn) error {
		ctx := context.Background()
		if _, err := c.Exec(ctx, `select pg_advisory_xact_lock(7450)`); err != nil {
			return err
		}
		found := db.Query[string]{Text: `select datname from pg_database where datname = $1`, Args: []any{name}, Scan: scanString}
		if _, err := db.One(ctx, c, found); !errors.Is(err, db.ErrNoRow) {
			return err
		}
		return s.makeTemplate(ctx, name)
	})
	return name, err
})

// makeTemplate migrates under another name, so that a half-made one is never
// taken for a template.
func (s *pgServer) makeTemplate(ctx context.Context, name string) error {
	draft := freshName()
	if _, err := s.admin.Exec(ctx, `create database `+draft); err != nil {
		return err
	}
	d, err := db.Open(ctx, db.Config{URL: s.database(draft)})
	if err != nil {
		return err
	}
	err = migrations.Sync(ctx, d)
	d.Close()
	if err != nil {
		return err
	}
	_, err = s.admin.Exec(ctx, `alter database `+draft+` rename to `+name)
	return err
}

func postgresCopy(t testing.TB) string {
	t.Helper()
	template, err := pgTemplate()
	if err != nil {
		t.Fatal(fmt.Errorf("dbtest: a Postgres database: %w", err))
	}
	return makeDatabase(t, ` template `+template)
}

func postgresEmpty(t testing.TB) string {
	t.Helper()
	return makeDatabase(t, "")
}

// makeDatabase makes a database that is dropped with the test.
func makeDatabase(t testing.TB, how string) string {
	t.Helper()
	s, err := postgres()
	if err != nil {
		t.Fatal(fmt.Errorf("dbtest: a Postgres server: %w", err))
	}
	name := freshName()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := s.admin.Exec(ctx, `create database `+name+how); err != nil {
		t.Fatal(fmt.Errorf("dbtest: a Postgres database: %w", err))
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := s.admin.Exec(ctx, `drop database if exists `+name+` with (force)`); err != nil {
			t.Errorf("dbtest: drop %s: %v", name, err)
		}
	})
	return s.database(name)
}

// database gives the URL of another database on the server.
func (s *pgServer) database(name string) string {
	u, err := url.Parse(s.url)
	if err != nil {
		return s.url
	}
	u.Path = "/" + name
	return u.String()
}

func freshName() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b)
	return "keystone_go_test_" + hex.EncodeToString(b)
}

func scanString(r db.Row) (s string, err error) {
	err = r.Scan(&s)
	return s, err
}
