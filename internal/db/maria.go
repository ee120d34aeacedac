package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
)

// mariaDB is the pool of a MariaDB or MySQL server.
type mariaDB struct {
	pool    *sql.DB
	wait    time.Duration
	causal  bool // reads wait until their node has what others committed
	cluster *atomic.Bool
	observe func(Event)
	waited  func(time.Duration)
}

var onMariaDB = &stdEngine{dialect: MariaDB, bind: mariaBind, translate: mariaTranslate, fault: mariaError, together: true}

func openMariaDB(a address, c Config) (DB, error) {
	cfg, err := mariaConfig(a, c)
	if err != nil {
		return nil, err
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("database connection: %w", err)
	}
	set := `set session transaction isolation level read committed`
	causal := false
	if n := c.SyncWait; n != nil {
		set += fmt.Sprintf("\n;\nset session wsrep_sync_wait = %d", *n)
		causal = *n&1 != 0
	}
	cluster := new(atomic.Bool)
	pool := sql.OpenDB(session{connector, set, cluster})
	pool.SetMaxOpenConns(min(c.MaxPoolSize+c.MaxOverflow, 10000))
	pool.SetMaxIdleConns(c.MaxPoolSize)
	pool.SetConnMaxLifetime(max(c.ConnRecycle, 0)) // 0: never
	pool.SetConnMaxIdleTime(idleLimit)
	return &mariaDB{pool: pool, wait: c.PoolTimeout, causal: causal, cluster: cluster, observe: c.Observe, waited: c.Waited}, nil
}

// session sets up each connection: a statement sees what was committed before
// it, as on Postgres, and not what was when the transaction began. By the name
// of the variable one could not tell MariaDB and MySQL alike.
type session struct {
	driver.Connector
	set     string
	cluster *atomic.Bool // becomes true where a server is a node of one
}

func (s session) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := s.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	run, ok := c.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(errors.New("the driver runs no statements"), c.Close())
	}
	if _, err := run.ExecContext(ctx, s.set, nil); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	is, err := clustered(ctx, c)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if is {
		s.cluster.Store(true)
	}
	return c, nil
}

// clustered tells whether the server is a node of a Galera cluster.
func clustered(ctx context.Context, c driver.Conn) (bool, error) {
	ask, ok := c.(driver.QueryerContext)
	if !ok {
		return false, errors.New("the driver runs no queries")
	}
	rows, err := ask.QueryContext(ctx, `show global variables where variable_name = 'wsrep_on' and value = 'ON'`, nil)
	if err != nil {
		return false, err
	}
	err = rows.Next(make([]driver.Value, len(rows.Columns())))
	if errors.Is(err, io.EOF) {
		return false, rows.Close()
	}
	return err == nil, errors.Join(err, rows.Close())
}

func (m *mariaDB) Dialect() Dialect { return MariaDB }

func (m *mariaDB) Close() { _ = m.pool.Close() }

func (m *mariaDB) Stats() PoolStats {
	s := m.pool.Stats()
	return PoolStats{Max: s.MaxOpenConnections, Open: s.OpenConnections, InUse: s.InUse, Idle: s.Idle, Waits: s.WaitCount, Waited: s.WaitDuration}
}

func (m *mariaDB) watch(f func(Event)) DB {
	w := *m
	w.observe = both(m.observe, f)
	return &w
}

func (m *mariaDB) acquire(ctx context.Context) (*sql.Conn, error) {
	return onMariaDB.acquire(ctx, m.pool, m.wait, m.waited)
}

func (m *mariaDB) on(c *sql.Conn) stdConn {
	return stdConn{c: c, on: onMariaDB, observe: m.observe, clustered: m.cluster.Load()}
}

// quiet is on, without an observer.
func (m *mariaDB) quiet(c *sql.Conn) stdConn {
	one := m.on(c)
	one.observe = nil
	return one
}

func (m *mariaDB) Ping(ctx context.Context) error {
	c, err := m.acquire(ctx)
	if err != nil {
		return err
	}
	defer free(c)
	return mariaError(ctx, c.PingContext(ctx))
}

