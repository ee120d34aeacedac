package db_test

import (
	"context"
	"errors"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// TestSnapshot: what others write meanwhile is not read, and is there for the
// transactions that follow on the same connection.
func TestSnapshot(t *testing.T) {
	roles := db.Query[int]{Text: `select count(*) from role`, Scan: func(r db.Row) (n int, err error) { err = r.Scan(&n); return n, err }}
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			url := dbtest.OpenURL(t, engine)
			d, other := dbtest.Connect(t, db.Config{URL: url, MaxPoolSize: 1}), dbtest.Connect(t, db.Config{URL: url})
			ctx := t.Context()
			add := func(id string) {
				if _, err := other.Exec(ctx, `insert into role (id, name) values ($1, $1)`, id); err != nil {
					t.Error(err)
				}
			}
			see := func(c db.Conn, want int) {
				t.Helper()
				if n, err := db.One(ctx, c, roles); n != want || err != nil {
					t.Errorf("%d roles, %v, want %d", n, err, want)
				}
			}
			runs := 0
			err := db.Snapshot(ctx, d, func(c db.Conn) error {
				runs++
				see(c, 0)
				if engine != string(db.SQLite) { // where it would wait for us
					add("a")
				}
				see(c, 0)
				return nil
			})
			if err != nil || runs != 1 {
				t.Fatalf("%d runs, %v", runs, err)
			}
			if engine == string(db.SQLite) {
				add("a")
			}
			err = d.Tx(ctx, func(c db.Conn) error {
				see(c, 1)
				if engine != string(db.SQLite) {
					add("b")
					see(c, 2)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			runs = 0
			err = db.Snapshot(ctx, d, func(db.Conn) error { runs++; return db.ErrSerialize })
			if !errors.Is(err, db.ErrSerialize) || runs != 1 {
				t.Errorf("a failure: %d runs, %v", runs, err)
			}
			gone, cancel := context.WithCancel(ctx)
			cancel()
			if err := db.Snapshot(gone, d, func(db.Conn) error { return nil }); !errors.Is(err, context.Canceled) {
				t.Errorf("a context that has ended: %v", err)
			}
		})
	}
}

// TestPlace: the name of a database has no secret in it, and is the same for
// different ways to write it.
func TestPlace(t *testing.T) {
	for connection, want := range map[string]string{
		"postgresql://u:hunter2@h:5432/k?sslmode=require":         "postgresql://h:5432/k",
		"postgresql+psycopg2://u:hunter2@/k?host=/run/pg&port=99": "postgresql:///run/pg:99/k",
		"postgres://h/?dbname=k&password=hunter2":                 "postgresql://h/k",
		"sqlite:////a/../b.db?timeout=3":                          "sqlite:////b.db",
		"mysql+pymysql://u:hunter2@h/k?charset=utf8":              "mysql://h/k",
		"mysql://u@/k?unix_socket=/run/m":                         "mysql:///run/m/k",
	} {
		if dialect, got, err := db.Place(connection); got != want || err != nil || dialect == "" {
			t.Errorf("%s: %s %q, %v, want %q", connection, dialect, got, err, want)
		}
	}
	if _, _, err := db.Place("hunter2"); err == nil {
		t.Error("no URL is a place")
	}
}
