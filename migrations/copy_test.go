package migrations_test

import (
	"errors"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/migrations"
)

// isA wants a database to be so as the target of a copy.
func isA(t *testing.T, d db.DB, want migrations.Standing) {
	t.Helper()
	if got, err := migrations.Stands(t.Context(), d); got != want || err != nil {
		t.Errorf("it stands at %d, %v, want %d", got, err, want)
	}
}

// TestCopy: from the first mark to its end a database is unfinished to all, with
// and without a schema, and also where the schema's making was cut short.
func TestCopy(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			half := dbtest.Connect(t, db.Config{URL: dbtest.EmptyURL(t, engine)})
			isA(t, half, migrations.Bare)
			if engine == string(db.MariaDB) {
				for _, text := range []string{
					`create table alembic_version (version_num varchar(32) not null, constraint alembic_version_pkc primary key (version_num))`,
					`insert into alembic_version (version_num) values ('keystone_go_copy_unfinished')`,
					`create table consumer (id varchar(64) not null primary key)`,
					`create table access_token (id varchar(64) not null primary key, consumer_id varchar(64) not null, foreign key (consumer_id) references consumer (id))`,
				} {
					if _, err := half.Exec(t.Context(), text); err != nil {
						t.Fatalf("%s: %v", text, err)
					}
				}
				isA(t, half, migrations.Begun)
			}
			for name, d := range map[string]db.DB{"from nothing": half, "from what db_sync made": dbtest.Open(t, engine)} {
				for range 2 {
					if err := migrations.BeginCopy(t.Context(), d); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					isA(t, d, migrations.Begun)
					if err := migrations.Sync(t.Context(), d); !errors.Is(err, migrations.ErrUnfinished) {
						t.Errorf("%s: db_sync says %v", name, err)
					}
					if err := migrations.Verify(t.Context(), d, true); !errors.Is(err, migrations.ErrUnfinished) {
						t.Errorf("%s: a server says %v", name, err)
					}
				}
				if err := migrations.EndCopy(t.Context(), d); err != nil {
					t.Fatal(err)
				}
				isA(t, d, migrations.Kept)
				golden(t, "schema.txt", sameEverywhere(t, d))
				checkHead(t, d)
				if err := migrations.EndCopy(t.Context(), d); err == nil {
					t.Errorf("%s: a copy ended twice", name)
				}
			}
		})
	}
}
