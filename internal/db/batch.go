package db

import "errors"

// errNotSent is what a result gives that was never filled.
var errNotSent = errors.New("db: the batch of this result was not sent, or failed")

// Batch collects statements for one Send. The zero value is ready; a batch may
// be sent again, which fills the results anew.
type Batch struct {
	items  []item
	writes int
}

type item struct {
	text   string
	args   []any
	read   func(Rows) error // nil for a write
	result rowsHolder       // what read fills
	done   *Affected
}

// rowsHolder is a Result of any type.
type rowsHolder interface {
	rowsFound() any
	take(rows any)
}

// Result is what one query of a batch found, once the batch was sent.
type Result[T any] struct {
	rows []T
	sent bool
}

// Affected is how many rows one write of a batch touched, once it was sent.
type Affected struct{ rows int64 }

// Add queues a query.
func Add[T any](b *Batch, q Query[T]) *Result[T] {
	r := &Result[T]{}
	b.items = append(b.items, item{text: q.Text, args: q.Args, result: r, read: func(rows Rows) error {
		all, err := readAll(rows, q.Scan)
		r.rows, r.sent = all, err == nil
		return err
	}})
	return r
}

func (r *Result[T]) rowsFound() any { return r.rows }

func (r *Result[T]) take(rows any) { r.rows, r.sent = rows.([]T), true }

// All gives every row found.
func (r *Result[T]) All() []T { return r.rows }

// One gives the first row found, or ErrNoRow.
func (r *Result[T]) One() (T, error) {
	var none T
	switch {
	case !r.sent:
		return none, errNotSent
	case len(r.rows) == 0:
		return none, ErrNoRow
	}
	return r.rows[0], nil
}

// Exec queues a write.
func (b *Batch) Exec(text string, args ...any) *Affected {
	a := &Affected{}
	b.items = append(b.items, item{text: text, args: args, done: a})
	b.writes++
	return a
}

// Rows tells how many rows were touched.
func (a *Affected) Rows() int64 { return a.rows }

// Len counts the statements.
func (b *Batch) Len() int { return len(b.items) }

func (b *Batch) texts() []string {
	t := make([]string, len(b.items))
	for i, it := range b.items {
		t[i] = it.text
	}
	return t
}
