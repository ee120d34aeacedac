package migrations

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/keystone-go/keystone-go/internal/db"
)

// unfinished stands among the revisions of a database that is being filled from
// another one. Python Keystone does not know it either, and leaves such a
// database alone.
const unfinished = "keystone_go_copy_unfinished"

// ErrUnfinished says that a database was not filled to the end.
var ErrUnfinished = errors.New("the database is an unfinished copy: run keystone-go db_copy again as before, which goes on where it stopped")

// BeginCopy makes the schema in a database that is empty or stands at head, or
// goes on making it. Until EndCopy everything else is ErrUnfinished there.
func BeginCopy(ctx context.Context, d db.DB) error {
	err := db.Alter(ctx, d, func(c db.Conn) error {
		p, err := look(ctx, c)
		if err != nil {
			return err
		}
		begun := p.rows[unfinished]
		delete(p.rows, unfinished)
		if u := p.unknown(); len(u) > 0 {
			return unknown(u)
		}
		if !begun {
			err = p.mark(ctx, c)
		} else if len(p.rows) == 0 {
			err = p.dropHalf(ctx, c)
		}
		if err != nil {
			return err
		}
		for _, b := range []branch{expand, contract} {
			if err := p.walk(ctx, c, b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("make the schema of a copy: %w", err)
	}
	return nil
}

// mark is the first thing in a new database, before its tables.
func (p *position) mark(ctx context.Context, c db.Conn) error {
	if err := p.makeVersions(ctx, c); err != nil {
		return err
	}
	_, err := c.Exec(ctx, `insert into alembic_version (version_num) values ($1)`, unfinished)
	return err
}

// dropHalf drops the tables that the first step made before it was cut short, on
// the engine that commits each by itself. They are empty.
func (p *position) dropHalf(ctx context.Context, c db.Conn) error {
	var tables []string
	for _, text := range all[0].statements(c.Dialect()) {
		if m := tableMade.FindStringSubmatch(text); m != nil {
			tables = append(tables, m[1])
		}
	}
	there, err := AllTables(ctx, c)
	if err != nil {
		return err
	}
	return p.takeBack(ctx, c, slices.DeleteFunc(tables, func(name string) bool { return !slices.Contains(there, name) }))
}

// EndCopy makes the database an ordinary one.
func EndCopy(ctx context.Context, c db.Conn) error {
	n, err := c.Exec(ctx, `delete from alembic_version where version_num = $1`, unfinished)
	if err == nil && n != 1 {
		err = errors.New("another program has ended the copy")
	}
	return err
}

// Standing is what a database is as the target of a copy.
type Standing int

// A database has no schema; has been begun as a copy; or is Keystone's, at
// whatever revision.
const (
	Bare Standing = iota
	Begun
	Kept
)

// Stands tells it.
func Stands(ctx context.Context, c db.Conn) (Standing, error) {
	p, err := look(ctx, c)
	switch {
	case err != nil:
		return Kept, err
	case p.rows[unfinished]:
		return Begun, nil
	case len(p.rows) == 0:
		return Bare, nil
	}
	return Kept, nil
}

// AllTables lists the tables of a database.
func AllTables(ctx context.Context, c db.Conn) ([]string, error) {
	text := `select tablename from pg_tables where schemaname = current_schema()`
	switch c.Dialect() {
	case db.SQLite:
		text = `select name from sqlite_master where type = 'table' and name not like 'sqlite!_%' escape '!'`
	case db.MariaDB:
		text = `select table_name from information_schema.tables where table_schema = database() and table_type = 'BASE TABLE'`
	}
	names, err := db.All(ctx, c, db.Query[string]{Text: text, Scan: db.ScanText})
	slices.Sort(names)
	return names, err
}
