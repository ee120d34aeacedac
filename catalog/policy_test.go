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
)

// library stores policies by their ids.
func library(t *testing.T, d db.DB, ids ...string) catalog.Policies {
	t.Helper()
	p := catalog.Policies{DB: d}
	for _, id := range ids {
		if err := p.Create(t.Context(), catalog.Policy{ID: id, Type: "text", Blob: "of " + id}); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestPolicies(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		p := library(t, d, "a", "b")
		full := catalog.Policy{ID: "it's $1", Type: "application/json", Blob: `{"é": "\u0001"}`, Extra: pyjson.Object{{Key: "x", Value: "1"}, {Key: "y", Value: nil}}}
		if err := p.Create(t.Context(), full); err != nil {
			t.Fatal(err)
		}
		got, err := p.Get(t.Context(), full.ID)
		if d := cmp.Diff(full, got); err != nil || d != "" {
			t.Errorf("read back: %v %s", err, d)
		}
		got, err = p.Update(t.Context(), full.ID, catalog.PolicyChange{Type: ptr("t"), Blob: "new", Extra: pyjson.Object{{Key: "y", Value: "2"}}})
		want := catalog.Policy{ID: full.ID, Type: "t", Blob: "new", Extra: pyjson.Object{{Key: "x", Value: "1"}, {Key: "y", Value: "2"}}}
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("update: %v %s", err, d)
		}
		if got, err = p.Update(t.Context(), full.ID, catalog.PolicyChange{}); err != nil || !cmp.Equal(want, got) {
			t.Errorf("no change: %+v %v", got, err)
		}
		stored, err := p.Get(t.Context(), full.ID)
		if d := cmp.Diff(want, stored); err != nil || d != "" {
			t.Errorf("stored: %v %s", err, d)
		}
		page, err := p.List(t.Context(), hints.Hints{Filters: []hints.Filter{{Name: "type", Op: "equals", Value: "t"}}, Limit: 1, Limited: true})
		if err != nil || len(page.Rows) != 3 || len(page.Rest) != 1 {
			t.Errorf("list: %+v %v", page, err)
		}
		_, err = p.Get(t.Context(), "none")
		wantFault(t, "get", err, fault.NotFound, "Could not find policy: none.")
		_, err = p.Update(t.Context(), "none", catalog.PolicyChange{})
		wantFault(t, "update", err, fault.NotFound, "Could not find policy: none.")
		wantFault(t, "delete", p.Delete(t.Context(), "none"), fault.NotFound, "Could not find policy: none.")
	})
}

// Blobs of older releases may be any JSON.
func TestPolicyBlobs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		for blob, want := range map[string]any{
			`"text"`: "text", `{"a": [true, null]}`: pyjson.Object{{Key: "a", Value: []any{true, nil}}}, "null": nil, "none of it": "none of it",
		} {
			run(t, d, `insert into policy (id, type, "blob", extra) values ($1, 't', $2, null)`, blob, blob)
			got, err := catalog.Policies{DB: d}.Get(t.Context(), blob)
			if d := cmp.Diff(want, got.Blob); err != nil || d != "" {
				t.Errorf("%s: %v %s", blob, err, d)
			}
		}
	})
}

func TestPolicyDelete(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		p := library(t, d, "a", "b")
		for id, f := range map[string]catalog.PolicyFor{"a": {EndpointID: "e1"}, "b": {ServiceID: "s1"}} {
			if err := p.Tie(t.Context(), id, f); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if got := texts(t, d, `select policy_id from policy_association`); !slices.Equal(got, []string{"b"}) {
			t.Errorf("left: %v", got)
		}
	})
}

func TestPolicyTies(t *testing.T) {
	const notTied = "Could not find policy association."
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		p := library(t, d, "a", "b")
		each := []catalog.PolicyFor{{EndpointID: "e1"}, {ServiceID: "s1"}, {ServiceID: "s1", RegionID: "RegionOne"}}
		for _, f := range each {
			wantFault(t, "not yet", p.Tied(t.Context(), "a", f), fault.NotFound, notTied)
			for _, id := range []string{"a", "a", "b"} {
				if err := p.Tie(t.Context(), id, f); err != nil {
					t.Fatal(err)
				}
			}
			wantFault(t, "taken over", p.Tied(t.Context(), "a", f), fault.NotFound, notTied)
			if err := p.Tied(t.Context(), "b", f); err != nil {
				t.Errorf("%+v: %v", f, err)
			}
		}
		if got := texts(t, d, `select policy_id from policy_association`); !slices.Equal(got, []string{"b", "b", "b"}) {
			t.Errorf("rows: %v", got)
		}
		for _, f := range each {
			if err := p.Untie(t.Context(), "a", f); err != nil {
				t.Errorf("another's: %v", err)
			}
			if err := p.Tied(t.Context(), "b", f); err != nil {
				t.Errorf("ended another's: %v", err)
			}
			if err := p.Untie(t.Context(), "b", f); err != nil {
				t.Error(err)
			}
			wantFault(t, "ended", p.Tied(t.Context(), "b", f), fault.NotFound, notTied)
		}
		for _, c := range []struct {
			policy, message string
			f               catalog.PolicyFor
		}{
			{"none", "Could not find policy: none.", catalog.PolicyFor{EndpointID: "none"}},
			{"a", "Could not find endpoint: none.", catalog.PolicyFor{EndpointID: "none"}},
			{"a", "Could not find service: none.", catalog.PolicyFor{ServiceID: "none", RegionID: "none"}},
			{"a", "Could not find region: none.", catalog.PolicyFor{ServiceID: "s1", RegionID: "none"}},
		} {
			wantFault(t, "tie", p.Tie(t.Context(), c.policy, c.f), fault.NotFound, c.message)
			wantFault(t, "untie", p.Untie(t.Context(), c.policy, c.f), fault.NotFound, c.message)
			wantFault(t, "tied", p.Tied(t.Context(), c.policy, c.f), fault.NotFound, c.message)
		}
	})
}

