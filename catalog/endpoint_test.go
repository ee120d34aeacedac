package catalog_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// texts reads a column of text.
func texts(t *testing.T, d db.DB, text string, args ...any) []string {
	t.Helper()
	out, err := db.All(t.Context(), d, db.Query[string]{Text: text, Args: args, Scan: func(r db.Row) (s string, err error) {
		err = r.Scan(&s)
		return s, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const noService = "Expecting to find endpoint service_id in service table. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error."

func TestEndpointCreate(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		e := catalog.Endpoints{DB: d}
		full := catalog.Endpoint{
			ID: "it's $1", Interface: "public", ServiceID: "s1", URL: "http://x/%(tenant_id)s", RegionID: ptr("RegionOne"), Enabled: true,
			Extra: pyjson.Object{{Key: "name", Value: "né"}, {Key: "a", Value: []any{nil, true}}},
		}
		if err := second(e.Create(t.Context(), full, false)); err != nil {
			t.Fatal(err)
		}
		got, err := e.Get(t.Context(), full.ID)
		if d := cmp.Diff(full, got); err != nil || d != "" {
			t.Errorf("read back: %v %s", err, d)
		}
		_, err = e.Get(t.Context(), "none")
		wantFault(t, "get", err, fault.NotFound, "Could not find endpoint: none.")
		with := func(change func(*catalog.Endpoint)) catalog.Endpoint {
			n := catalog.Endpoint{ID: "new", Interface: "public", ServiceID: "s1", URL: "http://x", Enabled: true}
			change(&n)
			return n
		}
		wantFault(t, "no service", second(e.Create(t.Context(), with(func(n *catalog.Endpoint) { n.ServiceID = "none" }), false)), fault.BadRequest, noService)
		wantFault(t, "no region", second(e.Create(t.Context(), with(func(n *catalog.Endpoint) { n.RegionID = ptr("none"); n.ServiceID = "none" }), false)), fault.BadRequest,
			"Expecting to find endpoint region_id in region table. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.")
		wantFault(t, "a URL", second(e.Create(t.Context(), with(func(n *catalog.Endpoint) { n.URL = "http://x/%(none)s" }), false)), fault.BadRequest,
			"Cannot create an endpoint with an invalid URL: http://x/%(none)s.")

		// A region is made with the endpoint or not at all.
		lost := with(func(n *catalog.Endpoint) { n.RegionID = ptr("Made"); n.ServiceID = "none" })
		wantFault(t, "a region for no service", second(e.Create(t.Context(), lost, true)), fault.BadRequest, noService)
		if got := texts(t, d, `select id from region`); !slices.Equal(got, []string{"RegionOne"}) {
			t.Errorf("regions after a refusal: %v", got)
		}
		made := with(func(n *catalog.Endpoint) { n.RegionID = ptr("Made") })
		if err := second(e.Create(t.Context(), made, true)); err != nil {
			t.Fatal(err)
		}
		region, err := catalog.Regions{DB: d}.Get(t.Context(), "Made")
		if d := cmp.Diff(catalog.Region{ID: "Made"}, region); err != nil || d != "" {
			t.Errorf("the region: %v %s", err, d)
		}
	})
}

// Of many who bring the same new region, all succeed.
func TestEndpointCreateAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				n := catalog.Endpoint{ID: fmt.Sprint("at", i), Interface: "public", ServiceID: "s1", URL: "http://x", RegionID: ptr("New"), Enabled: true}
				if _, err := (catalog.Endpoints{DB: d}).Create(t.Context(), n, true); err != nil {
					t.Errorf("create: %v", err)
				}
			})
		}
		wg.Wait()
		if got := texts(t, d, `select id from endpoint where region_id = 'New'`); len(got) != 8 {
			t.Errorf("stored: %v", got)
		}
	})
}

