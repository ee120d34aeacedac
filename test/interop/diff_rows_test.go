//go:build interop

package interop_test

import (
	"fmt"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/test/interop/diff"
)

// sameRows compares the tables of the two servers once all was sent: what a
// delete takes with it and what it revokes is seen in no answer.
func (s *stand) sameRows(t *testing.T, run *diff.Run, name string) {
	t.Helper()
	lines := diff.Rows(s.tables(t, s.template), s.tables(t, s.name()+"_py_"+name), s.tables(t, s.name()+"_go_"+name))
	run.Judge("rows/"+name, lines)
}

// tables reads a whole database.
func (s *stand) tables(t *testing.T, database string) diff.Tables {
	t.Helper()
	d, err := db.Open(t.Context(), db.Config{URL: s.address(database)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	read := func(text string) []string {
		t.Helper()
		rows, err := db.All(t.Context(), d, db.Query[string]{Text: text, Scan: func(r db.Row) (v string, err error) { return v, r.Scan(&v) }})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return rows
	}
	out := diff.Tables{}
	for _, table := range read(`select table_name from information_schema.tables where table_schema = 'public'`) {
		out[table] = read(fmt.Sprintf(`select row_to_json(x)::text from %q x`, table))
	}
	return out
}
