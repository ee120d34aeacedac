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
	"github.com/keystone-go/keystone-go/internal/dbtest/pgserver"
)

// database makes an empty one, on a server of its own where none is given.
func (e *Env) database() error {
	address := os.Getenv(dbtest.Env)
	if address == "" {
		own, err := pgserver.Start()
		if err != nil {
			return err
		}
		e.later(func() error { own.Stop(); return nil })
		address = own.URL
	}
	name := "keystone_go_interop_" + strings.ToLower(rand.Text())
	if err := administer(address, "create database "+name); err != nil {
		return err
	}
	e.later(func() error { return administer(address, "drop database if exists "+name+" with (force)") })
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("the URL of the Postgres server cannot be read")
	}
	u.Path = "/" + name
	_, rest, _ := strings.Cut(u.String(), "://")
	// Without the name of a driver SQLAlchemy's newer releases take another
	// one than its older ones.
	e.Database = "postgresql+psycopg2://" + rest
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
	address, err := freeAddress()
	if err != nil {
		return err
	}
	e.Memcached = address
	if e.Cache == NoCache {
		return nil
	}
	return e.StartMemcached()
}

// StartMemcached starts the memcached at its address, for an Env without
// Options.Cache.
func (e *Env) StartMemcached() error {
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
