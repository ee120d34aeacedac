package v3_test

import (
	"context"
	"strings"
	"testing"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/resource"
)

// seedGrants stores in each of the domains default and other a project, a user
// and a group ("dp", "du", "dg" and "op", "ou", "og"), a role of its own ("dr",
// "or"), a project below ("dp2") and global roles.
func seedGrants(t *testing.T, d db.DB) {
	t.Helper()
	seedDomain(t, d)
	project := `insert into project (id, name, extra, domain_id, parent_id, enabled, is_domain) values ($1, $1, '{}', $2, $3, $4, $5)`
	exec(t, d, project, "other", resource.RootDomainID, nil, true, true)
	exec(t, d, project, "dp", "default", "default", true, false)
	exec(t, d, project, "dp2", "default", "dp", true, false)
	exec(t, d, project, "op", "other", "other", true, false)
	for _, x := range []struct{ letter, domain string }{{"d", "default"}, {"o", "other"}} {
		exec(t, d, `insert into "user" (id, extra, enabled, domain_id) values ($1, '{}', $2, $3)`, x.letter+"u", true, x.domain)
		exec(t, d, `insert into local_user (user_id, domain_id, name) values ($1, $2, $1)`, x.letter+"u", x.domain)
		exec(t, d, `insert into "group" (id, domain_id, name) values ($1, $2, $1)`, x.letter+"g", x.domain)
		exec(t, d, `insert into role (id, name, extra, domain_id) values ($1, $1, '{}', $2)`, x.letter+"r", x.domain)
	}
	exec(t, d, `insert into user_group_membership (user_id, group_id) values ('du', 'dg')`)
	for _, id := range []string{"admin", "member", "auditor"} {
		exec(t, d, `insert into role (id, name, extra, domain_id) values ($1, $1, '{}', '<<null>>')`, id)
	}
}

// scoped knows more tokens than the stand: "tok-domain-", "tok-project-",
// "tok-unscoped-" or "tok-system-" and a role, in or for the domain default.
type scoped struct{ *tokens }

func (s scoped) Validate(ctx context.Context, c auth.Check) (auth.Result, error) {
	rest, _ := strings.CutPrefix(c.Caller, "tok-")
	scope, role, found := strings.Cut(rest, "-")
	if !found {
		return s.tokens.Validate(ctx, c)
	}
	who := holder(role)
	switch scope {
	case "domain":
		who.Project, who.Domain = nil, &resource.Domain{ID: "default", Name: "Default", Enabled: true}
		who.Token = &token.Token{UserID: who.User.ID, DomainID: "default", Methods: []string{"password"}}
	case "unscoped":
		who.Project, who.Roles = nil, nil
		who.Token = &token.Token{UserID: who.User.ID, Methods: []string{"password"}}
	case "system":
		who.Project = nil
		who.Token = &token.Token{UserID: who.User.ID, System: "all", Methods: []string{"password"}}
	}
	return auth.Result{Caller: who}, nil
}

func scopedStand(t *testing.T, d db.DB) *stand {
	t.Helper()
	return newStand(t, setup{db: d, change: func(c *v3.Config) { c.Auth = scoped{c.Auth.(*tokens)} }})
}

