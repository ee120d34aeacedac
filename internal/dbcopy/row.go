package dbcopy

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strconv"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
)

// row are the values of a row in the order of the columns: nil, string, int64,
// bool, time.Time or db.Date.
type row []any

// each gives every row of a table to f. Values are as the coarser of the two
// engines holds them.
func (t table) each(ctx context.Context, c db.Conn, coarse bool, f func(row) error) error {
	rows, err := c.Query(ctx, t.selection())
	if err != nil {
		return fmt.Errorf("read %s: %w", t.name, err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		n++
		r, err := t.scan(rows)
		if err != nil {
			return fmt.Errorf("read row %d of %s, in the order of its key: %w", n, t.name, err)
		}
		if coarse {
			r.truncate()
		}
		if err := f(r); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read %s: %w", t.name, err)
	}
	return nil
}

// scan reads one row.
func (t table) scan(from db.Row) (row, error) {
	dest := make([]any, len(t.columns))
	for i, c := range t.columns {
		switch c.kind {
		case integer:
			dest[i] = new(*int64)
		case boolean:
			dest[i] = new(*bool)
		case stamp, day:
			dest[i] = new(*time.Time)
		default:
			dest[i] = new(*string)
		}
	}
	if err := from.Scan(dest...); err != nil {
		return nil, err
	}
	r := make(row, len(dest))
	for i, d := range dest {
		switch p := d.(type) {
		case **int64:
			r[i] = held(*p)
		case **bool:
			r[i] = held(*p)
		case **string:
			r[i] = held(*p)
		case **time.Time:
			r[i] = held(*p)
			if at, ok := r[i].(time.Time); ok && t.columns[i].kind == day {
				r[i] = db.Date(at)
			}
		}
	}
	return r, nil
}

// held is what a pointer points to, or nil.
func held[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// truncate leaves whole seconds, which is what MariaDB's columns hold.
func (r row) truncate() {
	for i, v := range r {
		if t, ok := v.(time.Time); ok {
			r[i] = t.Truncate(time.Second)
		}
	}
}

// written is a value as text, the same whatever engine it is from.
func written(v any) string {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case time.Time:
		return v.UTC().Format("2006-01-02T15:04:05.000000")
	case db.Date:
		return v.String()
	case string:
		return v
	}
	return ""
}

// Sum is a checksum of rows, in whatever order they come: the sum of their
// SHA-256, modulo 2^256, and their number.
type Sum struct {
	Rows int64
	sum  [4]uint64
}

// add counts a row. Each value has its length before it, so that no two rows
// are written alike; null is no value of any length.
func (s *Sum) add(r row) {
	var b []byte
	for _, v := range r {
		if v == nil {
			b = append(b, 0)
			continue
		}
		w := written(v)
		b = append(b, 1)
		b = binary.AppendUvarint(b, uint64(len(w)))
		b = append(b, w...)
	}
	digest := sha256.Sum256(b)
	var carry uint64
	for i := range s.sum {
		s.sum[i], carry = bits.Add64(s.sum[i], binary.LittleEndian.Uint64(digest[8*i:]), carry)
	}
	s.Rows++
}

// String gives 64 hexadecimal digits.
func (s Sum) String() string {
	var b [32]byte
	for i, w := range s.sum {
		binary.LittleEndian.PutUint64(b[8*i:], w)
	}
	return hex.EncodeToString(b[:])
}

// readSum is the way back.
func readSum(rows int64, digits string) (Sum, error) {
	b, err := hex.DecodeString(digits)
	if err != nil || len(b) != 32 {
		return Sum{}, fmt.Errorf("the record of the copy has no checksum but %q", digits)
	}
	s := Sum{Rows: rows}
	for i := range s.sum {
		s.sum[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return s, nil
}
