package hints

import (
	"context"

	"github.com/keystone-go/keystone-go/internal/db"
)

// Source is where the rows of a list come from.
type Source[T any] struct {
	// Select is the statement up to the where clause.
	Select string
	// Where adds conditions of its own to those of the filters; nil adds none.
	Where func(*db.Where)
	// Columns answer filters. What they do not answer is left over.
	Columns map[string]Column
	// ID is the column of the id, by which the list is ordered.
	ID string
	// Paged lists begin after the marker and are cut before the filters that are
	// left over are asked, as those of users, groups and projects.
	Paged bool
	Scan  func(db.Row) (T, error)
}

// Page is a list as far as the database answered it.
type Page[T any] struct {
	Rows []T
	// Rest are the filters that were not asked yet.
	Rest      []Filter
	Truncated bool
	Paged     bool
}

// List reads a list; one statement, whatever it asks for.
func List[T any](ctx context.Context, c db.Conn, h Hints, s Source[T]) (Page[T], error) {
	q, p := s.Query(h)
	rows, err := db.All(ctx, c, q)
	return p.With(rows, h), err
}

// Query is the statement of a list, for a batch; With makes the Page of its
// rows.
func (s Source[T]) Query(h Hints) (db.Query[T], Page[T]) {
	var w db.Where
	p := Page[T]{Rest: h.Where(&w, s.Columns), Paged: s.Paged}
	if s.Where != nil {
		s.Where(&w)
	}
	order := ` order by ` + s.ID
	if s.Paged {
		if h.Marker != nil {
			w.And(s.ID+` > ?`, *h.Marker)
		}
		switch {
		case h.Limited && h.Limit > 0: // 0 is no limit to a page, which is told to be full
			order += ` limit ` + w.Arg(h.Limit)
		case h.Max > 0:
			order += ` limit ` + w.Arg(h.Max)
		}
	} else if h.Limited && len(p.Rest) == 0 {
		// One more than the limit, to know whether there are more. With filters
		// left over only then it is known which rows count.
		order += ` limit ` + w.Arg(h.Limit+1)
	}
	return db.Query[T]{Text: s.Select + w.String() + order, Args: w.Args, Scan: s.Scan}, p
}

// With fills the page with the rows that the statement gave.
func (p Page[T]) With(rows []T, h Hints) Page[T] {
	p.Rows = rows
	switch {
	case !h.Limited:
	case p.Paged:
		p.Truncated = len(rows) >= h.Limit
	case len(p.Rest) == 0 && len(rows) > h.Limit:
		p.Rows, p.Truncated = rows[:h.Limit], true
	}
	return p
}
