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

var (
	mariaTypes  = strings.NewReplacer("bigint(20)", "bigint", "tinyint(1)", "boolean", "int(11)", "integer", "datetime", "timestamp")
	enumLabel   = regexp.MustCompile(`'([^']*)'`)
	mariaQuoted = regexp.MustCompile(`^-?\d+$`)
)

// mariaSchema asks the information schema.
func mariaSchema(ctx context.Context, d db.DB, tables map[string]*table) error {
	columns := db.Query[struct{}]{
		Text: `select table_name, column_name, column_type, is_nullable, extra, coalesce(column_default, '')
			from information_schema.columns
			where table_schema = database()
			order by table_name, ordinal_position`,
		Scan: func(r db.Row) (none struct{}, err error) {
			var name, col, kind, null, extra, fallback string
			if err = r.Scan(&name, &col, &kind, &null, &extra, &fallback); err != nil {
				return none, err
			}
			if labels := enumLabel.FindAllStringSubmatch(kind, -1); strings.HasPrefix(kind, "enum(") {
				most := 0
				for _, l := range labels {
					most = max(most, len(l[1]))
				}
				kind = fmt.Sprintf("varchar(%d)", most)
			}
			if fallback == "NULL" {
				fallback = ""
			}
			if mariaQuoted.MatchString(fallback) {
				fallback = "'" + fallback + "'"
			}
			t := of(tables, name)
			t.columns = append(t.columns, column(col, mariaTypes.Replace(kind), null == "NO", strings.Contains(extra, "auto_increment"), fallback))
			return none, nil
		},
	}
	indexes := db.Query[struct{}]{
		Text: `select table_name, index_name, non_unique, group_concat(column_name order by seq_in_index separator ', ')
			from information_schema.statistics
			where table_schema = database()
			group by table_name, index_name, non_unique`,
		Scan: func(r db.Row) (none struct{}, err error) {
			var name, index, cols string
			var plain bool
			if err = r.Scan(&name, &index, &plain, &cols); err != nil {
				return none, err
			}
			line := "index " + index
			switch {
			case index == "PRIMARY":
				line = "primary key"
			case !plain:
				line = "unique"
			}
			t := of(tables, name)
			t.keys = append(t.keys, line+" ("+cols+")")
			return none, nil
		},
	}
	foreign := db.Query[struct{}]{
		Text: `select k.table_name, k.constraint_name, group_concat(k.column_name order by k.ordinal_position separator ', '),
				max(k.referenced_table_name), group_concat(k.referenced_column_name order by k.ordinal_position separator ', '),
				max(r.delete_rule), max(r.update_rule)
			from information_schema.key_column_usage k
			join information_schema.referential_constraints r
				on r.constraint_schema = k.constraint_schema and r.table_name = k.table_name and r.constraint_name = k.constraint_name
			where k.table_schema = database() and k.referenced_table_name is not null
			group by k.table_name, k.constraint_name`,
		Scan: func(r db.Row) (none struct{}, err error) {
			var name, key, from, target, to, remove, update string
			if err = r.Scan(&name, &key, &from, &target, &to, &remove, &update); err == nil {
				t := of(tables, name)
				t.keys = append(t.keys, "foreign key ("+from+") references "+target+" ("+to+")"+actions(remove == "CASCADE", update == "CASCADE"))
			}
			return none, err
		},
	}
	for _, q := range []db.Query[struct{}]{columns, indexes, foreign} {
		if _, err := db.All(ctx, d, q); err != nil {
			return err
		}
	}
	return nil
}

// MariaDBSchema writes a schema as MariaDB does, with every name in it, and the
// version rows. The order of keys and the next number of a column mean nothing.
func MariaDBSchema(t testing.TB, d db.DB) string {
	t.Helper()
	ctx := context.Background()
	names, err := db.All(ctx, d, db.Query[string]{Text: `select table_name from information_schema.tables where table_schema = database() order by table_name`, Scan: db.ScanText})
	if err != nil {
		t.Fatalf("dbtest: read the schema: %v", err)
	}
	var b strings.Builder
	for _, name := range names {
		text, err := db.One(ctx, d, shown(name))
		if err != nil {
			t.Fatalf("dbtest: read the schema: %v", err)
		}
		b.WriteString(sortedKeys(text) + "\n")
	}
	versions, err := db.All(ctx, d, db.Query[string]{Text: `select version_num from alembic_version order by version_num`, Scan: db.ScanText})
	if err != nil {
		t.Fatalf("dbtest: read the schema: %v", err)
	}
	return b.String() + "version " + strings.Join(versions, "\nversion ") + "\n"
}

// shown gives the statement that makes a table.
func shown(table string) db.Query[string] {
	return db.Query[string]{Text: `show create table "` + table + `"`, Scan: func(r db.Row) (text string, err error) {
		var name string
		err = r.Scan(&name, &text)
		return text, err
	}}
}

var nextNumber = regexp.MustCompile(` AUTO_INCREMENT=\d+`)

// sortedKeys orders the lines of keys within the text of one table.
func sortedKeys(text string) string {
	lines := strings.Split(nextNumber.ReplaceAllString(text, ""), "\n")
	last := len(lines) - 1
	for i := 1; i < last; i++ {
		lines[i] = strings.TrimSuffix(lines[i], ",")
	}
	first := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, " KEY ") })
	if first > 0 {
		slices.Sort(lines[first:last])
	}
	return strings.Join(lines, "\n")
}
