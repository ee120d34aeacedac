package v3_test

import (
	"testing"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/resource"
)

func TestEndpointGroups(t *testing.T) {
	const all, one = "/v3/OS-EP-FILTER/endpoint_groups", "/v3/OS-EP-FILTER/endpoint_groups/{ID}"
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		script(t, newStand(t, setup{db: d}), []step{
			{"none yet", "GET", all, "tok-admin", "", 200, `{"endpoint_groups": [], "links": {"next": null, "self": "http://127.0.0.1:5000/v3/OS-EP-FILTER/endpoint_groups", "previous": null}}` + "\n"},
			{"list by a member", "GET", all, "tok-member", "", 403, "identity:list_endpoint_groups"},
			{"list without a token", "GET", all, "", "", 401, ""},
			{"unknown parameter", "GET", all + "?limit=1", "", "", 400, ""},
			{"a comparator", "GET", all + "?name__contains=x", "tok-admin", "", 400, ""},
			{"no name", "GET", all + "?name=", "tok-admin", "", 400, ""},
			{"create by a member", "POST", all, "tok-member", `{"endpoint_group": {"name": "n", "filters": {"interface": "public"}}}`, 403, "identity:create_endpoint_group"},
			{"401 before nothing", "POST", all, "", `{}`, 401, ""},
			{"nothing", "POST", all, "tok-admin", `{}`, 400, "filters field is required and cannot be empty"},
			{"shape before 401", "POST", all, "", `{"endpoint_group": {"name": "n"}}`, 400, ""},
			{"empty filters", "POST", all, "tok-admin", `{"endpoint_group": {"name": "n", "filters": {}}}`, 400, "filters field is required and cannot be empty"},
			{"by enabled", "POST", all, "tok-admin", `{"endpoint_group": {"name": "n", "filters": {"enabled": true}}}`, 400, "Expecting to find service_id or region_id or interface in endpoint_group."},
			{"by what is none", "POST", all, "tok-admin", `{"endpoint_group": {"name": "n", "filters": {"interface": "x"}}}`, 400, ""},
			{"another member", "POST", all, "tok-admin", `{"endpoint_group": {"name": "n", "filters": {"interface": "public"}, "color": 1}}`, 400, ""},
			{"blank name", "POST", all, "tok-admin", `{"endpoint_group": {"name": " ", "filters": {"interface": "public"}}}`, 400, ""},
			{"create", "POST", all, "tok-admin", `{"endpoint_group": {"name": "n", "filters": {"interface": "public", "region_id": null}}}`, 201, `"name": "n", "description": null, "filters": {"interface": "public", "region_id": null}, "links": {"self": "http://127.0.0.1:5000/v3/OS-EP-FILTER/endpoint_groups/`},
			{"show it", "GET", one, "tok-admin", "", 200, `{"endpoint_group": {"id": "{ID}", "name": "n"`},
			{"show by a member", "GET", one, "tok-member", "", 403, "identity:get_endpoint_group"},
			{"by name", "GET", all + "?name=n", "tok-admin", "", 200, `{"endpoint_groups": [{"id": "{ID}"`},
			{"by another name", "GET", all + "?name=N", "tok-admin", "", 200, `{"endpoint_groups": [], `},
			{"patch nothing", "PATCH", one, "tok-admin", `{"endpoint_group": {}}`, 400, ""},
			{"patch the id", "PATCH", one, "tok-admin", `{"endpoint_group": {"id": "x"}}`, 400, ""},
			{"patch a filter there is not", "PATCH", one, "tok-admin", `{"endpoint_group": {"filters": {"color": "x"}}}`, 400, "service_id or region_id or interface"},
			{"patch", "PATCH", one, "tok-admin", `{"endpoint_group": {"description": "d", "filters": {}}}`, 200, `"name": "n", "description": "d", "filters": {}`},
			{"patch the description away", "PATCH", one, "tok-admin", `{"endpoint_group": {"description": null}}`, 200, `"description": null, "filters": {}`},
			{"patch by a member", "PATCH", one, "tok-member", `{"endpoint_group": {"name": "x"}}`, 403, "identity:update_endpoint_group"},
			{"patch what is not there", "PATCH", all + "/none", "tok-admin", `{"endpoint_group": {"name": "x"}}`, 404, "Could not find Endpoint Group: none."},
			{"get what is not there", "GET", all + "/none", "tok-admin", "", 404, "Could not find Endpoint Group: none."},
			{"delete by a member", "DELETE", one, "tok-member", "", 403, "identity:delete_endpoint_group"},
			{"delete", "DELETE", one, "tok-admin", "", 204, ""},
			{"delete again", "DELETE", one, "tok-admin", "", 404, "Could not find Endpoint Group: {ID}."},
		})
	})
}

