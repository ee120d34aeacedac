//go:build interop

package suites_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/keystone-go/keystone-go/test/harness"
	"github.com/keystone-go/keystone-go/test/interop/peer"
	"github.com/keystone-go/keystone-go/test/interop/suites"
)

// full adds the suites that take minutes.
var full = os.Getenv("KEYSTONE_GO_INTEROP_FULL") == "1"

// bar takes the bar anew: both servers are run, and the lists written.
var bar = os.Getenv("KEYSTONE_GO_SUITES_BAR") == "1"

// pair is the two servers with what the suites need in their database.
type pair struct {
	*peer.Env
	ids map[string]string
}

// TestSuites runs each suite against keystone-go, and holds what became of its
// tests against what Python passes (test/testdata/suites).
func TestSuites(t *testing.T) {
	p := newPair(t)
	count := map[string]suites.Count{}
	run := func(name string, slow bool, area func(string) string, one func(*testing.T, *peer.Server) []suites.Outcome) {
		if slow && !full {
			return
		}
		t.Run(name, func(t *testing.T) { count[name] = p.suite(t, name, area, one) })
	}
	run("openstackclient", false, osClientArea, p.openstackClient)
	run("auth_token", false, nil, p.authToken)
	run("oslo_limit", false, always("limits"), p.osloLimit)
	run("gophercloud", false, gophercloudArea, p.gophercloud)
	run("openstackclient_functional", true, functionalArea, p.osClientModules)
	run("openstacksdk", true, sdkArea, p.openstackSDK)
	run("tempest", true, tempestArea, p.tempest)
	run("tempest_plugin", true, tempestArea, p.tempestPlugin)
	run("tempest_plugin_rbac", true, tempestArea, p.tempestRBAC)
	enforced(t, p.Go)
	saveReport(t, count)
}

// suite runs one against keystone-go, or, to take the bar, against both.
func (p *pair) suite(t *testing.T, name string, area func(string) string, one func(*testing.T, *peer.Server) []suites.Outcome) suites.Count {
	file := harness.Testdata("suites/" + name + ".txt")
	var python []suites.Outcome
	if bar {
		p.pointTo(t, p.Python)
		python = one(t, p.Python)
	}
	p.pointTo(t, p.Go)
	before := tallied(t, p.Go)
	ours := one(t, p.Go)
	spared(t, p.Go, name, before)
	if bar {
		if area == nil {
			area = always("nothing")
		}
		text := fmt.Sprintf("# %s: what Python Keystone passes, and what of it waits here.\n%s", name, suites.Draft(python, ours, area))
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := suites.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	c, wrong := list.Judge(ours)
	for _, w := range wrong {
		t.Error(w)
	}
	t.Logf("%s: %v", name, c)
	return c
}

// pointTo has the catalog name a server: clients go where it says, whoever they
// logged in to.
func (p *pair) pointTo(t *testing.T, s *peer.Server) {
	t.Helper()
	n, err := p.DB.Exec(t.Context(), `update endpoint set url = $1`, s.URL+"/v3")
	if err != nil || n == 0 {
		t.Fatalf("%d endpoints changed, %v", n, err)
	}
}

func always(area string) func(string) string { return func(string) string { return area } }

// program runs a Python program of testdata and reads its lines.
func (p *pair) program(t *testing.T, s *peer.Server, env []string, args ...string) []suites.Outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), peer.Venv("python"), args...)
	cmd.Env = append(p.environ(t, s), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var out []suites.Outcome
	for line := range strings.Lines(stdout.String()) {
		var o suites.Outcome
		if json.Unmarshal([]byte(line), &o) == nil && o.ID != "" {
			out = append(out, o)
		}
	}
	if err != nil || len(out) == 0 {
		t.Errorf("%s: %v after %d tests\n%.4000s", strings.Join(args, " "), err, len(out), stderr.String())
	}
	return out
}

// The programs of testdata that run the tests of modules.
const (
	unittestLines   = "testdata/unittest_lines.py"
	functionalLines = "testdata/functional_lines.py" // openstackclient's, by forks
)

// inTwo runs a program of testdata twice at once, with every other of the test
// modules each: what waits for the server's answers leaves a core idle.
func (p *pair) inTwo(t *testing.T, s *peer.Server, env []string, program string, modules []string) []suites.Outcome {
	t.Helper()
	args := [2][]string{{program}, {program}}
	for i, m := range modules {
		args[i%2] = append(args[i%2], m)
	}
	var out [2][]suites.Outcome
	var both sync.WaitGroup
	for i := range args {
		both.Go(func() { out[i] = p.program(t, s, env, args[i]...) })
	}
	both.Wait()
	return slices.Concat(out[:]...)
}

// environ is that of the administrator on his project, and nothing of the
// caller's own OpenStack settings.
func (p *pair) environ(t *testing.T, s *peer.Server, more ...string) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "OS_") && !strings.HasPrefix(v, "HOME=") {
			env = append(env, v)
		}
	}
	return append(append(env,
		"HOME="+t.TempDir(), "OS_AUTH_URL="+s.URL+"/v3", "OS_USERNAME=admin", "OS_PASSWORD="+peer.Password, "OS_USER_DOMAIN_NAME=Default",
		"OS_PROJECT_NAME=admin", "OS_PROJECT_DOMAIN_NAME=Default", "OS_REGION_NAME=RegionOne", "OS_IDENTITY_API_VERSION=3",
	), more...)
}

func saveReport(t *testing.T, v any) {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(harness.Testdata("../../build/interop"), "report")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "suites.json"), text, 0o644); err != nil {
		t.Fatal(err)
	}
}
