package policy_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/keystone-go/keystone-go/policy"
)

// In the language None equals None: a token without a domain and an object
// without one belong together. The tests here hold each default rule against
// targets without values, asked by somebody who owns nothing of them, and list
// by name what lets him in and why that is right or cannot come about.

// open rules ask for a token and nothing else.
var openRules = map[string]string{
	"identity:get_auth_catalog":                      "his own catalog",
	"identity:get_auth_projects":                     "his own projects",
	"identity:get_auth_domains":                      "his own domains",
	"identity:get_auth_system":                       "his own roles on the system",
	"identity:list_projects_for_user":                "like get_auth_projects",
	"identity:list_domains_for_user":                 "like get_auth_domains",
	"identity:get_security_compliance_domain_config": "password rules, which everybody must know",
	"identity:get_limit_model":                       "public",
	"identity:list_limits":                           "the list holds only what the token may see",
	"identity:get_registered_limit":                  "public",
	"identity:list_registered_limits":                "public",
	"identity:get_region":                            "public",
	"identity:list_regions":                          "public",
}

const (
	onlyDomainTokens = "the key is in the target of domain tokens alone, and never None"
	neverNone        = "the column cannot be null, and what is not found leaves the key out"
)

// Rules that None lets a reader or a manager of some project into, or who has no
// project. Each handler must keep the promise that stands here, which
// TestNullTargets asks of them.
var (
	trapForReaders = map[string]string{
		"identity:list_domains":         onlyDomainTokens,
		"identity:list_groups":          onlyDomainTokens,
		"identity:list_projects":        onlyDomainTokens,
		"identity:list_users":           onlyDomainTokens,
		"identity:list_users_in_group":  neverNone,
		"identity:get_group":            neverNone,
		"identity:list_groups_for_user": neverNone,
		"identity:list_user_projects":   neverNone,
		"identity:check_user_in_group":  neverNone,
		"identity:check_grant":          "the domain of the user or group is asked for too, and never None",
		"identity:list_grants":          "the domain of the user or group is asked for too, and never None",
		"identity:get_limit":            "a limit has a project or a domain; the keys of the other are left out",
	}
	trapWithoutProject = map[string]string{
		"identity:get_project":       neverNone,
		"identity:get_project_tag":   neverNone,
		"identity:list_project_tags": neverNone,
	}
	domainManagers = map[string]string{
		"identity:list_roles": "the global roles, which who manages a domain gives",
	}
	trapForManagers = map[string]string{
		"identity:create_group":           "the body's schema takes no null, and without domain_id the key is left out",
		"identity:update_group":           neverNone,
		"identity:delete_group":           neverNone,
		"identity:add_user_to_group":      neverNone,
		"identity:remove_user_from_group": neverNone,
	}
)

var targetKey = regexp.MustCompile(`%\(([^)]*)\)s`)

// nullTarget has every key that a rule looks at, all None.
func nullTarget() policy.Target {
	target := policy.Target{}
	for _, r := range policy.Defaults {
		for _, m := range targetKey.FindAllStringSubmatch(r.Check, -1) {
			target[m[1]] = nil
		}
	}
	return target
}

// callers are who asks, by what their tokens are for; none owns anything.
var callers = map[string]func(policy.Credentials){
	"project": func(c policy.Credentials) {
		c["project_id"], c["project_domain_id"] = "p1", "default"
		c["token"].(map[string]any)["project"] = map[string]any{"id": "p1", "domain": map[string]any{"id": "default"}}
	},
	"domain": func(c policy.Credentials) {
		c["domain_id"] = "d1"
		c["token"].(map[string]any)["domain"] = map[string]any{"id": "d1"}
	},
	"system":  func(c policy.Credentials) { c["system_scope"] = "all" },
	"nothing": func(policy.Credentials) {},
}

// letIn lists the rules that allow a caller's roles.
func letIn(t *testing.T, cfg policy.Config, scope string, target policy.Target, roles ...string) []string {
	t.Helper()
	d := must(t, cfg, nil)
	creds := policy.Credentials{
		"user_id": "mallory", "user_domain_id": "default", "project_id": nil, "project_domain_id": nil,
		"domain_id": nil, "system_scope": nil, "roles": roles, "is_admin_project": true,
		"service_user_id": nil, "service_user_domain_id": nil, "service_project_id": nil,
		"service_project_domain_id": nil, "service_roles": []string{},
		"token": map[string]any{"user": map[string]any{"id": "mallory", "domain": map[string]any{"id": "default"}}},
	}
	callers[scope](creds)
	var in []string
	for _, r := range policy.Defaults {
		if d.Enforce(t.Context(), r.Name, creds, target) == nil {
			in = append(in, r.Name)
		}
	}
	slices.Sort(in)
	return in
}

func TestNoneOpensNothingElse(t *testing.T) {
	if n := len(nullTarget()); n < 15 {
		t.Fatalf("the rules look at %d keys, want at least 15", n)
	}
	manager := []string{"manager", "member", "reader"}
	for _, c := range []struct {
		name, scope string
		target      policy.Target
		roles       []string
		want        map[string]string
	}{
		{"member, empty target", "project", nil, []string{"member"}, openRules},
		{"member and reader, empty target", "project", nil, []string{"member", "reader"}, openRules},
		{"manager, empty target", "project", nil, manager, openRules},
		{"no roles, nulls", "project", nullTarget(), nil, merge(openRules, only("identity:get_limit", trapForReaders))},
		{"member, nulls", "project", nullTarget(), []string{"member"}, merge(openRules, only("identity:get_limit", trapForReaders))},
		{"member and reader, nulls", "project", nullTarget(), []string{"member", "reader"}, merge(openRules, trapForReaders)},
		{"manager, nulls", "project", nullTarget(), manager, merge(openRules, trapForReaders, trapForManagers)},
		{"member, domain token, empty target", "domain", nil, []string{"member"}, openRules},
		{"member, domain token, nulls", "domain", nullTarget(), []string{"member"}, merge(openRules, trapWithoutProject)},
		{"manager, domain token, empty target", "domain", nil, manager, merge(openRules, domainManagers)},
		{"manager, domain token, nulls", "domain", nullTarget(), manager, merge(openRules, trapWithoutProject, domainManagers)},
		{"member, system token, empty target", "system", nil, []string{"member"}, openRules},
		{"member, system token, nulls", "system", nullTarget(), []string{"member"}, merge(openRules, trapWithoutProject, only("identity:get_limit", trapForReaders))},
		{"no roles, unscoped, empty target", "nothing", nil, nil, openRules},
		{"no roles, unscoped, nulls", "nothing", nullTarget(), nil, merge(openRules, trapWithoutProject, only("identity:get_limit", trapForReaders))},
	} {
		for _, cfg := range []policy.Config{{EnforceNewDefaults: true}, {}} {
			name := fmt.Sprintf("%s, new defaults alone: %v", c.name, cfg.EnforceNewDefaults)
			got := letIn(t, cfg, c.scope, c.target, c.roles...)
			for _, rule := range got {
				if _, ok := c.want[rule]; !ok {
					t.Errorf("%s: %s lets him in", name, rule)
				}
			}
			for rule, why := range c.want {
				if !slices.Contains(got, rule) {
					t.Errorf("%s: %s is listed (%s) and does not let him in", name, rule, why)
				}
			}
		}
	}
}

func merge(all ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range all {
		maps.Copy(out, m)
	}
	return out
}

func only(name string, from map[string]string) map[string]string {
	return map[string]string{name: from[name]}
}
