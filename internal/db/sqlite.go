package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// busyWait is how long SQLite itself waits for a writer of another process.
const busyWait = 5 * time.Second

// liteDB is a SQLite file: one connection writes, several read.
type liteDB struct {
	write, read *sql.DB
	wait        time.Duration
	observe     func(Event)
	waited      func(time.Duration)
}

func openSQLite(a address, c Config) (DB, error) {
	path, busy, err := litePath(a)
	if err != nil {
		return nil, err
	}
	if err := liteCreate(path); err != nil {
		return nil, err
	}
	write, err := sql.Open("sqlite", liteDSN(path, busy, false))
	if err != nil {
		return nil, err
	}
	read, err := sql.Open("sqlite", liteDSN(path, busy, true))
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	write.SetMaxOpenConns(1)
	n := max(4, min(c.MaxPoolSize, 2*runtime.NumCPU()))
	read.SetMaxOpenConns(n)
	read.SetMaxIdleConns(n)
	return &liteDB{write: write, read: read, wait: c.PoolTimeout, observe: c.Observe, waited: c.Waited}, nil
}

// litePath takes the file out of sqlite:///relative or sqlite:////absolute.
// An in-memory database is refused: it would be gone at the end of db_sync.
func litePath(a address) (path string, busy time.Duration, err error) {
	if a.host != "" || a.user != "" || a.port != "" {
		return "", 0, errors.New("a SQLite connection has three slashes and a path, or four and an absolute one: sqlite:////var/lib/keystone/keystone.db")
	}
	if a.database == "" || a.database == ":memory:" {
		return "", 0, errors.New("a SQLite database in memory is lost with the process that makes it: name a file, sqlite:////var/lib/keystone/keystone.db")
	}
	busy = busyWait
	for k, v := range a.query {
		switch k {
		case "timeout":
			s, err := strconv.ParseFloat(v[len(v)-1], 64)
			if err != nil || s < 0 || s > 3600 {
				return "", 0, errors.New("the timeout of a SQLite connection is a number of seconds")
			}
			busy = time.Duration(s * float64(time.Second))
		case "check_same_thread", "cached_statements", "isolation_level", "detect_types":
			// They tune Python's driver.
		default:
			return "", 0, fmt.Errorf("a SQLite connection takes no option %q", k)
		}
	}
	path, err = filepath.Abs(a.database)
	return path, busy, err
}

// liteCreate makes the file, for its owner alone since it will hold password
// hashes. It is linked into place: closing a file that SQLite has open too, in
// this process, would take SQLite's locks away.
func liteCreate(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".keystone-*.db") // mode 0600
	if err != nil {
		return fmt.Errorf("make the SQLite file: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	if err := f.Close(); err != nil {
		return fmt.Errorf("make the SQLite file: %w", err)
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the SQLite file: %w", err)
	}
	return nil
}

// liteDSN writes the name for the driver. A quoted name that is no column is
// an error instead of a string (dqs), and like tells letters apart as it does
// on the other engines. A commit is on the disk when it is answered, since it
// may be a revocation.
func liteDSN(path string, busy time.Duration, readOnly bool) string {
	q := url.Values{
		"_busy_timeout": {strconv.FormatInt(busy.Milliseconds(), 10)},
		"_journal_mode": {"WAL"},
		"_synchronous":  {"FULL"},
		"_foreign_keys": {"1"},
		"_txlock":       {"immediate"},
		"_dqs":          {"0"},
		"_error_rc":     {"1"},
		"_pragma":       {"case_sensitive_like(1)"},
	}
	if readOnly {
		q.Set("_query_only", "1")
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

func (l *liteDB) Dialect() Dialect { return SQLite }

func (l *liteDB) Close() {
	// Readers first: the last connection folds the log into the file, and it
	// has to be one that may write.
	_ = l.read.Close()
	_ = l.write.Close()
}

func (l *liteDB) Stats() PoolStats {
	r, w := l.read.Stats(), l.write.Stats()
	return PoolStats{
		Max: r.MaxOpenConnections + 1, Open: r.OpenConnections + w.OpenConnections,
		InUse: r.InUse + w.InUse, Idle: r.Idle + w.Idle,
		Waits: r.WaitCount + w.WaitCount, Waited: r.WaitDuration + w.WaitDuration,
	}
}

func (l *liteDB) watch(f func(Event)) DB {
	w := *l
	w.observe = both(l.observe, f)
	return &w
}

var onSQLite = &stdEngine{dialect: SQLite, bind: liteBind, fault: liteError}

func (l *liteDB) acquire(ctx context.Context, pool *sql.DB) (*sql.Conn, error) {
	return onSQLite.acquire(ctx, pool, l.wait, l.waited)
}

func (l *liteDB) on(c *sql.Conn) stdConn { return stdConn{c: c, on: onSQLite, observe: l.observe} }

// Ping opens the writer, which makes the file and sets its journal.
func (l *liteDB) Ping(ctx context.Context) error {
	c, err := l.acquire(ctx, l.write)
	if err != nil {
		return err
	}
	defer free(c)
	_, err = c.ExecContext(ctx, `select 1 from sqlite_master limit 1`)
	return liteError(ctx, err)
}

func (l *liteDB) Query(ctx context.Context, text string, args ...any) (Rows, error) {
	c, err := l.acquire(ctx, l.read)
	if err != nil {
		return nil, err
	}
	rows, err := l.on(c).query(ctx, text, args)
	if err != nil {
		free(c)
		return nil, err
	}
	rows.release = func() { free(c) }
	return rows, nil
}

func (l *liteDB) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	c, err := l.acquire(ctx, l.write)
	if err != nil {
		return 0, err
	}
	defer free(c)
	return l.on(c).Exec(ctx, text, args...)
}

// Send runs reads on one reader; with a write among them, all of them on the
// writer and in one transaction.
func (l *liteDB) Send(ctx context.Context, b *Batch) error {
	pool := l.read
	if b.writes > 0 {
		pool = l.write
	}
	if b.Len() == 0 {
		return nil
	}
	c, err := l.acquire(ctx, pool)
	if err != nil {
		return err
	}
	defer free(c)
	start := time.Now()
	quiet := stdConn{c: c, on: onSQLite}
	if b.writes == 0 {
		err = quiet.batch(ctx, b)
	} else {
		err = transaction(quiet).unit(ctx, func(Conn) error { return quiet.batch(ctx, b) }, "begin immediate", "commit", "rollback")
	}
	note(ctx, l.observe, start, err, b.writes, b.texts()...)
	return err
}

// liteBind writes times and dates the way SQLAlchemy does. The driver reads $1
// as the first argument wherever it stands, so texts need no translation.
func liteBind(args []any) ([]any, error) {
	bound, err := bind(args)
	if err != nil {
		return nil, err
	}
	for i, a := range bound {
		switch v := a.(type) {
		case time.Time:
			bound[i] = v.Format(stampFormat)
		case Date:
			bound[i] = v.String()
		}
	}
	return bound, nil
}
