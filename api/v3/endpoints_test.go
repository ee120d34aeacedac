package v3_test

import (
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// withService stores the service s.
func withService(t *testing.T, d db.DB) {
	t.Helper()
	if err := catalog.CreateService(t.Context(), d, catalog.Service{ID: "s", Type: new("compute"), Enabled: true}); err != nil {
		t.Fatal(err)
	}
}

func TestEndpoints(t *testing.T) {
	const all, one = "/v3/endpoints", "/v3/endpoints/{ID}"
	long := strings.Repeat("x", 226-len("http://"))
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		withService(t, d)
		script(t, newStand(t, setup{db: d}), []step{
			{"none yet", "GET", all, "tok-admin", "", 200, `{"endpoints": [], "links": {"next": null, "self": "http://127.0.0.1:5000/v3/endpoints", "previous": null}}` + "\n"},
			{"list by a member", "GET", all, "tok-member", "", 403, "identity:list_endpoints"},
			{"list without a token", "GET", all, "", "", 401, ""},
			{"by an interface there is not", "GET", all + "?interface=x", "tok-admin", "", 400, ""},
			{"create by a member", "POST", all, "tok-member", `{"endpoint": {"interface": "public", "service_id": "s", "url": "http://x"}}`, 403, "identity:create_endpoint"},
			{"shape before 401", "POST", all, "", `{"endpoint": {"service_id": "s", "url": "http://x"}}`, 400, ""},
			{"401 before nothing", "POST", all, "", `{}`, 401, ""},
			{"nothing", "POST", all, "tok-admin", `{}`, 400, ""},
			{"another key", "POST", all, "tok-admin", `{"endpoints": {}}`, 400, ""},
			{"a second key", "POST", all, "tok-admin", `{"endpoint": {"interface": "public", "service_id": "s", "url": "http://x"}, "more": 1}`, 400, ""},
			{"no such interface", "POST", all, "tok-admin", `{"endpoint": {"interface": "x", "service_id": "s", "url": "http://x"}}`, 400, ""},
			{"no URL", "POST", all, "tok-admin", `{"endpoint": {"interface": "public", "service_id": "s", "url": "x"}}`, 400, ""},
			{"long URL", "POST", all, "tok-admin", `{"endpoint": {"interface": "public", "service_id": "s", "url": "http://` + long + `"}}`, 400, ""},
			{"a URL with an unknown key", "POST", all, "tok-admin", `{"endpoint": {"interface": "public", "service_id": "none", "url": "http://x/%(y)s"}}`, 400, "Cannot create an endpoint with an invalid URL: http://x/%(y)s."},
			{"no such service", "POST", all, "tok-admin", `{"endpoint": {"interface": "public", "service_id": "none", "url": "http://x"}}`, 400, "endpoint service_id in service table"},
			{"no such region", "POST", all, "tok-admin", `{"endpoint": {"interface": "public", "service_id": "s", "url": "http://x", "region_id": "none"}}`, 400, "endpoint region_id in region table"},
			{"no region", "POST", all, "tok-admin", `{"endpoint": {"interface": "public", "service_id": "s", "url": "http://x/$(tenant_id)s", "a-b": 1, "links": {}, "legacy_endpoint_id": "l"}}`, 201, `"endpoint": {"a_b": 1, "id": "`},
			{"show it", "GET", one, "tok-admin", "", 200, `"id": "{ID}", "interface": "public", "region_id": null, "service_id": "s", "url": "http://x/$(tenant_id)s", "enabled": true, "region": null, "links": {"self": "http://127.0.0.1:5000/v3/endpoints/{ID}"}}}`},
			{"legacy region", "POST", all, "tok-admin", `{"endpoint": {"region": "Made", "interface": "admin", "service_id": "s", "url": "http://y", "name": "n", "enabled": false}}`, 201, `"region_id": "Made", "service_id": "s", "url": "http://y", "enabled": false, "region": "Made"`},
			{"its region", "GET", "/v3/regions/Made", "tok-admin", "", 200, `"description": ""`},
			{"show by a member", "GET", one, "tok-member", "", 403, "identity:get_endpoint"},
			{"by interface", "GET", all + "?interface=public", "tok-admin", "", 200, `"a_b": 1`},
			{"by region", "GET", all + "?region_id=Made", "tok-admin", "", 200, `{"endpoints": [{"name": "n"`},
			{"by a part of the region", "GET", all + "?region_id__icontains=ADE", "tok-admin", "", 200, `"n"`},
			{"by a part of the region in its case", "GET", all + "?region_id__contains=ade", "tok-admin", "", 200, `{"endpoints": [{"name": "n"`},
			{"by service and interface", "GET", all + "?service_id=s&interface=internal", "tok-admin", "", 200, `{"endpoints": [], `},
			{"with a limit", "GET", all + "?limit=1", "tok-admin", "", 200, `"truncated": true`},
			{"both regions", "PATCH", one, "tok-admin", `{"endpoint": {"region_id": "Made", "region": "Other"}}`, 200, `{"endpoint": {"name": "n", "region": "Made", "id": "{ID}"`},
			{"null regions", "PATCH", one, "tok-admin", `{"endpoint": {"region_id": null, "region": null}}`, 200, `"region_id": null`},
			{"another legacy region", "PATCH", one, "tok-admin", `{"endpoint": {"region_id": null, "region": "Second"}}`, 200, `"region_id": "Second"`},
			{"patch nothing", "PATCH", one, "tok-admin", `{"endpoint": {}}`, 400, ""},
			{"patch the id", "PATCH", one, "tok-admin", `{"endpoint": {"id": "x"}}`, 400, "Cannot change ID"},
			{"patch an unknown service", "PATCH", one, "tok-admin", `{"endpoint": {"service_id": "none"}}`, 400, "service table"},
			{"patch", "PATCH", one, "tok-admin", `{"endpoint": {"url": "http://x/%(y)s", "enabled": true}}`, 200, `"url": "http://x/%(y)s", "enabled": true`},
			{"patch by a member", "PATCH", one, "tok-member", `{"endpoint": {"url": "http://x"}}`, 403, "identity:update_endpoint"},
			{"patch what is not there", "PATCH", all + "/none", "tok-admin", `{"endpoint": {"url": "http://x"}}`, 404, "Could not find endpoint: none."},
			{"get what is not there", "GET", all + "/none", "tok-admin", "", 404, "Could not find endpoint: none."},
			{"delete by a member", "DELETE", one, "tok-member", "", 403, "identity:delete_endpoint"},
			{"delete", "DELETE", one, "tok-admin", "", 204, ""},
			{"delete again", "DELETE", one, "tok-admin", "", 404, "Could not find endpoint: {ID}."},
		})
	})
}

// The answers of endpoints cost as many round trips whatever there is.
func TestEndpointStatements(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		withService(t, d)
		for _, id := range []string{"e1", "e2", "e3"} {
			if err := catalog.CreateEndpoint(t.Context(), d, catalog.Endpoint{ID: id, Interface: "public", ServiceID: "s", URL: "http://x", Enabled: true}); err != nil {
				t.Fatal(err)
			}
		}
		counter := dbtest.Count(t, d)
		st := newStand(t, setup{db: counter})
		for _, c := range []struct {
			call  call
			trips int
		}{
			{call{path: "/v3/endpoints", token: "tok-admin"}, 1},
			{call{path: "/v3/endpoints/e1", token: "tok-admin"}, 1},
			{call{path: "/v3/endpoints/e1"}, 0},
			{call{method: "DELETE", path: "/v3/endpoints/e1", token: "tok-member"}, 0},
		} {
			counter.Reset()
			if w := st.do(c.call); counter.RoundTrips != c.trips {
				t.Errorf("%s %s: %d in %d round trips, want %d: %q", c.call.method, c.call.path, w.Code, counter.RoundTrips, c.trips, counter.Texts)
			}
		}
	})
}
