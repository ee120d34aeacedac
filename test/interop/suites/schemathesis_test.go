//go:build interop

package suites_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/test/harness"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// TestSchemathesis has schemathesis send what docs/openapi.yaml allows, and
// what it does not, to a server on Postgres: no 500, no status and no body that
// the document does not have.
func TestSchemathesis(t *testing.T) {
	e := peer.Start(t, peer.Options{GoFirst: true, Stopped: true, Conf: limited(t)})
	if err := e.Go.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Go.Stop(); err != nil {
			t.Error(err)
		}
	})
	admin := e.Go.Admin(t)
	validated := e.Go.Want(t, http.StatusOK, peer.Call{Method: "GET", Path: "/v3/auth/tokens", Token: admin, Subject: admin})
	document := filepath.Join(t.TempDir(), "openapi.yaml")
	known := map[string][]any{
		// The administrator himself stays out of reach: his tokens would end.
		"user_id": {"nosuch", "0123456789abcdef0123456789abcdef"}, "region_id": {"RegionOne", "nosuch", "it's $1"},
		"X-Subject-Token": {e.Go.Admin(t), "rubbish", validated.Text("token", "audit_ids", 0)},
	}
	pin(t, document, known)
	before := tallied(t, e.Go)
	cmd := exec.CommandContext(t.Context(), peer.Venv("schemathesis"), "run", document, "--url", e.Go.URL,
		"-H", "X-Auth-Token: "+admin, "--phases", "examples,coverage,fuzzing", "--max-examples", "30", "--seed", "1", "--workers", "1",
		"--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
		"--request-timeout", "30", "--continue-on-failure", "--no-color")
	if limits != "" {
		// What is wrong on purpose costs an address about one unit a request, and
		// five come back a second: docs/ratelimit.md reckons why 6 a second stay
		// below, however fast the machine is. More examples of what the coverage
		// has would take longer than they are worth.
		cmd.Args = append(cmd.Args, "--rate-limit", "6/s", "--max-examples", "2")
	}
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "HYPOTHESIS_STORAGE_DIRECTORY="+t.TempDir())
	out, err := cmd.CombinedOutput()
	spared(t, e.Go, "schemathesis", before)
	text := strings.ReplaceAll(string(out), admin, "…")
	if err != nil {
		t.Errorf("schemathesis: %v\n%.20000s", err, text)
	}
	count := func(form string) int {
		t.Helper()
		m := regexp.MustCompile(form).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("nothing like %s in\n%.4000s", form, text)
		}
		n, _ := strconv.Atoi(m[1])
		return n
	}
	cases, rows := count(`(\d+) generated`), count(`Tested: +(\d+)`)
	t.Logf("schemathesis: %d rows, %d cases", rows, cases)
	if rows != len(v3.WithHeads(v3.Table(v3.Resources{}))) || cases < 500 {
		t.Errorf("%d rows and %d cases, want every row and at least 500", rows, cases)
	}
}

// pin writes the document with values that exist in the place of any text, so
// that what lies behind a look-up is reached.
func pin(t *testing.T, file string, known map[string][]any) {
	t.Helper()
	text, err := os.ReadFile(harness.Testdata("../../docs/openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := yaml.Load(text, &doc); err != nil {
		t.Fatal(err)
	}
	pinned := 0
	for _, item := range doc["paths"].(map[string]any) {
		for _, op := range item.(map[string]any) {
			params, _ := op.(map[string]any)["parameters"].([]any)
			for _, p := range params {
				param := p.(map[string]any)
				if values, ok := known[param["name"].(string)]; ok {
					param["schema"] = map[string]any{"anyOf": []any{map[string]any{"enum": values}, param["schema"]}}
					pinned++
				}
			}
		}
	}
	if pinned == 0 {
		t.Fatal("the document has none of the parameters")
	}
	out, err := yaml.Dump(doc)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out, 0o600); err != nil {
		t.Fatal(err)
	}
}
