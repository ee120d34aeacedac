package clients_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// openstackSDK runs testdata/sdk.py; each of its steps is a subtest.
func openstackSDK(t *testing.T, s server) {
	r := call(t, s.environ(t), venv("python"), "testdata/sdk.py")
	steps := 0
	for line := range strings.Lines(r.stdout) {
		var step struct {
			Step  string
			Error *string
		}
		if err := json.Unmarshal([]byte(line), &step); err != nil {
			t.Errorf("printed %q", line)
			continue
		}
		steps++
		t.Run(step.Step, func(t *testing.T) {
			if step.Error != nil {
				t.Error(*step.Error)
			}
		})
	}
	if r.code != 0 || steps < 8 {
		t.Errorf("status %d after %d steps, want 0 after 8\n%s", r.code, steps, r.stderr)
	}
}

// gophercloud runs the login tests of the folder gophercloud, and from
// gophercloud's own acceptance tests those of the catalog, of regions and of tokens.
func gophercloud(t *testing.T, s server) {
	// What those acceptance tests want to be set, though they use none of it.
	env := s.environ(t, "OS_DOMAIN_NAME=Default", "OS_IMAGE_ID=x", "OS_FLAVOR_ID=1",
		"OS_FLAVOR_ID_RESIZE=2", "OS_POOL_NAME=p", "OS_EXTGW_ID=e", "OS_BRANCH=stable/2026.1", "HOME="+os.Getenv("HOME"))
	t.Run("login", func(t *testing.T) { goTests(t, env, 4, ".") })
	t.Run("acceptance", func(t *testing.T) {
		goTests(t, env, 5, "-tags", "fixtures acceptance", "-run", "^Test(CatalogList|Regions|TokensGet)",
			"github.com/gophercloud/gophercloud/v2/internal/acceptance/openstack/identity/v3")
	})
}

// goTests runs go test in the module gophercloud and makes each test of it
// without subtests a subtest; at least min tests of the first level must have run.
func goTests(t *testing.T, env []string, min int, args ...string) {
	r := call(t, env, "go", append([]string{"-C", "gophercloud", "test", "-count=1", "-json"}, args...)...)
	output, actions, parents := map[string]string{}, map[string]string{}, map[string]bool{}
	ran := 0
	for line := range strings.Lines(r.stdout) {
		var e struct{ Action, Test, Output string }
		if json.Unmarshal([]byte(line), &e) != nil {
			t.Errorf("printed %q", line)
			continue
		}
		output[e.Test] += e.Output
		if e.Test == "" || e.Action != "pass" && e.Action != "fail" && e.Action != "skip" {
			continue
		}
		actions[e.Test] = e.Action
		if parent, _, below := strings.Cut(e.Test, "/"); below {
			parents[parent] = true
		} else {
			ran++
		}
	}
	for test, action := range actions {
		if action == "pass" && parents[test] {
			continue
		}
		t.Run(strings.ReplaceAll(test, "/", ":"), func(t *testing.T) {
			if action != "pass" {
				t.Errorf("%s\n%s", action, output[test])
			}
		})
	}
	if r.code != 0 || ran < min {
		t.Errorf("status %d after %d tests, want 0 after at least %d\n%s%s", r.code, ran, min, output[""], r.stderr)
	}
}
