package cascade_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/cascade"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// TestContentsOf lists what stands below first, and nothing of other domains.
func TestContentsOf(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		const project = `insert into project (id, name, domain_id, parent_id, is_domain, enabled) values ($1, $1, $2, $3, $4, $4)`
		for _, p := range []struct{ id, domain, parent any }{
			{"d1", "<<keystone.domain.root>>", nil},
			{"d2", "<<keystone.domain.root>>", nil},
			{"a", "d1", "d1"},
			{"b", "d1", "a"},
			{"c", "d1", "b"},
			{"e", "d1", "d1"},
			{"x", "d2", "d2"},
		} {
			exec(t, d, project, p.id, p.domain, p.parent, p.parent == nil)
		}
		for _, g := range [][2]string{{"g1", "d1"}, {"g2", "d2"}} {
			exec(t, d, `insert into "group" (id, domain_id, name) values ($1, $2, $1)`, g[0], g[1])
		}
		for _, u := range [][2]string{{"u1", "d1"}, {"u2", "d2"}, {"u0", "d1"}} {
			exec(t, d, `insert into "user" (id, domain_id) values ($1, $2)`, u[0], u[1])
		}
		got, err := cascade.ContentsOf(t.Context(), d, "d1")
		want := cascade.Contents{Projects: []string{"c", "b", "a", "e"}, Groups: []string{"g1"}, Users: []string{"u0", "u1"}}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("error %v (-want +got)\n%s", err, diff)
		}
	})
}

func exec(t *testing.T, d db.DB, text string, args ...any) {
	t.Helper()
	if _, err := d.Exec(t.Context(), text, args...); err != nil {
		t.Fatalf("%s %v: %v", text, args, err)
	}
}
