package catalog_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// costs are the calls of TestCost in their order, each upon those before it.
func costs(d db.DB) []cost {
	regions, services, endpoints := catalog.Regions{DB: d}, catalog.Services{DB: d}, catalog.Endpoints{DB: d}
	policies, groups, filter := catalog.Policies{DB: d}, catalog.EndpointGroups{DB: d}, catalog.EndpointFilter{DB: d}
	more := pyjson.Object{{Key: "more", Value: "x"}}
	endpoint := catalog.Endpoint{ID: "new", Interface: "public", ServiceID: "new", URL: "http://x", RegionID: ptr("new"), Enabled: true}
	return []cost{
		{"region", "5 5 1", 0, func(ctx context.Context) error {
			return regions.Create(ctx, catalog.Region{ID: "new", ParentID: ptr("RegionOne")})
		}},
		{"region", "1 1 0", 0, func(ctx context.Context) error { return second(regions.Get(ctx, "new")) }},
		{"region", "7 7 1", 0, func(ctx context.Context) error {
			return second(regions.Update(ctx, "new", catalog.RegionChange{ParentID: new(ptr("RegionOne")), Extra: more}))
		}},
		{"service", "1 1 1", 0, func(ctx context.Context) error {
			return services.Create(ctx, catalog.Service{ID: "new", Type: new("x")})
		}},
		{"service", "1 1 0", 0, func(ctx context.Context) error { return second(services.Get(ctx, "new")) }},
		{"service", "1 1 0", 0, func(ctx context.Context) error { return second(services.List(ctx, hints.Hints{})) }},
		{"service", "4 4 1", 0, func(ctx context.Context) error {
			return second(services.Update(ctx, "new", catalog.ServiceChange{Extra: more}))
		}},
		{"endpoint", "4 5 1", 0, func(ctx context.Context) error { return second(endpoints.Create(ctx, endpoint, false)) }},
		{"endpoint", "1 1 0", 0, func(ctx context.Context) error { return second(endpoints.Get(ctx, "new")) }},
		{"endpoint", "1 1 0", 0, func(ctx context.Context) error { return second(endpoints.List(ctx, hints.Hints{})) }},
		{"endpoint", "5 5 1", 0, func(ctx context.Context) error {
			_, _, err := endpoints.Update(ctx, "new", catalog.EndpointChange{ServiceID: ptr("new"), Extra: more})
			return err
		}},
		{"policy", "1 1 1", 0, func(ctx context.Context) error {
			return policies.Create(ctx, catalog.Policy{ID: "new", Type: "t", Blob: "b"})
		}},
		{"policy", "1 1 0", 0, func(ctx context.Context) error { return second(policies.Get(ctx, "new")) }},
		{"policy", "1 1 0", 0, func(ctx context.Context) error { return second(policies.List(ctx, hints.Hints{})) }},
		{"policy", "4 4 1", 0, func(ctx context.Context) error {
			return second(policies.Update(ctx, "new", catalog.PolicyChange{Extra: more}))
		}},
		{"policy's tie", "5 6 2", 0, func(ctx context.Context) error { return policies.Tie(ctx, "new", catalog.PolicyFor{EndpointID: "new"}) }},
		{"policy's tie", "2 3 0", 0, func(ctx context.Context) error {
			return policies.Tied(ctx, "new", catalog.PolicyFor{EndpointID: "new"})
		}},
		{"policy's tie", "4 5 1", 0, func(ctx context.Context) error {
			return policies.Untie(ctx, "new", catalog.PolicyFor{EndpointID: "new"})
		}},
		{"group", "1 1 1", 0, func(ctx context.Context) error {
			return groups.Create(ctx, catalog.EndpointGroup{ID: "new", Name: "n"})
		}},
		{"group", "1 1 0", 0, func(ctx context.Context) error { return second(groups.Get(ctx, "new")) }},
		{"group", "1 1 0", 0, func(ctx context.Context) error { return second(groups.List(ctx, hints.Hints{})) }},
		{"group", "4 4 1", 0, func(ctx context.Context) error {
			return second(groups.Update(ctx, "new", catalog.EndpointGroupChange{Filters: more}))
		}},
		{"group of a project", "4 5 1", 0, func(ctx context.Context) error { return groups.Add(ctx, "p", "new") }},
		{"group of a project", "1 3 0", 0, func(ctx context.Context) error { return groups.Has(ctx, "p", "new") }},
		{"group of a project", "4 5 1", 0, func(ctx context.Context) error { return groups.Remove(ctx, "p", "new") }},
		{"endpoint of a project", "4 5 1", 0, func(ctx context.Context) error { return filter.Add(ctx, "p", "new") }},
		{"endpoint of a project", "1 3 0", 0, func(ctx context.Context) error { return filter.Has(ctx, "p", "new") }},
		{"endpoint of a project", "1 1 1", 0, func(ctx context.Context) error { return filter.Remove(ctx, "p", "new") }},

		{"group that goes", "4 4 2", 0, func(ctx context.Context) error { return groups.Delete(ctx, "new") }},
		{"policy that goes", "4 4 2", 0, func(ctx context.Context) error { return policies.Delete(ctx, "new") }},
		{"endpoint that goes", "4 5 3", 0, func(ctx context.Context) error { return endpoints.Delete(ctx, "new") }},
		{"service that goes", "6 8 4", 0, func(ctx context.Context) error { return services.Delete(ctx, "new") }},
		{"region that goes", "4 5 2", 0, func(ctx context.Context) error { return regions.Delete(ctx, "new") }},

		{"no group", "4 4 2", fault.NotFound, func(ctx context.Context) error { return groups.Delete(ctx, "new") }},
		{"no policy", "3 3 1", fault.NotFound, func(ctx context.Context) error { return policies.Delete(ctx, "new") }},
		{"no endpoint", "3 3 1", fault.NotFound, func(ctx context.Context) error { return endpoints.Delete(ctx, "new") }},
		{"no service", "6 8 4", fault.NotFound, func(ctx context.Context) error { return services.Delete(ctx, "new") }},
		{"no region", "3 3 0", fault.NotFound, func(ctx context.Context) error { return regions.Delete(ctx, "new") }},
		{"no region", "3 3 0", fault.NotFound, func(ctx context.Context) error { return second(regions.Update(ctx, "new", catalog.RegionChange{})) }},
		{"no service", "3 3 0", fault.NotFound, func(ctx context.Context) error { return second(services.Update(ctx, "new", catalog.ServiceChange{})) }},
	}
}

type cost struct {
	name, want string // round trips, statements, writes; a transaction has two of its own
	kind       fault.Kind
	do         func(context.Context) error
}

func second[T any](_ T, err error) error { return err }

// TestCost pins what reads and changes of the catalog's resources send.
func TestCost(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		filtered(t, d)
		c := dbtest.Count(t, d)
		for i, x := range costs(c) {
			c.Reset()
			if err := x.do(t.Context()); x.kind == 0 && err != nil || x.kind != 0 && !fault.Is(err, x.kind) {
				t.Errorf("%d: %s: %v", i, x.name, err)
			}
			if got := fmt.Sprint(c.RoundTrips, c.Statements, c.Writes); got != x.want {
				t.Errorf("%d: %s: %s round trips, statements and writes, want %s: %q", i, x.name, got, x.want, c.Texts)
			}
		}
	})
}
