package migrations_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/migrations"
)

var update = flag.Bool("update", false, "write test/testdata/schema anew")

// onlySQLite is the one thing in which Python's schemas differ by engine.
const onlySQLite = "  foreign key (role_id) references role (id) -- sqlite\n"

// golden compares with a file of test/testdata/schema.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("..", "test", "testdata", "schema", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s: -want +got\n%s", name, diff)
	}
}

// sameEverywhere marks or adds what SQLite has alone.
func sameEverywhere(t *testing.T, d db.DB) string {
	t.Helper()
	s := dbtest.Schema(t, d)
	const anchor = "table assignment\n"
	before, rest, ok := strings.Cut(s, anchor)
	own, after, ok2 := strings.Cut(rest, "table config_register\n")
	if !ok || !ok2 {
		t.Fatal("no table assignment")
	}
	plain := strings.Replace(onlySQLite, " -- sqlite", "", 1)
	switch d.Dialect() {
	case db.SQLite:
		if !strings.Contains(own, plain) {
			t.Error("SQLite's foreign key from assignment to role is missing")
		}
		own = strings.Replace(own, plain, onlySQLite, 1)
	default:
		own = strings.Replace(own, "  index ", onlySQLite+"  index ", 1)
	}
	return before + anchor + own + "table config_register\n" + after
}

// TestOneSchema: an empty database becomes the same on every engine.
func TestOneSchema(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			d := dbtest.Connect(t, db.Config{URL: dbtest.EmptyURL(t, engine)})
			if err := migrations.Sync(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			golden(t, "schema.txt", sameEverywhere(t, d))
			checkHead(t, d)
		})
	}
}

// TestPostgresNames: on Postgres every name is Python's too, whether we made
// the database or took over what Python made.
func TestPostgresNames(t *testing.T) {
	ours := dbtest.Connect(t, db.Config{URL: dbtest.EmptyURL(t, "postgres")})
	python := dbtest.Connect(t, db.Config{URL: dbtest.EmptyURL(t, "postgres")})
	if err := dbtest.LoadZed(t.Context(), python); err != nil {
		t.Fatal(err)
	}
	for who, d := range map[string]db.DB{"ours": ours, "Python's": python} {
		if err := migrations.Sync(t.Context(), d); err != nil {
			t.Fatalf("%s: %v", who, err)
		}
		golden(t, "head-postgres.txt", dbtest.PostgresSchema(t, d))
	}
}

// TestSQLiteNames: so do the names that SQLite keeps.
func TestSQLiteNames(t *testing.T) {
	golden(t, "head-sqlite.txt", dbtest.SQLiteNames(t, dbtest.Open(t, "sqlite")))
}

// TestZedSchema: what we make up to Zed is what Python's Zed made.
func TestZedSchema(t *testing.T) {
	ours := dbtest.Connect(t, db.Config{URL: dbtest.EmptyURL(t, "postgres")})
	if err := migrations.UpTo(t.Context(), ours, "e25ffa003242"); err != nil {
		t.Fatal(err)
	}
	python := dbtest.Connect(t, db.Config{URL: dbtest.EmptyURL(t, "postgres")})
	if err := dbtest.LoadZed(t.Context(), python); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(dbtest.PostgresSchema(t, python), "\n"), strings.Split(dbtest.PostgresSchema(t, ours), "\n")); diff != "" {
		t.Errorf("-Python's +ours\n%s", diff)
	}
}

// checkHead looks at the version rows and the hidden row.
func checkHead(t *testing.T, d db.DB) {
	t.Helper()
	rows, err := db.All(t.Context(), d, db.Query[string]{
		Text: `select version_num from alembic_version order by version_num`,
		Scan: func(r db.Row) (s string, err error) { err = r.Scan(&s); return s, err },
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"742c857f1dfb", "c88cdce8f248"}, rows); diff != "" {
		t.Errorf("versions: -want +got\n%s", diff)
	}
	n, err := db.One(t.Context(), d, db.Query[int]{
		Text: `select count(*) from project where id = $1 and name = $1 and domain_id = $1 and parent_id is null and enabled = $2 and is_domain = $3 and extra = $4 and description = $5`,
		Args: []any{"<<keystone.domain.root>>", false, true, "{}", ""},
		Scan: func(r db.Row) (n int, err error) { err = r.Scan(&n); return n, err },
	})
	if err != nil || n != 1 {
		t.Errorf("the hidden root domain: %d rows, %v", n, err)
	}
	if code, err := migrations.Check(t.Context(), d); code != migrations.UpToDate || err != nil {
		t.Errorf("check: got %d, %v, want 0", code, err)
	}
}
