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

// liteConn runs statements on one connection, in or out of a transaction. The
// driver reads $1 as the first argument wherever it stands, so texts need no
// translation.
type liteConn struct {
	c       *sql.Conn
	observe func(Event)
}

func (c liteConn) Dialect() Dialect { return SQLite }

func (c liteConn) Query(ctx context.Context, text string, args ...any) (Rows, error) {
	rows, err := c.query(ctx, text, args)
	if err != nil {
		return nil, err
	}
	return rows, nil
}

func (c liteConn) query(ctx context.Context, text string, args []any) (*liteRows, error) {
	args, err := liteBind(args)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	rows, err := c.c.QueryContext(ctx, text, args...)
	if err != nil {
		err = liteError(ctx, err)
		note(ctx, c.observe, start, err, 0, text)
		return nil, err
	}
	return &liteRows{Rows: rows, ctx: ctx, end: func(err error) { note(ctx, c.observe, start, err, 0, text) }}, nil
}

func (c liteConn) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	args, err := liteBind(args)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	var n int64
	res, err := c.c.ExecContext(ctx, text, args...)
	if err == nil {
		n, err = res.RowsAffected()
	}
	err = liteError(ctx, err)
	note(ctx, c.observe, start, err, 1, text)
	return n, err
}

func (c liteConn) Send(ctx context.Context, b *Batch) error {
	if b.Len() == 0 {
		return nil
	}
	start := time.Now()
	quiet := liteConn{c: c.c}
	err := quiet.batch(ctx, b)
	note(ctx, c.observe, start, err, b.writes, b.texts()...)
	return err
}

// batch runs the statements one after another and stops at the first error.
func (c liteConn) batch(ctx context.Context, b *Batch) error {
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

// liteRows gives database/sql's rows our errors, types and end.
type liteRows struct {
	*sql.Rows
	ctx     context.Context
	end     func(error)
	release func()
	closed  bool
}

// Scan reads times and booleans as this engine stores them: text and 0 or 1.
func (r *liteRows) Scan(dest ...any) error {
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
	return liteError(r.ctx, r.Rows.Scan(wrapped...))
}

func (r *liteRows) Err() error { return liteError(r.ctx, r.Rows.Err()) }

func (r *liteRows) Close() {
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

// liteBind writes times and dates the way SQLAlchemy does.
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

// discard closes the connection below c for good.
func discard(c *sql.Conn) {
	_ = c.Raw(func(any) error { return driver.ErrBadConn })
}

var errNotRolledBack = errors.New("the transaction could not be given up; its connection is closed")
