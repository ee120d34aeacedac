package dbtest

import (
	"context"
	"sync"

	"github.com/keystone-go/keystone-go/internal/db"
)

// empty takes all rows out again and puts the root domain back.
const empty = `do $$
declare
  one record;
begin
  set local session_replication_role = replica;
  for one in select tablename from pg_tables where schemaname = 'public' and tablename <> 'alembic_version' loop
    execute format('delete from %I', one.tablename);
  end loop;
  for one in select sequencename from pg_sequences where schemaname = 'public' and last_value is not null loop
    execute format('alter sequence %I restart', one.sequencename);
  end loop;
  insert into project (id, name, extra, description, enabled, domain_id, parent_id, is_domain)
  values ('<<keystone.domain.root>>', '<<keystone.domain.root>>', '{}', '', false, '<<keystone.domain.root>>', null, true);
end
$$`

// print changes when a test changed the schema, its version, or left a heap of
// dead rows behind: such a database is not used again.
const print = `select concat_ws(' ',
  (select count(*) from pg_class), (select count(*) from pg_attribute), (select count(*) from pg_constraint),
  (select count(*) from pg_proc), (select count(*) from pg_trigger), (select count(*) from pg_type),
  (select string_agg(version_num, ',' order by version_num) from alembic_version),
  pg_database_size(current_database()) / (16 * 1024 * 1024))`

// pgIntact is what print gives for a new database.
var pgIntact firstPrint

type firstPrint struct {
	mu   sync.Mutex
	text string
}

func (p *firstPrint) known() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text != ""
}

// learn asks the first database of this process.
func (p *firstPrint) learn(ctx context.Context, d db.DB) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.text == "" {
		p.text, err = db.One(ctx, d, db.Query[string]{Text: print, Scan: db.ScanText})
	}
	return err
}

func pgRestore(ctx context.Context, d db.DB) (same bool, err error) {
	for _, text := range []string{`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`, empty} {
		if _, err := d.Exec(ctx, text); err != nil {
			return false, err
		}
	}
	now, err := db.One(ctx, d, db.Query[string]{Text: print, Scan: db.ScanText})
	pgIntact.mu.Lock()
	defer pgIntact.mu.Unlock()
	return now == pgIntact.text, err
}
