package dbcopy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/migrations"
)

// Copy is one run from a database to another.
type Copy struct {
	From db.DB
	// To is the target, nil where it has still to be made and is only asked
	// about; Into is its engine.
	To   db.DB
	Into db.Dialect
	// Source names the source, so that no other continues its copy.
	Source string
	// Rows are copied in one transaction.
	Rows int
	// Told is given what was found in the source, before anything is written.
	Told func(*Report)
	// Say is given a line now and then.
	Say func(string)
}

// What ends a run before it writes anything.
var (
	// ErrRefused: the report says why.
	ErrRefused = errors.New("the source cannot be copied as it is")
	// ErrOther: the target is another's.
	ErrOther = errors.New("the target is an unfinished copy of another database")
	// ErrNotHead: db_sync is due at the source.
	ErrNotHead = errors.New("the schema of the source is not that of this release: run db_sync there first")
)

// maxBytes bounds what goes into one statement.
const maxBytes = 1 << 20

// maxValues is less than what an engine takes in one statement. SQLite looks
// placeholders up one after another, so there many cost more than they save.
func maxValues(d db.Dialect) int {
	if d == db.SQLite {
		return 400
	}
	return 8000
}

// Run looks at the source and, unless it is dry, copies it. What an earlier run
// began it goes on with.
func (c *Copy) Run(ctx context.Context, dry bool) error {
	code, err := migrations.Check(ctx, c.From)
	if err != nil {
		return fmt.Errorf("the source: %w", err)
	}
	if code != migrations.UpToDate {
		return ErrNotHead
	}
	r, err := readRecord(ctx, c.To)
	if err != nil {
		return err
	}
	if r.source != "" && r.source != c.Source {
		return fmt.Errorf("%w: %s", ErrOther, r.source)
	}
	var report *Report
	err = db.Snapshot(ctx, c.From, func(from db.Conn) error {
		i := &inspector{from: from.Dialect(), to: c.Into, done: r.done}
		var err error
		if report, err = i.inspect(ctx, from); err != nil {
			return err
		}
		c.Told(report)
		switch {
		case report.Refused():
			return ErrRefused
		case dry:
			return nil
		}
		return c.carry(ctx, from, r, report, i.stale)
	})
	if err != nil || dry {
		return err
	}
	c.Say("All rows are copied; now they are read back.")
	if err := c.verify(ctx, r, report); err != nil {
		return err
	}
	return c.end(ctx)
}

// carry writes the target.
func (c *Copy) carry(ctx context.Context, from db.Conn, r *record, report *Report, stale bool) error {
	if err := c.begin(ctx, r); err != nil {
		return err
	}
	switch {
	case stale:
		c.Say("The source has changed where it was copied already: the copy begins anew.")
		if err := c.clear(ctx, r); err != nil {
			return err
		}
	case len(r.done) > 0:
		c.Say("The copy goes on where it stopped.")
	}
	for i, t := range tables {
		if err := c.table(ctx, from, r, t, report.Tables[i].Sum); err != nil {
			return fmt.Errorf("copy %s: %w", t.name, err)
		}
	}
	if err := c.parents(ctx, from); err != nil {
		return fmt.Errorf("copy %s: %w", projects, err)
	}
	return c.sequences(ctx)
}

// batch is what goes into one transaction.
type batch struct {
	rows  []row
	bytes int
	sum   Sum // up to its end
}

// table copies what is missing of one table.
func (c *Copy) table(ctx context.Context, from db.Conn, r *record, t table, whole Sum) error {
	done := r.done[t.name]
	if done == whole {
		return nil
	}
	seen, b, said := int64(0), batch{sum: done}, time.Now()
	write := func() error {
		if err := c.write(ctx, r, t, b); err != nil {
			return err
		}
		if b.sum == whole || time.Since(said) > time.Second {
			said = time.Now()
			c.Say(fmt.Sprintf("%s: %d of %d rows", t.name, b.sum.Rows, whole.Rows))
		}
		b = batch{rows: b.rows[:0], sum: b.sum}
		return nil
	}
	err := t.each(ctx, from, c.Into == db.MariaDB, func(v row) error {
		if seen++; seen <= done.Rows {
			return nil
		}
		b.sum.add(v)
		b.rows = append(b.rows, v)
		for _, x := range v {
			b.bytes += len(written(x))
		}
		if len(b.rows) < c.Rows && b.bytes < maxBytes {
			return nil
		}
		return write()
	})
	if err != nil || len(b.rows) == 0 {
		return err
	}
	return write()
}

