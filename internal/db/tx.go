package db

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// How often and how long Tx tries when it loses against others.
const (
	txTries = 6
	txPause = 5 * time.Millisecond
	txLimit = 15 * time.Second
)

// nester is a Conn that can run f as a unit: a pool in a transaction, a
// transaction under a savepoint.
type nester interface {
	Tx(ctx context.Context, f func(Conn) error) error
}

// Nested runs f as one unit of c: in a transaction of its own when c is a
// pool, under a savepoint when c is a transaction already. An error of f then
// undoes f alone and the transaction goes on; without that, Postgres gives up
// the rest of a transaction after its first failed statement.
func Nested(ctx context.Context, c Conn, f func(Conn) error) error {
	n, ok := c.(nester)
	if !ok {
		return errors.New("db: this connection has no transactions")
	}
	return n.Tx(ctx, f)
}

// Alter runs f in a transaction that may change the schema. Only one Alter
// runs at a time on a database, whatever process it is in; the others wait.
// SQLite does not act on foreign keys meanwhile, so that f can build a table
// anew. f is not run again on ErrSerialize.
func Alter(ctx context.Context, d DB, f func(Conn) error) error {
	if w, ok := d.(interface{ Unwrap() DB }); ok {
		return Alter(ctx, w.Unwrap(), f)
	}
	a, ok := d.(interface {
		alter(ctx context.Context, f func(Conn) error) error
	})
	if !ok {
		return errors.New("db: this database has no schema lock")
	}
	return a.alter(ctx, f)
}

// retrySerialize runs try again while it fails for another transaction's sake.
func retrySerialize(ctx context.Context, try func() error) error {
	begin := time.Now()
	for n := 1; ; n++ {
		err := try()
		if err == nil || !errors.Is(err, ErrSerialize) || n == txTries || time.Since(begin) > txLimit {
			return err
		}
		// Doubling with chance in it, so that the two do not meet again.
		pause := txPause << n
		if !sleep(ctx, pause/2+rand.N(pause)) {
			return err
		}
	}
}
