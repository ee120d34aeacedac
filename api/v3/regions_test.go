package v3_test

import (
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// Each call depends on the ones before it.
func TestRegions(t *testing.T) {
	const (
		all, one = "/v3/regions", "/v3/regions/RegionOne"
		self     = `"links": {"self": "http://127.0.0.1:5000/v3/regions/`
		circle   = "The specified parent region RegionOne would create a circular region hierarchy."
	)
	long := strings.Repeat("é", 256)
	steps := []step{
		{"none yet", "GET", all, "tok-member", "", 200, `{"regions": [], "links": {"next": null, "self": "http://127.0.0.1:5000/v3/regions", "previous": null}}` + "\n"},
		{"list without a token", "GET", all, "", "", 401, ""},
		{"create by a member", "POST", all, "tok-member", `{"region": {}}`, 403, "identity:create_region"},
		{"create without a token", "POST", all, "", `{"region": {}}`, 401, ""},
		{"bad shape comes before 401", "POST", all, "", `{"region": 1}`, 400, ""},
		{"no region", "POST", all, "tok-admin", `{"zone": {}}`, 400, ""},
		{"no body", "POST", all, "tok-admin", "", 400, ""},
		{"number for an id", "POST", all, "tok-admin", `{"region": {"id": 1}}`, 400, ""},
		{"long id", "POST", all, "tok-admin", `{"region": {"id": "` + long + `"}}`, 400, ""},
		{"NUL in an id", "POST", all, "tok-admin", `{"region": {"id": "a\u0000b"}}`, 400, ""},
		{"long description", "POST", all, "tok-admin", `{"region": {"description": "` + long + `"}}`, 400, ""},
		{"empty parent", "POST", all, "tok-admin", `{"region": {"parent_region_id": ""}}`, 400, ""},
		{"as long as may be", "POST", all, "tok-admin", `{"region": {"id": "` + long[2:] + `", "description": "` + long[2:] + `"}}`, 201, `"parent_region_id": null`},
		{"delete it", "DELETE", all + "/" + strings.Repeat("%C3%A9", 255), "tok-admin", "", 204, ""},
		{"with an id", "POST", all, "tok-admin", `{"region": {"id": "RegionOne"}, "more": 1}`, 201, `{"region": {"id": "RegionOne", "description": "", "parent_region_id": null, ` + self + `RegionOne"}}}` + "\n"},
		{"null for all", "POST", all, "tok-admin", `{"region": {"id": null, "description": null, "parent_region_id": null}}`, 201, `"description": ""`},
		{"empty id", "POST", all, "tok-admin", `{"region": {"id": ""}}`, 201, `"description": ""`},
		{"duplicate", "POST", all, "tok-admin", `{"region": {"id": "RegionOne"}}`, 409, `Duplicate ID, RegionOne..`},
		{"unknown parent", "POST", all, "tok-admin", `{"region": {"parent_region_id": "none"}}`, 404, "Could not find region: none."},
		{
			"extra members, in their order and renamed", "POST", all, "tok-admin",
			`{"region": {"z-z": "1", "id": "RegionTwo", "a:a": {"n": [1.50, null, "é"]}, "parent_region_id": "RegionOne", "links": {"self": "x"}}}`, 201,
			`{"region": {"z_z": "1", "a_a": {"n": [1.5, null, "\u00e9"]}, "id": "RegionTwo", "description": "", "parent_region_id": "RegionOne", ` + self + `RegionTwo"}}}`,
		},
		{"put", "PUT", all + "/RegionPut", "tok-admin", `{"region": {}}`, 201, `"id": "RegionPut"`},
		{"put with its id", "PUT", all + "/RegionPut2", "tok-admin", `{"region": {"id": "RegionPut2", "description": "d"}}`, 201, `"description": "d"`},
		{"put another id", "PUT", all + "/RegionPut3", "tok-admin", `{"region": {"id": "x"}}`, 400, `Conflicting region IDs specified: \"RegionPut3\" != \"x\"`},
		{"put a null id", "PUT", all + "/RegionPut3", "tok-admin", `{"region": {"id": null}}`, 400, `\"RegionPut3\" != \"None\"`},
		{"put again", "PUT", all + "/RegionPut", "tok-admin", `{"region": {}}`, 409, ""},
		{"put by a member", "PUT", all + "/RegionPut4", "tok-member", `{"region": {}}`, 403, "identity:create_region"},
		{"get by a member", "GET", all + "/RegionTwo", "tok-member", "", 200, `"parent_region_id": "RegionOne"`},
		{"get with a slash at the end", "GET", all + "/RegionTwo/", "tok-member", "", 200, `"id": "RegionTwo"`},
		{"get what is not there", "GET", all + "/none", "tok-member", "", 404, "Could not find region: none."},
		{"letter case counts", "GET", all + "/regiontwo", "tok-member", "", 404, ""},
		{"by parent", "GET", all + "?parent_region_id=RegionOne", "tok-member", "", 200, `"self": "http://127.0.0.1:5000/v3/regions?parent_region_id=RegionOne"`},
		{"by two parents", "GET", all + "?parent_region_id=RegionOne&parent_region_id=x", "tok-member", "", 200, `{"regions": []`},
		{"by no parent", "GET", all + "?parent_region_id=", "tok-member", "", 400, ""},
		{"by a NUL", "GET", all + "?parent_region_id=%00", "tok-member", "", 400, ""},
		{"by what is no UTF-8", "GET", all + "?parent_region_id=%ff", "tok-member", "", 400, ""},
		{"unknown parameter", "GET", all + "?limit=1", "tok-member", "", 400, ""},
		{"unknown parameter before 401", "GET", all + "?limit=1", "", "", 400, ""},
		{"what is no UTF-8 in the path", "GET", all + "/%ff", "tok-member", "", 404, ""},
		{"patch", "PATCH", one, "tok-admin", `{"region": {"description": "né", "k": 1}}`, 200, `{"region": {"k": 1, "id": "RegionOne", "description": "n\u00e9", "parent_region_id": null, `},
		{"patch keeps the rest", "PATCH", all + "/RegionTwo", "tok-admin", `{"region": {"description": null}}`, 200, `"z_z": "1", "a_a"`},
		{"patch with its id", "PATCH", one, "tok-admin", `{"region": {"id": "RegionOne"}}`, 200, `"description": "n\u00e9"`},
		{"patch the id", "PATCH", one, "tok-admin", `{"region": {"id": "x"}}`, 400, "Cannot change ID"},
		{"patch nothing", "PATCH", one, "tok-admin", `{"region": {}}`, 400, ""},
		{"patch with a second key", "PATCH", one, "tok-admin", `{"region": {"k": 2}, "more": 1}`, 400, ""},
		{"patch into a circle", "PATCH", one, "tok-admin", `{"region": {"parent_region_id": "RegionTwo"}}`, 400, circle},
		{"patch under itself", "PATCH", one, "tok-admin", `{"region": {"parent_region_id": "RegionOne"}}`, 400, circle},
		{"patch under what is not there", "PATCH", one, "tok-admin", `{"region": {"parent_region_id": "none"}}`, 404, "Could not find region: none."},
		{"patch what is not there", "PATCH", all + "/none", "tok-admin", `{"region": {"k": 1}}`, 404, "Could not find region: none."},
		{"patch by a member what is not there", "PATCH", all + "/none", "tok-member", `{"region": {"k": 1}}`, 403, "identity:update_region"},
		{"delete by a member", "DELETE", one, "tok-member", "", 403, "identity:delete_region"},
	}
	last := []step{
		{"delete one in use", "DELETE", one, "tok-admin", "", 403, "Unable to delete region RegionOne because it or its child regions have associated endpoints."},
		{"delete what is not there", "DELETE", all + "/none", "tok-admin", "", 404, ""},
		{"delete", "DELETE", all + "/RegionPut", "tok-admin", "", 204, ""},
		{"delete again", "DELETE", all + "/RegionPut", "tok-admin", "", 404, ""},
		{"post to one", "POST", one, "tok-admin", `{"region": {}}`, 405, ""},
	}
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		st := newStand(t, setup{db: d})
		script(t, st, steps)
		useRegion(t, d, "RegionTwo")
		script(t, st, last)
	})
}

