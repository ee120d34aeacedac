package dbtest_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// TestRecorded reads the same from both engines.
func TestRecorded(t *testing.T) {
	type row struct {
		Name    string
		Created *time.Time
		Failed  *time.Time
		Active  *time.Time
		Enabled *bool
		Hash    string
	}
	got := map[string][]row{}
	for _, engine := range dbtest.Engines() {
		d := dbtest.OpenRecorded(t, engine)
		rows, err := db.All(t.Context(), d, db.Query[row]{
			Text: `select l.name, u.created_at, l.failed_auth_at, u.last_active_at, u.enabled, coalesce(p.password_hash, '')
				from "user" u
				join local_user l on l.user_id = u.id
				left join password p on p.local_user_id = l.id
				order by l.id, p.id`,
			Scan: func(r db.Row) (w row, err error) {
				err = r.Scan(&w.Name, &w.Created, &w.Failed, &w.Active, &w.Enabled, &w.Hash)
				return w, err
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		got[engine] = rows
		n, err := db.One(t.Context(), d, db.Query[int]{Text: `select count(*) from project`, Scan: func(r db.Row) (n int, err error) { err = r.Scan(&n); return n, err }})
		if err != nil || n != 22 {
			t.Errorf("%s: %d projects, %v, want 22", engine, n, err)
		}
	}
	if len(got["postgres"]) < 20 {
		t.Errorf("%d users, want 20 at least", len(got["postgres"]))
	}
	if diff := cmp.Diff(got["postgres"], got["sqlite"]); diff != "" {
		t.Errorf("-postgres +sqlite\n%s", diff)
	}
}
