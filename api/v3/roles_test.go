package v3_test

import (
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

func TestRoles(t *testing.T) {
	const all, one = "/v3/roles", "/v3/roles/{ID}"
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedDomain(t, d)
		script(t, newStand(t, setup{db: d}), []step{
			{"none yet", "GET", all, "tok-admin", "", 200, `{"roles": [], "links"`},
			{"list by a member", "GET", all, "tok-member", "", 403, "identity:list_roles"},
			{"list a domain's by a member", "GET", all + "?domain_id=default", "tok-member", "", 403, "identity:list_domain_roles"},
			{"list without a token", "GET", all, "", "", 401, ""},
			{"create by a member", "POST", all, "tok-member", `{"role": {"name": "x"}}`, 403, "identity:create_role"},
			{"create a domain's by a member", "POST", all, "tok-member", `{"role": {"name": "x", "domain_id": "default"}}`, 403, "identity:create_domain_role"},
			{"no name", "POST", all, "tok-admin", `{"role": {}}`, 400, ""},
			{"an unknown option", "POST", all, "tok-admin", `{"role": {"name": "x", "options": {"o": true}}}`, 400, ""},
			{"of a domain", "POST", all, "tok-admin", `{"role": {"name": "auditor", "domain_id": "default"}}`, 201, `"domain_id": "default", "description": null, "options": {}`},
			{"of a domain twice", "POST", all, "tok-admin", `{"role": {"name": "auditor", "domain_id": "default"}}`, 409, "Duplicate entry found with name auditor at domain ID default."},
			{"it is no global one", "GET", all, "tok-admin", "", 200, `{"roles": []`},
			{"it is the domain's", "GET", all + "?domain_id=default", "tok-admin", "", 200, `"id": "{ID}"`},
			{"by a member", "GET", one, "tok-member", "", 403, "identity:get_domain_role"},
			{"patch the domain", "PATCH", one, "tok-admin", `{"role": {"domain_id": null}}`, 400, "Update of `domain_id` is not allowed."},
			{"delete the domain's", "DELETE", one, "tok-admin", "", 204, ""},
			{"create", "POST", all, "tok-admin", `{"role": {"name": "auditor", "description": "d", "extra": 1, "a-b": 1}}`, 201, `{"role": {"a_b": 1, "id": "`},
			{"a name twice", "POST", all, "tok-admin", `{"role": {"name": "auditor"}}`, 409, "Duplicate entry found with name auditor"},
			{"show", "GET", one, "tok-admin", "", 200, `"name": "auditor", "domain_id": null, "description": "d", "options": {}, "links": {"self": "http://127.0.0.1:5000/v3/roles/{ID}"}}}`},
			{"by name", "GET", all + "?name=auditor", "tok-admin", "", 200, `"id": "{ID}"`},
			{"patch nothing", "PATCH", one, "tok-admin", `{"role": {}}`, 400, ""},
			{"a long description", "PATCH", one, "tok-admin", `{"role": {"description": "` + strings.Repeat("x", 256) + `"}}`, 400, "exceeds the limit of column description(CHAR(255))."},
			{"create with a long description", "POST", all, "tok-admin", `{"role": {"name": "long", "description": "` + strings.Repeat("x", 256) + `"}}`, 400, "exceeds the limit of column description(CHAR(255))."},
			{"make it immutable", "PATCH", one, "tok-admin", `{"role": {"options": {"immutable": true}}}`, 200, `"immutable": true`},
			{"patch it", "PATCH", one, "tok-admin", `{"role": {"name": "y"}}`, 403, "Unable to update immutable role resource: `{ID}."},
			{"delete it", "DELETE", one, "tok-admin", "", 403, "Unable to delete immutable role resource: `{ID}."},
			{"make it mutable", "PATCH", one, "tok-admin", `{"role": {"options": {"immutable": false}}}`, 200, `"immutable": false`},
			{"delete by a member", "DELETE", one, "tok-member", "", 403, "identity:delete_role"},
			{"delete", "DELETE", one, "tok-admin", "", 204, ""},
			{"delete again", "DELETE", one, "tok-admin", "", 404, "Could not find role: {ID}."},
			{"what is not there, by a member", "GET", one, "tok-member", "", 404, "Could not find role: {ID}."},
		})
	})
}

