package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"
)

// stdEngine is what tells the engines behind database/sql apart.
type stdEngine struct {
	dialect Dialect
	// bind makes arguments what the driver takes.
	bind func(args []any) ([]any, error)
	// translate gives the engine's own text, and the arguments in its order.
	translate func(text string, args []any) (string, []any, error)
	// fault gives an error of the driver its kind.
	fault func(ctx context.Context, err error) error
	// together tells that statements may be sent as one text with semicolons.
	together bool
}

// prepare makes a statement ready for the driver.
func (e *stdEngine) prepare(text string, args []any) (string, []any, error) {
	args, err := e.bind(args)
	if err != nil || e.translate == nil {
		return text, args, err
	}
	return e.translate(text, args)
}

// stdConn runs statements on one connection of database/sql, in or out of a
// transaction.
type stdConn struct {
	c       *sql.Conn
	on      *stdEngine
	observe func(Event)
	// lost is why the engine gave up the transaction, which no later statement
	// must overlook: it would be on its own. Nil outside of transactions.
	lost *error
	// clustered tells of a Galera node. It may give up a transaction in the midst
	// of a text with semicolons, and run what stands behind on its own without a
	// word: so in transactions each statement is sent by itself.
	clustered bool
}

func (c stdConn) Dialect() Dialect { return c.on.dialect }

// fault gives an error its kind and remembers what ended the transaction.
func (c stdConn) fault(ctx context.Context, err error) error {
	err = c.on.fault(ctx, err)
	if c.lost != nil && *c.lost == nil && c.on.dialect == MariaDB && errors.Is(err, ErrSerialize) {
		*c.lost = err
	}
	return err
}

// gone gives the error of a transaction that is no more.
func (c stdConn) gone() error {
	if c.lost == nil {
		return nil
	}
	return *c.lost
}

func (c stdConn) Query(ctx context.Context, text string, args ...any) (Rows, error) {
	rows, err := c.query(ctx, text, args)
	if err != nil {
		return nil, err
	}
	return rows, nil
}

func (c stdConn) query(ctx context.Context, text string, args []any) (*stdRows, error) {
	own, args, err := c.on.prepare(text, args)
	if err := errors.Join(err, c.gone()); err != nil {
		return nil, err
	}
	start := time.Now()
	rows, err := c.c.QueryContext(ctx, own, args...)
	if err != nil {
		err = c.fault(ctx, err)
		note(ctx, c.observe, start, err, 0, text)
		return nil, err
	}
	return &stdRows{Rows: rows, ctx: ctx, in: c, end: func(err error) { note(ctx, c.observe, start, err, 0, text) }}, nil
}

func (c stdConn) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	own, args, err := c.on.prepare(text, args)
	if err := errors.Join(err, c.gone()); err != nil {
		return 0, err
	}
	start := time.Now()
	var n int64
	res, err := c.c.ExecContext(ctx, own, args...)
	if err == nil {
		n, err = res.RowsAffected()
	}
	err = c.fault(ctx, err)
	note(ctx, c.observe, start, err, 1, text)
	return n, err
}

func (c stdConn) Send(ctx context.Context, b *Batch) error {
	if b.Len() == 0 {
		return nil
	}
	start := time.Now()
	quiet := c
	quiet.observe = nil
	err := quiet.batch(ctx, b)
	note(ctx, c.observe, start, err, b.writes, b.texts()...)
	return err
}

// batch runs the statements one after another, or together where that can be,
// and stops at the first error.
func (c stdConn) batch(ctx context.Context, b *Batch) error {
	if c.on.together && b.Len() > 1 && (!c.clustered || c.lost == nil) {
		return c.together(ctx, b, "", "")
	}
	for _, it := range b.items {
		if it.read == nil {
			n, err := c.Exec(ctx, it.text, it.args...)
			if err != nil {
				return err
			}
			it.done.rows = n
			continue
		}
		rows, err := c.query(ctx, it.text, it.args)
		if err != nil {
			return err
		}
		err = it.read(rows)
		rows.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// stdRows gives database/sql's rows our errors, types and end.
type stdRows struct {
	*sql.Rows
	ctx     context.Context
	in      stdConn
	end     func(error)
	release func()
	closed  bool
}

// Scan reads times as the engine gives them: as such or as text.
func (r *stdRows) Scan(dest ...any) error {
	wrapped := dest
	for i, d := range dest {
		var s sql.Scanner
		switch p := d.(type) {
		case *time.Time:
			s = stamp{p}
		case **time.Time:
			s = maybeStamp{p}
		default:
			continue
		}
		if &wrapped[0] == &dest[0] {
			wrapped = append([]any(nil), dest...)
		}
		wrapped[i] = s
	}
	return r.in.fault(r.ctx, r.Rows.Scan(wrapped...))
}

func (r *stdRows) Err() error { return r.in.fault(r.ctx, r.Rows.Err()) }

func (r *stdRows) Close() {
	if r.closed {
		return
	}
	r.closed = true
	_ = r.Rows.Close()
	if r.end != nil {
		r.end(r.Err())
	}
	if r.release != nil {
		r.release()
	}
}

type stamp struct{ to *time.Time }

func (s stamp) Scan(v any) (err error) {
	*s.to, err = readStamp(v)
	return err
}

type maybeStamp struct{ to **time.Time }

func (s maybeStamp) Scan(v any) error {
	if v == nil {
		*s.to = nil
		return nil
	}
	t, err := readStamp(v)
	*s.to = &t
	return err
}

// readStamp reads what SQLAlchemy writes. The driver parses columns declared
// as times; computed ones arrive as text.
func readStamp(v any) (time.Time, error) {
	switch t := v.(type) {
	case time.Time:
		return t.UTC(), nil
	case []byte:
		return readStamp(string(t))
	case string:
		s := strings.TrimSuffix(strings.Replace(t, "T", " ", 1), "Z")
		for _, form := range []string{stampForm, time.DateOnly} {
			if at, err := time.Parse(form, s); err == nil {
				return at, nil
			}
		}
		return time.Time{}, fmt.Errorf("%w: text that is no time", ErrBadValue)
	}
	return time.Time{}, fmt.Errorf("a %T is no time", v)
}

// stampForm reads any number of digits, also none.
const stampForm = "2006-01-02 15:04:05"

// discard closes the connection below c for good.
func discard(c *sql.Conn) {
	_ = c.Raw(func(any) error { return driver.ErrBadConn })
}

// free gives a connection back; its own error says only that it is gone.
func free(c *sql.Conn) { _ = c.Close() }

var errNotRolledBack = errors.New("the transaction could not be given up; its connection is closed")

// acquire waits for a connection, as long as the pool timeout allows.
func (e *stdEngine) acquire(ctx context.Context, pool *sql.DB, wait time.Duration, report func(time.Duration)) (*sql.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	defer waited(report, time.Now())
	c, err := pool.Conn(limited)
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() == nil && limited.Err() != nil:
		return nil, asKind(ErrUnavailable, fmt.Errorf("no connection within %s", wait))
	case errors.Is(err, sql.ErrConnDone) || err.Error() == "sql: database is closed":
		return nil, asKind(ErrUnavailable, err)
	}
	return nil, e.fault(ctx, err)
}
