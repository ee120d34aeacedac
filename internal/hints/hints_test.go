package hints_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

func TestParse(t *testing.T) {
	names := []string{"name", "enabled"}
	var query []hints.Pair
	for _, name := range []string{"name", "name", "name__contains", "name__istartswith", "name__foo", "name__iequals", "name__", "color", "color__contains", "enabled", "marker"} {
		query = append(query, hints.Pair{Name: name, Value: "v"})
	}
	want := []hints.Filter{
		{Name: "name", Value: "v", Op: "equals"},
		{Name: "name", Value: "v", Op: "equals"},
		{Name: "name", Value: "v", Op: "contains"},
		{Name: "name", Value: "v", Op: "startswith", Fold: true},
		{Name: "name", Value: "v", Op: "foo"},
		{Name: "name", Value: "v", Op: "equals", Fold: true},
		{Name: "name", Value: "v"},
		{Name: "enabled", Value: "v", Op: "equals"},
	}
	if d := cmp.Diff(want, hints.Parse(query, names)); d != "" {
		t.Error(d)
	}
}

func TestBool(t *testing.T) {
	for v, want := range map[string]bool{"": true, "1": true, "True": true, "maybe": true, "0": false, " F ": false, "NO": false, "off": false} {
		if got := hints.Bool(v); got != want {
			t.Errorf("%q is %v", v, got)
		}
	}
}

func TestMatch(t *testing.T) {
	o := pyjson.Object{{Key: "name", Value: "Nova"}, {Key: "on", Value: true}, {Key: "n", Value: 5}, {Key: "at", Value: new("There")}, {Key: "away", Value: (*string)(nil)}, {Key: "in", Value: pyjson.Object{{Key: "side", Value: "x"}}}}
	for _, c := range []struct {
		f    hints.Filter
		want bool
	}{
		{hints.Filter{Name: "name", Op: "equals", Value: "Nova"}, true},
		{hints.Filter{Name: "name", Op: "equals", Value: "nova"}, false},
		{hints.Filter{Name: "name", Op: "equals", Value: "nova", Fold: true}, false},
		{hints.Filter{Name: "name", Op: "contains", Value: "ov"}, true},
		{hints.Filter{Name: "name", Op: "contains", Value: "OV"}, false},
		{hints.Filter{Name: "name", Op: "contains", Value: "OV", Fold: true}, true},
		{hints.Filter{Name: "name", Op: "startswith", Value: "No"}, true},
		{hints.Filter{Name: "name", Op: "endswith", Value: "No"}, false},
		{hints.Filter{Name: "on", Op: "equals", Value: "yes"}, true},
		{hints.Filter{Name: "on", Op: "equals", Value: "off"}, false},
		{hints.Filter{Name: "on", Op: "contains", Value: "t"}, false},
		{hints.Filter{Name: "n", Op: "equals", Value: "5"}, false},
		{hints.Filter{Name: "n", Op: "foo", Value: "x"}, true},
		{hints.Filter{Name: "none", Op: "foo", Value: "x"}, false},
		{hints.Filter{Name: "in.side", Op: "equals", Value: "x"}, true},
		{hints.Filter{Name: "at", Op: "contains", Value: "her"}, true},
		{hints.Filter{Name: "at", Op: "equals", Value: "there"}, false},
		{hints.Filter{Name: "away", Op: "contains", Value: ""}, false},
		{hints.Filter{Name: "none", Op: "equals", Value: ""}, false},
		{hints.Filter{Name: "none", Op: "contains", Value: ""}, false},
	} {
		if got := hints.Match(o, []hints.Filter{c.f}); got != c.want {
			t.Errorf("%+v: %v", c.f, got)
		}
	}
}

// regions is a source over the one table that needs no other.
func regions(paged bool) hints.Source[string] {
	return hints.Source[string]{
		Select:  `select r.id from region r`,
		Columns: map[string]hints.Column{"description": {SQL: "r.description", Max: 255}},
		ID:      "r.id",
		Paged:   paged,
		Scan: func(r db.Row) (s string, err error) {
			err = r.Scan(&s)
			return s, err
		},
	}
}

