package dbcopy

import (
	"flag"
	"os"
	"slices"
	"testing"
)

//go:generate go test -count=1 -run ^TestSchema$ . -update

var update = flag.Bool("update", false, "write tables.txt anew")

// TestSchema: what is copied is the schema that the migrations make.
func TestSchema(t *testing.T) {
	golden, err := os.ReadFile("../../test/testdata/schema/schema.txt")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("tables.txt", golden, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(golden) != schema {
		t.Error("tables.txt is not the golden of the schema; go generate ./internal/dbcopy writes it anew")
	}
}

// TestOrder: a table is behind all that it refers to, and none is left out.
func TestOrder(t *testing.T) {
	if len(tables) != 48 {
		t.Errorf("%d tables, want 48", len(tables))
	}
	links := 0
	for i, table := range tables {
		if len(table.key) == 0 || len(table.columns) == 0 || slices.Contains(table.at(table.key), -1) {
			t.Errorf("%s has no key: %+v", table.name, table)
		}
		for _, l := range table.links {
			links++
			to := tableAt(l.to)
			if to > i || to == i && table.name != projects {
				t.Errorf("%s comes before %s", table.name, l.to)
			}
			if slices.Contains(table.at(l.columns), -1) || slices.Contains(tables[to].at(l.keys), -1) {
				t.Errorf("%s: %+v names no columns", table.name, l)
			}
		}
	}
	if links < 30 {
		t.Errorf("%d references", links)
	}
}