// An endpoint that meets the end of its service is refused or goes with it, and
// leaves no endpoint of no service.
func TestEndpointAgainstItsService(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		for i := range 6 {
			service := fmt.Sprint("s", i)
			if err := (catalog.Services{DB: d}).Create(t.Context(), catalog.Service{ID: service, Type: new("x"), Enabled: true}); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			wg.Go(func() {
				_, err := catalog.Endpoints{DB: d}.Create(t.Context(), catalog.Endpoint{ID: fmt.Sprint("e", i), Interface: "public", ServiceID: service, URL: "http://x", Enabled: true}, false)
				if err != nil && !fault.Is(err, fault.BadRequest) {
					t.Errorf("create: %v", err)
				}
			})
			wg.Go(func() {
				if err := (catalog.Services{DB: d}).Delete(t.Context(), service); err != nil {
					t.Errorf("delete: %v", err)
				}
			})
			wg.Wait()
		}
		if got := texts(t, d, `select id from endpoint`); len(got) > 0 {
			t.Errorf("left: %v", got)
		}
	})
}

func TestEndpointUpdate(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		e := catalog.Endpoints{DB: d}
		run(t, d, `update endpoint set legacy_endpoint_id = 'old' where id = 'e3'`)
		got, _, err := e.Update(t.Context(), "e3", catalog.EndpointChange{
			Interface: ptr("internal"), ServiceID: ptr("s2"), URL: ptr("anything %"), RegionID: new(ptr("Made")), MakeRegion: true,
			Enabled: new(false), Extra: pyjson.Object{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}},
		})
		want := catalog.Endpoint{
			ID: "e3", Interface: "internal", ServiceID: "s2", URL: "anything %", RegionID: ptr("Made"),
			Extra: pyjson.Object{{Key: "name", Value: "x"}, {Key: "url", Value: "no"}, {Key: "a", Value: "1"}, {Key: "b", Value: "2"}},
		}
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Fatalf("update: %v %s", err, d)
		}
		stored, err := e.Get(t.Context(), "e3")
		if d := cmp.Diff(want, stored); err != nil || d != "" {
			t.Errorf("stored: %v %s", err, d)
		}
		if got := texts(t, d, `select legacy_endpoint_id from endpoint where id = 'e3'`); got[0] != "old" {
			t.Errorf("legacy id: %v", got)
		}
		if got, _, err = e.Update(t.Context(), "e3", catalog.EndpointChange{RegionID: new((*string)(nil))}); err != nil || got.RegionID != nil || got.URL != "anything %" {
			t.Errorf("region taken away: %+v %v", got, err)
		}
		_, _, err = e.Update(t.Context(), "none", catalog.EndpointChange{})
		wantFault(t, "not there", err, fault.NotFound, "Could not find endpoint: none.")
		_, _, err = e.Update(t.Context(), "none", catalog.EndpointChange{ServiceID: ptr("none")})
		wantFault(t, "no service comes first", err, fault.BadRequest, noService)
	})
}

func TestEndpointList(t *testing.T) {
	by := func(name, op, value string, fold bool) hints.Hints {
		return hints.Hints{Filters: []hints.Filter{{Name: name, Op: op, Value: value, Fold: fold}}}
	}
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		for _, c := range []struct {
			h    hints.Hints
			want []string
		}{
			{hints.Hints{}, []string{"e1", "e2", "e3", "e5", "e6", "e7", "e8"}},
			{by("interface", "equals", "admin", false), []string{"e3", "e8"}},
			{by("region_id", "equals", "regionone", false), nil},
			{by("region_id", "contains", "REGION", true), []string{"e1", "e2", "e5", "e6"}},
			{by("service_id", "equals", "s1", false), []string{"e1", "e2", "e3"}},
			{hints.Hints{Limit: 2, Limited: true}, []string{"e1", "e2"}},
		} {
			p, err := catalog.Endpoints{DB: d}.List(t.Context(), c.h)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range p.Rows {
				got = append(got, e.ID)
			}
			if c.want == nil && !dbtest.Exact(d) {
				c.want = []string{"e1", "e2", "e5", "e6"}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("%+v: %s", c.h, d)
			}
		}
	})
}

