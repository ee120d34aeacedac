// Package db runs one SQL text on every engine: pools, transactions, batches
// and errors of one vocabulary. Statements are values (Query), so that several
// of them, from several packages, go to the server in one round trip.
//
// Shared text keeps to what all engines read alike: $1 placeholders, which may
// repeat; reserved names in double quotes ("user", "group", "limit"); booleans
// and times as arguments, never literals; like with an explicit escape; no
// returning, no on conflict, no JSON operators.
package db

import (
	"context"
	"fmt"
	"time"
)

// Dialect names an engine, for the few statements that differ.
type Dialect string

// The engines there are.
const (
	Postgres Dialect = "postgres"
	SQLite   Dialect = "sqlite"
	MariaDB  Dialect = "mariadb" // and MySQL
)

// Row is one row of an answer. Scan fills dest in column order; timestamp and
// date columns go into *time.Time (UTC), nullable ones into **time.Time,
// *string into **string and so on.
type Row interface {
	Scan(dest ...any) error
}

// Rows is an answer being read. Close is safe to call more than once and must
// be called; Err gives what ended the reading early.
type Rows interface {
	Row
	Next() bool
	Err() error
	Close()
}

// Query is a statement and how to read one of its rows. It does nothing until
// it is run, alone by One or All, or with others by a Batch.
type Query[T any] struct {
	Text string
	Args []any
	Scan func(Row) (T, error)
}

// ScanText reads the one column of a row that is a text.
func ScanText(r Row) (s string, err error) {
	err = r.Scan(&s)
	return s, err
}

// Conn runs statements: a pool or a transaction. Arguments are nil, strings,
// booleans, integers, floats, []byte, time.Time, Date, pointers to and named
// types of these; a string that is no valid UTF-8 or holds a NUL is
// ErrBadValue on every engine.
type Conn interface {
	// Query runs a statement that returns rows. It must not write, but where the
	// dialect is Postgres and the statement is for it alone.
	Query(ctx context.Context, text string, args ...any) (Rows, error)
	// Exec runs a statement that returns none and tells the rows it touched.
	Exec(ctx context.Context, text string, args ...any) (affected int64, err error)
	// Send runs a batch: in one round trip where the engine can. A batch with
	// a write in it happens wholly or not at all.
	Send(ctx context.Context, b *Batch) error
	// Dialect tells the engine.
	Dialect() Dialect
}

// DB is a pool of connections, safe for concurrent use.
type DB interface {
	Conn
	// Tx runs f in a transaction, which is committed when f returns nil and
	// given up otherwise. It is run again, a few times at most, when the engine
	// gives it up for another's sake (ErrSerialize): f must not change anything
	// but the database. The Conn is of no use after f.
	Tx(ctx context.Context, f func(Conn) error) error
	// Ping asks the server for a sign of life.
	Ping(ctx context.Context) error
	// Close ends the pool; it waits for what runs.
	Close()
	// Stats tells how the pool is doing.
	Stats() PoolStats
}

// PoolStats counts connections now, and what waited for one since the start.
type PoolStats struct {
	Max, Open, InUse, Idle int
	Waits                  int64
	Waited                 time.Duration
}

// Event tells of one round trip: the statements in it, how many of them were
// writes, how long it took from the first byte sent to the last row read, and
// how it ended. A time in the queue for a connection is not part of it.
type Event struct {
	Context  context.Context // the caller's, for traces
	Texts    []string
	Writes   int
	Duration time.Duration
	Err      error
}

// Config says which database and how big a pool. Only URL is needed.
type Config struct {
	// URL is SQLAlchemy's, as [database] connection has it. Query options that
	// pgx knows (default_query_exec_mode=simple_protocol and others) may be in it.
	URL string
	// MaxPoolSize connections are kept (5 when 0) and MaxOverflow more are
	// opened under load (none when 0, without bound when negative).
	MaxPoolSize, MaxOverflow int
	// PoolTimeout bounds the wait for a connection (30 s when 0).
	PoolTimeout time.Duration
	// ConnRecycle is the age at which a connection is replaced (1 h when 0,
	// never when negative).
	ConnRecycle time.Duration
	// ConnectTimeout bounds making one connection (10 s when 0).
	ConnectTimeout time.Duration
	// MaxRetries is how often Open tries again to reach the server, RetryInterval
	// apart (for ever when negative, not at all when 0).
	MaxRetries    int
	RetryInterval time.Duration
	// SyncWait, if set, is what each session of a Galera node gets as
	// wsrep_sync_wait. With 1 in it a read sees all that was committed on any node
	// before it began.
	SyncWait *int
	// Observe, if set, is called after every round trip, from many goroutines.
	Observe func(Event)
	// Waited, if set, is told how long each caller was kept from a connection.
	Waited func(time.Duration)
}

// withDefaults fills what was left out.
func (c Config) withDefaults() Config {
	if c.MaxPoolSize <= 0 {
		c.MaxPoolSize = 5
	}
	if c.MaxOverflow < 0 {
		c.MaxOverflow = 10000
	}
	if c.PoolTimeout <= 0 {
		c.PoolTimeout = 30 * time.Second
	}
	if c.ConnRecycle == 0 {
		c.ConnRecycle = time.Hour
	}
	if c.ConnectTimeout <= 0 {
		c.ConnectTimeout = 10 * time.Second
	}
	return c
}

// Open makes the pool and waits until the server answers. Its errors never
// show the password.
func Open(ctx context.Context, c Config) (DB, error) {
	c = c.withDefaults()
	u, err := parseURL(c.URL)
	if err != nil {
		return nil, err
	}
	var d DB
	switch u.dialect {
	case SQLite:
		d, err = openSQLite(u, c)
	case MariaDB:
		d, err = openMariaDB(u, c)
	default:
		d, err = openPostgres(u, c)
	}
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	if err := firstPing(ctx, d, c); err != nil {
		d.Close()
		return nil, fmt.Errorf("open the database: %w", err)
	}
	return d, nil
}

// firstPing tries as often as the configuration says. Who opens a new SQLite
// file beside others may be told that it is locked, however long he would wait:
// all set its journal.
func firstPing(ctx context.Context, d DB, c Config) error {
	for try := 0; ; try++ {
		err := retrySerialize(ctx, func() error { return d.Ping(ctx) })
		if err == nil || !isUnavailable(err) || (c.MaxRetries >= 0 && try >= c.MaxRetries) {
			return err
		}
		if !sleep(ctx, c.RetryInterval) {
			return err
		}
	}
}

// sleep tells whether the time passed before the context ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// One gives the first row, or ErrNoRow.
func One[T any](ctx context.Context, c Conn, q Query[T]) (T, error) {
	var none T
	rows, err := c.Query(ctx, q.Text, q.Args...)
	if err != nil {
		return none, err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return none, err
		}
		return none, ErrNoRow
	}
	v, err := q.Scan(rows)
	if err != nil {
		return none, err
	}
	rows.Close()
	return v, rows.Err()
}

// All gives every row; none is an empty, nil slice and no error.
func All[T any](ctx context.Context, c Conn, q Query[T]) ([]T, error) {
	rows, err := c.Query(ctx, q.Text, q.Args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return readAll(rows, q.Scan)
}

func readAll[T any](rows Rows, scan func(Row) (T, error)) ([]T, error) {
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}
