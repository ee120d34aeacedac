package dbcopy

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// generate makes a cloud: a domain, projects for every hundred users, and of
// each user a password and three assignments.
func generate(t *testing.T, d db.DB, users int) {
	t.Helper()
	fill := func(name, columns string, rows int, values func(i int) []any) {
		t.Helper()
		all := tables[tableAt(name)]
		some := table{name: name}
		for _, c := range strings.Fields(columns) {
			some.columns = append(some.columns, all.columns[slices.Index(all.names(), c)])
		}
		const most = 100
		err := d.Tx(t.Context(), func(c db.Conn) error {
			for at := 0; at < rows; at += most {
				var args []any
				n := min(most, rows-at)
				for i := range n {
					args = append(args, values(at+i)...)
				}
				if _, err := c.Exec(t.Context(), some.insertion(n), args...); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	id := func(kind string, i int) string { return fmt.Sprintf("%s%0*d", kind, 32-len(kind), i) }
	begin := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	groups := max(1, users/100)
	fill("role", "id name domain_id", 3, func(i int) []any { return []any{id("r", i), fmt.Sprint("role", i), "<<null>>"} })
	fill("project", "id name domain_id is_domain enabled extra", 1, func(int) []any { return []any{"default", "Default", "<<keystone.domain.root>>", true, true, "{}"} })
	fill("project", "id name domain_id parent_id is_domain enabled description extra", groups, func(i int) []any {
		return []any{id("p", i), fmt.Sprint("project ", i), "default", "default", false, true, "ein Projekt", `{"cost": 1.5}`}
	})
	// The tree: each project under the one before, three deep, ids against the order.
	exec(t, d, `update project set parent_id = $1 where id <> $1 and domain_id = 'default' and id like 'p%0'`, id("p", groups-1))
	fill("user", "id domain_id enabled extra created_at last_active_at", users, func(i int) []any {
		return []any{id("u", i), "default", true, `{"email": "someone@example.org"}`, begin.Add(time.Duration(i) * time.Second), db.Date(begin)}
	})
	fill("local_user", "id user_id domain_id name failed_auth_count", users, func(i int) []any {
		return []any{i + 1, id("u", i), "default", fmt.Sprint("user-", i), i % 3}
	})
	fill("password", "id local_user_id self_service password_hash created_at_int created_at", users, func(i int) []any {
		return []any{i + 1, i + 1, false, "$2b$04$abcdefghijklmnopqrstuuJxnWtqWGSyeBQy2sO0P0iKTTSGkmYyG", begin.UnixMicro(), begin}
	})
	fill("assignment", "type actor_id target_id role_id inherited", 3*users, func(i int) []any {
		return []any{"UserProject", id("u", i/3), id("p", i/3%groups), id("r", i%3), i%2 == 0}
	})
}

// TestGenerated is a made-up cloud, through all engines and back.
func TestGenerated(t *testing.T) {
	users, rows := 300, 50
	if os.Getenv("KEYSTONE_GO_LONG") != "" {
		users, rows = 100_000, 1000
	}
	at := empty(t, "mariadb")
	c := newTrial(dbtest.Open(t, "sqlite"), at)
	c.must(t)
	generate(t, at, users)
	want := sums(t, at, "")
	for _, engine := range []string{"postgres", "sqlite", "mariadb"} {
		to := empty(t, engine)
		x := newTrial(at, to)
		x.Rows = rows
		began := time.Now()
		x.must(t)
		took := time.Since(began)
		if diff := cmp.Diff(want, sums(t, to, "")); diff != "" {
			t.Fatalf("to %s: -want +got\n%s", engine, diff)
		}
		if users > 1000 {
			t.Logf("figure: db_copy of %d users and %d assignments from %s to %s: %s", users, 3*users, at.Dialect(), engine, took.Round(time.Second))
			if took > 5*time.Minute {
				t.Errorf("to %s: %s, want 5 minutes at most", engine, took)
			}
		}
		at = to
	}
}