func TestGrants(t *testing.T) {
	const noGrant = "Could not find role assignment with role: member, user or group: "
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedGrants(t, d)
		for _, x := range []struct{ place, kind, actor, actorKind string }{
			{"/v3/projects/dp", "project", "/users/du", "user"},
			{"/v3/projects/dp", "project", "/groups/dg", "group"},
			{"/v3/domains/default", "domain", "/users/du", "user"},
			{"/v3/domains/default", "domain", "/groups/dg", "group"},
		} {
			all := x.place + x.actor + "/roles"
			one := all + "/member"
			places := "/v3/" + x.kind + "s/none"
			actor, place := x.actor[strings.LastIndexByte(x.actor, '/')+1:], x.place[strings.LastIndexByte(x.place, '/')+1:]
			script(t, scopedStand(t, d), []step{
				{"none yet", "GET", all, "tok-admin", "", 200, `{"roles": [], "links": {"next": null, "self": "http://127.0.0.1:5000` + all + `", "previous": null}}` + "\n"},
				{"not made", "GET", one, "tok-admin", "", 404, noGrant + actor + ", project, domain, or system: " + place + "."},
				{"take back what was not made", "DELETE", one, "tok-admin", "", 404, noGrant + actor},
				{"give", "PUT", one, "tok-admin", "", 204, ""},
				{"give again", "PUT", one, "tok-admin", `{"any": "body"}`, 204, ""},
				{"check", "GET", one, "tok-admin", "", 204, ""},
				{"look", "HEAD", one, "tok-admin", "", 204, ""},
				{"list", "GET", all, "tok-admin", "", 200, `{"roles": [{"id": "member", "name": "member", "domain_id": null, "description": null, "options": {}, "links": {"self": "http://127.0.0.1:5000/v3/roles/member"}}], "links"`},
				{"not inherited", "GET", "/v3/OS-INHERIT" + one[len("/v3"):] + "/inherited_to_projects", "tok-admin", "", 404, noGrant},
				{"list by a member", "GET", all, "tok-member", "", 403, "identity:list_grants"},
				{"check by a member", "GET", one, "tok-member", "", 403, "identity:check_grant"},
				{"give by a member", "PUT", one, "tok-member", "", 403, "identity:create_grant"},
				{"take by a member", "DELETE", one, "tok-member", "", 403, "identity:revoke_grant"},
				{"list without a token", "GET", all, "", "", 401, ""},
				{"give without a token", "PUT", one, "", "", 401, ""},
				{"an unknown role", "PUT", all + "/none", "tok-member", "", 404, "Could not find role: none."},
				{"an unknown actor", "PUT", x.place + x.actor[:len(x.actor)-2] + "none/roles/member", "tok-member", "", 404, "Could not find " + x.actorKind + ": none."},
				{"an unknown place", "PUT", places + x.actor + "/roles/member", "tok-member", "", 404, "Could not find " + x.kind + ": none."},
				{"by its domain's reader", "GET", one, "tok-domain-reader", "", 204, ""},
				{"by the system's reader", "GET", all, "tok-system-reader", "", 200, `"id": "member"`},
				{"by the system's reader who gives", "PUT", one, "tok-system-reader", "", 403, ""},
				{"by its domain's manager", "PUT", one, "tok-domain-manager", "", 204, ""},
				{"by its domain's manager, more than he may", "PUT", all + "/auditor", "tok-domain-manager", "", 403, ""},
				{"its domain's role", "PUT", all + "/dr", "tok-domain-admin", "", 204, ""},
				{"and back", "DELETE", all + "/dr", "tok-domain-admin", "", 204, ""},
				{"take", "DELETE", one, "tok-domain-manager", "", 204, ""},
				{"it is gone", "GET", all, "tok-admin", "", 200, `{"roles": []`},
			})
		}
		script(t, scopedStand(t, d), []step{
			{"a role of another domain", "PUT", "/v3/projects/dp/users/du/roles/or", "tok-admin", "", 403, "Project dp must be in the same domain as the role or being assigned."},
			{"a role of another domain, on a domain", "PUT", "/v3/domains/default/users/du/roles/or", "tok-admin", "", 204, ""},
			{"to a user of another domain by the domain's manager", "PUT", "/v3/projects/dp/users/ou/roles/member", "tok-domain-manager", "", 403, ""},
			{"on a project of another domain by the domain's manager", "PUT", "/v3/projects/op/users/du/roles/member", "tok-domain-manager", "", 403, ""},
			{"a role of another domain by the domain's manager", "PUT", "/v3/domains/default/users/du/roles/or", "tok-domain-manager", "", 403, ""},
			{"on a project that is a domain", "GET", "/v3/domains/dp/users/du/roles", "tok-admin", "", 404, "Could not find domain: dp."},
			{"on a domain as a project", "PUT", "/v3/projects/default/users/du/roles/member", "tok-admin", "", 204, ""},
			{"a domain shows both", "GET", "/v3/domains/default/users/du/roles", "tok-admin", "", 200, `"id": "or"`},
			{"but each is its own", "GET", "/v3/domains/default/users/du/roles/member", "tok-admin", "", 404, noGrant},
			{"a slash in an id", "PUT", "/v3/projects/dp/users/du/roles/a%2Fb", "tok-admin", "", 404, ""},
			{"a NUL in an id", "PUT", "/v3/projects/dp/users/%00/roles/member", "tok-admin", "", 404, ""},
		})
	})
}

