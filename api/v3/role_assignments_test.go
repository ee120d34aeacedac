package v3_test

import (
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

func TestRoleAssignments(t *testing.T) {
	const all, base = "/v3/role_assignments", "http://127.0.0.1:5000/v3/"
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedGrants(t, d)
		exec(t, d, `insert into implied_role (prior_role_id, implied_role_id) values ('auditor', 'member')`)
		insert := `insert into assignment (type, actor_id, target_id, role_id, inherited) values ($1, $2, $3, $4, $5)`
		exec(t, d, insert, "UserProject", "du", "dp2", "member", false)
		exec(t, d, insert, "GroupProject", "dg", "dp", "auditor", true)
		exec(t, d, insert, "UserDomain", "ou", "other", "or", false)
		exec(t, d, `insert into system_assignment (type, actor_id, target_id, role_id, inherited) values ('UserSystem', 'ou', 'system', 'member', $1)`, false)
		direct := `{"links": {"assignment": "` + base + `projects/dp2/users/du/roles/member"}, "scope": {"project": {"id": "dp2"}}, "user": {"id": "du"}, "role": {"id": "member"}}`
		inherited := `{"links": {"assignment": "` + base + `OS-INHERIT/projects/dp/groups/dg/roles/auditor/inherited_to_projects"}, "scope": {"project": {"id": "dp"}, "OS-INHERIT:inherited_to": "projects"}, "group": {"id": "dg"}, "role": {"id": "auditor"}}`
		implied := `{"links": {"membership": "` + base + `groups/dg/users/du", "assignment": "` + base + `OS-INHERIT/projects/dp/groups/dg/roles/auditor/inherited_to_projects", "prior_role": "` + base + `prior_role/member/implies/auditor"}, ` +
			`"scope": {"project": {"id": "dp2"}, "OS-INHERIT:inherited_to": "projects"}, "user": {"id": "du"}, "role": {"id": "member"}}`
		system := `{"links": {"assignment": "` + base + `system/users/ou/roles/member"}, "scope": {"system": {"all": true}}, "user": {"id": "ou"}, "role": {"id": "member"}}`
		local := `{"links": {"assignment": "` + base + `domains/other/users/ou/roles/or"}, "scope": {"domain": {"id": "other", "name": "other"}}, ` +
			`"user": {"id": "ou", "name": "ou", "domain": {"id": "other", "name": "other"}}, "role": {"id": "or", "name": "or", "domain": {"id": "other", "name": "other"}}}`
		one := func(item, query string) string {
			return `{"role_assignments": [` + item + `], "links": {"next": null, "self": "http://127.0.0.1:5000` + all + query + `", "previous": null}}` + "\n"
		}
		script(t, scopedStand(t, d), []step{
			{"a grant", "GET", all + "?user.id=du", "tok-admin", "", 200, one(direct, "?user.id=du")},
			{"a group's", "GET", all + "?group.id=dg", "tok-system-reader", "", 200, one(inherited, "?group.id=dg")},
			{"the system's", "GET", all + "?scope.system=all", "tok-admin", "", 200, one(system, "?scope.system=all")},
			{"with names", "GET", all + "?include_names&scope.domain.id=other", "tok-admin", "", 200, one(local, "?include_names&scope.domain.id=other")},
			{"a group with names", "GET", all + "?include_names&group.id=dg", "tok-admin", "", 200, `"scope": {"project": {"id": "dp", "name": "dp", "domain": {"id": "default", "name": "Default"}}, "OS-INHERIT:inherited_to": "projects"}, "group": {"id": "dg", "name": "dg", "domain": {"id": "default", "name": "Default"}}, "role": {"id": "auditor", "name": "auditor"}`},
			{"effective", "GET", all + "?effective&scope.project.id=dp2", "tok-admin", "", 200, implied},
			{"effective, a role", "GET", all + "?effective=yes&role.id=auditor", "tok-admin", "", 200, `"scope": {"project": {"id": "dp2"}, "OS-INHERIT:inherited_to": "projects"}, "user": {"id": "du"}, "role": {"id": "auditor"}}], "links"`},
			{"not effective", "GET", all + "?effective=0&scope.project.id=dp2", "tok-admin", "", 200, one(direct, "?effective=0&scope.project.id=dp2")},
			{"inherited", "GET", all + "?scope.OS-INHERIT:inherited_to=projects&scope.project.id=dp", "tok-admin", "", 200, inherited},
			{"not inherited", "GET", all + "?scope.OS-INHERIT:inherited_to=x&scope.project.id=dp", "tok-admin", "", 200, `{"role_assignments": []`},
			{"a tree", "GET", all + "?include_subtree&role.id=member&scope.project.id=dp", "tok-admin", "", 200, `{"role_assignments": [` + direct},
			{"a tree by its domain's reader", "GET", all + "?include_subtree&role.id=member&scope.project.id=dp", "tok-domain-reader", "", 200, direct},
			{"a tree of another domain", "GET", all + "?include_subtree&scope.project.id=op", "tok-domain-reader", "", 403, "identity:list_role_assignments_for_tree"},
			{"a tree of a domain by a project's reader", "GET", all + "?include_subtree&scope.project.id=default", "tok-project-reader", "", 403, "identity:list_role_assignments_for_tree"},
			{"a tree of nothing", "GET", all + "?include_subtree", "tok-admin", "", 400, "scope.project.id"},
			{"a tree of what is not there", "GET", all + "?include_subtree&scope.project.id=none", "tok-admin", "", 404, "Could not find project: none."},
			{"a tree of what is not there, hidden", "GET", all + "?include_subtree&scope.project.id=none", "tok-domain-reader", "", 403, "identity:list_role_assignments_for_tree"},
			{"a tree without a token", "GET", all + "?include_subtree&scope.project.id=none", "", "", 401, ""},
			{"by a domain's reader, of another", "GET", all + "?user.id=ou", "tok-domain-reader", "", 200, `{"role_assignments": []`},
			{"by a domain's reader", "GET", all + "?user.id=du", "tok-domain-reader", "", 200, one(direct, "?user.id=du")},
			{"by a member", "GET", all, "tok-member", "", 403, "identity:list_role_assignments"},
			{"by a project's reader", "GET", all, "tok-project-reader", "", 403, "identity:list_role_assignments"},
			{"without a token", "GET", all, "", "", 401, ""},
			{"what can only be empty, by a member", "GET", all + "?effective&group.id=x", "tok-member", "", 403, ""},
			{"user and group", "GET", all + "?user.id=x&group.id=y", "tok-admin", "", 400, ""},
			{"effective and group", "GET", all + "?effective&group=y", "tok-admin", "", 400, ""},
			{"domain and project", "GET", all + "?scope.domain.id=x&scope.project.id=y", "tok-admin", "", 400, "Specify a domain or project, not both"},
			{"system and domain", "GET", all + "?scope.domain.id=x&scope.system=y", "tok-admin", "", 400, "Specify system or domain, not both"},
			{"system and project", "GET", all + "?scope.project.id=x&scope.system=all", "tok-admin", "", 400, "Specify system or project, not both"},
			{"effective and a group", "GET", all + "?effective&group.id=x", "tok-admin", "", 400, "Combining effective and group filter will always result in an empty list."},
			{"effective, domain, inherited", "GET", all + "?effective&scope.domain.id=x&scope.OS-INHERIT:inherited_to=projects", "tok-admin", "", 400, "Combining effective, domain and inherited filters"},
			{"an odd id", "GET", all + "?role.id=a_b", "tok-admin", "", 400, ""},
			{"no user, effective", "GET", all + "?effective&user.id=none", "tok-admin", "", 404, "Could not find user: none."},
			{"no project, effective", "GET", all + "?effective&scope.project.id=none", "tok-admin", "", 404, "Could not find project: none."},
			{"no user", "GET", all + "?user.id=none", "tok-admin", "", 200, `{"role_assignments": []`},
			{"head", "HEAD", all + "?user.id=none", "tok-admin", "", 200, ""},
		})
		exec(t, d, insert, "UserProject", "du", "default", "member", false)
		script(t, scopedStand(t, d), []step{
			{"on a domain as a project, named", "GET", all + "?include_names&scope.project.id=default", "tok-admin", "", 200, `"scope": {"project": {"id": "default", "name": "Default", "domain": {"id": null, "name": null}}}`},
		})
	})
}
