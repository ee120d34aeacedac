package limit_test

import (
	"slices"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/limit"
)

const unfit = "Invalid resource limit: The resource limit ("

func TestModelOf(t *testing.T) {
	for name, want := range map[string]string{"flat": "flat", "strict_two_level": "strict_two_level", "": "flat"} {
		if got := limit.ModelOf(name).Name; got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}

// The registered limit of cores is 10, and no domain says otherwise at first.
func TestTwoLevels(t *testing.T) {
	free, endless := limit.Resource{ServiceID: "s", Name: "free"}, limit.Resource{ServiceID: "s", Name: "endless"}
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		register(t, d, "r1", cores, 10)
		register(t, d, "r2", coresHere, 10)
		register(t, d, "r3", free, 0)
		register(t, d, "r4", endless, -1)
		l := limit.Limits{DB: d, Model: limit.StrictTwoLevel}
		for _, c := range []struct {
			name string
			list []limit.Limit
			kind fault.Kind // 0: it is made
		}{
			{"beyond the default", []limit.Limit{of("a", "p", "", cores, 11)}, fault.Forbidden},
			{"at the default", []limit.Limit{of("p", "p", "", cores, 10)}, 0},
			{"no bound below one", []limit.Limit{of("q", "q", "", cores, -1)}, 0},
			{"a default of 0 bounds nothing", []limit.Limit{of("free", "p", "", free, 5)}, 0},
			{"a default without a bound bounds all", []limit.Limit{of("a", "p", "", endless, 5)}, fault.Forbidden},
			{"a domain below a project", []limit.Limit{of("a", "", "d", cores, 9)}, fault.Forbidden},
			{"a domain without a bound", []limit.Limit{of("a", "", "d", cores, -1)}, fault.Forbidden},
			{"another domain", []limit.Limit{of("e", "", "e", cores, 1)}, 0},
			{"beyond that domain", []limit.Limit{of("a", "x", "", cores, 2)}, fault.Forbidden},
			{"a domain above its projects", []limit.Limit{of("d", "", "d", cores, 20)}, 0},
			{"a project below a project has the default", []limit.Limit{of("a", "pp", "", cores, 11)}, fault.Forbidden},
			{"with its domain", []limit.Limit{of("p-here", "p", "", coresHere, 15), of("d-here", "", "d", coresHere, 15)}, 0},
			{"beyond its domain in one request", []limit.Limit{of("a", "x", "", coresHere, 15), of("b", "", "e", coresHere, 14)}, fault.Forbidden},
			{"with its domain for another resource", []limit.Limit{of("a", "x", "", coresHere, 15), of("b", "", "e", free, 15)}, fault.Forbidden},
			{"not registered", []limit.Limit{of("a", "p", "", limit.Resource{ServiceID: "s2", Name: "cores"}, 99)}, fault.Forbidden},
			{"unfit before taken", []limit.Limit{of("a", "", "d", cores, 1)}, fault.Forbidden},
			{"taken", []limit.Limit{of("a", "", "d", cores, 21)}, fault.Conflict},
		} {
			_, err := l.Create(t.Context(), c.list)
			if c.kind == 0 && err != nil || c.kind != 0 && !fault.Is(err, c.kind) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		for _, c := range []struct {
			id  string
			to  *int64
			bad bool
		}{
			{"p", new(int64(20)), false},
			{"p", new(int64(21)), true},
			{"d", new(int64(19)), true},
			{"d", new(int64(30)), false},
			{"d", nil, false},
			{"p", new(int64(30)), false},
			{"e", new(int64(0)), false},
			{"p-here", new(int64(16)), true},
			{"d-here", new(int64(14)), true},
		} {
			_, err := l.Update(t.Context(), c.id, limit.Change{Value: c.to})
			if c.bad {
				wantFault(t, c.id, err, fault.Forbidden, unfit)
			} else if err != nil {
				t.Errorf("%s: %v", c.id, err)
			}
		}
		_, err := l.Update(t.Context(), "p", limit.Change{Value: new(int64(31))})
		wantFault(t, "message", err, fault.Forbidden,
			"Invalid resource limit: The resource limit (project_id: p, resource_name: cores, resource_limit: 31, service_id: s, region_id: None) doesn't satisfy current hierarchy model..")
		_, err = l.Update(t.Context(), "d-here", limit.Change{Value: new(int64(1))})
		wantFault(t, "message", err, fault.Forbidden,
			"Invalid resource limit: The resource limit (domain_id: d, resource_name: cores, resource_limit: 1, service_id: s, region_id: here) doesn't satisfy current hierarchy model..")
		if _, err := (limit.Limits{DB: d, Model: limit.Flat}).Update(t.Context(), "p", limit.Change{Value: new(int64(31))}); err != nil {
			t.Errorf("flat: %v", err)
		}
	})
}

// A circle of projects, which no API makes, hangs nothing.
func TestTwoLevelsInACircle(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		register(t, d, "r1", cores, 10)
		for _, text := range []string{`update project set parent_id = 'pp' where id = 'p'`, `update project set parent_id = 'q' where id = 'd'`} {
			if _, err := d.Exec(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		l := limit.Limits{DB: d, Model: limit.StrictTwoLevel}
		if _, err := l.Create(t.Context(), []limit.Limit{of("a", "pp", "", cores, 3), of("q", "q", "", cores, 4)}); err != nil {
			t.Fatal(err)
		}
		_, err := l.Create(t.Context(), []limit.Limit{of("d", "", "d", cores, 3)})
		wantFault(t, "a domain in a circle", err, fault.Forbidden, unfit)
	})
}

func TestTooDeep(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		stock(t, d)
		for _, c := range []struct {
			m    limit.Model
			want []string
		}{{limit.Flat, nil}, {limit.StrictTwoLevel, []string{"pp"}}} {
			if got, err := c.m.TooDeep(t.Context(), d); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s: %v %v", c.m.Name, got, err)
			}
		}
	})
}
