package dbtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest/mariaserver"
	"github.com/keystone-go/keystone-go/migrations"
)

// MariaEnv names the variable with the URL of root's database on a MariaDB
// server to be used. Without it, a process starts a server of its own.
const MariaEnv = "KEYSTONE_GO_TEST_MARIADB"

var maria = sync.OnceValues(func() (*server, error) {
	url := os.Getenv(MariaEnv)
	if url == "" {
		own, err := mariaserver.Start()
		if err != nil {
			return nil, err
		}
		url = own.URL
	}
	return newServer(onMaria, db.Config{URL: url, MaxPoolSize: 4, MaxRetries: 100, RetryInterval: 50 * time.Millisecond})
})

var onMaria = engine{
	names: `select schema_name from information_schema.schemata where schema_name like $1 escape '!'`,
	hold: func(ctx context.Context, c db.Conn, owner uint32) (bool, error) {
		n, err := db.One(ctx, c, lock(fmt.Sprint(owner), 0))
		return n == 1, err
	},
	free: func(ctx context.Context, c db.Conn, owner uint32) { unlock(ctx, c, fmt.Sprint(owner)) },
}

// lock is a query that takes a lock of the server, which goes with the
// connection; it gives 1 if it did within so many seconds.
func lock(name string, wait int) db.Query[int] {
	return db.Query[int]{
		Text: `select get_lock($1, $2)`, Args: []any{prefix + name, wait},
		Scan: func(r db.Row) (n int, err error) { err = r.Scan(&n); return n, err },
	}
}

func unlock(ctx context.Context, c db.Conn, name string) {
	_, _ = c.Exec(ctx, `do release_lock($1)`, prefix+name)
}

// mariaModel is what a copy is made from: the statements that make the tables
// of a template and fill them with its rows.
type mariaModel struct {
	make  string
	empty string // takes all rows out of a copy, and puts the first ones back
	print string // what mariaPrint gives for a copy
}

// mariaTemplate is a migrated database, made once a schema and server.
var mariaTemplate = sync.OnceValues(func() (*mariaModel, error) {
	return mariaMade("keystone_go_template_"+migrations.Digest(), func(d db.DB) error {
		return migrations.Sync(context.Background(), d)
	})
})

// ready is the table by which a template is known to be whole.
const ready = "keystone_go_ready"

// mariaMade makes a database of that name unless there is one. One process makes
// it; the others wait.
func mariaMade(name string, fill func(db.DB) error) (*mariaModel, error) {
	s, err := maria()
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	var m *mariaModel
	return m, s.admin.Tx(ctx, func(c db.Conn) error {
		if _, err := db.One(ctx, c, lock("template", 120)); err != nil {
			return err
		}
		defer unlock(ctx, c, "template")
		whole := db.Query[string]{
			Text: `select table_name from information_schema.tables where table_schema = $1 and table_name = $2`, Args: []any{name, ready}, Scan: db.ScanText,
		}
		_, err := db.One(ctx, c, whole)
		if errors.Is(err, db.ErrNoRow) {
			err = mariaFill(ctx, s, c, name, fill)
		}
		if err != nil {
			return err
		}
		return s.inside(ctx, name, func(d db.DB) (err error) {
			m, err = mariaRead(ctx, d, name)
			return err
		})
	})
}

func mariaFill(ctx context.Context, s *server, c db.Conn, name string, fill func(db.DB) error) error {
	for _, text := range []string{`drop database if exists ` + name, `create database ` + name} {
		if _, err := c.Exec(ctx, text); err != nil {
			return err
		}
	}
	if err := s.inside(ctx, name, fill); err != nil {
		return err
	}
	_, err := c.Exec(ctx, `create table `+name+`.`+ready+` (id integer)`)
	return err
}

// mariaRead reads a template. Statements go together in one text, which is
// faster than one by one.
func mariaRead(ctx context.Context, d db.DB, name string) (*mariaModel, error) {
	tables, err := migrations.AllTables(ctx, d)
	if err != nil {
		return nil, err
	}
	tables = slices.DeleteFunc(tables, func(name string) bool { return name == ready })
	const before, after = "set foreign_key_checks = 0;\n", "set foreign_key_checks = 1"
	var making, emptying, filling strings.Builder
	for _, t := range tables {
		text, err := db.One(ctx, d, shown(t))
		if err != nil {
			return nil, err
		}
		making.WriteString(text + ";\n")
		rows, err := db.One(ctx, d, db.Query[int]{Text: `select count(*) from "` + t + `"`, Scan: func(r db.Row) (n int, err error) { err = r.Scan(&n); return n, err }})
		if err != nil {
			return nil, err
		}
		if rows > 0 {
			filling.WriteString(`insert into "` + t + `" select * from ` + name + `."` + t + "\";\n")
		}
		emptying.WriteString(`delete from "` + t + "\";\n")
	}
	print, err := db.One(ctx, d, db.Query[string]{Text: mariaPrint, Args: []any{ready}, Scan: db.ScanText})
	if err != nil {
		return nil, err
	}
	return &mariaModel{
		print: print,
		make:  before + making.String() + filling.String() + after,
		empty: before + emptying.String() + filling.String() + after,
	}, nil
}

// mariaOnce makes a database like the model, or an empty one, that is dropped
// with the test.
func mariaOnce(t testing.TB, model func() (*mariaModel, error)) string {
	t.Helper()
	s, err := maria()
	if err != nil {
		t.Fatal(fmt.Errorf("dbtest: a MariaDB server: %w", err))
	}
	return s.once(t, func(ctx context.Context, name string) error { return mariaNew(ctx, s, name, model) })
}

// mariaCopy gives a spare database, or a new one.
func mariaCopy(t testing.TB) string {
	t.Helper()
	s, err := maria()
	if err != nil {
		t.Fatal(fmt.Errorf("dbtest: a MariaDB server: %w", err))
	}
	return s.copied(t, func(ctx context.Context, name string) error { return mariaNew(ctx, s, name, mariaTemplate) }, mariaRestore)
}

// mariaNew makes a database like the model, or an empty one.
func mariaNew(ctx context.Context, s *server, name string, model func() (*mariaModel, error)) error {
	if _, err := s.admin.Exec(ctx, `create database `+name); err != nil || model == nil {
		return err
	}
	m, err := model()
	if err != nil {
		return err
	}
	return s.inside(ctx, name, func(d db.DB) error {
		_, err := d.Exec(ctx, m.make)
		return err
	})
}
