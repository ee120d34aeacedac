package dbtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/migrations"
)

// OpenRecorded gives a database with the data of a running Python Keystone 22
// (test/testdata/peer), migrated to head. Its ids and secrets are in the files
// beside.
func OpenRecorded(t testing.TB, engine string) db.DB {
	t.Helper()
	return Connect(t, db.Config{URL: RecordedURL(t, engine)})
}

// RecordedURL is OpenRecorded for what opens a database by itself.
func RecordedURL(t testing.TB, engine string) string {
	t.Helper()
	switch db.Dialect(engine) {
	case db.SQLite:
		return sqliteCopy(t, recordedSQLite)
	case db.MariaDB:
		return mariaOnce(t, recordedMariaDB)
	}
	name, err := recordedPostgres()
	if err != nil {
		t.Fatal(fmt.Errorf("dbtest: the recorded database: %w", err))
	}
	return postgresOnce(t, ` template `+name)
}

// LoadZed fills an empty database of Postgres or MariaDB with the recorded
// schema and data as they are, of Zed.
func LoadZed(ctx context.Context, d db.DB) error {
	if d.Dialect() == db.MariaDB {
		return loadMariaDB(ctx, d)
	}
	return d.Tx(ctx, func(c db.Conn) error {
		for _, name := range []string{"schema-zed-postgres.sql", "data.sql"} {
			dump, err := readDump(name)
			if err != nil {
				return err
			}
			for _, text := range dump {
				if _, err := c.Exec(ctx, text); err != nil {
					return fmt.Errorf("%s: %.60s: %w", name, text, err)
				}
			}
		}
		return nil
	})
}

var recordedPostgres = sync.OnceValues(func() (string, error) {
	return template("keystone_go_recorded_"+migrations.Digest(), func(d db.DB) error {
		if err := LoadZed(context.Background(), d); err != nil {
			return err
		}
		return migrations.Sync(context.Background(), d)
	})
})

// loadMariaDB puts the rows recorded on Postgres into the schema that Python makes
// on MariaDB.
func loadMariaDB(ctx context.Context, d db.DB) error {
	dump, err := readDump("schema-zed-mariadb.sql")
	if err != nil {
		return err
	}
	// On one connection, which is told not to look at foreign keys.
	return db.Alter(ctx, d, func(c db.Conn) error {
		for _, text := range append([]string{"set foreign_key_checks = 0"}, dump...) {
			if _, err := c.Exec(ctx, text); err != nil {
				return fmt.Errorf("%.60s: %w", text, err)
			}
		}
		if err := loadRows(ctx, c); err != nil {
			return err
		}
		_, err := c.Exec(ctx, "set foreign_key_checks = 1")
		return err
	})
}

var recordedMariaDB = sync.OnceValues(func() (*mariaModel, error) {
	return mariaMade("keystone_go_recorded_"+migrations.Digest(), func(d db.DB) error {
		if err := LoadZed(context.Background(), d); err != nil {
			return err
		}
		return migrations.Sync(context.Background(), d)
	})
})

// recordedSQLite puts the same rows into a schema of ours, since there is no
// recorded one for this engine.
var recordedSQLite = sync.OnceValues(func() ([]byte, error) {
	return sqliteFile(func(d db.DB) error {
		ctx := context.Background()
		if err := migrations.Sync(ctx, d); err != nil {
			return err
		}
		return db.Alter(ctx, d, func(c db.Conn) error {
			if err := loadRows(ctx, c); err != nil {
				return err
			}
			return fullTimes(ctx, c)
		})
	})
})

// loadRows runs the inserts of the recorded data, which other engines read as
// they are but for the schema name.
func loadRows(ctx context.Context, c db.Conn) error {
	dump, err := readDump("data.sql")
	if err != nil {
		return err
	}
	if _, err := c.Exec(ctx, `delete from project`); err != nil {
		return err
	}
	for _, text := range dump {
		row, ok := strings.CutPrefix(text, "INSERT INTO public.")
		if !ok || strings.HasPrefix(row, "alembic_version") {
			continue
		}
		row = strings.Replace(row, " blob,", ` "blob",`, 1) // MariaDB keeps the word for itself
		if _, err := c.Exec(ctx, "INSERT INTO "+row); err != nil {
			return fmt.Errorf("%.60s: %w", row, err)
		}
	}
	return nil
}

// fullTimes writes SQLite's times with six digits, where a dump of Postgres leaves
// zeros out.
func fullTimes(ctx context.Context, c db.Conn) error {
	type column struct{ table, name string }
	columns, err := db.All(ctx, c, db.Query[column]{
		Text: `select t.name, c.name from sqlite_master t join pragma_table_info(t.name) c where t.type = 'table' and lower(c.type) = 'datetime'`,
		Scan: func(r db.Row) (c column, err error) { err = r.Scan(&c.table, &c.name); return c, err },
	})
	if err != nil {
		return err
	}
	for _, at := range columns {
		text := fmt.Sprintf(`update "%s" set %s = substr(case when instr(%[2]s, '.') > 0 then %[2]s else %[2]s || '.' end || '000000', 1, 26) where %[2]s is not null`, at.table, at.name)
		if _, err := c.Exec(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// readDump gives the statements of a dump but for the settings of its session.
func readDump(name string) ([]string, error) {
	_, here, _, _ := runtime.Caller(0)
	content, err := os.ReadFile(filepath.Join(filepath.Dir(here), "..", "..", "test", "testdata", "peer", name))
	if err != nil {
		return nil, err
	}
	var kept []string
	for _, text := range statements(string(content)) {
		if !strings.HasPrefix(text, "SET ") && !strings.Contains(text, "set_config") {
			kept = append(kept, text)
		}
	}
	return kept, nil
}

// statements splits at semicolons outside of quotes and function bodies, and
// leaves comment lines out.
func statements(dump string) []string {
	var out []string
	var b strings.Builder
	inText, inBody := false, false
	for line := range strings.Lines(dump) {
		if !inText && !inBody && strings.HasPrefix(line, "--") {
			continue
		}
		b.WriteString(line)
		if strings.Count(line, "$$")%2 == 1 {
			inBody = !inBody
		}
		if strings.Count(line, "'")%2 == 1 && !inBody {
			inText = !inText
		}
		if !inText && !inBody && strings.HasSuffix(line, ";\n") {
			out = append(out, strings.TrimSuffix(strings.TrimSpace(b.String()), ";"))
			b.Reset()
		}
	}
	return out
}
