package test

import (
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/uuid"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/test/harness"
)

// TestNullTargets asks each row whose default rule would let a target without
// values in, as somebody whose token has no such value either, about what is
// not his and about what is not there.
func TestNullTargets(t *testing.T) {
	s := harness.New(t, harness.Options{Engine: dbtest.Engines()[0]})
	w := &world{Server: s, t: t, admin: s.Admin()}
	w.build()
	calls := w.calls()
	for _, rule := range w.traps() {
		if len(calls[rule]) == 0 {
			t.Errorf("%s lets a target without values in, and no call asks its handler", rule)
		}
	}
	for rule, all := range calls {
		for _, call := range all {
			method, path, _ := strings.Cut(call, " ")
			for name, path := range map[string]string{"another's": path, "nobody's": absent.ReplaceAllString(path, uuid.Hex())} {
				var body any
				if method == "POST" {
					body = harness.M{"group": harness.M{"name": "new", "domain_id": w.domain}}
				} else if method == "PATCH" {
					body = harness.M{"group": harness.M{"name": "new"}}
				}
				for who, token := range map[string]string{"manager": w.manager, "unscoped": w.unscoped} {
					a := s.Do(harness.Call{Method: method, Path: path, Token: token, Body: body})
					if a.Status != http.StatusForbidden && (name == "another's" || a.Status != http.StatusNotFound) {
						t.Errorf("%s: %s, %s, %s: %d %s", rule, who, call, name, a.Status, a.Body)
					}
				}
			}
		}
	}
}

// absent are the ids in a path, which others that nothing has are put for.
var absent = regexp.MustCompile(`\b[0-9a-f]{32}\b`)

type world struct {
	*harness.Server
	t                                  *testing.T
	admin, manager, unscoped           string
	domain, project, user, group, role string
	ofProject, ofDomain, ofNobody, own string
}

func (w *world) make(kind, at string, body harness.M) string {
	w.t.Helper()
	a := w.Do(harness.Call{Method: "POST", Path: at, Token: w.admin, Body: harness.M{kind: body}})
	id, _ := a.At(w.t, kind, "id").(string)
	return id
}

func (w *world) build() {
	w.domain = w.make("domain", "/v3/domains", harness.M{"name": "another"})
	w.project = w.make("project", "/v3/projects", harness.M{"name": "another", "domain_id": w.domain, "tags": []string{"red"}})
	w.user = w.make("user", "/v3/users", harness.M{"name": "another", "domain_id": w.domain})
	w.group = w.make("group", "/v3/groups", harness.M{"name": "another", "domain_id": w.domain})
	w.role = w.make("role", "/v3/roles", harness.M{"name": "another"})
	service := w.make("service", "/v3/services", harness.M{"type": "limited"})
	limits := func(at, key string, items ...harness.M) []string {
		a := w.Do(harness.Call{Method: "POST", Path: at, Token: w.admin, Body: harness.M{key: items}})
		var ids []string
		list, _ := a.At(w.t, key).([]any)
		for _, x := range list {
			ids = append(ids, x.(harness.M)["id"].(string))
		}
		if len(ids) != len(items) {
			w.t.Fatalf("POST %s: %d %s", at, a.Status, a.Body)
		}
		return ids
	}
	limits("/v3/registered_limits", "registered_limits", harness.M{"service_id": service, "resource_name": "r", "default_limit": 9})
	of := limits("/v3/limits", "limits",
		harness.M{"service_id": service, "resource_name": "r", "resource_limit": 1, "project_id": w.project},
		harness.M{"service_id": service, "resource_name": "r", "resource_limit": 1, "domain_id": w.domain})
	w.ofProject, w.ofDomain, w.ofNobody = of[0], of[1], uuid.Hex()
	// As Python Keystone leaves one that is nobody's.
	if _, err := w.DB.Exec(w.t.Context(), `insert into "limit" (id, resource_limit, registered_limit_id)
select $1, 1, l.registered_limit_id from "limit" l where l.id = $2`, w.ofNobody, of[0]); err != nil {
		w.t.Fatal(err)
	}
	w.own = w.make("user", "/v3/users", harness.M{"name": "manager", "password": "manager-pw"})
	own := w.make("project", "/v3/projects", harness.M{"name": "own"})
	roles, _ := w.Do(harness.Call{Method: "GET", Path: "/v3/roles", Token: w.admin}).At(w.t, "roles").([]any)
	for _, r := range roles {
		if name := r.(harness.M)["name"]; name == "manager" || name == "member" || name == "reader" {
			w.Do(harness.Call{Method: "PUT", Path: "/v3/projects/" + own + "/users/" + w.own + "/roles/" + r.(harness.M)["id"].(string), Token: w.admin})
		}
	}
	w.manager = w.Token("manager", "manager-pw", harness.OnProject("own"))
	w.unscoped = w.Token("manager", "manager-pw", "unscoped")
}

