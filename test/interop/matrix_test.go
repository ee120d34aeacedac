//go:build interop

package interop_test

import (
	"context"
	"maps"
	"sync"
	"testing"

	"github.com/keystone-go/keystone-go/test/interop/diff"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

const (
	leastCases  = 5
	leastActors = 9
	leastPairs  = 28 * 23
)

// matrix has every actor send every case of every row to both servers. A
// family's rows are up to three tests, by their turn.
func matrix(t *testing.T, s *stand) diff.Report {
	if len(s.actors) < leastActors {
		t.Fatalf("%d actors, want %d", len(s.actors), leastActors)
	}
	// As clouds have it, and since nearly all of the time goes by there.
	if err := s.StartMemcached(); err != nil {
		t.Fatal(err)
	}
	run := s.compare(t, "matrix", nil, s.Caching(peer.PyMemcache))
	p := parts{run: run}
	for _, turn := range turns {
		for _, f := range s.families {
			var rows []matrixRow
			for _, r := range f.Rows {
				if r.turn() == turn {
					rows = append(rows, r)
				}
			}
			if len(rows) > 0 {
				p.part(t, f.name+" "+turn, func(t *testing.T) { askAll(t, run, rows, s.actors) })
			}
		}
	}
	p.part(t, "rows", func(t *testing.T) { s.sameRows(t, run, "matrix") })
	return p.end(t, leastPairs)
}

// askAll asks one row after another, the actors at once, but one by one where
// they write: two that write the same thing together are answered by chance.
func askAll(t *testing.T, run *diff.Run, rows []matrixRow, actors []actor) {
	for _, r := range rows {
		var all sync.WaitGroup
		together := 1
		if r.turn() == "reads" {
			together = 4
		}
		free := make(chan struct{}, together)
		for _, a := range actors {
			all.Go(func() {
				free <- struct{}{}
				defer func() { <-free }()
				if err := ask(t.Context(), run, r, a); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if t.Context().Err() != nil {
			return
		}
	}
}

// ask sends an actor's cases of a row, in their order.
func ask(ctx context.Context, run *diff.Run, r matrixRow, a actor) error {
	vars := maps.Clone(run.Vars)
	maps.Copy(vars, a.vars)
	for _, c := range r.Cases {
		c.Name = r.Row + " as " + a.name + ": " + c.Name
		switch {
		case c.As == "" && a.role != "":
			c.As = "token"
		case c.As == "" || a.role == "" && c.As != "garbage":
			c.As = diff.NoToken
		}
		if err := run.Do(ctx, "matrix", c, vars); err != nil {
			return err
		}
	}
	return nil
}
