package rules_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/rules"
)

// The credentials, target and rules that testdata/vectors.tsv was recorded with
// from oslo.policy 6.0.1: rule (text or list, as JSON), its canonical form,
// and True, False or EXC for an exception.
var (
	creds = map[string]any{
		"user_id": "u1", "roles": []string{"Admin", "member"}, "project_id": "p1", "domain_id": nil,
		"is_admin": true, "n": 5, "flag": true,
		"token": map[string]any{
			"project": map[string]any{"domain": map[string]any{"id": "d1"}},
			"roles":   []any{map[string]any{"id": "r1"}, map[string]any{"id": "r2"}},
		},
	}
	target = map[string]any{
		"user_id": "u1", "target.user.id": "u1", "target.user.domain_id": nil, "target.role.name": "member",
		"x": 5, "b": true, "lst": []any{"q"}, "empty": "",
	}
	named = map[string]string{
		"r": "role:admin", "loop": "rule:r", "deny": "!",
		"round": "rule:round", "late": "role:admin or rule:late",
	}
)

// newSet compiles rules by name.
func newSet(texts map[string]string) *rules.Set {
	s := &rules.Set{Rules: map[string]rules.Check{}}
	for name, text := range texts {
		s.Rules[name], _ = rules.Parse(text)
	}
	return s
}

// decide evaluates a rule given as text or list.
func decide(t *testing.T, s *rules.Set, rule any) (canonical string, result string) {
	t.Helper()
	var c rules.Check
	switch r := rule.(type) {
	case string:
		c, _ = rules.Parse(r)
	case []any:
		var err error
		if c, err = rules.ParseList(r); err != nil {
			t.Fatalf("ParseList(%v): %v", r, err)
		}
	default:
		t.Fatalf("%v is no rule", rule)
	}
	s.Rules["asked"] = c
	ok, err := s.Allowed(t.Context(), "asked", creds, target)
	switch {
	case err != nil && ok:
		t.Errorf("%v: allowed with an error: %v", rule, err)
	case err != nil:
		return c.String(), "EXC"
	case ok:
		return c.String(), "True"
	}
	return c.String(), "False"
}

func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/vectors.tsv")
	if err != nil {
		t.Fatal(err)
	}
	s := newSet(named)
	count := 0
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			t.Fatalf("line %q has %d fields, want 3", line, len(fields))
		}
		var rule any
		var canonical string
		if err := json.Unmarshal([]byte(fields[0]), &rule); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(fields[1]), &canonical); err != nil {
			t.Fatal(err)
		}
		gotText, got := decide(t, s, rule)
		if gotText != canonical || got != fields[2] {
			t.Errorf("%s: got %s, %s; want %s, %s", fields[0], gotText, got, canonical, fields[2])
		}
		count++
	}
	if count < 200 {
		t.Errorf("%d vectors were read, want more than 200", count)
	}
}
