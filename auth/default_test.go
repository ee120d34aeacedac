package auth_test

import (
	"testing"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/resource"
)

// TestDefaultProject: a login without a scope gets the default project where it
// can be had, and none otherwise (keystone/api/_shared/authentication.py
// _check_and_set_default_scoping).
func TestDefaultProject(t *testing.T) {
	each(t, rescoping(true), func(s *stand) {
		s.must(resource.CreateProject(s.Context(), s.db, resource.Project{ID: "asdomain", Name: "as", DomainID: resource.RootDomainID, Enabled: true, IsDomain: true}))
		for _, p := range []string{"poff", "pinoff", "asdomain", "pfar"} {
			s.grant("ana", "project "+p, "member")
		}
		for _, tt := range []struct{ name, project, want string }{
			{"none", "", ""},
			{"a role on it", "p1", "p1"},
			{"a role on it, in another domain", "pfar", "pfar"},
			{"no role on it", "p1child", ""},
			{"gone", "gone", ""},
			{"disabled", "poff", ""},
			{"its domain disabled", "pinoff", ""},
			{"acts as a domain", "asdomain", ""},
			{"a domain", far, ""},
			{"the hidden root", resource.RootDomainID, ""},
		} {
			var project any
			if tt.project != "" {
				project = tt.project
			}
			s.exec(`update "user" set default_project_id = $1 where id = $2`, project, s.ids["ana"])
			held, err := s.try(byPassword(s.ids["ana"], "ana", ""))
			if err != nil {
				s.Errorf("%s: %v", tt.name, err)
				continue
			}
			again, err := s.try(byToken(s.token("ana", unscoped).ID, ""))
			s.must(err)
			for how, id := range map[string]struct {
				project *resource.Project
				token   string
				scope   string
				roles   int
				catalog bool
			}{
				"password": {held.Project, held.Token.ProjectID, held.Scope(), len(held.Roles), held.Catalog != ""},
				"token":    {again.Project, again.Token.ProjectID, again.Scope(), len(again.Roles), again.Catalog != ""},
			} {
				scoped := tt.want != ""
				if id.token != tt.want || (id.project != nil) != scoped || (id.scope == "project") != scoped || (id.roles > 0) != scoped || id.catalog != scoped {
					s.Errorf("%s, by %s: got %+v, want project %q", tt.name, how, id, tt.want)
				}
			}
			if _, err := s.subject(held.ID); err != nil {
				s.Errorf("%s: the token is not valid: %v", tt.name, err)
			}
		}
	})
}

// TestDefaultProjectNotAsked: a scope that was asked for, unscoped among them,
// leaves the default project alone.
func TestDefaultProjectNotAsked(t *testing.T) {
	each(t, world{}, func(s *stand) {
		s.update("ana", identity.Change{DefaultProject: ptr(ptr("p1"))})
		for scope, want := range map[string]string{unscoped: "", `{"unscoped": {}}`: "", onSystem: "system", onFar: "domain"} {
			if id := s.token("ana", scope); id.Scope() != want || id.Project != nil {
				s.Errorf("scope %s: got %q, project %v", scope, id.Scope(), id.Project)
			}
		}
		if id := s.token("ana", onP2); id.Token.ProjectID != "p2" {
			s.Errorf("p2 was asked for: got %q", id.Token.ProjectID)
		}
	})
}

// TestNoRole: a scope that is there and gives no role is the bare 401.
func TestNoRole(t *testing.T) {
	each(t, world{}, func(s *stand) {
		for _, scope := range []string{onP1, onFar, onSystem} {
			if _, err := s.try(byPassword(s.ids["ben"], "ben", scope)); message(err) != bare {
				s.Errorf("scope %s: got %q", scope, message(err))
			}
		}
		s.token("ben", unscoped)
	})
}

