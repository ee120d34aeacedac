package dbtest_test

import (
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

func text(r db.Row) (s string, err error) {
	err = r.Scan(&s)
	return s, err
}

func TestEach(t *testing.T) {
	seen := 0
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seen++
		c := dbtest.Count(t, d)
		id, err := db.One(t.Context(), c, db.Query[string]{Text: `select id from project`, Scan: text})
		if err != nil || id != "<<keystone.domain.root>>" {
			t.Errorf("the project in an empty database: got %q, %v", id, err)
		}
		if c.RoundTrips != 1 || c.Statements != 1 || c.Writes != 0 || len(c.Texts) != 1 {
			t.Errorf("counted %d round trips, %d statements, %d writes, want 1, 1, 0", c.RoundTrips, c.Statements, c.Writes)
		}
	})
	if seen != 2 {
		t.Errorf("ran on %d engines, want 2", seen)
	}
}

// TestApart shows that two databases of one test do not see each other.
func TestApart(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		a, b := dbtest.Open(t, engine), dbtest.Open(t, engine)
		if _, err := a.Exec(t.Context(), `insert into region (id, description) values ($1, $2)`, "here", ""); err != nil {
			t.Fatal(err)
		}
		found, err := db.All(t.Context(), b, db.Query[string]{Text: `select id from region`, Scan: text})
		if err != nil || len(found) != 0 {
			t.Errorf("%s: the other database has %v, %v", engine, found, err)
		}
	}
}
