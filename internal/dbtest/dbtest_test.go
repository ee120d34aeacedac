package dbtest_test

import (
	"strings"
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
	if seen != 3 {
		t.Errorf("ran on %d engines, want 3", seen)
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

// TestAnew shows that whatever a test leaves behind, the next one finds an
// empty database.
func TestAnew(t *testing.T) {
	mess := map[string]func(*testing.T, db.DB){
		"rows":     func(t *testing.T, d db.DB) { do(t, d, `insert into access_rule (service) values ('x')`) },
		"no root":  func(t *testing.T, d db.DB) { do(t, d, noRoot[d.Dialect()]) },
		"a table":  func(t *testing.T, d db.DB) { do(t, d, `create table other (id integer)`) },
		"a column": func(t *testing.T, d db.DB) { do(t, d, `alter table region add column more integer`) },
		"version":  func(t *testing.T, d db.DB) { do(t, d, `update alembic_version set version_num = version_num || 'x'`) },
		"no index": func(t *testing.T, d db.DB) { do(t, d, dropIndex[d.Dialect()]) },
	}
	for _, engine := range dbtest.Engines() {
		want := state(t, dbtest.Open(t, engine))
		for what, make := range mess {
			t.Run(engine+" "+what, func(t *testing.T) { make(t, dbtest.Open(t, engine)) })
			t.Run(engine+" after "+what, func(t *testing.T) {
				d := dbtest.Open(t, engine)
				if got := state(t, d); got != want {
					t.Errorf("after %s: got %s, want %s", what, got, want)
				}
			})
		}
	}
}

// On MariaDB a row that refers to itself goes where references are not looked at.
var noRoot = map[db.Dialect]string{
	db.SQLite: `delete from project`, db.Postgres: `delete from project`, db.MariaDB: `set foreign_key_checks = 0; delete from project`,
}

var dropIndex = map[db.Dialect]string{
	db.SQLite: `drop index ix_actor_id`, db.Postgres: `drop index ix_actor_id`, db.MariaDB: `drop index ix_actor_id on assignment`,
}

func do(t *testing.T, d db.DB, statement string) {
	t.Helper()
	if _, err := d.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// state is the next id of a sequence, the projects, the version and the schema.
func state(t *testing.T, d db.DB) string {
	t.Helper()
	do(t, d, `delete from access_rule`)
	do(t, d, `insert into access_rule (service) values ('x')`)
	var all []string
	for _, q := range []string{`select cast(max(id) as varchar) from access_rule`, `select id from project`, `select version_num from alembic_version order by version_num`} {
		got, err := db.All(t.Context(), d, db.Query[string]{Text: q, Scan: text})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, got...)
	}
	return strings.Join(all, " ") + "\n" + dbtest.Schema(t, d)
}

// TestPrepared shows that a text which MariaDB does not read is found.
func TestPrepared(t *testing.T) {
	for text, ok := range map[string]bool{
		`select id from "user" where id = $1 and extra = $1`:       true,
		`select id from project where id = $1 for key share`:       true,
		`insert into policy (id, type, blob) values ($1, $2, $3)`:  false,
		`select nothing from project`:                              false,
		`select now from own_table_of_a_test`:                      true,
		`select id from project where name ilike $1`:               false,
		`delete from region where id = $1 returning id::text`:      false,
		`select id from project order by name nulls first limit 1`: false,
	} {
		if err := dbtest.Prepare(text); (err == nil) != ok {
			t.Errorf("%s: got %v", text, err)
		}
	}
}