func TestGrantsOnTheSystem(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedGrants(t, d)
		for _, actor := range []string{"user", "group"} {
			all := "/v3/system/" + actor + "s/d" + actor[:1] + "/roles"
			one := all + "/auditor"
			script(t, scopedStand(t, d), []step{
				{"none yet", "GET", all, "tok-admin", "", 200, `{"roles": [], "links"`},
				{"not made", "GET", one, "tok-admin", "", 404, "Could not find role assignment with role: auditor, user or group: d" + actor[:1] + ", project, domain, or system: system."},
				{"take back what was not made", "DELETE", one, "tok-admin", "", 404, "Could not find role assignment"},
				{"give", "PUT", one, "tok-admin", "", 204, ""},
				{"give again", "PUT", one, "tok-admin", "", 204, ""},
				{"check", "GET", one, "tok-system-reader", "", 204, ""},
				{"look", "HEAD", one, "tok-admin", "", 204, ""},
				{"list", "GET", all, "tok-system-reader", "", 200, `{"roles": [{"id": "auditor", "name": "auditor", "domain_id": null`},
				{"list by a member", "GET", all, "tok-member", "", 403, "identity:list_system_grants_for_" + actor},
				{"check by a member", "GET", one, "tok-member", "", 403, "identity:check_system_grant_for_" + actor},
				{"give by a member", "PUT", one, "tok-member", "", 403, "identity:create_system_grant_for_" + actor},
				{"take by the domain's admin", "DELETE", one, "tok-domain-manager", "", 403, "identity:revoke_system_grant_for_" + actor},
				{"list without a token", "GET", all, "", "", 401, ""},
				{"a domain's role", "PUT", all + "/dr", "tok-admin", "", 400, "Role dr is a domain-specific role. Unable to use a domain-specific role in a system assignment."},
				{"an unknown role", "PUT", all + "/none", "tok-member", "", 404, "Could not find role: none."},
				{"an unknown actor", "PUT", "/v3/system/" + actor + "s/none/roles/member", "tok-member", "", 404, "Could not find " + actor + ": none."},
				{"take", "DELETE", one, "tok-admin", "", 204, ""},
				{"it is gone", "GET", all, "tok-admin", "", 200, `{"roles": []`},
			})
		}
	})
}

func TestInheritedGrants(t *testing.T) {
	const noGrant = "Could not find role assignment with role: member"
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedGrants(t, d)
		for _, of := range []string{"projects/dp/users/du", "projects/dp/groups/dg", "domains/default/users/du", "domains/default/groups/dg"} {
			one := "/v3/OS-INHERIT/" + of + "/roles/member/inherited_to_projects"
			parts := strings.Split(of, "/")
			with := func(i int, id string) string {
				p := append([]string(nil), parts...)
				p[i] = id
				return "/v3/OS-INHERIT/" + strings.Join(p, "/") + "/roles/member/inherited_to_projects"
			}
			place, actor := strings.TrimSuffix(parts[0], "s"), strings.TrimSuffix(parts[2], "s")
			script(t, scopedStand(t, d), []step{
				{"not made", "GET", one, "tok-admin", "", 404, noGrant},
				{"take back what was not made", "DELETE", one, "tok-admin", "", 404, noGrant},
				{"give", "PUT", one, "tok-admin", "", 204, ""},
				{"give again", "PUT", one, "tok-admin", "", 204, ""},
				{"check", "GET", one, "tok-domain-reader", "", 204, ""},
				{"look", "HEAD", one, "tok-admin", "", 204, ""},
				{"it is not one there", "GET", "/v3/" + of + "/roles/member", "tok-admin", "", 404, noGrant},
				{"nor in the list there", "GET", "/v3/" + of + "/roles", "tok-admin", "", 200, `{"roles": []`},
				{"check by a member", "GET", one, "tok-member", "", 403, "identity:check_grant"},
				{"give by a member", "PUT", one, "tok-member", "", 403, "identity:create_grant"},
				{"take without a token", "DELETE", one, "", "", 401, ""},
				{"an unknown role, hidden", "PUT", "/v3/OS-INHERIT/" + of + "/roles/none/inherited_to_projects", "tok-member", "", 403, ""},
				{"an unknown role", "PUT", "/v3/OS-INHERIT/" + of + "/roles/none/inherited_to_projects", "tok-admin", "", 404, "Could not find role: none."},
				{"an unknown actor, hidden", "GET", with(3, "none"), "tok-member", "", 403, ""},
				{"an unknown actor", "GET", with(3, "none"), "tok-admin", "", 404, noGrant + ", user or group: none"},
				{"give to an unknown actor", "PUT", with(3, "none"), "tok-admin", "", 404, "Could not find " + actor + ": none."},
				{"an unknown place, hidden", "GET", with(1, "none"), "tok-domain-reader", "", 403, ""},
				{"an unknown place", "GET", with(1, "none"), "tok-admin", "", 404, "Could not find " + place + ": none."},
				{"take from an unknown place", "DELETE", with(1, "none"), "tok-admin", "", 404, noGrant},
				{"by its domain's manager", "PUT", one, "tok-domain-manager", "", 204, ""},
			})
		}
		list := "/v3/OS-INHERIT/domains/default/users/du/roles/inherited_to_projects"
		script(t, scopedStand(t, d), []step{
			{"list", "GET", list, "tok-domain-reader", "", 200, `{"roles": [{"id": "member", `},
			{"list of a group", "GET", "/v3/OS-INHERIT/domains/default/groups/dg/roles/inherited_to_projects", "tok-admin", "", 200, `{"roles": [{"id": "member", `},
			{"list by a member", "GET", list, "tok-member", "", 403, "identity:list_grants"},
			{"list of an unknown domain", "GET", "/v3/OS-INHERIT/domains/none/users/du/roles/inherited_to_projects", "tok-admin", "", 404, "Could not find domain: none."},
			{"take", "DELETE", "/v3/OS-INHERIT/domains/default/users/du/roles/member/inherited_to_projects", "tok-domain-manager", "", 204, ""},
			{"it is gone", "GET", list, "tok-admin", "", 200, `{"roles": []`},
			{"list of a project", "GET", "/v3/OS-INHERIT/projects/dp/users/du/roles/inherited_to_projects", "tok-admin", "", 404, ""},
		})
	})
}

