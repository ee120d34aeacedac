package dbtest

import (
	"context"

	"github.com/keystone-go/keystone-go/internal/db"
)

// mariaPrint changes when a test changed the schema: such a database is not used
// again.
const mariaPrint = `select concat_ws(' ',
  (select concat(count(*), ' ', sum(crc32(concat(table_name, column_name, column_type, is_nullable)))) from information_schema.columns where table_schema = database() and table_name <> $1),
  (select concat(count(*), ' ', sum(crc32(concat(table_name, index_name, column_name)))) from information_schema.statistics where table_schema = database() and table_name <> $1))`

// mariaRestore takes the rows out and tells whether the schema is as it was.
func mariaRestore(ctx context.Context, d db.DB) (same bool, err error) {
	m, err := mariaTemplate()
	if err != nil {
		return false, err
	}
	others, err := db.All(ctx, d, db.Query[string]{
		Text: `select cast(id as char) from information_schema.processlist where db = database() and id <> connection_id()`, Scan: db.ScanText,
	})
	if err != nil {
		return false, err
	}
	for _, id := range others {
		_, _ = d.Exec(ctx, `kill connection `+id) // it may be gone meanwhile
	}
	if _, err := d.Exec(ctx, m.empty); err != nil {
		return false, err
	}
	counted, err := db.All(ctx, d, db.Query[string]{
		Text: `select table_name from information_schema.tables where table_schema = database() and auto_increment > 1`, Scan: db.ScanText,
	})
	if err != nil {
		return false, err
	}
	for _, table := range counted {
		if _, err := d.Exec(ctx, `alter table "`+table+`" auto_increment = 1`); err != nil {
			return false, err
		}
	}
	print, err := db.One(ctx, d, db.Query[string]{Text: mariaPrint, Args: []any{ready}, Scan: db.ScanText})
	return print == m.print, err
}