func useRegion(t *testing.T, d db.DB, region string) {
	t.Helper()
	if err := catalog.CreateService(t.Context(), d, catalog.Service{ID: "s", Type: new("compute"), Enabled: true}); err != nil {
		t.Fatal(err)
	}
	e := catalog.Endpoint{ID: "e", Interface: "public", ServiceID: "s", URL: "http://x", RegionID: &region, Enabled: true}
	if err := catalog.CreateEndpoint(t.Context(), d, e); err != nil {
		t.Fatal(err)
	}
}

// A region's answers cost one round trip for a read, and what is refused
// before the region is looked at costs none.
func TestRegionStatements(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedRegions(t, d)
		counter := dbtest.Count(t, d)
		st := newStand(t, setup{db: counter})
		for _, c := range []struct {
			call  call
			trips int
		}{
			{call{path: "/v3/regions", token: "tok-member"}, 1},
			{call{path: "/v3/regions/RegionOne", token: "tok-member"}, 1},
			{call{path: "/v3/regions/RegionOne"}, 0},
			{call{path: "/v3/regions?x=1", token: "tok-member"}, 0},
			{call{method: "DELETE", path: "/v3/regions/RegionOne", token: "tok-member"}, 0},
		} {
			counter.Reset()
			w := st.do(c.call)
			if counter.RoundTrips != c.trips {
				t.Errorf("%s %s: %d in %d round trips, want %d: %q", c.call.method, c.call.path, w.Code, counter.RoundTrips, c.trips, counter.Texts)
			}
		}
	})
}
