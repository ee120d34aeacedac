package peer

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/dbtest/mariaserver"
	"github.com/keystone-go/keystone-go/internal/dbtest/pgserver"
	"github.com/keystone-go/keystone-go/internal/proctest"
)

// EngineEnv names the variable with the engine of the pair's databases:
// postgres, which it is without, or mariadb.
const EngineEnv = "KEYSTONE_GO_INTEROP_ENGINE"

// Engine is the engine of the pair's databases.
func Engine() db.Dialect {
	if name := os.Getenv(EngineEnv); name != "" {
		return db.Dialect(name)
	}
	return db.Postgres
}

// backing is what a server of databases is for the pair. Without the name of a
// driver SQLAlchemy's newer releases take another one than its older ones.
type backing struct {
	env    string // names the variable with the URL of a server to be used
	start  func() (url string, stop func(), err error)
	scheme string
	drop   string // ends a drop though somebody is connected
}

var backings = map[db.Dialect]backing{
	db.Postgres: {env: dbtest.Env, scheme: "postgresql+psycopg2", drop: " with (force)", start: func() (string, func(), error) {
		own, err := pgserver.Start()
		if err != nil {
			return "", nil, err
		}
		return own.URL, own.Stop, nil
	}},
	db.MariaDB: {env: dbtest.MariaEnv, scheme: "mysql+pymysql", start: func() (string, func(), error) {
		own, err := mariaserver.Start()
		if err != nil {
			return "", nil, err
		}
		return own.URL, own.Stop, nil
	}},
}

// database makes an empty one, on a server of its own where none is given.
func (e *Env) database() error {
	on, ok := backings[Engine()]
	if !ok {
		return errors.New(EngineEnv + " is neither postgres nor mariadb")
	}
	address := os.Getenv(on.env)
	if address == "" {
		own, stop, err := on.start()
		if err != nil {
			return err
		}
		e.later(func() error { stop(); return nil })
		address = own
	}
	name := "keystone_go_interop_" + strings.ToLower(rand.Text())
	if err := administer(address, "create database "+name); err != nil {
		return err
	}
	e.later(func() error { return administer(address, "drop database if exists "+name+on.drop) })
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("the URL of the database server cannot be read")
	}
	u.Scheme, u.Path = on.scheme, "/"+name
	e.Database = u.String()
	e.DB, err = db.Open(context.Background(), db.Config{URL: e.Database, MaxPoolSize: 4})
	if err != nil {
		return err
	}
	e.later(func() error { e.DB.Close(); return nil })
	return nil
}

func administer(address, statement string) error {
	d, err := db.Open(context.Background(), db.Config{URL: address})
	if err != nil {
		return err
	}
	defer d.Close()
	_, err = d.Exec(context.Background(), statement)
	return err
}

// memcached starts one, which Python's other servers of the Env may use too.
func (e *Env) memcached() error {
	address, err := proctest.FreeAddress()
	if err != nil {
		return err
	}
	e.Memcached = address
	if e.Cache == NoCache {
		return nil
	}
	return e.StartMemcached()
}

// StartMemcached starts the memcached at its address, unless it runs: for an Env
// without Options.Cache.
func (e *Env) StartMemcached() error {
	if e.cache != nil {
		return nil
	}
	host, port, err := net.SplitHostPort(e.Memcached)
	if err != nil {
		return err
	}
	args := []string{"-l", host, "-p", port, "-U", "0", "-m", "64"}
	if os.Geteuid() == 0 {
		args = append(args, "-u", "nobody")
	}
	p, err := e.launch("memcached", nil, "memcached", args...)
	if err != nil {
		return err
	}
	e.cache = p
	e.later(e.StopMemcached)
	return p.ready(10*time.Second, func() bool {
		c, err := net.Dial("tcp", e.Memcached)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}

// StopMemcached ends it.
func (e *Env) StopMemcached() error {
	if e.cache != nil {
		_ = e.cache.stop()
	}
	e.cache = nil
	return nil
}

// Cached has Python remember by another client from here on, in an empty
// memcached.
func (e *Env) Cached(backend string) error {
	c := e.base().with(e.Caching(backend)).with(e.Options.Conf)
	return errors.Join(e.Python.Stop(), e.StopMemcached(), c.write(e.Python.Conf), e.StartMemcached(), e.Python.Start())
}
