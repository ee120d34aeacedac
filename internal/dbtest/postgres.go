package dbtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest/pgserver"
	"github.com/keystone-go/keystone-go/migrations"
)

// Env names the variable with the URL of a superuser's database on a server to
// be used. Without it, a process starts a server of its own.
const Env = "KEYSTONE_GO_TEST_POSTGRES"

// The classes of the advisory locks.
const (
	templateLock = 7450
	ownerLock    = 7451
)

var postgres = sync.OnceValues(func() (*server, error) {
	url := os.Getenv(Env)
	if url == "" {
		own, err := pgserver.Start()
		if err != nil {
			return nil, err
		}
		url = own.URL
	}
	return newServer(onPostgres, db.Config{URL: url, MaxPoolSize: 4})
})

var onPostgres = engine{
	names: `select datname from pg_database where datname like $1 escape '!'`,
	hold: func(ctx context.Context, c db.Conn, owner uint32) (bool, error) {
		return db.One(ctx, c, db.Query[bool]{
			Text: `select pg_try_advisory_xact_lock($1, $2)`, Args: []any{ownerLock, int32(owner)},
			Scan: func(r db.Row) (b bool, err error) { err = r.Scan(&b); return b, err },
		})
	},
	force: ` with (force)`,
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
		found := db.Query[string]{Text: `select datname from pg_database where datname = $1`, Args: []any{name}, Scan: db.ScanText}
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

func postgresCopy(t testing.TB) string {
	t.Helper()
	template, err := pgTemplate()
	if err != nil {
		t.Fatal(fmt.Errorf("dbtest: a Postgres database: %w", err))
	}
	s, _ := postgres()
	return s.copied(t, func(ctx context.Context, name string) error {
		if _, err := s.admin.Exec(ctx, `create database `+name+` template `+template); err != nil || pgIntact.known() {
			return err
		}
		return s.inside(ctx, name, func(d db.DB) error { return pgIntact.learn(ctx, d) })
	}, pgRestore)
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
	return s.once(t, func(ctx context.Context, name string) error {
		_, err := s.admin.Exec(ctx, `create database `+name+how)
		return err
	})
}