func TestList(t *testing.T) {
	marker := "r1"
	by := func(op, value string, fold bool) []hints.Filter {
		return []hints.Filter{{Name: "description", Op: op, Value: value, Fold: fold}}
	}
	cases := []struct {
		name  string
		paged bool
		h     hints.Hints
		want  []string
		rest  int
		more  bool
	}{
		{"all", false, hints.Hints{}, []string{"r0", "r1", "r2", "r3"}, 0, false},
		{"exact", false, hints.Hints{Filters: by("equals", "Even", false)}, []string{"r0", "r2"}, 0, false},
		{"letter case counts", false, hints.Hints{Filters: by("equals", "even", false)}, nil, 0, false},
		{"folded", false, hints.Hints{Filters: by("contains", "VE", true)}, []string{"r0", "r2"}, 0, false},
		{"a wildcard stays one", false, hints.Hints{Filters: by("startswith", "e%n", true)}, []string{"r0", "r2"}, 0, false},
		{"nor is a backslash", false, hints.Hints{Filters: by("endswith", `\\`, true)}, nil, 0, false},
		{"wildcards beyond the column", false, hints.Hints{Filters: by("contains", strings.Repeat("%", 256), true)}, nil, 0, false},
		{"a comparator of no meaning is left over", false, hints.Hints{Filters: by("foo", "x", true)}, []string{"r0", "r1", "r2", "r3"}, 1, false},
		{"exact, with an i before it", false, hints.Hints{Filters: by("equals", "Even", true)}, []string{"r0", "r2"}, 0, false},
		{"an escape is none", false, hints.Hints{Filters: by("contains", "!", true)}, nil, 0, false},
		{"what minds letter case is left over", false, hints.Hints{Filters: by("contains", "ve", false), Limit: 1, Limited: true}, []string{"r0", "r1", "r2", "r3"}, 1, false},
		{"longer than the column", false, hints.Hints{Filters: by("equals", fmt.Sprintf("%0256d", 1), false)}, nil, 0, false},
		{"limit", false, hints.Hints{Limit: 3, Limited: true}, []string{"r0", "r1", "r2"}, 0, true},
		{"limit of all", false, hints.Hints{Limit: 4, Limited: true}, []string{"r0", "r1", "r2", "r3"}, 0, false},
		{"limit of none", false, hints.Hints{Limited: true}, nil, 0, true},
		{"a marker is not minded", false, hints.Hints{Marker: &marker}, []string{"r0", "r1", "r2", "r3"}, 0, false},
		{"page", true, hints.Hints{Marker: &marker, Limit: 1, Limited: true}, []string{"r2"}, 0, true},
		{"last page", true, hints.Hints{Marker: &marker, Limit: 5, Limited: true}, []string{"r2", "r3"}, 0, false},
		{"page cut before the rest", true, hints.Hints{Filters: by("contains", "ve", false), Limit: 1, Limited: true}, []string{"r0"}, 1, true},
	}
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		for i := range 4 {
			if _, err := d.Exec(t.Context(), `insert into region (id, description) values ($1, $2)`, fmt.Sprint("r", i), []string{"Even", "odd"}[i%2]); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range cases {
			p, err := hints.List(t.Context(), d, c.h, regions(c.paged))
			if err != nil {
				t.Fatal(err)
			}
			if c.name == "letter case counts" && !dbtest.Exact(d) {
				c.want = []string{"r0", "r2"}
			}
			if d := cmp.Diff(c.want, p.Rows); d != "" && len(c.want)+len(p.Rows) > 0 || len(p.Rest) != c.rest || p.Truncated != c.more {
				t.Errorf("%s: %v, %d left over, truncated %v; want %v, %d, %v", c.name, p.Rows, len(p.Rest), p.Truncated, c.want, c.rest, c.more)
			}
		}
	})
}
