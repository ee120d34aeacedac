package catalog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// stock fills a catalog:
//
//	s1 identity "ks"   e1 public in RegionOne, e2 internal (disabled), e3 admin in no region
//	s2 compute         no endpoint
//	s3 volume          (disabled) e5
//	s4 object, no name e6 with the project in its URL, e7 with a URL that is wrong, e8 with one that is empty
func stock(t *testing.T, d db.DB) {
	t.Helper()
	one := "RegionOne"
	run(t, d, `insert into region (id, description, extra) values ($1, '', '{}')`, one)
	for _, s := range []catalog.Service{
		{ID: "s1", Type: new("identity"), Enabled: true, Extra: pyjson.Object{{Key: "name", Value: "ks"}, {Key: "description", Value: "d"}}},
		{ID: "s2", Type: new("compute"), Enabled: true, Extra: pyjson.Object{{Key: "name", Value: "nova"}}},
		{ID: "s3", Type: new("volume"), Extra: pyjson.Object{{Key: "name", Value: "cinder"}}},
		{ID: "s4", Type: new("object"), Enabled: true},
	} {
		if err := catalog.CreateService(t.Context(), d, s); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range []catalog.Endpoint{
		{ID: "e1", ServiceID: "s1", Interface: "public", URL: "https://one", RegionID: &one, Enabled: true},
		{ID: "e2", ServiceID: "s1", Interface: "internal", URL: "https://two", RegionID: &one},
		{ID: "e3", ServiceID: "s1", Interface: "admin", URL: "https://three", Enabled: true, Extra: pyjson.Object{{Key: "name", Value: "x"}, {Key: "url", Value: "no"}, {Key: "a", Value: nil}}},
		{ID: "e5", ServiceID: "s3", Interface: "public", URL: "https://five", RegionID: &one, Enabled: true},
		{ID: "e6", ServiceID: "s4", Interface: "public", URL: "https://six/$(tenant_id)s", RegionID: &one, Enabled: true},
		{ID: "e7", ServiceID: "s4", Interface: "internal", URL: "https://seven/%(nothing)s", Enabled: true},
		{ID: "e8", ServiceID: "s4", Interface: "admin", URL: "", Enabled: true},
	} {
		if err := catalog.CreateEndpoint(t.Context(), d, e); err != nil {
			t.Fatal(err)
		}
	}
}

func run(t *testing.T, d db.DB, text string, args ...any) {
	t.Helper()
	if _, err := d.Exec(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// entries reads the catalog of a project, or of another scope for none.
func entries(t *testing.T, d db.DB, projectID string, all bool) []catalog.Entry {
	t.Helper()
	var b db.Batch
	r := catalog.Read(&b, projectID)
	if err := d.Send(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return r.Entries(catalog.Scope{ProjectID: projectID, UserID: "u", AllWithoutFilter: all})
}

// brief writes "service[endpoint endpoint]".
func brief(list []catalog.Entry) string {
	var out []string
	for _, e := range list {
		var ids []string
		for _, p := range e.Endpoints {
			ids = append(ids, p.ID)
		}
		out = append(out, fmt.Sprintf("%s[%s]", e.ID, strings.Join(ids, " ")))
	}
	return strings.Join(out, " ")
}

// TestEntries shows every field of a catalog, extra attributes and a region
// that is null among them.
func TestEntries(t *testing.T) {
	one := "RegionOne"
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		run(t, d, `insert into service (id, type, extra, enabled) values ('s9', null, null, $1)`, true)
		want := []catalog.Entry{
			{ID: "s1", Type: new("identity"), Name: "ks", Endpoints: []catalog.EntryEndpoint{
				{ID: "e1", Interface: "public", URL: "https://one", RegionID: &one, Extra: "{}"},
				{ID: "e3", Interface: "admin", URL: "https://three", Extra: `{"name": "x", "url": "no", "a": null}`},
			}},
			{ID: "s2", Type: new("compute"), Name: "nova", Endpoints: []catalog.EntryEndpoint{}},
			{ID: "s4", Type: new("object"), Endpoints: []catalog.EntryEndpoint{
				{ID: "e6", Interface: "public", URL: "https://six/p", RegionID: &one, Extra: "{}"},
			}},
			{ID: "s9", Endpoints: []catalog.EntryEndpoint{}},
		}
		if diff := cmp.Diff(want, entries(t, d, "p", true)); diff != "" {
			t.Errorf("catalog of a project: want -, got +\n%s", diff)
		}
	})
}

// TestFilter is OS-EP-FILTER: a project that is tied to endpoints, one by one
// or through groups, sees those alone.
func TestFilter(t *testing.T) {
	const full = "s1[e1 e3] s2[] s4[e6]"
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		for _, tt := range []struct {
			name    string
			linked  string   // endpoints tied to the project
			filters []string // of groups tied to it
			all     bool
			want    string
		}{
			{"no filter", "", nil, true, full},
			{"no filter, and none means nothing", "", nil, false, ""},
			{"one endpoint", "e1", nil, true, "s1[e1]"},
			{"one endpoint, option off", "e1", nil, false, "s1[e1]"},
			{"two of two services", "e3 e6", nil, true, "s1[e3] s4[e6]"},
			{"a disabled endpoint alone", "e2", nil, true, ""},
			{"one of a disabled service alone", "e5", nil, true, ""},
			{"one whose URL is wrong", "e7 e1", nil, true, "s1[e1]"},
			{"an endpoint that is gone counts for nothing", "gone", nil, true, full},
			{"an endpoint that is gone, option off", "gone", nil, false, ""},
			{"one that is gone beside another", "gone e1", nil, true, "s1[e1]"},
			{"group by interface", "", []string{`{"interface": "public"}`}, true, "s1[e1] s4[e6]"},
			{"group by service", "", []string{`{"service_id": "s1"}`}, true, "s1[e1 e3]"},
			{"group by region", "", []string{`{"region_id": "RegionOne"}`}, true, "s1[e1] s4[e6]"},
			{"group by no region", "", []string{`{"region_id": null}`}, true, "s1[e3]"},
			{"group by enabled", "", []string{`{"enabled": true, "service_id": "s1"}`}, true, "s1[e1 e3]"},
			{"group of the disabled", "", []string{`{"enabled": false}`}, true, ""},
			{"all of a group's filters must hold", "", []string{`{"interface": "public", "service_id": "s4"}`}, true, "s4[e6]"},
			{"group that finds nothing", "", []string{`{"interface": "other"}`}, true, full},
			{"group that finds nothing, option off", "", []string{`{"interface": "other"}`}, false, ""},
			{"group that finds a disabled service alone", "", []string{`{"service_id": "s3"}`}, true, ""},
			{"two groups", "", []string{`{"interface": "admin"}`, `{"service_id": "s4"}`}, true, "s1[e3] s4[e6]"},
			{"group and endpoint", "e6", []string{`{"interface": "admin"}`}, true, "s1[e3] s4[e6]"},
			{"group without filters", "", []string{`{}`}, true, "s1[e1 e3] s4[e6]"},
			{"group that is no JSON", "", []string{`{`, `null`, `[]`}, true, full},
		} {
			for _, table := range []string{"project_endpoint", "project_endpoint_group", "endpoint_group"} {
				run(t, d, `delete from `+table)
			}
			for _, id := range strings.Fields(tt.linked) {
				run(t, d, `insert into project_endpoint (endpoint_id, project_id) values ($1, 'p')`, id)
			}
			for i, f := range tt.filters {
				id := fmt.Sprint("g", i)
				run(t, d, `insert into endpoint_group (id, name, filters) values ($1, $1, $2)`, id, f)
				run(t, d, `insert into project_endpoint_group (endpoint_group_id, project_id) values ($1, 'p')`, id)
			}
			if got := brief(entries(t, d, "p", tt.all)); got != tt.want {
				t.Errorf("%s: catalog %q, want %q", tt.name, got, tt.want)
			}
			other := full
			if !tt.all {
				other = ""
			}
			if got := brief(entries(t, d, "q", tt.all)); got != other {
				t.Errorf("%s: catalog of another project %q, want %q", tt.name, got, other)
			}
		}
	})
}

