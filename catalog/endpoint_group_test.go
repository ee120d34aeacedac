package catalog_test

import (
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
	"github.com/keystone-go/keystone-go/resource"
)

// filtered stores the catalog of stock, the projects p and q and the endpoint
// groups "public" (of that interface) and "one" (of s1 in RegionOne).
func filtered(t *testing.T, d db.DB) (catalog.EndpointGroups, catalog.EndpointFilter) {
	t.Helper()
	stock(t, d)
	if err := resource.CreateDomain(t.Context(), d, resource.Domain{ID: "default", Name: "Default", Enabled: true}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"p", "q"} {
		if err := resource.CreateProject(t.Context(), d, resource.Project{ID: id, Name: "of " + id, DomainID: "default", ParentID: "default", Enabled: true}); err != nil {
			t.Fatal(err)
		}
	}
	g := catalog.EndpointGroups{DB: d}
	for _, n := range []catalog.EndpointGroup{
		{ID: "public", Name: "the public ones", Filters: pyjson.Object{{Key: "interface", Value: "public"}}},
		{ID: "one", Name: "one", Description: ptr("d"), Filters: pyjson.Object{{Key: "service_id", Value: "s1"}, {Key: "region_id", Value: "RegionOne"}}},
	} {
		if err := g.Create(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	return g, catalog.EndpointFilter{DB: d}
}

func endpointIDs(list []catalog.Endpoint) []string {
	var out []string
	for _, e := range list {
		out = append(out, e.ID)
	}
	return out
}

func projectIDs(list []resource.Record) []string {
	var out []string
	for _, r := range list {
		out = append(out, r.ID)
	}
	return out
}

func TestEndpointGroups(t *testing.T) {
	const none = "Could not find Endpoint Group: none."
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		g, _ := filtered(t, d)
		got, err := g.Update(t.Context(), "one", catalog.EndpointGroupChange{Name: ptr("new"), Description: new((*string)(nil)), Filters: pyjson.Object{{Key: "region_id", Value: nil}}})
		want := catalog.EndpointGroup{ID: "one", Name: "new", Filters: pyjson.Object{{Key: "region_id", Value: nil}}}
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("update: %v %s", err, d)
		}
		if got, err = g.Update(t.Context(), "one", catalog.EndpointGroupChange{}); err != nil || !cmp.Equal(want, got) {
			t.Errorf("no change: %+v %v", got, err)
		}
		if got, err = g.Get(t.Context(), "one"); err != nil || !cmp.Equal(want, got) {
			t.Errorf("stored: %+v %v", got, err)
		}
		page, err := g.List(t.Context(), hints.Hints{Filters: []hints.Filter{{Name: "name", Op: "equals", Value: "new"}}})
		if d := cmp.Diff([]catalog.EndpointGroup{want}, page.Rows); err != nil || d != "" {
			t.Errorf("list: %v %s", err, d)
		}
		_, err = g.Get(t.Context(), "none")
		wantFault(t, "get", err, fault.NotFound, none)
		_, err = g.Update(t.Context(), "none", catalog.EndpointGroupChange{})
		wantFault(t, "update", err, fault.NotFound, none)
		wantFault(t, "delete", g.Delete(t.Context(), "none"), fault.NotFound, none)
		_, err = g.Endpoints(t.Context(), "none")
		wantFault(t, "endpoints", err, fault.NotFound, none)
	})
}

func TestEndpointGroupEndpoints(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		g, _ := filtered(t, d)
		for filters, want := range map[string][]string{
			`{"interface": "public"}`:                        {"e1", "e5", "e6"},
			`{"service_id": "s1", "region_id": "RegionOne"}`: {"e1", "e2"},
			`{"region_id": null}`:                            {"e3", "e7", "e8"},
			`{"enabled": false}`:                             {"e2"},
			`{"service_id": "none"}`:                         nil,
			`{}`:                                             {"e1", "e2", "e3", "e5", "e6", "e7", "e8"},
			`{"interface": "internal", "region_id": "other"}`: nil,
		} {
			run(t, d, `update endpoint_group set filters = $1 where id = 'one'`, filters)
			got, err := g.Endpoints(t.Context(), "one")
			if d := cmp.Diff(want, endpointIDs(got)); err != nil || d != "" {
				t.Errorf("%s: %v %s", filters, err, d)
			}
		}
	})
}