// A token without a domain is not of the domain of what has none: a domain as
// a project, and what is not there.
func TestGrantsOfNoDomain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedGrants(t, d)
		st := scopedStand(t, d)
		for _, role := range []string{"reader", "manager", "member"} {
			for _, path := range []string{
				"/v3/projects/default/users/du/roles/member", "/v3/projects/default/groups/dg/roles/member", "/v3/domains/default/users/du/roles/member",
				"/v3/OS-INHERIT/projects/default/users/du/roles/member/inherited_to_projects", "/v3/OS-INHERIT/projects/none/users/none/roles/none/inherited_to_projects",
				"/v3/OS-INHERIT/domains/none/groups/none/roles/none/inherited_to_projects", "/v3/OS-INHERIT/domains/default/users/none/roles/none/inherited_to_projects",
				"/v3/system/users/du/roles/member", "/v3/system/groups/dg/roles/member",
			} {
				for _, method := range []string{"GET", "PUT", "DELETE"} {
					if w := st.do(call{method: method, path: path, token: "tok-project-" + role}); w.Code != 403 {
						t.Errorf("%s %s by a project's %s: %d %s", method, path, role, w.Code, w.Body)
					}
				}
			}
		}
	})
}

// Whoever left can be rid of his grants.
func TestTakeFromWhoLeft(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedGrants(t, d)
		st := scopedStand(t, d)
		exec(t, d, `insert into assignment (type, actor_id, target_id, role_id, inherited) values ('UserProject', 'gone', 'dp', 'member', $1), ('GroupDomain', 'gone', 'default', 'member', $1)`, false)
		exec(t, d, `insert into system_assignment (type, actor_id, target_id, role_id, inherited) values ('UserSystem', 'gone', 'system', 'member', $1)`, false)
		for _, path := range []string{"/v3/projects/dp/users/gone/roles/member", "/v3/domains/default/groups/gone/roles/member", "/v3/system/users/gone/roles/member"} {
			for i, want := range []int{403, 204, 404} {
				who := []string{"tok-domain-manager", "tok-admin", "tok-admin"}[i]
				if w := st.do(call{method: "DELETE", path: path, token: who}); w.Code != want {
					t.Errorf("DELETE %s by %s: %d %s, want %d", path, who, w.Code, w.Body, want)
				}
			}
		}
	})
}
