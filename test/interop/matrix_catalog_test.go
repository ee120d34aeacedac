//go:build interop

package interop_test

import (
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
)

// catalog makes the services, endpoints, their groups and policies of diff_matrix:
// some that are read, and an actor's own each to change and to delete. The
// project's catalog holds what it is tied to alone.
func (s *stand) catalog(t *testing.T, project string) {
	t.Helper()
	d, err := db.Open(t.Context(), db.Config{URL: s.address(s.template)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	run := func(text string, args ...any) {
		t.Helper()
		if _, err := d.Exec(t.Context(), text, args...); err != nil {
			t.Fatal(err)
		}
	}
	service := func(id string) {
		t.Helper()
		run(`insert into service (id, type, enabled, extra) values ($1, 'mx-kind', true, $2)`, id, `{"name": "`+id+`", "description": "of the matrix"}`)
	}
	endpoint := func(id, service string) {
		t.Helper()
		run(`insert into endpoint (id, interface, service_id, url, region_id, enabled, extra) values ($1, 'public', $2, 'http://mx/%(tenant_id)s', 'mx-parent', true, '{"name": "mx"}')`, id, service)
	}
	policy := func(id string) {
		t.Helper()
		run(`insert into policy (id, type, blob, extra) values ($1, 'mx-type', '"of the matrix"', '{"name": "mx"}')`, id)
	}
	tie := func(id, policy string, endpoint, service, region any) {
		t.Helper()
		run(`insert into policy_association (id, policy_id, endpoint_id, service_id, region_id) values ($1, $2, $3, $4, $5)`, id, policy, endpoint, service, region)
	}
	group := func(id string) {
		t.Helper()
		run(`insert into endpoint_group (id, name, description, filters) values ($1, $2, 'of the matrix', '{"service_id": "mx-tied", "interface": "public"}')`, id, id)
	}
	service("mx-service")
	endpoint("mx-endpoint", "mx-service")
	policy("mx-policy")
	service("mx-tied")
	endpoint("mx-tied", "mx-tied")
	tie("mx-tie-1", "mx-policy", "mx-endpoint", nil, nil)
	tie("mx-tie-2", "mx-policy", nil, "mx-tied", nil)
	tie("mx-tie-3", "mx-policy", nil, "mx-tied", "mx-parent")
	group("mx-group")
	run(`insert into project_endpoint_group (endpoint_group_id, project_id) values ('mx-group', $1)`, project)
	run(`insert into project_endpoint (endpoint_id, project_id) values ('mx-endpoint', $1)`, project)
	for _, a := range s.actors {
		for _, kind := range []string{"patch", "delete"} {
			service("mx-service-" + kind + "-" + a.name)
			endpoint("mx-endpoint-"+kind+"-"+a.name, "mx-service")
			policy("mx-policy-" + kind + "-" + a.name)
			group("mx-group-" + kind + "-" + a.name)
		}
		endpoint("mx-endpoint-of-"+a.name, "mx-service-delete-"+a.name)
	}
}
