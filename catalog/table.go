package catalog

import (
	"context"
	"errors"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
)

// table is how the rows of a kind are read, listed, stored and changed.
type table[T any] struct {
	name string
	kind string // what messages call a row
	// insert and update take the values, of which the first is the id.
	insert, update string
	values         func(T) []any
	source         hints.Source[T]
}

func (t table[T]) byID(id string) db.Query[T] {
	return db.Query[T]{Text: t.source.Select + ` where ` + t.source.ID + ` = $1`, Args: []any{id}, Scan: t.source.Scan}
}

// held reads a row's id, and keeps the row until the transaction is over.
func (t table[T]) held(d db.Dialect, id string) db.Query[string] {
	return idsOf(`select id from `+t.name+` where id = $1`+db.ForUpdate(d), id)
}

// get reads a row; 404 when there is none.
func (t table[T]) get(ctx context.Context, c db.Conn, id string) (T, error) {
	return t.read(ctx, c, id, "")
}

func (t table[T]) read(ctx context.Context, c db.Conn, id, lock string) (T, error) {
	q := t.byID(id)
	q.Text += lock
	out, err := db.One(ctx, c, q)
	if errors.Is(err, db.ErrNoRow) {
		return out, t.none(id)
	}
	return out, fault.Wrap(err, "read "+t.kind, id)
}

func (t table[T]) none(id string) error { return fault.NoSuch(t.kind, id) }

// list reads the rows that match, by id.
func (t table[T]) list(ctx context.Context, c db.Conn, h hints.Hints) (hints.Page[T], error) {
	p, err := hints.List(ctx, c, h, t.source)
	return p, fault.Wrap(err, "list rows of", t.name)
}

func (t table[T]) store(ctx context.Context, c db.Conn, row T) error {
	_, err := c.Exec(ctx, t.insert, t.values(row)...)
	return err
}

// change reads a row, has it changed and stores it; 404 when there is none.
func (t table[T]) change(ctx context.Context, d db.DB, id string, f func(*T)) (T, error) {
	var row T
	err := d.Tx(ctx, func(c db.Conn) (err error) {
		row, err = t.rewrite(ctx, c, id, func(row *T) error {
			f(row)
			return nil
		})
		return err
	})
	return row, fault.Wrap(err, "update "+t.kind, id)
}

// rewrite is change in a transaction of the caller's, where f may refuse. The row
// is held from when it is read, so that no other change is lost.
func (t table[T]) rewrite(ctx context.Context, c db.Conn, id string, f func(*T) error) (T, error) {
	row, err := t.read(ctx, c, id, db.ForUpdate(c.Dialect()))
	if err != nil {
		return row, err
	}
	if err := f(&row); err != nil {
		return row, err
	}
	_, err = c.Exec(ctx, t.update, t.values(row)...)
	return row, err
}

// remove deletes a row and nothing else; 404 when there is none.
func (t table[T]) remove(ctx context.Context, c db.Conn, id string) error {
	n, err := c.Exec(ctx, `delete from `+t.name+` where id = $1`, id)
	if err == nil && n == 0 {
		return t.none(id)
	}
	return err
}

// idsOf reads a column of identifiers.
func idsOf(text string, args ...any) db.Query[string] {
	return db.Query[string]{Text: text, Args: args, Scan: db.ScanText}
}

// set changes what a change names.
func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}
