package policy_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/rules"
	"github.com/keystone-go/keystone-go/policy"
)

// goldenRow is a line of test/testdata/policy/policies.tsv, which was written
// from the registered rules of Keystone 30.0.0.
type goldenRow struct {
	Name, Check, Scopes, OldName, OldCheck, Since string
	Removal                                       bool
}

func golden(t *testing.T) []goldenRow {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "test", "testdata", "policy", "policies.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes = '\t', true
	lines, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []goldenRow
	for _, l := range lines[1:] {
		rows = append(rows, goldenRow{l[0], l[1], l[2], l[3], l[4], l[5], l[6] == "True"})
	}
	return rows
}

func TestDefaultsEqualKeystones(t *testing.T) {
	var got []goldenRow
	for _, r := range policy.Defaults {
		row := goldenRow{Name: r.Name, Check: r.Check, Scopes: strings.Join(r.ScopeTypes, ","), Removal: r.Removal}
		if d := r.Deprecated; d != nil {
			row.OldName, row.OldCheck, row.Since = r.Name, d.Check, d.Since
			if d.Name != "" {
				row.OldName = d.Name
			}
		}
		got = append(got, row)
	}
	want := golden(t)
	if len(want) != 204 {
		t.Errorf("the golden file has %d rules, want 204", len(want))
	}
	byName := func(a, b goldenRow) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(got, byName)
	slices.SortFunc(want, byName)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("defaults differ from Keystone's (-Keystone +ours):\n%s", d)
	}
}

func TestDefaultsAreWellFormed(t *testing.T) {
	set := &rules.Set{Rules: map[string]rules.Check{}}
	for _, r := range slices.Concat(policy.Defaults, policy.Own) {
		if _, twice := set.Rules[r.Name]; twice {
			t.Errorf("%s stands twice", r.Name)
		}
		check, err := rules.Parse(r.Check)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
		set.Rules[r.Name] = check
		if r.Deprecated != nil {
			if _, err := rules.Parse(r.Deprecated.Check); err != nil {
				t.Errorf("%s, deprecated: %v", r.Name, err)
			}
		}
		if r.Description == "" {
			t.Errorf("%s has no description", r.Name)
		}
		for _, op := range r.Operations {
			if method, path, ok := strings.Cut(op, " "); !ok || strings.ToUpper(method) != method || !strings.HasPrefix(path, "/v3/") {
				t.Errorf("%s guards %q, want METHOD /v3/...", r.Name, op)
			}
		}
		if strings.HasPrefix(r.Name, "identity:") && len(r.Operations) == 0 {
			t.Errorf("%s guards nothing", r.Name)
		}
	}
	for _, problem := range set.Problems() {
		t.Error(problem)
	}
}

func TestOwnRulesAreNamedApart(t *testing.T) {
	for _, r := range policy.Own {
		if !strings.HasPrefix(r.Name, "keystone_go:") {
			t.Errorf("%s: own rules start with keystone_go:", r.Name)
		}
	}
}