// withProject stores the service s with its endpoint e, and the project p.
func withProject(t *testing.T, d db.DB) {
	t.Helper()
	withService(t, d)
	for _, err := range []error{
		catalog.CreateEndpoint(t.Context(), d, catalog.Endpoint{ID: "e", Interface: "public", ServiceID: "s", URL: "http://x", Enabled: true}),
		resource.CreateDomain(t.Context(), d, resource.Domain{ID: "default", Name: "Default", Enabled: true}),
		resource.CreateProject(t.Context(), d, resource.Project{ID: "p", Name: "pn", DomainID: "default", ParentID: "default", Enabled: true}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestEndpointFilter(t *testing.T) {
	const (
		base      = "/v3/OS-EP-FILTER"
		one, tied = base + "/projects/p/endpoints/e", base + "/endpoint_groups/{ID}/projects/p"
		endpoint  = `{"endpoints": [{"id": "e", "interface": "public", "region_id": null, "service_id": "s", "url": "http://x", "enabled": true, "region": null, "links": {"self": "http://127.0.0.1:5000/v3/endpoints/e"}}], "links": `
		project   = `{"projects": [{"id": "p", "name": "pn", "domain_id": "default", `
	)
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		withProject(t, d)
		script(t, newStand(t, setup{db: d}), []step{
			{"a group", "POST", base + "/endpoint_groups", "tok-admin", `{"endpoint_group": {"name": "n", "filters": {"interface": "public"}}}`, 201, ""},
			{"check", "GET", one, "tok-admin", "", 404, "Endpoint e not found in project p"},
			{"check by a member", "GET", one, "tok-member", "", 403, "identity:check_endpoint_in_project"},
			{"check no endpoint", "GET", base + "/projects/none/endpoints/none", "tok-admin", "", 404, "Could not find endpoint: none."},
			{"put no project", "PUT", base + "/projects/none/endpoints/e", "tok-admin", "", 404, "Could not find project: none."},
			{"put by a member", "PUT", one, "tok-member", "", 403, "identity:add_endpoint_to_project"},
			{"put without a token", "PUT", one, "", "", 401, ""},
			{"put", "PUT", one, "tok-admin", "", 204, ""},
			{"put again", "PUT", one, "tok-admin", "", 409, "Conflict occurred attempting to store project_endpoint - Duplicate entry."},
			{"it is", "GET", one, "tok-admin", "", 204, ""},
			{"the project's endpoints", "GET", base + "/projects/p/endpoints", "tok-admin", "", 200, endpoint},
			{"the endpoints by a member", "GET", base + "/projects/p/endpoints", "tok-member", "", 403, "identity:list_endpoints_for_project"},
			{"the endpoints of no project", "GET", base + "/projects/none/endpoints", "tok-admin", "", 404, "Could not find project: none."},
			{"the endpoint's projects", "GET", base + "/endpoints/e/projects", "tok-admin", "", 200, project},
			{"the projects by a member", "GET", base + "/endpoints/e/projects", "tok-member", "", 403, "identity:list_projects_for_endpoint"},
			{"the projects of no endpoint", "GET", base + "/endpoints/none/projects", "tok-admin", "", 404, "Could not find endpoint: none."},
			{"delete by a member", "DELETE", one, "tok-member", "", 403, "identity:remove_endpoint_from_project"},
			{"delete", "DELETE", one, "tok-admin", "", 204, ""},
			{"delete again", "DELETE", one, "tok-admin", "", 404, "Endpoint e not found in project p"},

			{"show", "GET", tied, "tok-admin", "", 404, "Endpoint Group Project Association not found"},
			{"show by a member", "GET", tied, "tok-member", "", 403, "identity:get_endpoint_group_in_project"},
			{"give no project", "PUT", base + "/endpoint_groups/none/projects/none", "tok-admin", "", 404, "Could not find project: none."},
			{"give no group", "PUT", base + "/endpoint_groups/none/projects/p", "tok-admin", "", 404, "Could not find Endpoint Group: none."},
			{"give by a member", "PUT", tied, "tok-member", "", 403, "identity:add_endpoint_group_to_project"},
			{"no groups", "GET", base + "/projects/p/endpoint_groups", "tok-admin", "", 200, `{"endpoint_groups": [], `},
			{"give", "PUT", tied, "tok-admin", "", 204, ""},
			{"give again", "PUT", tied, "tok-admin", "", 409, "Conflict occurred attempting to store project_endpoint_group - Duplicate entry."},
			{"show what is", "GET", tied, "tok-admin", "", 200, `{"project_endpoint_group": {"endpoint_group_id": "{ID}", "project_id": "p", "links": {"self": "/OS-EP-FILTER/endpoint_groups/{ID}/projects/p"}}}`},
			{"the project's groups", "GET", base + "/projects/p/endpoint_groups", "tok-admin", "", 200, `{"endpoint_groups": [{"id": "{ID}", "name": "n", "description": null, "filters": {"interface": "public"}, "links": {"self": "http://127.0.0.1:5000/v3/OS-EP-FILTER/endpoint_groups/{ID}"}}], "links": `},
			{"the groups by a member", "GET", base + "/projects/p/endpoint_groups", "tok-member", "", 403, "identity:list_endpoint_groups_for_project"},
			{"the endpoints by the group", "GET", base + "/projects/p/endpoints", "tok-admin", "", 200, endpoint},
			{"the group's endpoints", "GET", base + "/endpoint_groups/{ID}/endpoints", "tok-admin", "", 200, endpoint},
			{"the group's endpoints by a member", "GET", base + "/endpoint_groups/{ID}/endpoints", "tok-member", "", 403, "identity:list_endpoints_associated_with_endpoint_group"},
			{"no group's endpoints", "GET", base + "/endpoint_groups/none/endpoints", "tok-admin", "", 404, "Could not find Endpoint Group: none."},
			{"the group's projects", "GET", base + "/endpoint_groups/{ID}/projects", "tok-admin", "", 200, project},
			{"the group's projects by a member", "GET", base + "/endpoint_groups/{ID}/projects", "tok-member", "", 403, "identity:list_projects_associated_with_endpoint_group"},
			{"no group's projects", "GET", base + "/endpoint_groups/none/projects", "tok-admin", "", 200, `{"projects": [], `},
			{"take by a member", "DELETE", tied, "tok-member", "", 403, "identity:remove_endpoint_group_from_project"},
			{"take", "DELETE", tied, "tok-admin", "", 204, ""},
			{"take again", "DELETE", tied, "tok-admin", "", 404, "Endpoint Group Project Association not found"},
		})
	})
}

// What the lists of filters and policies cost does not depend on what they
// hold.
func TestEndpointFilterStatements(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		withProject(t, d)
		st := newStand(t, setup{db: d})
		for _, c := range []call{
			{method: "POST", path: "/v3/policies", body: `{"policy": {"blob": "b", "type": "t"}}`},
			{method: "PUT", path: "/v3/OS-EP-FILTER/projects/p/endpoints/e"},
		} {
			c.token = "tok-admin"
			if w := st.do(c); w.Code/100 != 2 {
				t.Fatalf("%s: %d %s", c.path, w.Code, w.Body)
			}
		}
		counter := dbtest.Count(t, d)
		st = newStand(t, setup{db: counter})
		for _, path := range []string{
			"/v3/OS-EP-FILTER/endpoint_groups", "/v3/OS-EP-FILTER/projects/p/endpoints", "/v3/OS-EP-FILTER/projects/p/endpoint_groups", "/v3/OS-EP-FILTER/endpoints/e/projects",
			"/v3/OS-EP-FILTER/projects/p/endpoints/e", "/v3/OS-EP-FILTER/endpoint_groups/none/projects", "/v3/policies", "/v3/endpoints/e/OS-ENDPOINT-POLICY/policy", "/v3/policies/none/OS-ENDPOINT-POLICY/endpoints",
		} {
			counter.Reset()
			if w := st.do(call{path: path, token: "tok-admin"}); counter.RoundTrips != 1 {
				t.Errorf("%s: %d in %d round trips, want 1: %q", path, w.Code, counter.RoundTrips, counter.Texts)
			}
		}
	})
}
