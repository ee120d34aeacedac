package db

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pgTx is a transaction of Postgres; depth counts the savepoints around it.
type pgTx struct {
	pgConn
	conn  *pgxpool.Conn
	depth int
}

// schemaLock is the advisory lock of Alter: "keystone" in ASCII.
const schemaLock int64 = 0x6b657973746f6e65

// cleanUp bounds what is done for a transaction whose context has ended.
const cleanUp = 5 * time.Second

func (p *pgDB) Tx(ctx context.Context, f func(Conn) error) error {
	return retrySerialize(ctx, func() error { return p.once(ctx, f) })
}

func (p *pgDB) alter(ctx context.Context, f func(Conn) error) error {
	return p.once(ctx, func(c Conn) error {
		if _, err := c.Exec(ctx, `select pg_advisory_xact_lock($1)`, schemaLock); err != nil {
			return err
		}
		return f(c)
	})
}

// once runs f in one transaction.
func (p *pgDB) once(ctx context.Context, f func(Conn) error) error {
	c, err := p.acquire(ctx)
	if err != nil {
		return err
	}
	// Release destroys a connection whose transaction is still open, so a panic
	// of f leaves nothing behind.
	defer c.Release()
	t := pgTx{pgConn: pgConn{q: c, observe: p.observe}, conn: c}
	return t.unit(ctx, f, "begin", "commit", "rollback")
}

// Tx runs f under a savepoint.
func (t pgTx) Tx(ctx context.Context, f func(Conn) error) error {
	name := savepoint(t.depth)
	in := t
	in.depth++
	return in.unit(ctx, f, "savepoint "+name, "release savepoint "+name, "rollback to savepoint "+name)
}

// unit brackets f with the statements given.
func (t pgTx) unit(ctx context.Context, f func(Conn) error, begin, commit, rollback string) error {
	if err := t.control(ctx, begin); err != nil {
		return err
	}
	err := f(t)
	if err == nil {
		return t.control(ctx, commit)
	}
	if t.conn.Conn().IsClosed() {
		return err
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	if e := t.control(late, rollback); e != nil {
		return errors.Join(err, e)
	}
	return err
}

// control runs begin and the like by the simple protocol: nothing to prepare.
// A commit of a transaction that has failed is answered with a rollback, which
// is not what was asked for.
func (t pgTx) control(ctx context.Context, text string) error {
	start := time.Now()
	tag, err := t.conn.Conn().Exec(ctx, text, pgx.QueryExecModeSimpleProtocol)
	if err == nil && text == "commit" && tag.String() == "ROLLBACK" {
		err = errors.New("an earlier statement of the transaction failed, nothing was stored")
	}
	err = pgError(ctx, err)
	note(ctx, t.observe, start, err, 0, text)
	return err
}