// Many who tie policies to one thing at once leave one tie, and one who deletes
// it meanwhile leaves none.
func TestPolicyTiesAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		p := library(t, d, "a", "b")
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				if err := p.Tie(t.Context(), []string{"a", "b"}[i%2], catalog.PolicyFor{ServiceID: "s1"}); err != nil {
					t.Errorf("tie: %v", err)
				}
				if err := p.Tie(t.Context(), "a", catalog.PolicyFor{ServiceID: "s4"}); err != nil && !fault.Is(err, fault.NotFound) {
					t.Errorf("tie to what goes: %v", err)
				}
			})
		}
		wg.Go(func() {
			if err := (catalog.Services{DB: d}).Delete(t.Context(), "s4"); err != nil {
				t.Errorf("delete: %v", err)
			}
		})
		wg.Wait()
		if got := texts(t, d, `select service_id from policy_association`); !slices.Equal(got, []string{"s1"}) {
			t.Errorf("rows: %v", got)
		}
	})
}

func TestPolicyForEndpoint(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		p := library(t, d, "own", "near", "far", "service")
		run(t, d, `insert into region (id, description, parent_region_id) values ('above', '', null), ('top', '', null)`)
		run(t, d, `update region set parent_region_id = 'above' where id = 'RegionOne'`)
		run(t, d, `update region set parent_region_id = 'top' where id = 'above'`)
		none := func(id string) {
			t.Helper()
			_, err := p.ForEndpoint(t.Context(), id)
			wantFault(t, id, err, fault.NotFound, "No policy is associated with endpoint "+id+".")
		}
		none("e1")
		// Each is nearer than those before it.
		for id, f := range map[string]catalog.PolicyFor{"service": {ServiceID: "s1"}, "far": {ServiceID: "s1", RegionID: "top"}, "near": {ServiceID: "s1", RegionID: "RegionOne"}, "own": {EndpointID: "e1"}} {
			if err := p.Tie(t.Context(), id, f); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct{ endpoint, policy, untie string }{
			{"e1", "own", `endpoint_id = 'e1'`}, {"e1", "near", `region_id = 'RegionOne'`}, {"e1", "far", `region_id = 'top'`}, {"e3", "service", `1 = 0`}, {"e1", "service", `service_id = 's1'`},
		} {
			got, err := p.ForEndpoint(t.Context(), c.endpoint)
			if err != nil || got.ID != c.policy || got.Blob != "of "+c.policy {
				t.Errorf("%s: got %+v %v, want %s", c.endpoint, got, err, c.policy)
			}
			run(t, d, `delete from policy_association where `+c.untie)
		}
		none("e1")
		// A circle of regions ends, and a policy that has gone counts for nothing.
		run(t, d, `update region set parent_region_id = 'RegionOne' where id = 'top'`)
		run(t, d, `insert into policy_association (id, policy_id, endpoint_id) values ('x', 'gone', 'e1')`)
		none("e1")
		_, err := p.ForEndpoint(t.Context(), "none")
		wantFault(t, "no endpoint", err, fault.NotFound, "Could not find endpoint: none.")
	})
}

// TestPolicyAssociations lists the endpoints that a policy is for.
func TestPolicyAssociations(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		p := library(t, d, "a", "b")
		run(t, d, `insert into region (id, description, parent_region_id) values ('top', '', 'RegionOne')`)
		run(t, d, `update region set parent_region_id = 'top' where id = 'RegionOne'`)
		for _, f := range []catalog.PolicyFor{{EndpointID: "e1"}, {ServiceID: "s1"}, {ServiceID: "s4", RegionID: "top"}, {ServiceID: "s3", RegionID: "RegionOne"}, {ServiceID: "s2"}} {
			if err := p.Tie(t.Context(), "a", f); err != nil {
				t.Fatal(err)
			}
		}
		// What Python left behind is passed over.
		run(t, d, `insert into policy_association (id, policy_id, endpoint_id) values ('x', 'a', 'gone')`)
		for policy, want := range map[string][]string{"a": {"e1", "e1", "e2", "e3", "e5", "e6"}, "b": nil} {
			list, err := p.Endpoints(t.Context(), policy)
			var got []string
			for _, e := range list {
				got = append(got, e.ID)
			}
			slices.Sort(got)
			if d := cmp.Diff(want, got); err != nil || d != "" {
				t.Errorf("%s: %v %s", policy, err, d)
			}
		}
		_, err := p.Endpoints(t.Context(), "none")
		wantFault(t, "no policy", err, fault.NotFound, "Could not find policy: none.")
	})
}
