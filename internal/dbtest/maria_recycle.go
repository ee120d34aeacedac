package dbtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
)

// mariaPrint changes when a test changed the schema: such a database is not used
// again.
const mariaPrint = `select concat_ws(' ',
  (select concat(count(*), ' ', sum(crc32(concat(table_name, column_name, column_type, is_nullable)))) from information_schema.columns where table_schema = database() and table_name <> $1),
  (select concat(count(*), ' ', sum(crc32(concat(table_name, index_name, column_name)))) from information_schema.statistics where table_schema = database() and table_name <> $1))`

// mariaCopy gives a spare database, or a new one.
func mariaCopy(t testing.TB) string {
	t.Helper()
	s, err := maria()
	if err != nil {
		t.Fatal(fmt.Errorf("dbtest: a MariaDB server: %w", err))
	}
	name := s.taken()
	if name == "" {
		if _, name, err = mariaFresh(); err == nil {
			err = s.copyOf(name, mariaTemplate)
		}
		if err != nil {
			t.Fatal(fmt.Errorf("dbtest: a MariaDB database: %w", err))
		}
	}
	t.Cleanup(func() {
		if t.Failed() || !s.restore(name) {
			s.drop(t, name)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.spare = append(s.spare, name)
	})
	return s.database(name)
}

// taken gives a spare one, or "".
func (s *mariaServer) taken() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.spare)
	if n == 0 {
		return ""
	}
	name := s.spare[n-1]
	s.spare = s.spare[:n-1]
	return name
}

// restore takes the rows out and tells whether the schema is as it was.
func (s *mariaServer) restore(name string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	m, err := mariaTemplate()
	if err != nil {
		return false
	}
	same := false
	err = s.inside(ctx, name, func(d db.DB) error {
		others, err := db.All(ctx, d, db.Query[string]{
			Text: `select cast(id as char) from information_schema.processlist where db = database() and id <> connection_id()`, Scan: db.ScanText,
		})
		if err != nil {
			return err
		}
		for _, id := range others {
			_, _ = d.Exec(ctx, `kill connection `+id) // it may be gone meanwhile
		}
		if _, err := d.Exec(ctx, m.empty); err != nil {
			return err
		}
		counted, err := db.All(ctx, d, db.Query[string]{
			Text: `select table_name from information_schema.tables where table_schema = database() and auto_increment > 1`, Scan: db.ScanText,
		})
		for _, table := range counted {
			if _, err := d.Exec(ctx, `alter table "`+table+`" auto_increment = 1`); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		print, err := db.One(ctx, d, db.Query[string]{Text: mariaPrint, Args: []any{ready}, Scan: db.ScanText})
		same = print == m.print
		return err
	})
	return err == nil && same
}
