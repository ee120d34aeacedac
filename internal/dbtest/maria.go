package dbtest

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest/mariaserver"
	"github.com/keystone-go/keystone-go/migrations"
)

// MariaEnv names the variable with the URL of root's database on a MariaDB
// server to be used. Without it, a process starts a server of its own.
const MariaEnv = "KEYSTONE_GO_TEST_MARIADB"

// mariaServer is the server of this process and a connection to administer it.
type mariaServer struct {
	url    string
	own    *mariaserver.Server // kept, since its end is the server's
	admin  db.DB
	owner  uint32
	number atomic.Int64

	mu    sync.Mutex
	spare []string // databases as good as new
}

var maria = sync.OnceValues(func() (*mariaServer, error) {
	s := &mariaServer{url: os.Getenv(MariaEnv)}
	if s.url == "" {
		var err error
		if s.own, err = mariaserver.Start(); err != nil {
			return nil, err
		}
		s.url = s.own.URL
	}
	var id [4]byte
	_, _ = rand.Read(id[:])
	s.owner = binary.BigEndian.Uint32(id[:]) >> 1
	var err error
	if s.admin, err = db.Open(context.Background(), db.Config{URL: s.url, MaxPoolSize: 4, MaxRetries: 100, RetryInterval: 50 * time.Millisecond}); err != nil {
		return nil, err
	}
	return s, errors.Join(s.claim(), s.sweep())
})

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

// claim takes the lock that tells other processes not to sweep our databases.
// It is held by a transaction that ends with the process.
func (s *mariaServer) claim() error {
	held := make(chan error, 1)
	go func() {
		ctx := context.Background()
		held <- s.admin.Tx(ctx, func(c db.Conn) error {
			if _, err := db.One(ctx, c, lock(fmt.Sprint(s.owner), 0)); err != nil {
				return err
			}
			held <- nil
			select {}
		})
	}()
	return <-held
}

// sweep drops what processes left that are no more.
func (s *mariaServer) sweep() error {
	ctx := context.Background()
	return s.admin.Tx(ctx, func(c db.Conn) error {
		names, err := db.All(ctx, c, db.Query[string]{
			Text: `select schema_name from information_schema.schemata where schema_name like $1 escape '!'`,
			Args: []any{db.EscapeLike(prefix) + "%"}, Scan: db.ScanText,
		})
		if err != nil {
			return err
		}
		for _, name := range names {
			var owner uint32
			if _, err := fmt.Sscanf(name, prefix+"%d_", &owner); err != nil || owner == s.owner {
				continue
			}
			dead, err := db.One(ctx, c, lock(fmt.Sprint(owner), 0))
			if err != nil {
				return err
			}
			if dead == 1 {
				// Another process may sweep as well.
				_, _ = c.Exec(ctx, `drop database if exists `+name)
				unlock(ctx, c, fmt.Sprint(owner))
			}
		}
		return nil
	})
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
			err = s.fill(ctx, c, name, fill)
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

func (s *mariaServer) fill(ctx context.Context, c db.Conn, name string, fill func(db.DB) error) error {
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
	tables, err := db.All(ctx, d, db.Query[string]{
		Text: `select table_name from information_schema.tables where table_schema = database() and table_name <> $1`, Args: []any{ready}, Scan: db.ScanText,
	})
	if err != nil {
		return nil, err
	}
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

// inside opens another database of the server for f.
func (s *mariaServer) inside(ctx context.Context, name string, f func(db.DB) error) error {
	d, err := db.Open(ctx, db.Config{URL: s.database(name), MaxPoolSize: 1})
	if err != nil {
		return err
	}
	defer d.Close()
	return f(d)
}

// mariaFresh makes an empty database, to be dropped by the caller.
func mariaFresh() (*mariaServer, string, error) {
	s, err := maria()
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	name := fmt.Sprintf("%s%d_%d", prefix, s.owner, s.number.Add(1))
	_, err = s.admin.Exec(ctx, `create database `+name)
	return s, name, err
}

// mariaOnce makes a database like the model, or an empty one, that is dropped
// with the test.
func mariaOnce(t testing.TB, model func() (*mariaModel, error)) string {
	t.Helper()
	s, name, err := mariaFresh()
	if err == nil {
		t.Cleanup(func() { s.drop(t, name) })
		if model != nil {
			err = s.copyOf(name, model)
		}
	}
	if err != nil {
		t.Fatal(fmt.Errorf("dbtest: a MariaDB database: %w", err))
	}
	return s.database(name)
}

func (s *mariaServer) copyOf(name string, model func() (*mariaModel, error)) error {
	m, err := model()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return s.inside(ctx, name, func(d db.DB) error {
		_, err := d.Exec(ctx, m.make)
		return err
	})
}

func (s *mariaServer) drop(t testing.TB, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := s.admin.Exec(ctx, `drop database if exists `+name); err != nil {
		t.Errorf("dbtest: drop %s: %v", name, err)
	}
}

// database gives the URL of another database on the server.
func (s *mariaServer) database(name string) string {
	u, err := url.Parse(s.url)
	if err != nil {
		return s.url
	}
	u.Path = "/" + name
	return u.String()
}
