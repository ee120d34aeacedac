package limit_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/limit"
	"github.com/keystone-go/keystone-go/resource"
)

var (
	cores     = limit.Resource{ServiceID: "s", Name: "cores"}
	coresHere = limit.Resource{ServiceID: "s", RegionID: "here", Name: "cores"}
)

// stock makes two services, a region, the domains d and e, the projects p and q
// below d with pp below p, and x below e.
func stock(t *testing.T, d db.DB) {
	t.Helper()
	for _, id := range []string{"s", "s2"} {
		try(t, catalog.CreateService(t.Context(), d, catalog.Service{ID: id, Enabled: true}))
	}
	try(t, catalog.Regions{DB: d}.Create(t.Context(), catalog.Region{ID: "here"}))
	try(t, catalog.Regions{DB: d}.Create(t.Context(), catalog.Region{ID: strings.Repeat("r", 65)}))
	for _, id := range []string{"d", "e"} {
		try(t, resource.CreateDomain(t.Context(), d, resource.Domain{ID: id, Name: id, Enabled: true}))
	}
	for id, parent := range map[string]string{"p": "d", "q": "d", "x": "e"} {
		try(t, resource.CreateProject(t.Context(), d, resource.Project{ID: id, Name: id, DomainID: parent, Enabled: true}))
	}
	try(t, resource.CreateProject(t.Context(), d, resource.Project{ID: "pp", Name: "pp", DomainID: "d", ParentID: "p", Enabled: true}))
}

func try(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// register stores a registered limit under an id.
func register(t *testing.T, d db.DB, id string, r limit.Resource, n int64) {
	t.Helper()
	try(t, limit.Registry{DB: d}.Create(t.Context(), []limit.Registered{{ID: id, Resource: r, Default: n}}))
}

func of(id, project, domain string, r limit.Resource, n int64) limit.Limit {
	return limit.Limit{ID: id, ProjectID: project, DomainID: domain, Resource: r, Value: n}
}

func wantFault(t *testing.T, what string, err error, kind fault.Kind, message string) {
	t.Helper()
	if !fault.Is(err, kind) || !strings.Contains(err.Error(), message) {
		t.Errorf("%s: got %v, want %d %q", what, err, kind, message)
	}
}

const (
	taken      = "Conflict occurred attempting to store %s - Duplicate entry."
	unknown    = "Expecting to find %s in %s."
	used       = "Unable to update or delete registered limit r1 because there are project limits associated with it."
	noRegister = "Unable to create a limit that has no corresponding registered limit."
)

func TestRegistered(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		r := limit.Registry{DB: d}
		create := func(list ...limit.Registered) error { return r.Create(t.Context(), list) }
		full := limit.Registered{ID: "r1", Resource: coresHere, Default: -1, Description: new("dës")}
		bare := limit.Registered{ID: "r2", Resource: cores}
		try(t, create(full, bare))
		for _, want := range []limit.Registered{full, bare} {
			got, err := r.Get(t.Context(), want.ID)
			if d := cmp.Diff(want, got); err != nil || d != "" {
				t.Errorf("read back: %v %s", err, d)
			}
		}
		other := limit.Registered{ID: "r3", Resource: limit.Resource{ServiceID: "s2", Name: "disks"}}
		for what, c := range map[string]struct {
			change  func(*limit.Registered)
			kind    fault.Kind
			message string
		}{
			"no service":   {func(n *limit.Registered) { n.ServiceID = "none" }, fault.BadRequest, fmt.Sprintf(unknown, "service_id", "registered_limit")},
			"no region":    {func(n *limit.Registered) { n.RegionID = "none" }, fault.BadRequest, fmt.Sprintf(unknown, "region_id", "registered_limit")},
			"long region":  {func(n *limit.Registered) { n.RegionID = strings.Repeat("r", 65) }, fault.BadRequest, fmt.Sprintf(unknown, "region_id", "registered_limit")},
			"taken":        {func(n *limit.Registered) { n.Resource = cores }, fault.Conflict, fmt.Sprintf(taken, "registered_limit")},
			"taken, there": {func(n *limit.Registered) { n.Resource = coresHere }, fault.Conflict, fmt.Sprintf(taken, "registered_limit")},
		} {
			bad := other
			bad.ID = "bad"
			c.change(&bad)
			wantFault(t, what, create(other, bad), c.kind, c.message)
		}
		twin := other
		twin.ID = "r4"
		wantFault(t, "twins", create(other, twin), fault.Conflict, fmt.Sprintf(taken, "registered_limit"))
		_, err := r.Get(t.Context(), "r3")
		wantFault(t, "all or none", err, fault.NotFound, "Could not find registered limit for r3.")
		try(t, create(other))
		for f, want := range map[hints.Filter][]string{
			{Name: "service_id", Op: "equals", Value: "s2"}:                      {"r3"},
			{Name: "region_id", Op: "equals", Value: "here"}:                     {"r1"},
			{Name: "resource_name", Op: "contains", Value: "CORE", Fold: true}:   {"r1", "r2"},
			{Name: "resource_name", Op: "equals", Value: "Cores"}:                nil,
			{Name: "region_id", Op: "equals", Value: strings.Repeat("here", 17)}: nil,
		} {
			p, err := r.List(t.Context(), hints.Hints{Filters: []hints.Filter{f}})
			var got []string
			for _, row := range p.Rows {
				got = append(got, row.ID)
			}
			if f.Value == "Cores" && !dbtest.Exact(d) {
				want = []string{"r1", "r2"}
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%+v: %v %v, want %v", f, got, err, want)
			}
		}
	})
}

