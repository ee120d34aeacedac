package db

import (
	"context"
	"errors"
	"strconv"
	"time"
)

// stdTx is a transaction of an engine behind database/sql; depth counts the
// savepoints around it.
type stdTx struct {
	stdConn
	depth int
}

// transaction makes the outermost one.
func transaction(c stdConn) stdTx {
	c.lost = new(error)
	return stdTx{stdConn: c}
}

// Tx runs f under a savepoint.
func (t stdTx) Tx(ctx context.Context, f func(Conn) error) error {
	name := savepoint(t.depth)
	in := t
	in.depth++
	return in.unit(ctx, f, "savepoint "+name, "release savepoint "+name, "rollback to savepoint "+name)
}

// unit brackets f with the statements given.
func (t stdTx) unit(ctx context.Context, f func(Conn) error, begin, commit, rollback string) (err error) {
	if err := t.control(ctx, begin); err != nil {
		return err
	}
	open := true
	defer func() {
		if open {
			err = errors.Join(err, t.undo(ctx, rollback))
		}
	}()
	if err := f(t); err != nil {
		return err
	}
	if err := t.control(ctx, commit); err != nil {
		return err
	}
	open = false
	return nil
}

// undo gives up a transaction whose context may have ended. SQLite ends a
// transaction by itself after some errors (a full disk), and then says that
// there is none; MariaDB after a deadlock, and with the connection.
func (t stdTx) undo(ctx context.Context, rollback string) error {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	if t.depth > 0 && t.gone() != nil {
		return nil // the outermost gives all of it up
	}
	if t.run(late, rollback) == nil {
		return nil
	}
	discard(t.c)
	if t.on.dialect == MariaDB {
		return nil
	}
	return errNotRolledBack
}

// control runs begin and the like.
func (t stdTx) control(ctx context.Context, text string) error {
	if err := t.gone(); err != nil {
		return err
	}
	return t.run(ctx, text)
}

func (t stdTx) run(ctx context.Context, text string) error {
	start := time.Now()
	_, err := t.c.ExecContext(ctx, text)
	err = t.fault(ctx, err)
	note(ctx, t.observe, start, err, 0, text)
	return err
}

// savepoint names the savepoint within so many others.
func savepoint(depth int) string { return "keystone_go_" + strconv.Itoa(depth+1) }
