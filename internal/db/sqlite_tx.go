package db

import (
	"context"
	"errors"
	"strconv"
	"time"
)

// liteTx is a transaction of SQLite; depth counts the savepoints around it.
type liteTx struct {
	liteConn
	depth int
}

func (l *liteDB) Tx(ctx context.Context, f func(Conn) error) error {
	return retrySerialize(ctx, func() error { return l.once(ctx, f) })
}

// once runs f in one transaction. It takes the write lock at the start, so
// that no other writer comes between its reads and its writes.
func (l *liteDB) once(ctx context.Context, f func(Conn) error) error {
	c, err := l.acquire(ctx, l.write)
	if err != nil {
		return err
	}
	defer free(c)
	t := liteTx{liteConn: liteConn{c: c, observe: l.observe}}
	return t.unit(ctx, f, "begin immediate", "commit", "rollback")
}

// alter switches foreign keys off around the transaction, since SQLite ignores
// that switch within one. The lock is the write lock of the file.
func (l *liteDB) alter(ctx context.Context, f func(Conn) error) (err error) {
	c, err := l.acquire(ctx, l.write)
	if err != nil {
		return err
	}
	defer free(c)
	t := liteTx{liteConn: liteConn{c: c, observe: l.observe}}
	if err := t.control(ctx, "pragma foreign_keys = off"); err != nil {
		return err
	}
	defer func() {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
		defer cancel()
		if e := t.control(late, "pragma foreign_keys = on"); e != nil {
			discard(c)
			err = errors.Join(err, e)
		}
	}()
	return t.unit(ctx, f, "begin immediate", "commit", "rollback")
}

// Tx runs f under a savepoint.
func (t liteTx) Tx(ctx context.Context, f func(Conn) error) error {
	name := savepoint(t.depth)
	in := t
	in.depth++
	return in.unit(ctx, f, "savepoint "+name, "release savepoint "+name, "rollback to savepoint "+name)
}

// unit brackets f with the statements given.
func (t liteTx) unit(ctx context.Context, f func(Conn) error, begin, commit, rollback string) (err error) {
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
// there is none.
func (t liteTx) undo(ctx context.Context, rollback string) error {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	if t.control(late, rollback) == nil {
		return nil
	}
	discard(t.c)
	return errNotRolledBack
}

// control runs begin and the like.
func (t liteTx) control(ctx context.Context, text string) error {
	start := time.Now()
	_, err := t.c.ExecContext(ctx, text)
	err = liteError(ctx, err)
	note(ctx, t.observe, start, err, 0, text)
	return err
}

// savepoint names the savepoint within so many others.
func savepoint(depth int) string { return "keystone_go_" + strconv.Itoa(depth+1) }