func TestRegisteredChange(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		register(t, d, "r1", coresHere, 1)
		register(t, d, "r2", cores, 2)
		r := limit.Registry{DB: d}
		update := func(id string, ch limit.RegisteredChange) (limit.Registered, error) {
			t.Helper()
			got, err := r.Update(t.Context(), id, ch)
			if err == nil {
				stored, _ := r.Get(t.Context(), id)
				if d := cmp.Diff(stored, got); d != "" {
					t.Errorf("answered another than stored: %s", d)
				}
			}
			return got, err
		}
		got, err := update("r1", limit.RegisteredChange{Default: new(int64(0)), Description: new(new("x"))})
		if d := cmp.Diff(limit.Registered{ID: "r1", Resource: coresHere, Description: new("x")}, got); err != nil || d != "" {
			t.Errorf("update: %v %s", err, d)
		}
		got, err = update("r1", limit.RegisteredChange{ServiceID: new("s2"), RegionID: new(""), Name: new("ram"), Description: new((*string)(nil))})
		if d := cmp.Diff(limit.Registered{ID: "r1", Resource: limit.Resource{ServiceID: "s2", Name: "ram"}}, got); err != nil || d != "" {
			t.Errorf("all of it: %v %s", err, d)
		}
		for what, c := range map[string]struct {
			id      string
			ch      limit.RegisteredChange
			kind    fault.Kind
			message string
		}{
			"none":            {"none", limit.RegisteredChange{}, fault.NotFound, "Could not find registered limit for none."},
			"service first":   {"none", limit.RegisteredChange{ServiceID: new("none")}, fault.BadRequest, fmt.Sprintf(unknown, "service_id", "registered_limit")},
			"no region":       {"r1", limit.RegisteredChange{RegionID: new("none")}, fault.BadRequest, fmt.Sprintf(unknown, "region_id", "registered_limit")},
			"another's":       {"r1", limit.RegisteredChange{ServiceID: new("s"), Name: new("cores")}, fault.Conflict, fmt.Sprintf(taken, "registered_limit")},
			"what it has":     {"r1", limit.RegisteredChange{Name: new("ram")}, fault.Conflict, fmt.Sprintf(taken, "registered_limit")},
			"no region again": {"r1", limit.RegisteredChange{RegionID: new("")}, fault.Conflict, fmt.Sprintf(taken, "registered_limit")},
		} {
			_, err := update(c.id, c.ch)
			wantFault(t, what, err, c.kind, c.message)
		}
		_, err = limit.Limits{DB: d}.Create(t.Context(), []limit.Limit{of("l", "p", "", limit.Resource{ServiceID: "s2", Name: "ram"}, 1)})
		try(t, err)
		_, err = update("r1", limit.RegisteredChange{})
		wantFault(t, "update what is used", err, fault.Forbidden, used)
		wantFault(t, "delete what is used", r.Delete(t.Context(), "r1"), fault.Forbidden, used)
		try(t, limit.Limits{DB: d}.Delete(t.Context(), "l"))
		try(t, r.Delete(t.Context(), "r1"))
		wantFault(t, "delete again", r.Delete(t.Context(), "r1"), fault.NotFound, "Could not find registered limit for r1.")
	})
}

