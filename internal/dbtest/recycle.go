package dbtest

import (
	"context"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
)

// empty takes all rows out again and puts the root domain back. Emptying is
// ten times faster than dropping a database and copying another.
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

// take gives a spare database, or a new copy of the template.
func (s *pgServer) take(ctx context.Context, template string) (string, error) {
	s.mu.Lock()
	if n := len(s.spare); n > 0 {
		name := s.spare[n-1]
		s.spare = s.spare[:n-1]
		s.mu.Unlock()
		return name, nil
	}
	first := s.intact == ""
	s.mu.Unlock()
	name := s.freshName()
	if _, err := s.admin.Exec(ctx, `create database `+name+` template `+template); err != nil || !first {
		return name, err
	}
	return name, s.inside(ctx, name, func(d db.DB) error {
		p, err := db.One(ctx, d, db.Query[string]{Text: print, Scan: scanString})
		s.mu.Lock()
		defer s.mu.Unlock()
		s.intact = p
		return err
	})
}

// giveBack keeps a database for the next test, if it can be brought back to
// what it was.
func (s *pgServer) giveBack(t testing.TB, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if t.Failed() || !s.restore(ctx, name) {
		s.drop(t, name)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spare = append(s.spare, name)
}

func (s *pgServer) restore(ctx context.Context, name string) bool {
	same := false
	err := s.inside(ctx, name, func(d db.DB) error {
		if _, err := d.Exec(ctx, `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`); err != nil {
			return err
		}
		if _, err := d.Exec(ctx, empty); err != nil {
			return err
		}
		p, err := db.One(ctx, d, db.Query[string]{Text: print, Scan: scanString})
		s.mu.Lock()
		defer s.mu.Unlock()
		same = p == s.intact
		return err
	})
	return err == nil && same
}
