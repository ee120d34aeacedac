//go:build interop

package crossing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// TestOrders stands the pair up both ways round. Who comes second finds nothing
// to do in the database, a bootstrap run again by either changes no row, and
// the schema is the same whoever made it.
func TestOrders(t *testing.T) {
	schemas := map[string]string{}
	for name, goFirst := range map[string]bool{"python first": false, "go first": true} {
		t.Run(name, func(t *testing.T) {
			e := peer.Start(t, peer.Options{GoFirst: goFirst})
			schemas[name] = dbtest.Schema(t, e.DB) + engineSchema(t, e.DB)
			before := dump(t, e.DB)
			for _, s := range e.Servers() {
				s.MustManage(t, "db_sync", "--check")
				s.MustManage(t, e.Bootstrap()...)
				s.MustManage(t, "db_sync")
				if d := cmp.Diff(before, dump(t, e.DB)); d != "" {
					t.Errorf("db_sync and bootstrap by %s on a finished database changed it:\n%s", s.Name, d)
				}
			}
			for _, s := range e.Servers() {
				s.Admin(t)
			}
		})
	}
	if d := cmp.Diff(schemas["python first"], schemas["go first"]); d != "" {
		t.Errorf("the schemas differ (-Python +ours):\n%s", d)
	}
}

// engineSchema is what of a schema the engine alone knows.
func engineSchema(t *testing.T, d db.DB) string {
	t.Helper()
	if d.Dialect() == db.MariaDB {
		return dbtest.MariaDBSchema(t, d)
	}
	return dbtest.PostgresSchema(t, d)
}
