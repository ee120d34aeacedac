package migrations_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
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

// onlyMariaDB are the indexes that stand behind a reference on MariaDB, whether
// asked for or not, and those that Python's schema keeps there from older
// releases; by table.
var onlyMariaDB = map[string][]string{
	"application_credential_access_rule": {"access_rule_id (access_rule_id)"},
	"endpoint":                           {"fk_endpoint_region_id (region_id)"},
	"expiring_user_group_membership":     {"group_id (group_id)", "idp_id (idp_id)"},
	"federated_user":                     {"federated_user_protocol_id_fkey (protocol_id, idp_id)", "user_id (user_id)"},
	"federation_protocol":                {"idp_id (idp_id)"},
	"identity_provider":                  {"domain_id (domain_id)"},
	"idp_remote_ids":                     {"idp_id (idp_id)"},
	"implied_role":                       {"implied_role_implied_role_id_fkey (implied_role_id)"},
	"limit":                              {"registered_limit_id (registered_limit_id)"},
	"local_user":                         {"local_user_user_id_fkey (user_id, domain_id)"},
	"nonlocal_user":                      {"nonlocal_user_user_id_fkey (user_id, domain_id)"},
	"password":                           {"local_user_id (local_user_id)"},
	"project":                            {"project_parent_id_fkey (parent_id)"},
	"registered_limit":                   {"region_id (region_id)"},
	"user":                               {"domain_id (domain_id)"},
}

// withoutOwnIndexes takes these out, each of which must be there.
func withoutOwnIndexes(t *testing.T, schema string) string {
	t.Helper()
	table, found := "", 0
	var kept strings.Builder
	for line := range strings.Lines(schema) {
		if name, ok := strings.CutPrefix(line, "table "); ok {
			table = strings.TrimSpace(name)
		}
		if index, ok := strings.CutPrefix(line, "  index "); ok && slices.Contains(onlyMariaDB[table], strings.TrimSpace(index)) {
			found++
			continue
		}
		kept.WriteString(line)
	}
	if found != 17 {
		t.Errorf("%d indexes of MariaDB alone, want 17", found)
	}
	return kept.String()
}

// sameEverywhere marks or adds what SQLite has alone.
func sameEverywhere(t *testing.T, d db.DB) string {
	t.Helper()
	s := dbtest.Schema(t, d)
	if d.Dialect() == db.MariaDB {
		s = withoutOwnIndexes(t, s)
	}
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

// TestMariaDBNames: the same on MariaDB, with the letters of each table.
// head-mariadb.txt is of a database that Python Keystone 30 made.
func TestMariaDBNames(t *testing.T) {
	ours := dbtest.Connect(t, db.Config{URL: dbtest.EmptyURL(t, "mariadb")})
	python := dbtest.Connect(t, db.Config{URL: dbtest.EmptyURL(t, "mariadb")})
	if err := dbtest.LoadZed(t.Context(), python); err != nil {
		t.Fatal(err)
	}
	for who, d := range map[string]db.DB{"ours": ours, "Python's": python} {
		if err := migrations.Sync(t.Context(), d); err != nil {
			t.Fatalf("%s: %v", who, err)
		}
		golden(t, "head-mariadb.txt", dbtest.MariaDBSchema(t, d))
	}
}

// TestSQLiteNames: so do the names that SQLite keeps.
func TestSQLiteNames(t *testing.T) {
	golden(t, "head-sqlite.txt", dbtest.SQLiteNames(t, dbtest.Open(t, "sqlite")))
}

// TestZedSchema: what we make up to Zed is what Python's Zed made.
func TestZedSchema(t *testing.T) {
	for engine, schema := range map[string]func(testing.TB, db.DB) string{"postgres": dbtest.PostgresSchema, "mariadb": dbtest.MariaDBSchema} {
		ours := dbtest.Connect(t, db.Config{URL: dbtest.EmptyURL(t, engine)})
		if err := migrations.UpTo(t.Context(), ours, "e25ffa003242"); err != nil {
			t.Fatal(err)
		}
		python := dbtest.Connect(t, db.Config{URL: dbtest.EmptyURL(t, engine)})
		if err := dbtest.LoadZed(t.Context(), python); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(schema(t, python), "\n"), strings.Split(schema(t, ours), "\n")); diff != "" {
			t.Errorf("%s: -Python's +ours\n%s", engine, diff)
		}
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
