package dbcopy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/migrations"
)

// recordTable tells, in a target that is not finished, how many rows of each
// table are in, and their checksum. The row without a name is of the source;
// it has another count than 0 while all that is in has to go.
const recordTable = "keystone_go_copy"

const recordText = `create table if not exists keystone_go_copy (
    name varchar(64) not null,
    copied bigint not null,
    told text not null,
    primary key (name)
)`

// record is the content of that table.
type record struct {
	standing migrations.Standing
	source   string // "" when nothing was begun
	void     bool
	done     map[string]Sum
}

// ErrNotEmpty refuses a target with something in it.
var ErrNotEmpty = errors.New("the target is a Keystone database with content; a copy needs an empty database, or its own unfinished one")

// readRecord tells what the target is, and refuses what cannot be one.
func readRecord(ctx context.Context, to db.DB) (*record, error) {
	r := &record{done: map[string]Sum{}}
	if to == nil {
		return r, nil
	}
	var err error
	if r.standing, err = migrations.Stands(ctx, to); err != nil {
		return nil, fmt.Errorf("the target: %w", err)
	}
	if r.standing == migrations.Kept {
		return r, unused(ctx, to)
	}
	names, err := migrations.AllTables(ctx, to)
	if err != nil || !slices.Contains(names, recordTable) {
		return r, err
	}
	return r, r.read(ctx, to)
}

func (r *record) read(ctx context.Context, to db.Conn) error {
	_, err := db.All(ctx, to, db.Query[struct{}]{
		Text: `select name, copied, told from keystone_go_copy`,
		Scan: func(row db.Row) (none struct{}, err error) {
			var name, told string
			var copied int64
			if err = row.Scan(&name, &copied, &told); err != nil {
				return none, err
			}
			if name == "" {
				r.source, r.void = told, copied != 0
				return none, nil
			}
			r.done[name], err = readSum(copied, told)
			return none, err
		},
	})
	if err != nil {
		return fmt.Errorf("read how far the copy is: %w", err)
	}
	return nil
}

// unused is ErrNotEmpty unless the database is as db_sync makes it: at head,
// with the hidden root domain alone.
func unused(ctx context.Context, to db.DB) error {
	if code, err := migrations.Check(ctx, to); err != nil || code != migrations.UpToDate {
		return errors.Join(ErrNotEmpty, err)
	}
	for _, t := range tables {
		text := `select count(*) from ` + quoted(t.name)
		if t.name == projects {
			text += ` where domain_id <> id`
		}
		n, err := db.One(ctx, to, db.Query[int64]{Text: text, Scan: func(r db.Row) (n int64, err error) { err = r.Scan(&n); return n, err }})
		if err != nil {
			return fmt.Errorf("look whether the target is empty: %w", err)
		}
		if n > 0 {
			return ErrNotEmpty
		}
	}
	return nil
}

// begin makes the schema and the record, or finds them.
func (c *Copy) begin(ctx context.Context, r *record) error {
	if err := migrations.BeginCopy(ctx, c.To); err != nil {
		return err
	}
	if err := db.Alter(ctx, c.To, func(to db.Conn) error {
		_, err := to.Exec(ctx, recordText)
		return err
	}); err != nil {
		return fmt.Errorf("make the record of the copy: %w", err)
	}
	if r.source == "" {
		// The hidden root domain comes with the others.
		err := c.To.Tx(ctx, func(to db.Conn) error {
			if _, err := to.Exec(ctx, `insert into keystone_go_copy (name, copied, told) values ('', 0, $1)`, c.Source); err != nil {
				return err
			}
			return dropProjects(ctx, to)
		})
		if err != nil {
			return fmt.Errorf("begin the copy: %w", err)
		}
	}
	if r.void {
		return c.clear(ctx, r)
	}
	return nil
}

// spoil has all that was copied go, now or in the next run.
func (c *Copy) spoil(ctx context.Context, r *record) error {
	r.void = true
	_, err := c.To.Exec(ctx, `update keystone_go_copy set copied = 1 where name = ''`)
	return err
}

// clear empties the target's tables, those first that refer to others.
func (c *Copy) clear(ctx context.Context, r *record) error {
	err := c.To.Tx(ctx, func(to db.Conn) error {
		for _, t := range slices.Backward(tables) {
			if t.name == projects {
				if err := dropProjects(ctx, to); err != nil {
					return err
				}
				continue
			}
			if _, err := to.Exec(ctx, `delete from `+quoted(t.name)); err != nil {
				return err
			}
		}
		if _, err := to.Exec(ctx, `delete from keystone_go_copy where name <> ''`); err != nil {
			return err
		}
		_, err := to.Exec(ctx, `update keystone_go_copy set copied = 0`)
		return err
	})
	if err != nil {
		return fmt.Errorf("empty the target, to begin anew: %w", err)
	}
	r.done, r.void = map[string]Sum{}, false
	return nil
}

// dropProjects deletes all of them, to which nothing refers any more but they
// themselves: for MariaDB also the hidden root, which refers to itself, is in use.
func dropProjects(ctx context.Context, to db.Conn) (err error) {
	if to.Dialect() == db.MariaDB {
		if _, err := to.Exec(ctx, `set foreign_key_checks = 0`); err != nil {
			return err
		}
		defer func() { // also where the deletion failed: the connection is used again
			_, e := to.Exec(ctx, `set foreign_key_checks = 1`)
			err = errors.Join(err, e)
		}()
	}
	_, err = to.Exec(ctx, `delete from project`)
	return err
}

// advance writes that rows of a table are in, in the transaction that brings
// them. Another program that does the same is in the way.
func (r *record) advance(ctx context.Context, to db.Conn, name string, sum Sum) error {
	before := r.done[name].Rows
	text, args := `update keystone_go_copy set copied = $1, told = $2 where name = $3 and copied = $4`, []any{sum.Rows, sum.String(), name, before}
	if before == 0 {
		text, args = `insert into keystone_go_copy (copied, told, name) values ($1, $2, $3)`, args[:3]
	}
	n, err := to.Exec(ctx, text, args...)
	if errors.Is(err, db.ErrDuplicate) || err == nil && n != 1 {
		return errors.New("another program fills the same target")
	}
	return err
}