func TestLimits(t *testing.T) {
	same := cmpopts.IgnoreUnexported(limit.Limit{})
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		register(t, d, "r1", coresHere, 1)
		register(t, d, "r2", cores, 2)
		l := limit.Limits{DB: d}
		create := func(list ...limit.Limit) error {
			_, err := l.Create(t.Context(), list)
			return err
		}
		got, err := l.Create(t.Context(), []limit.Limit{of("l1", "p", "", cores, 5), of("l2", "d", "", coresHere, -1)})
		want := []limit.Limit{of("l1", "p", "", cores, 5), of("l2", "", "d", coresHere, -1)}
		if d := cmp.Diff(want, got, same); err != nil || d != "" {
			t.Fatalf("create: %v %s", err, d)
		}
		for i, w := range want {
			got, err := l.Get(t.Context(), w.ID)
			if d := cmp.Diff(w, got, same); err != nil || d != "" {
				t.Errorf("read back: %v %s", err, d)
			}
			_, owners, err := l.GetOwned(t.Context(), w.ID)
			if err != nil || len(owners) != 1 || owners[0].ID != []string{"p", "d"}[i] {
				t.Errorf("owner: %v %v", owners, err)
			}
		}
		fine := of("l3", "q", "", cores, 1)
		for what, c := range map[string]struct {
			bad     limit.Limit
			kind    fault.Kind
			message string
		}{
			"no service":             {of("b", "p", "", limit.Resource{ServiceID: "none", Name: "cores"}, 1), fault.BadRequest, fmt.Sprintf(unknown, "service_id", "limit")},
			"no region":              {of("b", "p", "", limit.Resource{ServiceID: "s", RegionID: "none", Name: "cores"}, 1), fault.BadRequest, fmt.Sprintf(unknown, "region_id", "limit")},
			"no project":             {of("b", "none", "", cores, 1), fault.BadRequest, fmt.Sprintf(unknown, "project_id", "limit")},
			"no domain":              {of("b", "", "none", cores, 1), fault.BadRequest, fmt.Sprintf(unknown, "domain_id", "limit")},
			"a project as a domain":  {of("b", "", "p", cores, 1), fault.BadRequest, fmt.Sprintf(unknown, "domain_id", "limit")},
			"not registered":         {of("b", "p", "", limit.Resource{ServiceID: "s", Name: "Cores"}, 1), fault.Forbidden, noRegister},
			"of another service":     {of("b", "p", "", limit.Resource{ServiceID: "s2", Name: "cores"}, 1), fault.Forbidden, noRegister},
			"taken":                  {of("b", "p", "", cores, 1), fault.Conflict, fmt.Sprintf(taken, "limit")},
			"taken by the domain":    {of("b", "", "d", coresHere, 1), fault.Conflict, fmt.Sprintf(taken, "limit")},
			"taken by one before it": {of("b", "q", "", cores, 1), fault.Conflict, fmt.Sprintf(taken, "limit")},
		} {
			wantFault(t, what, create(fine, c.bad), c.kind, c.message)
		}
		_, err = l.Get(t.Context(), "l3")
		wantFault(t, "all or none", err, fault.NotFound, "Could not find limit for l3.")
		for _, ch := range []limit.Change{{Value: new(int64(0)), Description: new(new("x"))}, {}, {Description: new((*string)(nil))}} {
			got, err := l.Update(t.Context(), "l1", ch)
			stored, _ := l.Get(t.Context(), "l1")
			if d := cmp.Diff(stored, got, same); err != nil || d != "" || got.Value != 0 {
				t.Errorf("update: %v %s %+v", err, d, got)
			}
		}
		_, err = l.Update(t.Context(), "none", limit.Change{})
		wantFault(t, "update", err, fault.NotFound, "Could not find limit for none.")
		try(t, l.Delete(t.Context(), "l1"))
		wantFault(t, "delete again", l.Delete(t.Context(), "l1"), fault.NotFound, "Could not find limit for l1.")
	})
}

