package dbtest

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/migrations"
)

// sqliteSchema asks the pragmas.
func sqliteSchema(ctx context.Context, d db.DB, tables map[string]*table) error {
	names, err := migrations.AllTables(ctx, d)
	if err != nil {
		return err
	}
	for _, name := range names {
		t := of(tables, name)
		key, err := sqliteColumns(ctx, d, name, t)
		if err != nil {
			return err
		}
		if err := sqliteIndexes(ctx, d, name, key, t); err != nil {
			return err
		}
		if err := sqliteForeign(ctx, d, name, t); err != nil {
			return err
		}
	}
	return nil
}

// sqliteColumns reads columns and the primary key.
func sqliteColumns(ctx context.Context, d db.DB, name string, t *table) ([]string, error) {
	type col struct {
		name, kind, fallback string
		notNull              bool
		key                  int
	}
	cols, err := db.All(ctx, d, db.Query[col]{
		Text: `select name, type, "notnull", coalesce(dflt_value, ''), pk from pragma_table_info($1) order by cid`, Args: []any{name},
		Scan: func(r db.Row) (c col, err error) {
			err = r.Scan(&c.name, &c.kind, &c.notNull, &c.fallback, &c.key)
			return c, err
		},
	})
	if err != nil {
		return nil, err
	}
	n := 0
	for _, c := range cols {
		n = max(n, c.key)
	}
	key := make([]string, n)
	for _, c := range cols {
		kind := strings.ToLower(c.kind)
		if kind == "datetime" {
			kind = "timestamp"
		}
		if c.key > 0 {
			key[c.key-1] = c.name
		}
		t.columns = append(t.columns, column(c.name, kind, c.notNull, n == 1 && c.key == 1 && kind == "integer", c.fallback))
	}
	if n > 0 {
		t.keys = append(t.keys, "primary key ("+strings.Join(key, ", ")+")")
	}
	return key, nil
}

// sqliteIndexes reads unique constraints and indexes; a unique constraint on
// the primary key says nothing, and Postgres drops it.
func sqliteIndexes(ctx context.Context, d db.DB, name string, key []string, t *table) error {
	type index struct{ name, origin string }
	list, err := db.All(ctx, d, db.Query[index]{
		Text: `select name, origin from pragma_index_list($1)`, Args: []any{name},
		Scan: func(r db.Row) (i index, err error) { err = r.Scan(&i.name, &i.origin); return i, err },
	})
	if err != nil {
		return err
	}
	for _, i := range list {
		cols, err := db.All(ctx, d, db.Query[string]{Text: `select name from pragma_index_info($1) order by seqno`, Args: []any{i.name}, Scan: db.ScanText})
		if err != nil {
			return err
		}
		columns := "(" + strings.Join(cols, ", ") + ")"
		switch {
		case i.origin == "c":
			t.keys = append(t.keys, "index "+i.name+" "+columns)
		case i.origin == "u" && !slices.Equal(cols, key):
			t.keys = append(t.keys, "unique "+columns)
		}
	}
	return nil
}

// sqliteForeign reads foreign keys, whose columns come row by row.
func sqliteForeign(ctx context.Context, d db.DB, name string, t *table) error {
	type link struct {
		id                               int
		to, from, target, update, remove string
	}
	links, err := db.All(ctx, d, db.Query[link]{
		Text: `select id, "table", "from", "to", on_update, on_delete from pragma_foreign_key_list($1) order by id, seq`, Args: []any{name},
		Scan: func(r db.Row) (l link, err error) {
			err = r.Scan(&l.id, &l.to, &l.from, &l.target, &l.update, &l.remove)
			return l, err
		},
	})
	if err != nil {
		return err
	}
	for len(links) > 0 {
		first := links[0]
		var from, target []string
		for len(links) > 0 && links[0].id == first.id {
			from, target = append(from, links[0].from), append(target, links[0].target)
			links = links[1:]
		}
		t.keys = append(t.keys, "foreign key ("+strings.Join(from, ", ")+") references "+first.to+" ("+strings.Join(target, ", ")+")"+
			actions(first.remove == "CASCADE", first.update == "CASCADE"))
	}
	return nil
}

var constraintName = regexp.MustCompile(`(?i)\bconstraint\s+"?(\w+)"?\s+(\w+)`)

// SQLiteNames lists the names that constraints have on SQLite, which Python's
// upgrades look up in the text of a table.
func SQLiteNames(t testing.TB, d db.DB) string {
	t.Helper()
	ctx := context.Background()
	type made struct{ name, text string }
	tables, err := db.All(ctx, d, db.Query[made]{
		Text: `select name, sql from sqlite_master where type = 'table' and name not like 'sqlite!_%' escape '!' order by name`,
		Scan: func(r db.Row) (m made, err error) { err = r.Scan(&m.name, &m.text); return m, err },
	})
	if err != nil {
		t.Fatalf("dbtest: read the schema: %v", err)
	}
	var lines []string
	for _, m := range tables {
		for _, found := range constraintName.FindAllStringSubmatch(m.text, -1) {
			lines = append(lines, m.name+" "+found[1]+" "+strings.ToLower(found[2]))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}
