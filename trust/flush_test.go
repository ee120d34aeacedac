package trust_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/trust"
)

var noon = time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)

func fill(t *testing.T, d db.DB) {
	t.Helper()
	for _, x := range []struct {
		id               string
		expires, deleted *time.Time
		old              bool // of a release without expires_at_int
		project          string
	}{
		{"forever", nil, nil, false, "p1"},
		{"later", at(time.Hour), nil, false, "p1"},
		{"now", at(0), nil, false, "p1"},
		{"past", at(-time.Microsecond), nil, false, "p1"},
		{"old-past", at(-time.Hour), nil, true, "p1"},
		{"old-later", at(time.Hour), nil, true, "p2"},
		{"deleted", nil, at(-time.Hour), false, "p2"},
		{"deleted-later", at(time.Hour), at(-time.Hour), false, "p1"},
	} {
		var stamp any
		if x.expires != nil && !x.old {
			stamp = x.expires.UnixMicro()
		}
		exec(t, d, `insert into trust (id, trustor_user_id, trustee_user_id, project_id, impersonation, deleted_at, expires_at, expires_at_int) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
			x.id, "or-"+x.project, "ee-"+x.id, x.project, true, x.deleted, x.expires, stamp)
		exec(t, d, `insert into trust_role (trust_id, role_id) values ($1, $2)`, x.id, "r")
	}
}

func at(d time.Duration) *time.Time {
	t := noon.Add(d)
	return &t
}

func exec(t *testing.T, d db.DB, text string, args ...any) {
	t.Helper()
	if _, err := d.Exec(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func ids(t *testing.T, d db.DB, text string) string {
	t.Helper()
	list, err := db.All(t.Context(), d, db.Query[string]{Text: text, Scan: func(r db.Row) (string, error) {
		var s string
		err := r.Scan(&s)
		return s, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func TestFlush(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		for _, x := range []struct {
			filter trust.FlushFilter
			n      int64
			left   string
		}{
			{trust.FlushFilter{}, 4, "forever later now old-later"},
			{trust.FlushFilter{ProjectID: "p2"}, 1, "deleted-later forever later now old-later old-past past"},
			{trust.FlushFilter{TrustorUserID: "or-p1"}, 3, "deleted forever later now old-later"},
			{trust.FlushFilter{TrusteeUserID: "ee-past"}, 1, "deleted deleted-later forever later now old-later old-past"},
			{trust.FlushFilter{ProjectID: "p1", TrusteeUserID: "ee-deleted"}, 0, "deleted deleted-later forever later now old-later old-past past"},
		} {
			exec(t, d, `delete from trust`)
			exec(t, d, `delete from trust_role`)
			fill(t, d)
			n, err := trust.Flush(t.Context(), d, noon, x.filter)
			if err != nil || n != x.n {
				t.Errorf("%+v: %d, %v, want %d", x.filter, n, err, x.n)
			}
			if left, roles := ids(t, d, `select id from trust`), ids(t, d, `select trust_id from trust_role`); left != x.left || roles != x.left {
				t.Errorf("%+v: left are %s, roles of %s, want %s", x.filter, left, roles, x.left)
			}
		}
	})
}
