package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUpgradeCheck gives the table and the exit codes of keystone-status.
func TestUpgradeCheck(t *testing.T) {
	as := call{as: "/usr/bin/keystone-status"}
	p := newPlace(t)
	p.must(t, "db_sync")
	check := func(p place, more ...string) result {
		t.Helper()
		return as.run(t, append([]string{"--config-file", p.conf, "upgrade", "check"}, more...)...)
	}
	const well = `+-------------------------------------------+
| Upgrade Check Results                     |
+-------------------------------------------+
| Check: Check trust policies are not empty |
| Result: Success                           |
| Details: Trust policies are safe.         |
+-------------------------------------------+
| Check: Check default roles are immutable  |
| Result: Success                           |
| Details: Default roles are immutable.     |
+-------------------------------------------+
| Check: Policy File JSON to YAML Migration |
| Result: Success                           |
| Details: None                             |
+-------------------------------------------+
`
	if r := check(p); r.code != 0 || r.out != well || r.err != "" {
		t.Errorf("upgrade check: exit code %d\n%s%s", r.code, r.out, r.err)
	}
	const asJSON = `{"name": "Upgrade Check Results", "checks": [{"check": "Check trust policies are not empty", "result": 0, "details": "Trust policies are safe."}, {"check": "Check default roles are immutable", "result": 0, "details": "Default roles are immutable."}, {"check": "Policy File JSON to YAML Migration", "result": 0, "details": null}]}` + "\n"
	if r := check(p, "--json"); r.code != 0 || r.out != asJSON {
		t.Errorf("upgrade check --json: exit code %d\n%s", r.code, r.out)
	}
	call{}.run(t, "--config-file", p.conf, "upgrade", "check").expect(t, "as keystone-go", 0, well, "")

	policy := filepath.Join(p.dir, "policy.json")
	if err := os.WriteFile(policy, []byte(`{"identity:list_trusts": "", "identity:get_trust": "@", "identity:delete_trust": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p.must(t, "bootstrap", "--bootstrap-password", "x", "--no-immutable-roles")
	r := check(p.with(t, "[oslo_policy]", "policy_file = "+policy), "--json")
	var got struct {
		Checks []struct {
			Result  int
			Details string
		}
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != 2 || len(got.Checks) != 3 {
		t.Fatalf("three failures: exit code %d, %v\n%s", r.code, err, r.out)
	}
	for i, want := range []string{"identity:list_trusts, identity:delete_trust, identity:get_trust", "Roles are not immutable: admin, member, reader", policy} {
		if c := got.Checks[i]; c.Result != 2 || !strings.Contains(c.Details, want) {
			t.Errorf("check %d: %+v, want a failure with %q", i, c, want)
		}
	}
	r = check(p.with(t, "[oslo_policy]", "policy_file = "+policy))
	for line := range strings.Lines(r.out) {
		if len(line) != len(strings.SplitAfterN(r.out, "\n", 2)[0]) {
			t.Errorf("a line of the table is not as wide as the first: %q", line)
		}
	}
	if strings.Count(r.out, "| Result: Failure ") != 3 {
		t.Errorf("the table has not three failures:\n%s", r.out)
	}
	check(newPlace(t)).expect(t, "no database", 255, "Error:\nCheck default roles are immutable: ", "")
	check(p.with(t, "[token]", "expiration = soon")).expect(t, "a fault", 1, "", "[token] expiration: ")
	as.run(t).expect(t, "nothing", 2, "", "a command is needed")
	as.run(t, "upgrade").expect(t, "half of it", 2, "", "accepts 1 arg(s)")
	as.run(t, "nonsense").expect(t, "nonsense", 2, "", `there is no command "nonsense"`)
}
