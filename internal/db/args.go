package db

import (
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"
)

// Date is a day as an argument; of a time it keeps the UTC day alone.
type Date time.Time

// String gives YYYY-MM-DD.
func (d Date) String() string { return time.Time(d).UTC().Format(time.DateOnly) }

// stampFormat is how SQLAlchemy writes a timestamp on SQLite: always six digits.
const stampFormat = "2006-01-02 15:04:05.000000"

// bind brings arguments to the few types that drivers are given: nil, string,
// bool, int64, float64, []byte, time.Time (UTC, whole microseconds) and Date.
func bind(args []any) ([]any, error) {
	bound := make([]any, len(args))
	for i, a := range args {
		v, err := bindOne(a)
		if err != nil {
			return nil, fmt.Errorf("argument $%d: %w", i+1, err)
		}
		bound[i] = v
	}
	return bound, nil
}

func bindOne(a any) (any, error) {
	switch v := a.(type) {
	case nil, bool, int64, float64, []byte, Date:
		return v, nil
	case string:
		return v, checkText(v)
	case int:
		return int64(v), nil
	case time.Time:
		return v.UTC().Truncate(time.Microsecond), nil
	}
	return bindKind(reflect.ValueOf(a))
}

// bindKind takes pointers and named types.
func bindKind(v reflect.Value) (any, error) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil, nil
		}
		return bindOne(v.Elem().Interface())
	case reflect.String:
		return v.String(), checkText(v.String())
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), nil
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return int64(v.Uint()), nil
	case reflect.Float32, reflect.Float64:
		return v.Float(), nil
	}
	return nil, fmt.Errorf("%s is no type of the database", v.Type())
}

// checkText refuses what Postgres cannot hold, so that all engines are alike.
func checkText(s string) error {
	switch {
	case strings.IndexByte(s, 0) >= 0:
		return fmt.Errorf("%w: text with a NUL", ErrBadValue)
	case !utf8.ValidString(s):
		return fmt.Errorf("%w: text that is no UTF-8", ErrBadValue)
	}
	return nil
}
