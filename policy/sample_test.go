package policy_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/policy"
)

var update = flag.Bool("update", false, "write the sample policy file anew")

func TestSampleFile(t *testing.T) {
	path := filepath.Join("..", "etc", "policy.yaml")
	if *update {
		if err := os.WriteFile(path, []byte(policy.Sample()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(policy.Sample(), string(got)); d != "" {
		t.Errorf("%s is not what the rules say; run go test ./policy -update (-want +got):\n%s", path, d)
	}
}

// With all its lines in force the sample changes nothing.
func TestSampleIsTheDefault(t *testing.T) {
	text := regexp.MustCompile(`(?m)^#"`).ReplaceAllString(policy.Sample(), `"`)
	d := must(t, policy.Config{EnforceNewDefaults: true}, map[string]string{"policy.yaml": text})
	if got := d.log.take(); got != "" {
		t.Errorf("loading it logged:\n%s", got)
	}
	target := nullTarget()
	for _, roles := range [][]string{{"admin"}, {"manager", "reader"}, {"reader"}, {"service"}, nil} {
		var with, without []string
		plain := must(t, policy.Config{EnforceNewDefaults: true}, nil)
		creds := policy.Credentials{"user_id": "u1", "domain_id": nil, "roles": roles, "token": map[string]any{}}
		for _, r := range policy.Defaults {
			if d.Enforce(t.Context(), r.Name, creds, target) == nil {
				with = append(with, r.Name)
			}
			if plain.Enforce(t.Context(), r.Name, creds, target) == nil {
				without = append(without, r.Name)
			}
		}
		if !slices.Equal(with, without) {
			t.Errorf("%v: with the sample %v, without %v", roles, with, without)
		}
	}
}
