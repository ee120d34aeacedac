package migrations_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/migrations"
)

// each gives an empty database of every engine.
func each(t *testing.T, f func(t *testing.T, d db.DB)) {
	t.Helper()
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) { f(t, dbtest.Connect(t, db.Config{URL: dbtest.EmptyURL(t, engine)})) })
	}
}

func exec(t *testing.T, d db.DB, text string, args ...any) {
	t.Helper()
	if _, err := d.Exec(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func count(t *testing.T, d db.DB, from string) int {
	t.Helper()
	n, err := db.One(t.Context(), d, db.Query[int]{Text: `select count(*) from ` + from, Scan: func(r db.Row) (n int, err error) { err = r.Scan(&n); return n, err }})
	if err != nil {
		t.Fatalf("%s: %v", from, err)
	}
	return n
}

// stands checks the two revisions and the exit code of --check.
func stands(t *testing.T, d db.DB, when, expand, contract string, code int) {
	t.Helper()
	s, err := migrations.Version(t.Context(), d)
	if err != nil || s.Expand != expand || s.Contract != contract {
		t.Errorf("%s: at %q and %q, %v, want %q and %q", when, s.Expand, s.Contract, err, expand, contract)
	}
	if got, err := migrations.Check(t.Context(), d); got != code || err != nil {
		t.Errorf("%s: check gives %d, %v, want %d", when, got, err, code)
	}
}

const (
	zedExpand, zedContract   = "29e87d24a316", "e25ffa003242"
	headExpand, headContract = "742c857f1dfb", "c88cdce8f248"
)

func TestRollingUpgrade(t *testing.T) {
	each(t, func(t *testing.T, d db.DB) {
		ctx := t.Context()
		stands(t, d, "empty", "", "", migrations.ExpandNeeded)
		if s, _ := migrations.Version(ctx, d); !s.Empty() {
			t.Errorf("empty: got %+v", s)
		}
		if err := migrations.Contract(ctx, d); !errors.Is(err, migrations.ErrOrder) {
			t.Errorf("contract on nothing: got %v, want ErrOrder", err)
		}
		if err := migrations.Verify(ctx, d, true); !errors.Is(err, migrations.ErrBehind) {
			t.Errorf("start on nothing: got %v, want ErrBehind", err)
		}
		if err := migrations.UpTo(ctx, d, zedContract); err != nil {
			t.Fatal(err)
		}
		stands(t, d, "Zed", zedExpand, zedContract, migrations.ExpandNeeded)
		if err := migrations.Contract(ctx, d); !errors.Is(err, migrations.ErrOrder) {
			t.Errorf("contract on Zed: got %v, want ErrOrder", err)
		}
		stands(t, d, "after a refused contract", zedExpand, zedContract, migrations.ExpandNeeded)
		if err := migrations.Verify(ctx, d, false); !errors.Is(err, migrations.ErrBehind) {
			t.Errorf("start on Zed: got %v, want ErrBehind", err)
		}
		for range 2 {
			if err := migrations.Expand(ctx, d); err != nil {
				t.Fatal(err)
			}
			stands(t, d, "expanded", headExpand, zedContract, migrations.ContractNeeded)
		}
		if err := migrations.Verify(ctx, d, false); err != nil {
			t.Errorf("start between expand and contract: %v", err)
		}
		for range 2 {
			if err := migrations.Contract(ctx, d); err != nil {
				t.Fatal(err)
			}
			stands(t, d, "contracted", headExpand, headContract, migrations.UpToDate)
		}
		golden(t, "schema.txt", sameEverywhere(t, d))
		checkHead(t, d)
	})
}

// TestExpandFirst: on an empty database the two branches may come one by one.
func TestExpandFirst(t *testing.T) {
	each(t, func(t *testing.T, d db.DB) {
		if err := migrations.Expand(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		stands(t, d, "expanded", headExpand, "", migrations.ContractNeeded)
		if n := count(t, d, "alembic_version"); n != 1 {
			t.Errorf("%d version rows, want 1", n)
		}
		if err := migrations.Contract(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		golden(t, "schema.txt", sameEverywhere(t, d))
		checkHead(t, d)
	})
}

// TestFromEveryRevision: wherever a database stands, it comes to head.
func TestFromEveryRevision(t *testing.T) {
	for _, engine := range []string{"sqlite", "mariadb"} {
		for _, revision := range migrations.Revisions() {
			t.Run(engine+" from "+revision, func(t *testing.T) {
				d := dbtest.Connect(t, db.Config{URL: dbtest.EmptyURL(t, engine)})
				if err := migrations.UpTo(t.Context(), d, revision); err != nil {
					t.Fatal(err)
				}
				if err := migrations.Sync(t.Context(), d); err != nil {
					t.Fatal(err)
				}
				golden(t, "schema.txt", sameEverywhere(t, d))
				checkHead(t, d)
			})
		}
	}
}

// TestCutShort: MariaDB commits each change of the schema, so a migration that
// ended in the midst of a step is run again; what is in already is passed over.
// What Python's older releases called an index is gone too.
func TestCutShort(t *testing.T) {
	d := dbtest.Connect(t, db.Config{URL: dbtest.EmptyURL(t, "mariadb")})
	if err := migrations.UpTo(t.Context(), d, zedContract); err != nil {
		t.Fatal(err)
	}
	exec(t, d, `alter table project_tag drop index project_id, add unique project_tag_project_id_key (project_id, name)`)
	exec(t, d, `alter table access_rule drop index access_rule_external_id_key`)
	exec(t, d, `alter table mapping add column schema_version varchar(5) default '1.0' not null`)
	exec(t, d, `create index ix_revocation_event_project_id_user_id on revocation_event (project_id, user_id)`)
	if err := migrations.Sync(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	golden(t, "head-mariadb.txt", dbtest.MariaDBSchema(t, d))
	checkHead(t, d)
}

func TestHeadIsNotTouched(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		d := dbtest.Count(t, dbtest.OpenRecorded(t, engine))
		for what, f := range map[string]func() error{
			"sync":     func() error { return migrations.Sync(t.Context(), d) },
			"expand":   func() error { return migrations.Expand(t.Context(), d) },
			"contract": func() error { return migrations.Contract(t.Context(), d) },
		} {
			d.Reset()
			if err := f(); err != nil {
				t.Fatal(err)
			}
			for _, text := range d.Texts {
				first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
				switch first {
				case "select", "begin", "commit", "pragma":
				default:
					t.Errorf("%s: %s at head ran %q", engine, what, text)
				}
			}
		}
	}
}

// TestRowsAreKept: what stands in tables that SQLite builds anew, and in those
// that point at them, is there afterwards.
func TestRowsAreKept(t *testing.T) {
	each(t, func(t *testing.T, d db.DB) {
		if err := migrations.UpTo(t.Context(), d, zedContract); err != nil {
			t.Fatal(err)
		}
		exec(t, d, `insert into access_rule (id, service, external_id, user_id) values (7, 'compute', 'x', 'u')`)
		exec(t, d, `insert into application_credential (internal_id, id, name, secret_hash, user_id) values (3, 'a', 'n', 'h', 'u')`)
		exec(t, d, `insert into application_credential_access_rule (application_credential_id, access_rule_id) values (3, 7)`)
		exec(t, d, `insert into trust (id, trustor_user_id, trustee_user_id, impersonation) values ('t', 'a', 'b', '1')`)
		exec(t, d, `insert into trust_role (trust_id, role_id) values ('t', 'r')`)
		exec(t, d, `insert into service_provider (id, auth_url, sp_url, enabled) values ('s', 'http://a', 'http://b', '1')`)
		exec(t, d, `insert into mapping (id, rules) values ('m', '"[]"')`)
		if err := migrations.Sync(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		for _, from := range []string{
			`access_rule where id = 7 and service = 'compute' and external_id = 'x'`,
			`application_credential_access_rule where access_rule_id = 7`,
			`trust where id = 't'`, `trust_role`,
			`service_provider where relay_state_prefix = 'ss:mem:'`,
			`mapping where schema_version = '1.0'`,
		} {
			if n := count(t, d, from); n != 1 {
				t.Errorf("%s: %d rows, want 1", from, n)
			}
		}
		exec(t, d, `delete from access_rule`)
		if n := count(t, d, `application_credential_access_rule`); n != 0 {
			t.Error("the cascade from access_rule is gone")
		}
		exec(t, d, `insert into access_rule (service) values ('image')`)
	})
}

func TestUnknownRevision(t *testing.T) {
	each(t, func(t *testing.T, d db.DB) {
		ctx := t.Context()
		if err := migrations.Sync(ctx, d); err != nil {
			t.Fatal(err)
		}
		exec(t, d, `update alembic_version set version_num = 'feedbeef0001' where version_num = '742c857f1dfb'`)
		before := dbtest.Schema(t, d)
		for what, f := range map[string]func() error{
			"sync":     func() error { return migrations.Sync(ctx, d) },
			"expand":   func() error { return migrations.Expand(ctx, d) },
			"contract": func() error { return migrations.Contract(ctx, d) },
			"start":    func() error { return migrations.Verify(ctx, d, false) },
			"check":    func() error { _, err := migrations.Check(ctx, d); return err },
		} {
			if err := f(); !errors.Is(err, migrations.ErrUnknown) || !strings.Contains(err.Error(), "feedbeef0001") {
				t.Errorf("%s: got %v, want ErrUnknown that names the revision", what, err)
			}
		}
		if err := migrations.Verify(ctx, d, true); err != nil {
			t.Errorf("start, allowed: %v", err)
		}
		if dbtest.Schema(t, d) != before {
			t.Error("the schema was changed")
		}
	})
}

func TestTablesWithoutVersion(t *testing.T) {
	each(t, func(t *testing.T, d db.DB) {
		exec(t, d, `create table project (id integer)`)
		if err := migrations.Sync(t.Context(), d); err == nil {
			t.Error("sync: no error")
		}
		if _, err := migrations.Check(t.Context(), d); err == nil {
			t.Error("check: no error")
		}
		if got := dbtest.Schema(t, d); got != "table project\n  id integer\n" {
			t.Errorf("the schema was changed:\n%s", got)
		}
	})
}

// TestAllOrNothing: a step that fails leaves nothing of those before it; where
// changes of the schema are no part of a transaction that is true of the first,
// and another is run again.
func TestAllOrNothing(t *testing.T) {
	each(t, func(t *testing.T, d db.DB) {
		exec(t, d, `create table federated_user (id integer)`)
		if err := migrations.Sync(t.Context(), d); err == nil {
			t.Error("no error")
		}
		if got := dbtest.Schema(t, d); got != "table federated_user\n  id integer\n" {
			t.Errorf("the schema was changed:\n%s", got)
		}
		exec(t, d, `drop table federated_user`)
		if err := migrations.Sync(t.Context(), d); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// TestAtOnce: several programs that migrate one database end well, all of them.
func TestAtOnce(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			address := dbtest.EmptyURL(t, engine)
			var all sync.WaitGroup
			for i := range 6 {
				all.Go(func() {
					d, err := db.Open(t.Context(), db.Config{URL: address})
					if err != nil {
						t.Errorf("open: %v", err)
						return
					}
					defer d.Close()
					f := migrations.Sync
					if i == 0 {
						f = migrations.Expand
					}
					if err := f(t.Context(), d); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			d := dbtest.Connect(t, db.Config{URL: address})
			golden(t, "schema.txt", sameEverywhere(t, d))
			checkHead(t, d)
		})
	}
}
