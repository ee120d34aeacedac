package catalog_test

import (
	"fmt"
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

func ptr(s string) *string { return &s }

func create(t *testing.T, r catalog.Regions, regions ...catalog.Region) {
	t.Helper()
	for _, n := range regions {
		if err := r.Create(t.Context(), n); err != nil {
			t.Fatalf("create %q: %v", n.ID, err)
		}
	}
}

func ids(t *testing.T, r catalog.Regions, h hints.Hints) []string {
	t.Helper()
	p, err := r.List(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, region := range p.Rows {
		out = append(out, region.ID)
	}
	return out
}

func wantFault(t *testing.T, what string, err error, kind fault.Kind, message string) {
	t.Helper()
	if !fault.Is(err, kind) || err.Error() != message {
		t.Errorf("%s: got %v, want %d %q", what, err, kind, message)
	}
}

func TestRegionCreate(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		r := catalog.Regions{DB: d}
		full := catalog.Region{
			ID: "it's $1", Description: "né", ParentID: ptr("RegionOne"),
			Extra: pyjson.Object{{Key: "z", Value: "1"}, {Key: "a", Value: []any{nil, true}}},
		}
		create(t, r, catalog.Region{ID: "RegionOne"}, catalog.Region{ID: dbtest.Apart(d, "regionone", "region one")}, full)
		got, err := r.Get(t.Context(), full.ID)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(full, got); d != "" {
			t.Errorf("read back: %s", d)
		}
		wantFault(t, "create twice", r.Create(t.Context(), catalog.Region{ID: "RegionOne", ParentID: ptr("none")}),
			fault.Conflict, "Conflict occurred attempting to store region - Duplicate ID, RegionOne..")
		wantFault(t, "unknown parent", r.Create(t.Context(), catalog.Region{ID: "x", ParentID: ptr("none")}),
			fault.NotFound, "Could not find region: none.")
		wantFault(t, "own parent", r.Create(t.Context(), catalog.Region{ID: "x", ParentID: ptr("x")}),
			fault.NotFound, "Could not find region: x.")
		_, err = r.Get(t.Context(), "x")
		wantFault(t, "get", err, fault.NotFound, "Could not find region: x.")
	})
}

// Of many who create the same region at once, one succeeds and all others hear
// that it exists.
func TestRegionCreateAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		r := catalog.Regions{DB: d}
		errs := make([]error, 8)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { errs[i] = r.Create(t.Context(), catalog.Region{ID: "same"}) })
		}
		wg.Wait()
		created := 0
		for _, err := range errs {
			switch {
			case err == nil:
				created++
			case !fault.Is(err, fault.Conflict):
				t.Errorf("got %v, want a conflict", err)
			}
		}
		if created != 1 {
			t.Errorf("created %d times", created)
		}
	})
}

// below asks for regions whose parent is each of those.
func below(parents ...string) (h hints.Hints) {
	for _, id := range parents {
		h.Filters = append(h.Filters, hints.Filter{Name: "parent_region_id", Value: id, Op: "equals"})
	}
	return h
}

func TestRegionList(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		r := catalog.Regions{DB: d}
		if got := ids(t, r, hints.Hints{}); len(got) != 0 {
			t.Errorf("empty: got %v", got)
		}
		create(t, r, catalog.Region{ID: "a"}, catalog.Region{ID: "b", ParentID: ptr("a")}, catalog.Region{ID: "c", ParentID: ptr("a")}, catalog.Region{ID: "d", ParentID: ptr("b")})
		for _, c := range []struct {
			h    hints.Hints
			want []string
		}{
			{hints.Hints{}, []string{"a", "b", "c", "d"}},
			{below("a"), []string{"b", "c"}},
			{below("a", "b"), []string{}},
			{below("none"), []string{}},
			{hints.Hints{Limit: 3, Limited: true}, []string{"a", "b", "c"}},
		} {
			if d := cmp.Diff(c.want, ids(t, r, c.h)); d != "" {
				t.Errorf("%+v: %s", c.h, d)
			}
		}
		for limit, want := range map[int]bool{3: true, 4: false, 5: false} {
			if p, err := r.List(t.Context(), hints.Hints{Limit: limit, Limited: true}); err != nil || p.Truncated != want {
				t.Errorf("limit %d: truncated %v, %v", limit, p.Truncated, err)
			}
		}
	})
}