// write brings a batch to the target, with the record of it.
func (c *Copy) write(ctx context.Context, r *record, t table, b batch) error {
	parent := -1
	if t.name == projects {
		parent = t.at([]string{"parent_id"})[0]
	}
	err := c.To.Tx(ctx, func(to db.Conn) error {
		if err := r.advance(ctx, to, t.name, b.sum); err != nil {
			return err
		}
		for rest := b.rows; len(rest) > 0; {
			n := min(len(rest), maxValues(to.Dialect())/len(t.columns))
			var args []any
			for _, v := range rest[:n] {
				for i, x := range v {
					if i == parent {
						x = nil // in the second round
					}
					args = append(args, x)
				}
			}
			if _, err := to.Exec(ctx, t.insertion(n), args...); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return nil
	})
	switch {
	case err == nil:
		r.done[t.name] = b.sum
	case errors.Is(err, db.ErrDuplicate) || errors.Is(err, db.ErrReference):
		err = errors.Join(fmt.Errorf("another program has changed the target; the same command begins anew: %w", err), c.spoil(ctx, r))
	}
	return err
}

// parents is the second round of the projects, which does no harm twice.
func (c *Copy) parents(ctx context.Context, from db.Conn) error {
	t := tables[tableAt(projects)]
	at := t.at([]string{"id", "parent_id"})
	var b db.Batch
	err := t.each(ctx, from, false, func(v row) error {
		if v[at[1]] == nil {
			return nil
		}
		b.Exec(`update project set parent_id = $1 where id = $2`, v[at[1]], v[at[0]])
		if b.Len() < c.Rows {
			return nil
		}
		err := c.To.Send(ctx, &b)
		b = db.Batch{}
		return err
	})
	if err != nil {
		return err
	}
	return c.To.Send(ctx, &b)
}

func tableAt(name string) int {
	for i, t := range tables {
		if t.name == name {
			return i
		}
	}
	panic("dbcopy: no table " + name)
}

// sequences has Postgres count on behind the numbers that were copied; the
// other engines do it by themselves.
func (c *Copy) sequences(ctx context.Context) error {
	if c.To.Dialect() != db.Postgres {
		return nil
	}
	for _, t := range tables {
		for _, col := range t.columns {
			if !col.auto {
				continue
			}
			_, err := db.One(ctx, c.To, db.Query[int64]{
				Text: fmt.Sprintf(`select setval(pg_get_serial_sequence($1, $2), coalesce((select max(%[1]s) from %[2]s), 1), exists (select 1 from %[2]s))`, quoted(col.name), quoted(t.name)),
				Args: []any{quoted(t.name), col.name},
				Scan: func(r db.Row) (n int64, err error) { err = r.Scan(&n); return n, err },
			})
			if err != nil {
				return fmt.Errorf("set the sequence of %s: %w", t.name, err)
			}
		}
	}
	return nil
}

// verify reads the target back. What is not as the source is spoilt.
func (c *Copy) verify(ctx context.Context, r *record, report *Report) error {
	var wrong []error
	for i, t := range tables {
		var sum Sum
		if err := t.each(ctx, c.To, false, func(v row) error { sum.add(v); return nil }); err != nil {
			return err
		}
		if want := report.Tables[i].Sum; sum != want {
			wrong = append(wrong, fmt.Errorf("%s has %d rows with checksum %s, and the source %d with %s", t.name, sum.Rows, sum, want.Rows, want))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	wrong = append(wrong, c.spoil(ctx, r), errors.New("the target is not what the source is; the same command begins anew"))
	return errors.Join(wrong...)
}

// end makes the target an ordinary database.
func (c *Copy) end(ctx context.Context) error {
	err := db.Alter(ctx, c.To, func(to db.Conn) error {
		if err := migrations.EndCopy(ctx, to); err != nil {
			return err
		}
		_, err := to.Exec(ctx, `drop table keystone_go_copy`)
		return err
	})
	if err != nil {
		return fmt.Errorf("end the copy: %w", err)
	}
	return nil
}
