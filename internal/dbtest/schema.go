package dbtest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
)

// table is a table in terms that all engines share.
type table struct {
	columns []string
	keys    []string // primary key, unique, foreign key and index lines
}

// Schema writes the schema of a database in words that are the same for every
// engine: tables by name, columns in their order, then keys and indexes.
func Schema(t testing.TB, d db.DB) string {
	t.Helper()
	tables := map[string]*table{}
	read := map[db.Dialect]func(context.Context, db.DB, map[string]*table) error{
		db.SQLite: sqliteSchema, db.Postgres: postgresSchema, db.MariaDB: mariaSchema,
	}
	err := read[d.Dialect()](context.Background(), d, tables)
	if err != nil {
		t.Fatalf("dbtest: read the schema: %v", err)
	}
	names := make([]string, 0, len(tables))
	for name := range tables {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "table %s\n", name)
		for _, c := range tables[name].columns {
			fmt.Fprintf(&b, "  %s\n", c)
		}
		slices.Sort(tables[name].keys)
		for _, k := range tables[name].keys {
			fmt.Fprintf(&b, "  %s\n", k)
		}
	}
	return b.String()
}

// of gives the table, made if need be.
func of(tables map[string]*table, name string) *table {
	if tables[name] == nil {
		tables[name] = &table{}
	}
	return tables[name]
}

// column writes one column.
func column(name, kind string, notNull, auto bool, fallback string) string {
	line := name + " " + kind
	if notNull {
		line += " not null"
	}
	if auto {
		line += " auto"
	} else if fallback != "" {
		line += " default " + fallback
	}
	return line
}

// postgresSchema reads the catalogue.
func postgresSchema(ctx context.Context, d db.DB, tables map[string]*table) error {
	columns := db.Query[struct{}]{
		Text: `select c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
			coalesce(pg_get_expr(f.adbin, f.adrelid), ''),
			coalesce((select max(length(e.enumlabel)) from pg_enum e where e.enumtypid = a.atttypid), 0)
			from pg_class c
			join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
			join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
			left join pg_attrdef f on f.adrelid = c.oid and f.adnum = a.attnum
			where c.relkind = 'r'
			order by c.relname, a.attnum`,
		Scan: func(r db.Row) (none struct{}, err error) {
			var name, col, kind, fallback string
			var notNull bool
			var enum int
			if err = r.Scan(&name, &col, &kind, &notNull, &fallback, &enum); err != nil {
				return none, err
			}
			if enum > 0 {
				kind = fmt.Sprintf("varchar(%d)", enum)
			}
			kind = strings.NewReplacer("character varying", "varchar", "timestamp without time zone", "timestamp").Replace(kind)
			t := of(tables, name)
			t.columns = append(t.columns, column(col, kind, notNull, strings.HasPrefix(fallback, "nextval("), plainDefault(fallback)))
			return none, nil
		},
	}
	constraints := db.Query[struct{}]{
		Text: `select r.relname, c.conname, pg_get_constraintdef(c.oid)
			from pg_constraint c
			join pg_class r on r.oid = c.conrelid
			join pg_namespace n on n.oid = r.relnamespace and n.nspname = 'public'
			where c.contype in ('p', 'u', 'f', 'c')`,
		Scan: func(r db.Row) (none struct{}, err error) {
			var name, constraint, text string
			if err = r.Scan(&name, &constraint, &text); err == nil {
				t := of(tables, name)
				t.keys = append(t.keys, plainConstraint(text))
			}
			return none, err
		},
	}
	indexes := db.Query[struct{}]{
		Text: `select i.tablename, i.indexname, i.indexdef
			from pg_indexes i
			where i.schemaname = 'public' and not exists (select 1 from pg_constraint c where c.conname = i.indexname)`,
		Scan: func(r db.Row) (none struct{}, err error) {
			var name, index, text string
			if err = r.Scan(&name, &index, &text); err == nil {
				t := of(tables, name)
				t.keys = append(t.keys, "index "+index+" "+text[strings.LastIndex(text, "("):])
			}
			return none, err
		},
	}
	for _, q := range []db.Query[struct{}]{columns, constraints, indexes} {
		if _, err := db.All(ctx, d, q); err != nil {
			return err
		}
	}
	return nil
}

// plainDefault takes the cast off a default and writes booleans as 0 and 1.
func plainDefault(s string) string {
	s, _, _ = strings.Cut(s, "::")
	switch s {
	case "false":
		return "'0'"
	case "true":
		return "'1'"
	}
	return s
}

var foreign = regexp.MustCompile(`^FOREIGN KEY (\(.*?\)) REFERENCES "?(\w+)"?(\(.*?\))(.*)$`)

// plainConstraint writes "PRIMARY KEY (a, b)" and the like in lower case, with
// actions in one order.
func plainConstraint(text string) string {
	text = strings.ReplaceAll(text, `"`, "")
	if m := foreign.FindStringSubmatch(text); m != nil {
		return "foreign key " + m[1] + " references " + m[2] + " " + m[3] + actions(
			strings.Contains(m[4], "ON DELETE CASCADE"), strings.Contains(m[4], "ON UPDATE CASCADE"))
	}
	kind, columns, _ := strings.Cut(text, " (")
	return strings.ToLower(kind) + " (" + columns
}

func actions(onDelete, onUpdate bool) string {
	s := ""
	if onDelete {
		s += " on delete cascade"
	}
	if onUpdate {
		s += " on update cascade"
	}
	return s
}