func (m *mariaDB) Query(ctx context.Context, text string, args ...any) (Rows, error) {
	c, err := m.acquire(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := m.on(c).query(ctx, text, args)
	if err != nil {
		back(c, err)
		return nil, err
	}
	rows.release = func() { free(c) }
	return rows, nil
}

// with runs f on a connection.
func (m *mariaDB) with(ctx context.Context, f func(*sql.Conn) error) error {
	c, err := m.acquire(ctx)
	if err != nil {
		return err
	}
	err = f(c)
	back(c, err)
	return err
}

// back gives a connection back, but one to a node that has left its cluster: by
// the way that it was made another may be found.
func back(c *sql.Conn, err error) {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok && e.Number == outOfCluster {
		discard(c)
	}
	free(c)
}

// Exec runs the statement again where a transaction would be: on a cluster it is
// one that another node's may win against.
func (m *mariaDB) Exec(ctx context.Context, text string, args ...any) (n int64, err error) {
	err = retrySerialize(ctx, func() error {
		return m.with(ctx, func(c *sql.Conn) (err error) {
			n, err = m.on(c).Exec(ctx, text, args...)
			return err
		})
	})
	return n, err
}

// Send makes one round trip. With a write among them the statements are a
// transaction, which is run again like any.
func (m *mariaDB) Send(ctx context.Context, b *Batch) error {
	switch {
	case b.Len() == 0:
		return nil
	case b.writes == 0:
		return m.with(ctx, func(c *sql.Conn) error { return m.read(ctx, c, b) })
	}
	return retrySerialize(ctx, func() error {
		return m.with(ctx, func(c *sql.Conn) error {
			start := time.Now()
			err := m.quiet(c).whole(ctx, b)
			note(ctx, m.observe, start, err, b.writes, b.texts()...)
			return err
		})
	})
}

// read sends a batch of reads. Where each of them would wait for what other nodes
// have committed they are a transaction, which waits once.
func (m *mariaDB) read(ctx context.Context, c *sql.Conn, b *Batch) error {
	if !m.causal {
		return m.on(c).Send(ctx, b)
	}
	start := time.Now()
	err := m.quiet(c).whole(ctx, b)
	note(ctx, m.observe, start, err, 0, b.texts()...)
	return err
}

func (m *mariaDB) Tx(ctx context.Context, f func(Conn) error) error {
	return retrySerialize(ctx, func() error {
		return m.with(ctx, func(c *sql.Conn) error {
			return transaction(m.on(c)).unit(ctx, f, "begin", "commit", "rollback")
		})
	})
}

// schemaWait is how long, in seconds, one Alter waits for another.
const schemaWait = 3600

// alter has no transaction: MariaDB commits with each change of the schema. The
// lock is of the server, so its name has the database's in it.
func (m *mariaDB) alter(ctx context.Context, f func(Conn) error) (err error) {
	c, err := m.acquire(ctx)
	if err != nil {
		return err
	}
	defer free(c)
	one := m.on(c)
	got, err := One(ctx, one, Query[*int64]{
		Text: `select get_lock(concat('keystone_go ', md5(database())), $1)`, Args: []any{schemaWait},
		Scan: func(r Row) (n *int64, err error) { err = r.Scan(&n); return n, err },
	})
	if err != nil {
		return err
	}
	if got == nil || *got != 1 {
		return asKind(ErrUnavailable, errors.New("another program has changed the schema for an hour"))
	}
	defer func() {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
		defer cancel()
		if _, e := c.ExecContext(late, `do release_lock(concat('keystone_go ', md5(database())))`); e != nil {
			discard(c) // the lock goes with it
		}
	}()
	return f(one)
}

// mariaBind writes dates as text; the driver writes times itself.
func mariaBind(args []any) ([]any, error) {
	bound, err := bind(args)
	if err != nil {
		return nil, err
	}
	for i, a := range bound {
		if d, ok := a.(Date); ok {
			bound[i] = d.String()
		}
	}
	return bound, nil
}

// Prepare has MariaDB read a text without running it.
func Prepare(ctx context.Context, d DB, text string) error {
	m, ok := d.(*mariaDB)
	if !ok {
		return errors.New("db: not a MariaDB")
	}
	s, err := m.pool.PrepareContext(ctx, mariaText(text).text)
	if err != nil {
		return mariaError(ctx, err)
	}
	return s.Close()
}
