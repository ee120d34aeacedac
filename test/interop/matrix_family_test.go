//go:build interop

package interop_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/test/harness"
	"github.com/keystone-go/keystone-go/test/interop/diff"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// family is a file of diff_matrix: the rows of a kind of resource, with what
// must be there before they are asked.
type family struct {
	name    string
	About   string `yaml:"about"`
	Fixture struct {
		// Once is sent before the databases are copied, Each the same for
		// every actor, with his variables. What they keep is a variable of
		// all, or of the actor.
		Once []diff.Step `yaml:"once"`
		Each []diff.Step `yaml:"each"`
	} `yaml:"fixture"`
	Rows []matrixRow `yaml:"rows"`
}

// matrixRow is what is asked of one row of the route table.
type matrixRow struct {
	Row string `yaml:"row"`
	// Last has a row asked behind all others: one that voids the actors' tokens.
	Last  bool        `yaml:"last"`
	Cases []diff.Step `yaml:"cases"`
}

// turn is when a row is asked. Reads come first: what they are compared on is
// then what the fixtures made, with no new ids in it.
func (r matrixRow) turn() string {
	switch {
	case r.Last:
		return "last"
	case strings.HasPrefix(r.Row, "GET "), strings.HasPrefix(r.Row, "HEAD "):
		return "reads"
	}
	return "writes"
}

var turns = []string{"reads", "writes", "last"}

// loadFamilies reads diff_matrix and holds it against the route table: a row
// that is served and is not asked, or is asked too little, fails.
func loadFamilies(t *testing.T) []family {
	t.Helper()
	files, err := filepath.Glob("diff_matrix/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	served, known := map[string]bool{}, pythons(t)
	for _, r := range v3.WithHeads(v3.Table(v3.Resources{})) {
		// A row of our own has nothing beside it.
		if row := r.Method + " " + r.Path; known[row] {
			served[row] = true
		}
	}
	var out []family
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f := family{name: strings.TrimSuffix(filepath.Base(file), ".yaml")}
		if err := yaml.Load(text, &f, yaml.WithKnownFields()); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		f.Rows = withHeads(f.Rows)
		for _, r := range f.Rows {
			if len(r.Cases) < leastCases {
				t.Errorf("%s: %s: %d cases, want at least %d", file, r.Row, len(r.Cases), leastCases)
			}
			if !served[r.Row] {
				t.Errorf("%s: %s is asked, and not served, or asked twice", file, r.Row)
			}
			delete(served, r.Row)
		}
		out = append(out, f)
	}
	for row := range served {
		t.Errorf("%s is served, and not asked: no file of diff_matrix has it", row)
	}
	return out
}

// TestFamilies tells which rows are asked too little, before any server starts.
func TestFamilies(t *testing.T) { loadFamilies(t) }

// pythons are the rows that Python Keystone serves.
func pythons(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(harness.Testdata("api/routes.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"GET /healthcheck": true, "HEAD /healthcheck": true}
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(line, "\t"); len(f) > 2 {
			known[f[1]+" "+f[2]] = true
		}
	}
	return known
}

// withHeads puts the HEAD behind each GET, and the method and WHAT into the
// cases.
func withHeads(rows []matrixRow) []matrixRow {
	var out []matrixRow
	for _, r := range rows {
		method, path, _ := strings.Cut(r.Row, " ")
		methods := []string{method}
		if method == "GET" {
			methods = append(methods, "HEAD")
		}
		for _, m := range methods {
			one := matrixRow{Row: m + " " + path, Last: r.Last}
			for _, c := range r.Cases {
				c.Method = m
				c.Path = strings.Replace(c.Path, "WHAT", path[strings.LastIndexByte(path, '/')+1:], 1)
				one.Cases = append(one.Cases, c)
			}
			out = append(out, one)
		}
	}
	return out
}

// fixtures sends what the families need to Python.
func (s *stand) fixtures(t *testing.T, python *peer.Server, administrator string) {
	t.Helper()
	prepare := func(f family, steps []diff.Step, vars map[string]string) map[string]string {
		t.Helper()
		all := maps.Clone(s.vars)
		maps.Copy(all, vars)
		all[diff.Administrator] = administrator
		kept, err := diff.Prepare(t.Context(), strings.TrimPrefix(python.URL, "http://"), steps, all)
		if err != nil {
			t.Fatalf("the fixture of %s for %q: %v", f.name, vars["actor"], err)
		}
		return kept
	}
	for _, f := range s.families {
		maps.Copy(s.vars, prepare(f, f.Fixture.Once, nil))
		for _, a := range s.actors {
			maps.Copy(a.vars, prepare(f, f.Fixture.Each, a.vars))
		}
	}
}
