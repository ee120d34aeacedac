// Package dbtest gives every test a migrated, empty database of its own, on
// every engine. A missing engine fails the test; nothing is skipped.
package dbtest

import (
	"context"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
)

// Engines lists the engines that tests run on.
func Engines() []string { return []string{string(db.SQLite), string(db.Postgres), string(db.MariaDB)} }

// Each runs f as a subtest on every engine, with a database as db_sync leaves
// it: the schema at head, and the hidden root domain alone.
func Each(t *testing.T, f func(t *testing.T, d db.DB)) {
	t.Helper()
	for _, engine := range Engines() {
		t.Run(engine, func(t *testing.T) { f(t, Open(t, engine)) })
	}
}

// Exact tells that names and times are told apart as they are written. On MariaDB
// names that differ in case, accents or blanks behind them are one, and times
// are whole seconds, as Python's schema there has it.
func Exact(c db.Conn) bool { return c.Dialect() != db.MariaDB }

// Apart gives a name that differs from another in case alone, or in its place one
// that is no name of it on any engine.
func Apart(c db.Conn, name, otherwise string) string {
	if !Exact(c) {
		return otherwise
	}
	return name
}

// Kept is what is read again of a time.
func Kept(c db.Conn, t time.Time) time.Time {
	if !Exact(c) {
		return t.Truncate(time.Second)
	}
	return t
}

// Open gives a database as Each does. It is closed and removed with the test.
func Open(t testing.TB, engine string) db.DB {
	t.Helper()
	return Connect(t, db.Config{URL: OpenURL(t, engine)})
}

// OpenURL gives the SQLAlchemy URL of a database as Each does, for what opens
// it by itself. It is removed with the test.
func OpenURL(t testing.TB, engine string) string {
	t.Helper()
	switch db.Dialect(engine) {
	case db.SQLite:
		return sqliteCopy(t, sqliteTemplate)
	case db.Postgres:
		return postgresCopy(t)
	case db.MariaDB:
		return mariaCopy(t)
	}
	t.Fatalf("dbtest: no engine %q", engine)
	return ""
}

// EmptyURL gives the URL of a database without any table.
func EmptyURL(t testing.TB, engine string) string {
	t.Helper()
	switch db.Dialect(engine) {
	case db.SQLite:
		return "sqlite:///" + t.TempDir() + "/keystone.db"
	case db.Postgres:
		return postgresEmpty(t)
	case db.MariaDB:
		return mariaOnce(t, nil)
	}
	t.Fatalf("dbtest: no engine %q", engine)
	return ""
}

// Connect opens a database with the settings given, for the length of a test.
func Connect(t testing.TB, c db.Config) db.DB {
	t.Helper()
	if c.MaxPoolSize == 0 {
		c.MaxPoolSize = 8
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	d, err := db.Open(ctx, c)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(d.Close)
	if d.Dialect() == db.Postgres {
		return preparing(t, d)
	}
	return d
}