// TestEntriesWithoutProject leaves out what names a project, and knows no filter.
func TestEntriesWithoutProject(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		run(t, d, `insert into project_endpoint (endpoint_id, project_id) values ('e1', '')`)
		if got, want := brief(entries(t, d, "", true)), "s1[e1 e3] s2[] s4[]"; got != want {
			t.Errorf("catalog %q, want %q", got, want)
		}
		if got := entries(t, d, "", false); got == nil || len(got) != 0 {
			t.Errorf("catalog with return_all_endpoints_if_no_filter off: %v, want an empty list", got)
		}
	})
}

// TestReadCost is one round trip of two statements, or one without a project.
func TestReadCost(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		c := dbtest.Count(t, d)
		entries(t, c, "p", true)
		entries(t, c, "", true)
		if c.RoundTrips != 2 || c.Statements != 3 || c.Writes != 0 {
			t.Errorf("%d round trips, %d statements, %d writes, want 2, 3, 0", c.RoundTrips, c.Statements, c.Writes)
		}
	})
}

// TestWrite stores services and endpoints, and finds them again.
func TestWrite(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		services, err := db.All(t.Context(), d, catalog.ServicesOfType("object"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]catalog.Service{{ID: "s4", Type: new("object"), Enabled: true}}, services); diff != "" {
			t.Errorf("services: want -, got +\n%s", diff)
		}
		if err := catalog.SetEndpointURL(t.Context(), d, "e2", "https://new"); err != nil {
			t.Fatal(err)
		}
		list, err := db.All(t.Context(), d, catalog.EndpointsOfService("s1"))
		if err != nil {
			t.Fatal(err)
		}
		one := "RegionOne"
		want := catalog.Endpoint{ID: "e2", Interface: "internal", ServiceID: "s1", URL: "https://new", RegionID: &one}
		if len(list) != 3 || !cmp.Equal(list[1], want) || list[0].URL != "https://one" {
			t.Errorf("endpoints: %+v", list)
		}
		if err := catalog.CreateEndpoint(t.Context(), d, catalog.Endpoint{ID: "x", ServiceID: "none"}); err == nil {
			t.Error("an endpoint of no service was stored")
		}
	})
}