func TestRegionUpdate(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		r := catalog.Regions{DB: d}
		create(t, r, catalog.Region{ID: "a", Description: "old", Extra: pyjson.Object{{Key: "x", Value: "1"}, {Key: "y", Value: "2"}}}, catalog.Region{ID: "b", ParentID: ptr("a")}, catalog.Region{ID: "c", ParentID: ptr("b")})
		update := func(id string, c catalog.RegionChange) error {
			t.Helper()
			got, err := r.Update(t.Context(), id, c)
			if err != nil {
				return err
			}
			stored, err := r.Get(t.Context(), id)
			if d := cmp.Diff(stored, got); err != nil || d != "" {
				t.Errorf("update %s: answered another region than stored: %v %s", id, err, d)
			}
			return nil
		}
		if err := update("a", catalog.RegionChange{Extra: pyjson.Object{{Key: "y", Value: "3"}, {Key: "z", Value: "4"}}}); err != nil {
			t.Fatal(err)
		}
		want := catalog.Region{ID: "a", Description: "old", Extra: pyjson.Object{{Key: "x", Value: "1"}, {Key: "y", Value: "3"}, {Key: "z", Value: "4"}}}
		got, err := r.Get(t.Context(), "a")
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("extra: %v %s", err, d)
		}
		for _, id := range []string{"a", "b", "c"} {
			wantFault(t, "a under "+id, update("a", catalog.RegionChange{ParentID: new(&id)}), fault.BadRequest,
				"The specified parent region a would create a circular region hierarchy.")
		}
		wantFault(t, "unknown parent", update("a", catalog.RegionChange{ParentID: new(ptr("none"))}), fault.NotFound, "Could not find region: none.")
		wantFault(t, "unknown region", update("none", catalog.RegionChange{}), fault.NotFound, "Could not find region: none.")
		if err := update("b", catalog.RegionChange{ParentID: new((*string)(nil)), Description: ptr("")}); err != nil {
			t.Fatal(err)
		}
		if err := update("a", catalog.RegionChange{ParentID: new(ptr("c"))}); err != nil {
			t.Errorf("no circle any more: %v", err)
		}
	})
}

func TestRegionDelete(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		r := catalog.Regions{DB: d}
		create(t, r, catalog.Region{ID: "a"}, catalog.Region{ID: "b", ParentID: ptr("a")}, catalog.Region{ID: "c", ParentID: ptr("b")}, catalog.Region{ID: "other"})
		if err := catalog.CreateService(t.Context(), d, catalog.Service{ID: "s", Type: new("compute"), Enabled: true}); err != nil {
			t.Fatal(err)
		}
		endpoint := catalog.Endpoint{ID: "e", Interface: "public", ServiceID: "s", URL: "http://x", RegionID: ptr("c"), Enabled: true}
		if err := catalog.CreateEndpoint(t.Context(), d, endpoint); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"a", "b", "c"} {
			wantFault(t, "delete "+id, r.Delete(t.Context(), id), fault.Forbidden,
				fmt.Sprintf("Unable to delete region %s because it or its child regions have associated endpoints.", id))
		}
		if got := ids(t, r, hints.Hints{}); len(got) != 4 {
			t.Errorf("after refusals: %v", got)
		}
		if _, err := d.Exec(t.Context(), `delete from endpoint where id = $1`, "e"); err != nil {
			t.Fatal(err)
		}
		if err := r.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"other"}, ids(t, r, hints.Hints{})); d != "" {
			t.Error(d)
		}
		wantFault(t, "delete again", r.Delete(t.Context(), "a"), fault.NotFound, "Could not find region: a.")
	})
}

// A circle, which Python Keystone can store when two updates meet, hangs
// nothing and can be deleted.
func TestRegionCircleInTheDatabase(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		r := catalog.Regions{DB: d}
		create(t, r, catalog.Region{ID: "a"}, catalog.Region{ID: "b", ParentID: ptr("a")}, catalog.Region{ID: "c"})
		if _, err := d.Exec(t.Context(), `update region set parent_region_id = $1 where id = $2`, "b", "a"); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Update(t.Context(), "c", catalog.RegionChange{ParentID: new(ptr("a"))}); err != nil {
			t.Errorf("below a circle: %v", err)
		}
		if err := r.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if got := ids(t, r, hints.Hints{}); len(got) != 0 {
			t.Errorf("left: %v", got)
		}
	})
}

// Rows of Python Keystone may have no extra at all.
func TestRegionWithoutExtra(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		for id, extra := range map[string]any{"a": nil, "b": "", "c": "null"} {
			if _, err := d.Exec(t.Context(), `insert into region (id, description, extra) values ($1, $2, $3)`, id, "", extra); err != nil {
				t.Fatal(err)
			}
			got, err := catalog.Regions{DB: d}.Get(t.Context(), id)
			if d := cmp.Diff(catalog.Region{ID: id}, got); err != nil || d != "" {
				t.Errorf("%s: %v %s", id, err, d)
			}
		}
	})
}