// ties makes a project's and policies' ties to what stock made.
func ties(t *testing.T, d db.DB) {
	t.Helper()
	for _, e := range []string{"e1", "e3", "e5"} {
		run(t, d, `insert into project_endpoint (project_id, endpoint_id) values ('p', $1)`, e)
	}
	for i, a := range [][3]any{{"e1", nil, nil}, {"e5", nil, nil}, {nil, "s1", nil}, {nil, "s1", "RegionOne"}, {nil, "s2", "RegionOne"}} {
		run(t, d, `insert into policy_association (id, policy_id, endpoint_id, service_id, region_id) values ($1, 'pol', $2, $3, $4)`, fmt.Sprint("a", i), a[0], a[1], a[2])
	}
}

func TestDeleteTakesTies(t *testing.T) {
	for name, c := range map[string]struct {
		delete                 func(t *testing.T, d db.DB) error
		endpoints, tied, named []string
	}{
		"endpoint": {
			func(t *testing.T, d db.DB) error { return catalog.Endpoints{DB: d}.Delete(t.Context(), "e1") },
			[]string{"e2", "e3", "e5", "e6", "e7", "e8"},
			[]string{"e3", "e5"},
			[]string{"a1", "a2", "a3", "a4"},
		},
		"service": {
			func(t *testing.T, d db.DB) error { return catalog.Services{DB: d}.Delete(t.Context(), "s1") },
			[]string{"e5", "e6", "e7", "e8"},
			[]string{"e5"},
			[]string{"a1", "a4"},
		},
		"region": {
			func(t *testing.T, d db.DB) error {
				run(t, d, `update endpoint set region_id = null`)
				return catalog.Regions{DB: d}.Delete(t.Context(), "RegionOne")
			},
			[]string{"e1", "e2", "e3", "e5", "e6", "e7", "e8"},
			[]string{"e1", "e3", "e5"},
			[]string{"a0", "a1", "a2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d db.DB) {
				stock(t, d)
				ties(t, d)
				if err := c.delete(t, d); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(c.endpoints, texts(t, d, `select id from endpoint order by id`)); d != "" {
					t.Errorf("endpoints: %s", d)
				}
				if d := cmp.Diff(c.tied, texts(t, d, `select endpoint_id from project_endpoint order by endpoint_id`)); d != "" {
					t.Errorf("of the project: %s", d)
				}
				if d := cmp.Diff(c.named, texts(t, d, `select id from policy_association order by id`)); d != "" {
					t.Errorf("of policies: %s", d)
				}
			})
		})
	}
}

func TestEndpointDeleteNone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		wantFault(t, "delete", catalog.Endpoints{DB: d}.Delete(t.Context(), "none"), fault.NotFound, "Could not find endpoint: none.")
	})
}

// TestCheckURL holds what Python's formatting takes with a mapping of texts
// (check_endpoint_url in keystone/common/utils.py).
func TestCheckURL(t *testing.T) {
	for url, want := range map[string]bool{
		"": true, "http://x": true, "http://x/100%%": true, "http://x/$(tenant_id)s/%(project_id)s": true, "http://%(compute_host)s:80/": true,
		"http://x/$(user_id)s%(public_endpoint)s": true, "http://x/$HOME": true, "http://x/%(tenant_id)-8.3s": true, "http://x/%(tenant_id)r": true,
		"http://x/%s": true, "http://x/%s%(tenant_id)s": true, "http://x/%(tenant_id)%": true, "http://x/%ls": true,
		"http://x/%s%s": false, "http://x/%(tenant_id)s%s": false, "http://x/%": false, "http://x/100%/y": false, "http://x/%d": false,
		"http://x/%(tenant_id)d": false, "http://x/%(tenant_id)c": false, "http://x/%(tenant_id)": false, "http://x/%(tenant_id": false,
		"http://x/%(none)s": false, "http://x/$(none)s": false, "http://x/%()s": false, "http://x/%*s": false, "http://x/%(tenant_id)é": false,
		"http://x/%(admin_bind_host)s": false, "http://x/%(tenant_id)*s": false, "http://x/%(tenant_id).*s": false,
	} {
		if err := catalog.CheckURL(url); (err == nil) != want {
			t.Errorf("%s: %v, want ok %v", url, err, want)
		}
	}
}
