//go:build interop

package tables_test

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/migrations"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// says is what the installed Keystone says about itself (tables.py).
type says struct {
	Release string
	Routes  [][2]string
	Rules   []rule
	Heads   struct{ Expand, Contract string }
	Methods map[string]int
}

// rule is a policy rule as tables.py prints it and policies.tsv has it.
type rule struct {
	Name, Check     string
	ScopeTypes      []string `json:"scope_types"`
	DeprecatedName  string   `json:"deprecated_name"`
	DeprecatedCheck string   `json:"deprecated_check"`
	Removal         bool
}

func keystone(t *testing.T) says {
	t.Helper()
	cmd := exec.Command(peer.Venv("python"), "-W", "ignore", "tables.py")
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tables.py: %v\n%s", err, errors.String())
	}
	var s says
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTables holds the tables that the project is built after against the
// release it names. The options have a test of their own, in test/oslo.
func TestTables(t *testing.T) {
	s := keystone(t)
	t.Run("release", func(t *testing.T) {
		text, err := os.ReadFile("../requirements.txt")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains("\n"+string(text), "\nkeystone=="+s.Release+"\n") {
			t.Errorf("the installed Keystone is %s, requirements.txt names another", s.Release)
		}
	})
	t.Run("routes", func(t *testing.T) {
		var got []string
		for _, r := range s.Routes {
			got = append(got, r[0]+" "+r[1])
		}
		// Mounted beside the table of routes.
		got = append(got, "GET /healthcheck", "HEAD /healthcheck")
		var want []string
		for _, row := range tsv(t, "api/routes.tsv") {
			want = append(want, row[1]+" "+row[2])
		}
		equal(t, want, got, cmp.Compare[string])
	})
	t.Run("policies", func(t *testing.T) {
		var want []rule
		for _, row := range tsv(t, "policy/policies.tsv") {
			scopes := []string{}
			if row[2] != "" {
				scopes = strings.Split(row[2], ",")
			}
			want = append(want, rule{
				Name: row[0], Check: row[1], ScopeTypes: scopes,
				DeprecatedName: row[3], DeprecatedCheck: row[4], Removal: row[6] == "True",
			})
		}
		equal(t, want, s.Rules, func(a, b rule) int { return cmp.Compare(a.Name, b.Name) })
	})
	t.Run("revisions", func(t *testing.T) {
		e := peer.Start(t, peer.Options{GoFirst: true, Stopped: true})
		state, err := migrations.Version(context.Background(), e.DB)
		if err != nil {
			t.Fatal(err)
		}
		if state.ExpandHead != s.Heads.Expand || state.ContractHead != s.Heads.Contract {
			t.Errorf("heads: Keystone's are %+v, ours %s and %s", s.Heads, state.ExpandHead, state.ContractHead)
		}
	})
	t.Run("methods", func(t *testing.T) {
		want := map[string]int{}
		for i, name := range conf.Default().Auth.Methods {
			want[name] = 1 << i
		}
		if d := gocmp.Diff(want, s.Methods); d != "" {
			t.Errorf("bits of the methods (-ours +Keystone's):\n%s", d)
		}
	})
}

func equal[T any](t *testing.T, table, keystone []T, order func(a, b T) int) {
	t.Helper()
	slices.SortFunc(table, order)
	slices.SortFunc(keystone, order)
	if d := gocmp.Diff(table, keystone); d != "" {
		t.Errorf("the table and Keystone differ (-table +Keystone):\n%s", d)
	}
}

// tsv reads a table of test/testdata without its head.
func tsv(t *testing.T, name string) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")[1:] {
		rows = append(rows, strings.Split(line, "\t"))
	}
	return rows
}
