package db

import (
	"context"
	"errors"
	"fmt"
)

// What a caller may want to know of a failure, for errors.Is. The engine's own
// error stays below it.
var (
	// ErrNoRow: a query for one row found none.
	ErrNoRow = errors.New("no such row")
	// ErrDuplicate: a key or unique constraint is taken.
	ErrDuplicate = errors.New("the row exists already")
	// ErrReference: a foreign key points nowhere, or is pointed at.
	ErrReference = errors.New("a reference forbids it")
	// ErrSerialize: given up for another transaction; Tx tries again by itself.
	ErrSerialize = errors.New("lost against another transaction")
	// ErrUnavailable: the server is not there, is full or gave no connection in time.
	ErrUnavailable = errors.New("the database is not available")
	// ErrAltered: a change of the schema that is in already. Only MariaDB tells,
	// where such changes are not part of a transaction.
	ErrAltered = errors.New("the schema is changed already")
	// ErrBadValue: a value that no engine or no such column can hold, among
	// them text with a NUL or broken UTF-8.
	ErrBadValue = errors.New("a value that cannot be stored")
)

// failure joins one of the kinds above to its cause.
type failure struct {
	kind  error
	cause error
}

func (f *failure) Error() string   { return fmt.Sprintf("%s: %s", f.kind, f.cause) }
func (f *failure) Unwrap() []error { return []error{f.kind, f.cause} }

// asKind gives cause the kind, which may be nil for none.
func asKind(kind, cause error) error {
	if kind == nil || cause == nil {
		return cause
	}
	return &failure{kind: kind, cause: cause}
}

// ended makes an error of a context that ended tell so, whatever the driver
// made of it; ok is false when the context has not ended.
func ended(ctx context.Context, err error) (error, bool) {
	done := ctx.Err()
	if done == nil {
		return err, false
	}
	if errors.Is(err, done) {
		return err, true
	}
	return asKind(done, err), true
}

func isUnavailable(err error) bool { return errors.Is(err, ErrUnavailable) }