func TestEndpointGroupsOfProjects(t *testing.T) {
	const noTie = "Endpoint Group Project Association not found"
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		g, f := filtered(t, d)
		wantFault(t, "not yet", g.Has(t.Context(), "p", "one"), fault.NotFound, noTie)
		wantFault(t, "remove what is not", g.Remove(t.Context(), "p", "one"), fault.NotFound, noTie)
		for _, x := range [][2]string{{"p", "one"}, {"q", "one"}, {"p", "public"}} {
			if err := g.Add(t.Context(), x[0], x[1]); err != nil {
				t.Fatal(err)
			}
			if err := g.Has(t.Context(), x[0], x[1]); err != nil {
				t.Error(err)
			}
		}
		wantFault(t, "add again", g.Add(t.Context(), "p", "one"), fault.Conflict, "Conflict occurred attempting to store project_endpoint_group - Duplicate entry.")
		for _, do := range []func(project, group string) error{
			func(p, id string) error { return g.Add(t.Context(), p, id) },
			func(p, id string) error { return g.Remove(t.Context(), p, id) },
			func(p, id string) error { return g.Has(t.Context(), p, id) },
		} {
			wantFault(t, "no project", do("none", "none"), fault.NotFound, "Could not find project: none.")
			wantFault(t, "no group", do("p", "none"), fault.NotFound, "Could not find Endpoint Group: none.")
		}
		groups, err := g.OfProject(t.Context(), "p")
		if err != nil || len(groups) != 2 || groups[0].ID != "one" || groups[1].ID != "public" {
			t.Errorf("of the project: %+v %v", groups, err)
		}
		_, err = g.OfProject(t.Context(), "none")
		wantFault(t, "of no project", err, fault.NotFound, "Could not find project: none.")
		for id, want := range map[string][]string{"one": {"p", "q"}, "public": {"p"}, "none": nil} {
			got, err := g.Projects(t.Context(), id)
			if d := cmp.Diff(want, projectIDs(got)); err != nil || d != "" {
				t.Errorf("projects of %s: %v %s", id, err, d)
			}
		}
		got, err := f.Endpoints(t.Context(), "p")
		if d := cmp.Diff([]string{"e1", "e2", "e5", "e6"}, endpointIDs(got)); err != nil || d != "" {
			t.Errorf("endpoints: %v %s", err, d)
		}
		if err := g.Remove(t.Context(), "p", "public"); err != nil {
			t.Fatal(err)
		}
		if err := g.Delete(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
		if left := texts(t, d, `select project_id from project_endpoint_group`); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

func TestEndpointFilter(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		_, f := filtered(t, d)
		const notIn = "Endpoint e1 not found in project p"
		wantFault(t, "not yet", f.Has(t.Context(), "p", "e1"), fault.NotFound, notIn)
		wantFault(t, "remove what is not", f.Remove(t.Context(), "p", "e1"), fault.NotFound, notIn)
		for _, x := range [][2]string{{"p", "e1"}, {"p", "e3"}, {"q", "e1"}} {
			if err := f.Add(t.Context(), x[0], x[1]); err != nil {
				t.Fatal(err)
			}
			if err := f.Has(t.Context(), x[0], x[1]); err != nil {
				t.Error(err)
			}
		}
		wantFault(t, "add again", f.Add(t.Context(), "p", "e1"), fault.Conflict, "Conflict occurred attempting to store project_endpoint - Duplicate entry.")
		for _, do := range []func(project, endpoint string) error{
			func(p, id string) error { return f.Add(t.Context(), p, id) },
			func(p, id string) error { return f.Has(t.Context(), p, id) },
		} {
			wantFault(t, "no endpoint", do("none", "none"), fault.NotFound, "Could not find endpoint: none.")
			wantFault(t, "no project", do("none", "e1"), fault.NotFound, "Could not find project: none.")
		}
		run(t, d, `insert into project_endpoint (project_id, endpoint_id) values ('p', 'gone'), ('gone', 'e3')`)
		got, err := f.Endpoints(t.Context(), "p")
		if d := cmp.Diff([]string{"e1", "e3"}, endpointIDs(got)); err != nil || d != "" {
			t.Errorf("endpoints: %v %s", err, d)
		}
		_, err = f.Endpoints(t.Context(), "none")
		wantFault(t, "of no project", err, fault.NotFound, "Could not find project: none.")
		for id, want := range map[string][]string{"e1": {"p", "q"}, "e3": {"p"}, "e2": nil} {
			got, err := f.Projects(t.Context(), id)
			if d := cmp.Diff(want, projectIDs(got)); err != nil || d != "" {
				t.Errorf("projects of %s: %v %s", id, err, d)
			}
		}
		_, err = f.Projects(t.Context(), "none")
		wantFault(t, "of no endpoint", err, fault.NotFound, "Could not find endpoint: none.")
		if err := f.Remove(t.Context(), "p", "e1"); err != nil {
			t.Error(err)
		}
	})
}

// Many who give a project the same at once: one does it, the others hear that
// it has it, and nothing is left of what is deleted meanwhile.
func TestEndpointFilterAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		g, f := filtered(t, d)
		var wg sync.WaitGroup
		var mu sync.Mutex
		done := 0
		expect := func(err error) {
			t.Helper()
			switch {
			case err == nil:
				mu.Lock()
				done++
				mu.Unlock()
			case !fault.Is(err, fault.Conflict):
				t.Errorf("got %v, want a conflict", err)
			}
		}
		late := func(err error) {
			t.Helper()
			if err != nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
				t.Errorf("beside a deletion: %v", err)
			}
		}
		for range 6 {
			wg.Go(func() {
				expect(f.Add(t.Context(), "p", "e1"))
				expect(g.Add(t.Context(), "p", "public"))
				late(f.Add(t.Context(), "p", "e3"))
				late(f.Add(t.Context(), "p", "e5"))
				late(g.Add(t.Context(), "q", "one"))
			})
		}
		for _, remove := range []func() error{
			func() error { return catalog.Endpoints{DB: d}.Delete(t.Context(), "e3") },
			func() error { return catalog.Services{DB: d}.Delete(t.Context(), "s3") },
			func() error { return g.Delete(t.Context(), "one") },
		} {
			wg.Go(func() {
				if err := remove(); err != nil {
					t.Errorf("delete: %v", err)
				}
			})
		}
		wg.Wait()
		if done != 2 {
			t.Errorf("%d were the first, want 2", done)
		}
		if got := texts(t, d, `select endpoint_id from project_endpoint union all select endpoint_group_id from project_endpoint_group`); !slices.Equal(got, []string{"e1", "public"}) {
			t.Errorf("rows: %v", got)
		}
	})
}
