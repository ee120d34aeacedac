package limit_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/limit"
)

// TestCost pins what reads and changes send, under both models: round trips,
// statements and writes, of which a transaction has two of its own. What is read
// does not grow with the rows, nor the round trips with what is made at once.
func TestCost(t *testing.T) {
	for _, model := range []limit.Model{limit.Flat, limit.StrictTwoLevel} {
		t.Run(model.Name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d db.DB) {
				stock(t, d)
				register(t, d, "used", cores, 10)
				register(t, d, "new", coresHere, 10)
				wantCosts(t, d, model)
			})
		})
	}
}

func wantCosts(t *testing.T, d db.DB, model limit.Model) {
	t.Helper()
	c := dbtest.Count(t, d)
	l, r := limit.Limits{DB: c, Model: model}, limit.Registry{DB: c}
	made := func(list ...limit.Limit) error { return second(l.Create(t.Context(), list)) }
	three := []limit.Registered{{ID: "n1", Resource: cores}, {ID: "n2", Resource: coresHere}, {ID: "n3", Resource: cores}}
	for i := range three {
		three[i].Name = fmt.Sprint("more", i)
	}
	for i, x := range []struct {
		name string
		want [2]string // flat, strict
		kind fault.Kind
		do   func() error
	}{
		{"register one", [2]string{"4 6 1", "4 6 1"}, 0, func() error { return r.Create(t.Context(), three[:1]) }},
		{"register two", [2]string{"4 7 2", "4 7 2"}, 0, func() error { return r.Create(t.Context(), three[1:]) }},
		{"get registered", [2]string{"1 1 0", "1 1 0"}, 0, func() error { return second(r.Get(t.Context(), "n1")) }},
		{"list registered", [2]string{"1 1 0", "1 1 0"}, 0, func() error { return second(r.List(t.Context(), hints.Hints{})) }},
		{"default", [2]string{"4 8 1", "4 8 1"}, 0, func() error {
			return second(r.Update(t.Context(), "n1", limit.RegisteredChange{Default: new(int64(3))}))
		}},
		{"name", [2]string{"5 9 1", "5 9 1"}, 0, func() error { return second(r.Update(t.Context(), "n1", limit.RegisteredChange{Name: new("x")})) }},
		{"make one", [2]string{"5 9 1", "5 11 1"}, 0, func() error { return made(of("a", "p", "", cores, 1)) }},
		{"make three", [2]string{"5 11 3", "5 13 3"}, 0, func() error {
			return made(of("b", "q", "", cores, 1), of("c", "", "d", cores, 9), of("d", "", "e", cores, 9))
		}},
		{"get", [2]string{"1 1 0", "1 1 0"}, 0, func() error { return second(l.Get(t.Context(), "a")) }},
		{"get for the rule", [2]string{"1 4 0", "1 4 0"}, 0, func() error { _, _, err := l.GetOwned(t.Context(), "a"); return err }},
		{"list", [2]string{"1 1 0", "1 1 0"}, 0, func() error { return second(l.List(t.Context(), hints.Hints{}, limit.Viewer{DomainID: "d"})) }},
		{"of projects", [2]string{"1 1 0", "1 1 0"}, 0, func() error { return second(l.OfProjects(t.Context(), []string{"p", "q", "x"})) }},
		{"change", [2]string{"4 6 1", "5 9 1"}, 0, func() error { return second(l.Update(t.Context(), "a", limit.Change{Value: new(int64(2))})) }},
		{"used", [2]string{"3 4 0", "3 4 0"}, fault.Forbidden, func() error { return r.Delete(t.Context(), "used") }},
		{"unregister", [2]string{"4 5 1", "4 5 1"}, 0, func() error { return r.Delete(t.Context(), "new") }},
		{"delete", [2]string{"1 1 1", "1 1 1"}, 0, func() error { return l.Delete(t.Context(), "a") }},
	} {
		c.Reset()
		if err := x.do(); x.kind == 0 && err != nil || x.kind != 0 && !fault.Is(err, x.kind) {
			t.Errorf("%d: %s: %v", i, x.name, err)
		}
		want := x.want[slices.Index([]string{"flat", "strict_two_level"}, model.Name)]
		if got := fmt.Sprint(c.RoundTrips, c.Statements, c.Writes); got != want {
			t.Errorf("%d: %s: %s round trips, statements and writes, want %s: %q", i, x.name, got, want, c.Texts)
		}
	}
}

func second[T any](_ T, err error) error { return err }
