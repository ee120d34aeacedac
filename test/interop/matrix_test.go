//go:build interop

package interop_test

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/test/interop/diff"
)

// matrixRow is what is asked of one row of the route table.
type matrixRow struct {
	Row   string      `yaml:"row"`
	Cases []diff.Step `yaml:"cases"`
}

const (
	leastCases  = 5
	leastActors = 9
	leastPairs  = 28 * 23
)

// loadMatrix reads matrix.yaml and holds it against the route table: a row
// that is served and is not asked, or is asked too little, fails.
func loadMatrix(t *testing.T) []matrixRow {
	t.Helper()
	text, err := os.ReadFile("matrix.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rows []matrixRow
	if err := yaml.Load(text, &rows); err != nil {
		t.Fatal(err)
	}
	served := map[string]bool{}
	for _, r := range v3.WithHeads(v3.Table(v3.Resources{})) {
		if !strings.HasPrefix(r.Rule, "keystone_go:") { // of which Python has none
			served[r.Method+" "+r.Path] = true
		}
	}
	var all []matrixRow
	for _, r := range rows {
		method, path, _ := strings.Cut(r.Row, " ")
		if len(r.Cases) < leastCases {
			t.Errorf("%s: %d cases, want at least %d", r.Row, len(r.Cases), leastCases)
		}
		methods := []string{method}
		if method == "GET" {
			methods = append(methods, "HEAD")
		}
		for _, m := range methods {
			one := matrixRow{Row: m + " " + path}
			for _, c := range r.Cases {
				c.Method = m
				c.Path = strings.Replace(c.Path, "WHAT", path[strings.LastIndexByte(path, '/')+1:], 1)
				one.Cases = append(one.Cases, c)
			}
			if !served[one.Row] {
				t.Errorf("%s is asked, and not served", one.Row)
			}
			delete(served, one.Row)
			all = append(all, one)
		}
	}
	for row := range served {
		t.Errorf("%s is served, and not asked: matrix.yaml lacks it", row)
	}
	return all
}

// matrix has every actor send every case of every row to both servers.
func matrix(t *testing.T, s *stand) diff.Report {
	rows := loadMatrix(t)
	if len(s.actors) < leastActors {
		t.Fatalf("%d actors, want %d", len(s.actors), leastActors)
	}
	rows = slices.DeleteFunc(rows, func(r matrixRow) bool { return !only.MatchString(r.Row) })
	run := s.compare(t, "matrix", nil)
	// Reads first: what they are compared on is then what the fixture made.
	slices.SortStableFunc(rows, func(a, b matrixRow) int { return reads(b.Row) - reads(a.Row) })
	for _, r := range rows {
		var all sync.WaitGroup
		turn := make(chan struct{}, 4)
		for _, a := range s.actors {
			all.Go(func() {
				turn <- struct{}{}
				defer func() { <-turn }()
				if err := ask(t.Context(), run, r, a); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if t.Context().Err() != nil {
			break
		}
	}
	t.Logf("%d rows, %d actors: %v", len(rows), len(s.actors), run.Report)
	if narrowed() {
		return run.Report
	}
	if run.Report.Compared < leastPairs {
		t.Errorf("%d pairs compared, want at least %d", run.Report.Compared, leastPairs)
	}
	for _, l := range run.Lists.Unused() {
		t.Errorf("listed, and does not differ: %s", l)
	}
	return run.Report
}

func reads(row string) int {
	if strings.HasPrefix(row, "GET ") || strings.HasPrefix(row, "HEAD ") {
		return 1
	}
	return 0
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