// TestScopeByName finds a project and a domain by every way of naming them.
func TestScopeByName(t *testing.T) {
	each(t, world{}, func(s *stand) {
		for scope, want := range map[string]string{
			`{"project": {"id": "p1"}}`:                                              "p1",
			`{"project": {"name": "p1", "domain": {"id": "default"}}}`:               "p1",
			`{"project": {"name": "p1", "domain": {"name": "Default"}}}`:             "p1",
			`{"project": {"name": "p1", "id": "p2", "domain": {"name": "Default"}}}`: "p1", // the name counts
			`{"project": {"name": "p1", "domain": {"name": "Default", "id": "x"}}}`:  "p1",
			`{"project": {"name": "p1", "domain": {"name": "default"}}}`:             "",
			`{"project": {"name": "P1", "domain": {"id": "default"}}}`:               "",
			`{"project": {"name": "p1", "domain": {"id": "` + far + `"}}}`:           "",
			`{"project": {"id": "P1"}}`:                                              "",
			`{"project": {"id": ""}}`:                                                "",
			`{"domain": {"id": "` + far + `"}}`:                                      far,
			`{"domain": {"name": "Far"}}`:                                            far,
			`{"domain": {"name": "Far", "id": "default"}}`:                           far,
			`{"domain": {"name": "far"}}`:                                            "",
			`{"domain": {"id": "p1"}}`:                                               "",
			`{"domain": {"id": "` + resource.RootDomainID + `"}}`:                    "",
		} {
			id, err := s.try(byPassword(s.ids["ana"], "ana", scope))
			got := ""
			if inOtherCase[scope] != "" && !dbtest.Exact(s.db) {
				want = inOtherCase[scope]
			}
			if err == nil {
				got = id.Token.ProjectID + id.Token.DomainID
			} else if message(err) != bare {
				s.Errorf("scope %s: %q", scope, message(err))
			}
			if got != want {
				s.Errorf("scope %s gives %q, want %q", scope, got, want)
			}
		}
	})
}

// inOtherCase are the scopes and users that MariaDB finds though their names are
// written otherwise; the token holds what is stored.
var inOtherCase = map[string]string{
	`{"project": {"name": "p1", "domain": {"name": "default"}}}`: "p1",
	`{"project": {"name": "P1", "domain": {"id": "default"}}}`:   "p1",
	`{"project": {"id": "P1"}}`:                                  "p1",
	`{"domain": {"name": "far"}}`:                                far,
	`"name": "ana", "domain": {"name": "default"}`:               "ana",
	`"name": "ANA", "domain": {"id": "default"}`:                 "ana",
}

// TestUserByName finds the user by every way of naming him; a name counts
// before an id.
func TestUserByName(t *testing.T) {
	each(t, world{}, func(s *stand) {
		for user, want := range map[string]string{
			`"id": "` + s.ids["ana"] + `"`:                                             "",
			`"name": "ana", "domain": {"id": "default"}`:                               "",
			`"name": "ana", "domain": {"name": "Default"}`:                             "",
			`"name": "ana", "domain": {"name": "Default", "id": "x"}`:                  "",
			`"name": "ana", "id": "` + s.ids["ben"] + `", "domain": {"id": "default"}`: "",
			`"name": "ana", "domain": {"name": "default"}`:                             bare,
			`"name": "ANA", "domain": {"id": "default"}`:                               bare,
			`"name": " ana", "domain": {"id": "default"}`:                              bare,
			`"name": "ana", "domain": {"id": "` + far + `"}`:                           bare,
			`"name": "ana"`:                       "400 Expecting to find domain in user. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.",
			`"name": "ana", "domain": {"id": ""}`: "400 Expecting to find id or name in domain. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.",
			`"id": "", "name": ""`:                "400 Expecting to find id or name in user. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.",
		} {
			id, err := s.try(login(`"methods": ["password"], "password": {"user": {`+user+`, "password": "ana"}}`, onP1))
			if inOtherCase[user] != "" && !dbtest.Exact(s.db) {
				want = ""
			}
			if got := message(err); got != want {
				s.Errorf("user %s: got %q, want %q", user, got, want)
			}
			if err == nil && id.User.Name != "ana" {
				s.Errorf("user %s: logged in as %q", user, id.User.Name)
			}
		}
	})
}
