package dbtest

import (
	"context"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
)

// nativeSchema are the questions whose answers, sorted, are a Postgres schema
// with all its names: those that Python's own upgrades refer to.
var nativeSchema = []string{
	`select 'table ' || c.relname || ' ' || a.attnum - (select count(*) from pg_attribute g where g.attrelid = c.oid and g.attisdropped and g.attnum between 1 and a.attnum)
		|| ' ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
		|| case when a.attnotnull then ' not null' else '' end || coalesce(' default ' || pg_get_expr(f.adbin, f.adrelid), '')
		from pg_class c
		join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
		join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
		left join pg_attrdef f on f.adrelid = c.oid and f.adnum = a.attnum
		where c.relkind = 'r'
		order by c.relname, a.attnum`,
	`select 'constraint ' || r.relname || ' ' || c.conname || ' ' || pg_get_constraintdef(c.oid)
		from pg_constraint c
		join pg_class r on r.oid = c.conrelid
		join pg_namespace n on n.oid = r.relnamespace and n.nspname = 'public'
		order by r.relname, c.conname`,
	`select 'index ' || replace(indexdef, 'public.', '') from pg_indexes where schemaname = 'public' order by indexname, tablename`,
	`select 'sequence ' || s.relname || ' ' || format_type(q.seqtypid, null) || ' start ' || q.seqstart || ' by ' || q.seqincrement
		|| ' of ' || t.relname || '.' || a.attname
		from pg_sequence q
		join pg_class s on s.oid = q.seqrelid
		join pg_depend d on d.objid = s.oid and d.deptype = 'a'
		join pg_class t on t.oid = d.refobjid
		join pg_attribute a on a.attrelid = t.oid and a.attnum = d.refobjsubid
		order by s.relname`,
	`select 'type ' || t.typname || ' ' || string_agg(e.enumlabel, ',' order by e.enumsortorder)
		from pg_type t
		join pg_enum e on e.enumtypid = t.oid
		group by t.typname
		order by t.typname`,
	`select 'function ' || p.proname || '(' || pg_get_function_arguments(p.oid) || ') ' || pg_get_function_result(p.oid) || ' ' || l.lanname
		from pg_proc p
		join pg_namespace n on n.oid = p.pronamespace and n.nspname = 'public'
		join pg_language l on l.oid = p.prolang
		order by p.proname`,
	`select 'trigger ' || tgname from pg_trigger where not tgisinternal order by tgname`,
	`select 'version ' || version_num from alembic_version order by version_num`,
}

// PostgresSchema writes a Postgres schema with every name in it, and the
// version rows.
func PostgresSchema(t testing.TB, d db.DB) string {
	t.Helper()
	var b strings.Builder
	for _, text := range nativeSchema {
		lines, err := db.All(context.Background(), d, db.Query[string]{Text: text, Scan: db.ScanText})
		if err != nil {
			t.Fatalf("dbtest: read the schema: %v", err)
		}
		for _, l := range lines {
			b.WriteString(strings.ReplaceAll(l, "public.", ""))
			b.WriteByte('\n')
		}
	}
	return b.String()
}