func TestLimitList(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		register(t, d, "r1", coresHere, 1)
		register(t, d, "r2", cores, 2)
		l := limit.Limits{DB: d}
		_, err := l.Create(t.Context(), []limit.Limit{
			of("a", "x", "", cores, 1), of("b", "", "e", cores, 1), of("c", "p", "", cores, 1), of("d", "p", "", coresHere, 1), of("e", "pp", "", cores, 1), of("f", "", "d", cores, 1),
		})
		try(t, err)
		one := func(name, value string) []hints.Filter {
			return []hints.Filter{{Name: name, Op: "equals", Value: value}}
		}
		for _, c := range []struct {
			v    limit.Viewer
			h    hints.Hints
			want string
		}{
			{limit.Viewer{All: true, DomainID: "d"}, hints.Hints{}, "abcdef"},
			{limit.Viewer{}, hints.Hints{}, ""},
			{limit.Viewer{DomainID: "d"}, hints.Hints{}, "cdef"},
			{limit.Viewer{DomainID: "d"}, hints.Hints{Limit: 1, Limited: true}, "c"},
			{limit.Viewer{DomainID: "none"}, hints.Hints{}, ""},
			{limit.Viewer{ProjectID: "p"}, hints.Hints{}, "cd"},
			{limit.Viewer{ProjectID: "p"}, hints.Hints{Filters: one("project_id", "x")}, ""},
			{limit.Viewer{ProjectID: "d"}, hints.Hints{}, ""},
			{limit.Viewer{All: true}, hints.Hints{Filters: one("project_id", "pp")}, "e"},
			{limit.Viewer{All: true}, hints.Hints{Filters: one("domain_id", "e")}, "b"},
			{limit.Viewer{All: true}, hints.Hints{Filters: one("region_id", "here")}, "d"},
			{limit.Viewer{All: true}, hints.Hints{Filters: one("service_id", "s2")}, ""},
			{limit.Viewer{All: true}, hints.Hints{Filters: append(one("service_id", "s"), one("resource_name", "cores")...)}, "abcdef"},
		} {
			p, err := l.List(t.Context(), c.h, c.v)
			got := ""
			for _, row := range p.Rows {
				got += row.ID
			}
			if err != nil || got != c.want {
				t.Errorf("%+v %+v: %q %v, want %q", c.v, c.h, got, err, c.want)
			}
		}
		of, err := l.OfProjects(t.Context(), []string{"p", "x", "q"})
		if err != nil || len(of) != 2 || len(of["p"]) != 2 || len(of["x"]) != 1 {
			t.Errorf("of projects: %v %v", of, err)
		}
	})
}

// Of many who make the same limit at once one succeeds; whoever deletes what it
// is for meanwhile does it before, or not at all.
func TestLimitsAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		register(t, d, "r1", cores, 1)
		l, r := limit.Limits{DB: d}, limit.Registry{DB: d}
		var made, registered sync.Map
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				_, err := l.Create(t.Context(), []limit.Limit{of(fmt.Sprint("l", i), "p", "", cores, 1)})
				made.Store(i, err)
				registered.Store(i, r.Create(t.Context(), []limit.Registered{{ID: fmt.Sprint("n", i), Resource: coresHere}}))
			})
		}
		var gone error
		wg.Go(func() { gone = r.Delete(t.Context(), "r1") })
		wg.Wait()
		count := func(m *sync.Map, kinds ...fault.Kind) (n int) {
			m.Range(func(_, v any) bool {
				err, _ := v.(error)
				if err == nil {
					n++
				} else if !slices.ContainsFunc(kinds, func(k fault.Kind) bool { return fault.Is(err, k) }) {
					t.Error(err)
				}
				return true
			})
			return n
		}
		want := 1
		if gone == nil {
			want = 0
		} else {
			wantFault(t, "delete", gone, fault.Forbidden, used)
		}
		if n := count(&made, fault.Conflict, fault.Forbidden); n != want {
			t.Errorf("%d limits, want %d", n, want)
		}
		if n := count(&registered, fault.Conflict); n != 1 {
			t.Errorf("%d registered limits", n)
		}
	})
}
