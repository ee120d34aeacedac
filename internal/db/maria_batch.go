package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// joined is a batch as one text: behind each write stands the question how many
// rows it touched, so that each statement of the batch has one answer. A
// semicolon has a line of its own, since a comment may stand before it.
func (c stdConn) joined(b *Batch, first, last string) (text string, args []any, err error) {
	var all strings.Builder
	next := func(text string) {
		if text == "" {
			return
		}
		if all.Len() > 0 {
			all.WriteString("\n;\n")
		}
		all.WriteString(text)
	}
	next(first)
	for _, it := range b.items {
		own, a, err := c.on.prepare(it.text, it.args)
		if err != nil {
			return "", nil, err
		}
		next(own)
		if it.read == nil {
			next("select row_count()")
		}
		args = append(args, a...)
	}
	if last != "" {
		next(last)
		next("select 1")
	}
	return all.String(), args, nil
}

// together sends a batch as one text, between two more if they are given, and
// stops at the first error: the server does not run what stands behind it. Nor
// does it where somebody kills the connection: so each statement must have its
// answer, the last one too.
func (c stdConn) together(ctx context.Context, b *Batch, first, last string) error {
	text, args, err := c.joined(b, first, last)
	if err := errors.Join(err, c.gone()); err != nil {
		return err
	}
	found, err := c.c.QueryContext(ctx, text, args...)
	if err != nil {
		return c.fault(ctx, err)
	}
	rows := &stdRows{Rows: found, ctx: ctx, in: c}
	defer rows.Close()
	for i, it := range b.items {
		if i > 0 && !found.NextResultSet() {
			return brokenOff(rows.Err(), i, b.Len())
		}
		if err := it.answered(rows); err != nil {
			return err
		}
	}
	if last != "" && (!found.NextResultSet() || !found.Next()) {
		return brokenOff(rows.Err(), b.Len(), b.Len()+1)
	}
	return c.drained(ctx, found)
}

// brokenOff is the error of a text of which not all was run.
func brokenOff(err error, answers, statements int) error {
	if err != nil {
		return err
	}
	return asKind(ErrUnavailable, fmt.Errorf("%d answers for %d statements", answers, statements))
}

func (c stdConn) drained(ctx context.Context, rows *sql.Rows) error {
	if rows.NextResultSet() {
		return errors.New("more answers than statements")
	}
	return c.fault(ctx, rows.Err())
}

// answered reads the answer to one statement.
func (it item) answered(rows Rows) error {
	if it.read != nil {
		return it.read(rows)
	}
	if !rows.Next() {
		return errors.Join(rows.Err(), errors.New("no count of rows"))
	}
	if err := rows.Scan(&it.done.rows); err != nil {
		return err
	}
	for rows.Next() { // to its end, behind which the next answer stands
	}
	return rows.Err()
}

// whole runs a batch as a transaction of its own.
func (c stdConn) whole(ctx context.Context, b *Batch) error {
	switch {
	case b.Len() == 1:
		return c.batch(ctx, b)
	case c.clustered && b.writes > 0:
		return transaction(c).unit(ctx, func(in Conn) error { return in.Send(ctx, b) }, "begin", "commit", "rollback")
	}
	err := c.together(ctx, b, "begin", "commit")
	if err != nil {
		err = errors.Join(err, transaction(c).undo(ctx, "rollback"))
	}
	return err
}
