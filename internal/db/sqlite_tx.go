package db

import (
	"context"
	"errors"
)

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
	return transaction(l.on(c)).unit(ctx, f, "begin immediate", "commit", "rollback")
}

// alter switches foreign keys off around the transaction, since SQLite ignores
// that switch within one. The lock is the write lock of the file.
func (l *liteDB) alter(ctx context.Context, f func(Conn) error) (err error) {
	c, err := l.acquire(ctx, l.write)
	if err != nil {
		return err
	}
	defer free(c)
	t := transaction(l.on(c))
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
