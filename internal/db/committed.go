package db

import (
	"context"
	"errors"
)

// Committed gives the same database, with f called after each commit that has
// changed rows, and before the one who wrote goes on. f gets the texts of the
// writes. It is called as well where nobody can tell whether the commit came
// to pass, such as on a connection that broke meanwhile. Its context is that
// of the write and does not end with it. Closing either closes both.
func Committed(d DB, f func(ctx context.Context, writes []string)) DB {
	return committed{DB: d, tell: f}
}

type committed struct {
	DB
	tell func(ctx context.Context, writes []string)
}

// Unwrap gives the database without the calls.
func (c committed) Unwrap() DB { return c.DB }

func (c committed) watch(f func(Event)) DB { return committed{DB: Watch(c.DB, f), tell: c.tell} }

func (c committed) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	rows, err := c.DB.Exec(ctx, text, args...)
	if rows > 0 || inDoubt(err) {
		c.tell(context.WithoutCancel(ctx), []string{text})
	}
	return rows, err
}

func (c committed) Send(ctx context.Context, b *Batch) error {
	err := c.DB.Send(ctx, b)
	if writes := b.changes(err); len(writes) > 0 {
		c.tell(context.WithoutCancel(ctx), writes)
	}
	return err
}

func (c committed) Tx(ctx context.Context, f func(Conn) error) error {
	var writes []string
	err := c.DB.Tx(ctx, func(conn Conn) error {
		writes = nil
		in := recorder{Conn: conn, writes: &writes}
		err := f(in)
		if err != nil {
			writes = nil // they are undone
		}
		return err
	})
	if len(writes) > 0 && (err == nil || inDoubt(err)) {
		c.tell(context.WithoutCancel(ctx), writes)
	}
	return err
}

// recorder is a transaction that keeps the texts of its writes. Those that
// were undone with a savepoint stay among them.
type recorder struct {
	Conn
	writes *[]string
}

func (r recorder) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	rows, err := r.Conn.Exec(ctx, text, args...)
	if rows > 0 {
		*r.writes = append(*r.writes, text)
	}
	return rows, err
}

func (r recorder) Send(ctx context.Context, b *Batch) error {
	err := r.Conn.Send(ctx, b)
	if err == nil {
		*r.writes = append(*r.writes, b.changes(nil)...)
	}
	return err
}

func (r recorder) Tx(ctx context.Context, f func(Conn) error) error {
	return Nested(ctx, r.Conn, func(c Conn) error { return f(recorder{Conn: c, writes: r.writes}) })
}

// changes gives the texts of the writes that changed rows, or, after an error
// in doubt, of those that may have.
func (b *Batch) changes(err error) []string {
	if err != nil && !inDoubt(err) {
		return nil
	}
	var out []string
	for _, it := range b.items {
		if it.done != nil && (err != nil || it.done.rows > 0) {
			out = append(out, it.text)
		}
	}
	return out
}

// inDoubt tells of an error after which a write may stand all the same: any
// but those by which an engine refuses one.
func inDoubt(err error) bool {
	if err == nil {
		return false
	}
	for _, refused := range []error{ErrDuplicate, ErrReference, ErrSerialize, ErrBadValue, ErrNoRow} {
		if errors.Is(err, refused) {
			return false
		}
	}
	return true
}
