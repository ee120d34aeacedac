package db_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// modes are pgx's ways to run a statement; those after the first are what a
// connection through a pooler asks for.
var modes = []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"}

// every runs f on every engine and, for Postgres, in every mode.
func every(t *testing.T, f func(t *testing.T, d db.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { f(t, dbtest.Open(t, "sqlite")) })
	t.Run("mariadb", func(t *testing.T) { f(t, dbtest.Open(t, "mariadb")) })
	for _, mode := range modes {
		t.Run("postgres "+mode, func(t *testing.T) {
			f(t, dbtest.Connect(t, db.Config{URL: withOption(t, dbtest.OpenURL(t, "postgres"), "default_query_exec_mode", mode)}))
		})
	}
}

func withOption(t *testing.T, address, key, value string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(key, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// value is a query for one column of one type.
func value[T any](text string, args ...any) db.Query[T] {
	return db.Query[T]{Text: text, Args: args, Scan: func(r db.Row) (v T, err error) {
		err = r.Scan(&v)
		return v, err
	}}
}

// get runs a query that must find a row.
func get[T any](t *testing.T, c db.Conn, text string, args ...any) T {
	t.Helper()
	v, err := db.One(t.Context(), c, value[T](text, args...))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func exec(t *testing.T, c db.Conn, text string, args ...any) int64 {
	t.Helper()
	n, err := c.Exec(t.Context(), text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}

const (
	insertRegion = `insert into region (id, description, parent_region_id, extra) values ($1, $2, $3, $4)`
	insertUser   = `insert into "user" (id, enabled, created_at, last_active_at, domain_id, extra) values ($1, $2, $3, $4, $5, '{}')`
	insertLocal  = `insert into local_user (user_id, domain_id, name) values ($1, $2, $3)`
)

func addRegion(t *testing.T, c db.Conn, id, description string) {
	t.Helper()
	exec(t, c, insertRegion, id, description, nil, "{}")
}

func within(t *testing.T, limit time.Duration, what string, f func()) {
	t.Helper()
	begin := time.Now()
	f()
	if took := time.Since(begin); took > limit {
		t.Errorf("%s took %s, want at most %s", what, took, limit)
	}
}
