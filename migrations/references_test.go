package migrations_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/migrations"
)

// TestOrphans: a sound database has none; a row that names what is not there is
// found wherever the engine lets it be written.
func TestOrphans(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		found := func() []migrations.Orphans {
			t.Helper()
			o, err := migrations.FindOrphans(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
		if o := found(); len(o) > 0 {
			t.Errorf("a new database has %v", o)
		}
		statements := map[string]string{
			"assignment.target_id":      `insert into assignment (type, actor_id, target_id, role_id, inherited) values ('UserProject', 'u', 'gone', 'r', false)`,
			"assignment.actor_id":       "", // the same row
			"user.domain_id":            `insert into "user" (id, domain_id) values ('u2', 'gone')`,
			"project_endpoint.endpoint": `insert into project_endpoint (endpoint_id, project_id) values ('gone', 'gone')`,
			"trust_role.trust_id":       `insert into trust_role (trust_id, role_id) values ('gone', 'r')`,
			"region.parent_region_id":   `insert into region (id, description, parent_region_id) values ('x', '', 'gone')`,
		}
		if _, err := d.Exec(t.Context(), `insert into role (id, name) values ('r', 'r')`); err != nil {
			t.Fatal(err)
		}
		for what, text := range statements {
			if text == "" {
				continue
			}
			if _, err := d.Exec(t.Context(), text); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		text := fmt.Sprint(found())
		for what := range statements {
			table, column, _ := strings.Cut(what, ".")
			if !strings.Contains(text, fmt.Sprintf("1 rows of %s have a %s", table, column)) {
				t.Errorf("%s is not found: %s", what, text)
			}
		}
		// A user of another directory is known by his mapping alone.
		if _, err := d.Exec(t.Context(), `insert into id_mapping (public_id, domain_id, local_id, entity_type) values ('u', '<<keystone.domain.root>>', 'u', 'user')`); err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(found()); strings.Contains(text, "assignment have a actor_id") {
			t.Errorf("a mapped user counts as gone: %s", text)
		}
	})
}
