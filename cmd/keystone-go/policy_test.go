package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/policy"
)

// TestPolicyCheck explains decisions, those of a changed rule among them.
func TestPolicyCheck(t *testing.T) {
	p := newPlace(t, "[oslo_policy]", "policy_file = policy.yaml")
	p.put(t, "policy.yaml", `"identity:list_regions": "role:mapmaker or rule:admin_required"`)
	const manager = "identity:create_user: (rule:admin_required or (role:manager and token.domain.id:%(target.user.domain_id)s))\n"
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"--as role=manager,domain=d1 --target target.user.domain_id=d1 identity:create_user", 0, manager +
			"  yes  scope domain: one of system, domain, project is asked for\n" +
			"  no   rule:admin_required\n  no     role:admin\n  no     is_admin:1\n" +
			"  yes  role:manager\n  yes  token.domain.id:%(target.user.domain_id)s\nallowed\n"},
		{"--as role=manager,domain=d1 --target target.user.domain_id=null identity:create_user", 1, "  no   token.domain.id:%(target.user.domain_id)s\nrefused\n"},
		{"--as role=admin,domain=d1 identity:list_regions", 0, "identity:list_regions: (role:mapmaker or rule:admin_required)\n"},
		{"--as role=mapmaker --as project=p identity:list_regions", 0, "  yes  role:mapmaker\nallowed\n"},
		{"--as role=admin,domain=d1 identity:create_domain", 1, "  no   scope domain: one of system, project is asked for\nrefused\n"},
		{"--as role=reader,system=all identity:list_domains", 0, "allowed\n"},
	} {
		p.run(t, append([]string{"policy", "check"}, strings.Fields(tt.args)...)...).expect(t, tt.args, tt.code, tt.want, "")
	}
	for args, why := range map[string]string{
		"identity:list_users":                            "who asks?",
		"--as role identity:list_users":                  "--as role is not key=value",
		"--as name=ana identity:list_users":              "--as name is not known",
		"--as project=p,domain=d identity:list_users":    "one of project, domain and system",
		"--as role=admin":                                "accepts 1 arg",
		"--as role=admin --target x identity:list_users": "--target x is not key=value",
	} {
		if r := p.run(t, append([]string{"policy", "check"}, strings.Fields(args)...)...); r.code != misuse || !strings.Contains(r.err, why) {
			t.Errorf("%s: exit code %d, %s", args, r.code, r.err)
		}
	}
	if r := p.run(t, "policy", "check", "--as", "role=admin", "identity:nothing"); r.code != failed || !strings.Contains(r.err, `there is no rule "identity:nothing"`) {
		t.Errorf("an unknown rule: exit code %d, %s", r.code, r.err)
	}
}

// TestPolicyList: what is printed is a policy file that changes nothing.
func TestPolicyList(t *testing.T) {
	p := newPlace(t, "[oslo_policy]", "policy_file = policy.yaml")
	p.put(t, "policy.yaml", `"identity:list_regions": "!"
"mine": "role:mine"`)
	p.run(t, "policy", "list", "--changed").expect(t, "policy list --changed", 0, `"identity:list_regions": "!"`+"\n"+`"mine": "role:mine"`+"\n", "")
	all := p.run(t, "policy", "list")
	if n := strings.Count(all.out, "\n"); all.code != 0 || n != len(policy.Defaults)+len(policy.Own)+1 {
		t.Errorf("policy list: exit code %d, %d rules", all.code, n)
	}
	p.put(t, "policy.yaml", all.out)
	if again := p.run(t, "policy", "list"); again.out != all.out {
		t.Error("the list, read as a policy file, gives another list")
	}
}

func TestPolicySample(t *testing.T) {
	call{}.run(t, "policy", "sample").expect(t, "policy sample", 0, policy.Sample(), "")
	file := filepath.Join(t.TempDir(), "policy.yaml")
	call{}.run(t, "policy", "sample", "-o", file).expect(t, "policy sample -o", 0, "", "")
	if got, err := os.ReadFile(file); err != nil || string(got) != policy.Sample() {
		t.Errorf("policy sample -o: %v", err)
	}
	if r := (call{}).run(t, "policy"); r.code != misuse {
		t.Errorf("policy without a command: exit code %d", r.code)
	}
}