func TestImpliedRoles(t *testing.T) {
	const link = `"links": {"self": "http://127.0.0.1:5000/v3/roles/`
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		for _, id := range []string{"r1", "r2", "admin"} {
			exec(t, d, `insert into role (id, name, extra, domain_id) values ($1, $1, '{}', '<<null>>')`, id)
		}
		exec(t, d, `insert into role (id, name, extra, domain_id) values ('local', 'local', '{}', 'default')`)
		script(t, newStand(t, setup{db: d}), []step{
			{"nothing", "GET", "/v3/roles/r1/implies", "tok-admin", "", 200, `{"role_inference": {"prior_role": {"id": "r1", ` + link + `r1"}, "name": "r1"}, "implies": []}, ` + link + `r1/implies"}}`},
			{"of what is not there", "GET", "/v3/roles/none/implies", "tok-admin", "", 404, "Could not find role: none."},
			{"by a member", "GET", "/v3/roles/r1/implies", "tok-member", "", 403, "identity:list_implied_roles"},
			{"not implied", "GET", "/v3/roles/r1/implies/r2", "tok-admin", "", 404, "r1 does not imply r2."},
			{"imply by a member", "PUT", "/v3/roles/r1/implies/r2", "tok-member", "", 403, "identity:create_implied_role"},
			{"imply", "PUT", "/v3/roles/r1/implies/r2", "tok-admin", "", 201, `"implies": {"id": "r2", `},
			{"imply again", "PUT", "/v3/roles/r1/implies/r2", "tok-admin", "", 409, "Conflict occurred attempting to store implied_role"},
			{"what must not be implied", "PUT", "/v3/roles/r1/implies/admin", "tok-admin", "", 403, "admin cannot be an implied roles."},
			{"a domain's by a global one", "PUT", "/v3/roles/r1/implies/local", "tok-admin", "", 403, "local cannot be an implied roles."},
			{"a global one by a domain's", "PUT", "/v3/roles/local/implies/r1", "tok-admin", "", 201, ""},
			{"show", "GET", "/v3/roles/r1/implies/r2", "tok-admin", "", 200, `"prior_role": {"id": "r1"`},
			{"check", "HEAD", "/v3/roles/r1/implies/r2", "tok-admin", "", 204, ""},
			{"all", "GET", "/v3/role_inferences", "tok-admin", "", 200, `{"role_inferences": [{"prior_role": {"id": "local"`},
			{"take it back", "DELETE", "/v3/roles/r1/implies/r2", "tok-admin", "", 204, ""},
			{"again", "DELETE", "/v3/roles/r1/implies/r2", "tok-admin", "", 404, "r1 does not imply r2."},
		})
	})
}

// A domain's manager sees the roles that he may give.
func TestRolesOfManagers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedGrants(t, d)
		script(t, scopedStand(t, d), []step{
			{"list", "GET", "/v3/roles", "tok-domain-manager", "", 200, `"id": "auditor"`},
			{"list by a project's manager", "GET", "/v3/roles", "tok-project-manager", "", 403, ""},
			{"one that he may give", "GET", "/v3/roles/member", "tok-domain-manager", "", 200, `"id": "member"`},
			{"another", "GET", "/v3/roles/auditor", "tok-domain-manager", "", 403, "identity:get_role"},
			{"his domain's", "GET", "/v3/roles/dr", "tok-domain-manager", "", 403, "identity:get_domain_role"},
			{"change", "PATCH", "/v3/roles/member", "tok-domain-manager", `{"role": {"description": "x"}}`, 403, "identity:update_role"},
			{"delete", "DELETE", "/v3/roles/member", "tok-domain-manager", "", 403, "identity:delete_role"},
		})
	})
}