// calls are those of each rule, about what another domain has.
func (w *world) calls() map[string][]string {
	group, user, project := "/v3/groups/"+w.group, "/v3/users/"+w.user, "/v3/projects/"+w.project
	member := group + "/users/" + w.user
	var grants, grant []string
	for _, on := range []string{project, "/v3/domains/" + w.domain} {
		for _, to := range []string{"/users/" + w.user, "/groups/" + w.group} {
			grants = append(grants, "GET "+on+to+"/roles")
			grant = append(grant, "GET "+on+to+"/roles/"+w.role, "GET /v3/OS-INHERIT"+strings.TrimPrefix(on, "/v3")+to+"/roles/"+w.role+"/inherited_to_projects")
		}
	}
	return map[string][]string{
		"identity:list_domains":           {"GET /v3/domains"},
		"identity:list_groups":            {"GET /v3/groups"},
		"identity:list_projects":          {"GET /v3/projects"},
		"identity:list_users":             {"GET /v3/users"},
		"identity:list_users_in_group":    {"GET " + group + "/users"},
		"identity:get_group":              {"GET " + group},
		"identity:list_groups_for_user":   {"GET " + user + "/groups"},
		"identity:list_user_projects":     {"GET " + user + "/projects"},
		"identity:check_user_in_group":    {"GET " + member},
		"identity:check_grant":            grant,
		"identity:list_grants":            grants,
		"identity:get_limit":              {"GET /v3/limits/" + w.ofProject, "GET /v3/limits/" + w.ofDomain, "GET /v3/limits/" + w.ofNobody},
		"identity:create_group":           {"POST /v3/groups"},
		"identity:update_group":           {"PATCH " + group},
		"identity:delete_group":           {"DELETE " + group},
		"identity:add_user_to_group":      {"PUT " + member},
		"identity:remove_user_from_group": {"DELETE " + member},
		"identity:get_project":            {"GET " + project},
		"identity:get_project_tag":        {"GET " + project + "/tags/red"},
		"identity:list_project_tags":      {"GET " + project + "/tags"},
	}
}

// traps are the rules that let a caller in when a target's values are None, and
// not when they are missing.
func (w *world) traps() []string {
	e, err := policy.New(policy.Config{EnforceNewDefaults: true, Log: slog.New(slog.DiscardHandler)}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	nulls := policy.Target{}
	for _, r := range policy.Defaults {
		for _, m := range regexp.MustCompile(`%\(([^)]*)\)s`).FindAllStringSubmatch(r.Check, -1) {
			nulls[m[1]] = nil
		}
	}
	caller := policy.Credentials{
		"user_id": "x", "user_domain_id": "d", "project_id": nil, "domain_id": nil, "system_scope": nil, "roles": []string{"manager", "member", "reader"},
		"token": map[string]any{"user": map[string]any{"id": "x", "domain": map[string]any{"id": "d"}}},
	}
	var out []string
	for _, r := range policy.Defaults {
		if e.Enforce(w.t.Context(), r.Name, caller, nulls) == nil && e.Enforce(w.t.Context(), r.Name, caller, nil) != nil {
			out = append(out, r.Name)
		}
	}
	if len(out) < 15 {
		w.t.Errorf("only %v would let a target without values in", out)
	}
	return out
}
