package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// liteError gives an error of the driver its kind.
func liteError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := ended(ctx, err); ok {
		return e
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return asKind(liteKind(e.Code()), err)
	}
	if errors.Is(err, sql.ErrConnDone) || errors.Is(err, driver.ErrBadConn) {
		return asKind(ErrUnavailable, err)
	}
	return err
}

// liteKind reads a result code, extended or not (sqlite.org/rescode.html).
func liteKind(code int) error {
	switch code {
	case lib.SQLITE_CONSTRAINT_UNIQUE, lib.SQLITE_CONSTRAINT_PRIMARYKEY, lib.SQLITE_CONSTRAINT_ROWID:
		return ErrDuplicate
	case lib.SQLITE_CONSTRAINT_FOREIGNKEY, lib.SQLITE_CONSTRAINT_TRIGGER:
		return ErrReference
	}
	switch code & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return ErrSerialize
	case lib.SQLITE_CANTOPEN, lib.SQLITE_IOERR, lib.SQLITE_FULL:
		return ErrUnavailable
	case lib.SQLITE_TOOBIG, lib.SQLITE_MISMATCH:
		return ErrBadValue
	}
	return nil
}
