package v3_test

import (
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

func TestUsers(t *testing.T) {
	const all, one = "/v3/users", "/v3/users/{ID}"
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedDomain(t, d)
		script(t, newStand(t, setup{db: d}), []step{
			{"none yet", "GET", all, "tok-admin", "", 200, `{"users": [], "links": {"next": null, "self": "http://127.0.0.1:5000/v3/users", "previous": null}}` + "\n"},
			{"list by a member", "GET", all, "tok-member", "", 403, "identity:list_users"},
			{"list without a token", "GET", all, "", "", 401, ""},
			{"create by a member", "POST", all, "tok-member", `{"user": {"name": "x"}}`, 403, "identity:create_user"},
			{"no name", "POST", all, "tok-admin", `{"user": {}}`, 400, ""},
			{"a blank name", "POST", all, "tok-admin", `{"user": {"name": " "}}`, 400, ""},
			{"a long name", "POST", all, "tok-admin", `{"user": {"name": "` + strings.Repeat("é", 256) + `"}}`, 400, ""},
			{"another key", "POST", all, "tok-admin", `{"user": {"name": "x"}, "more": 1}`, 400, ""},
			{"an unknown option", "POST", all, "tok-admin", `{"user": {"name": "x", "options": {"o": true}}}`, 400, ""},
			{"an unknown domain", "POST", all, "tok-admin", `{"user": {"name": "x", "domain_id": "none"}}`, 404, "Could not find domain: none."},
			{"create", "POST", all, "tok-admin", `{"user": {"name": " ann ", "password": "s3cret", "email": "a@b", "a-b": 1}}`, 201, `{"user": {"email": "a@b", "a_b": 1, "id": "`},
			{"no secret is shown", "GET", one, "tok-admin", "", 200, `"name": "ann", "domain_id": "default", "enabled": true, "password_expires_at": null, "options": {}, "links"`},
			{"show by another", "GET", one, "tok-member", "", 403, "identity:get_user"},
			{"a name twice", "POST", all, "tok-admin", `{"user": {"name": "ann"}}`, 409, ""},
			{"by name", "GET", all + "?name=ann", "tok-admin", "", 200, `"id": "{ID}"`},
			{"letter case counts", "GET", all + "?name=Ann", "tok-admin", "", 200, `{"users": []`},
			{"by a part of the name", "GET", all + "?name__icontains=NN", "tok-admin", "", 200, `"id": "{ID}"`},
			{"the disabled", "GET", all + "?enabled=false", "tok-admin", "", 200, `{"users": []`},
			{"of an identity provider", "GET", all + "?idp_id=x", "tok-admin", "", 200, `{"users": []`},
			{"by the end of a password", "GET", all + "?password_expires_at=lt:2100-01-01T00:00:00Z", "tok-admin", "", 200, `{"users": []`},
			{"by no moment", "GET", all + "?password_expires_at=lt:soon", "tok-admin", "", 400, "Timestamp not in expected format."},
			{"by no operator", "GET", all + "?password_expires_at=xx:2100-01-01T00:00:00Z", "tok-admin", "", 400, "The given operator xx is not valid."},
			{"by no truth value", "GET", all + "?enabled=maybe", "tok-admin", "", 400, ""},
			{"unknown marker", "GET", all + "?marker=none", "tok-admin", "", 404, "Marker none could not be found."},
			{"his groups", "GET", one + "/groups", "tok-admin", "", 200, `{"groups": [], `},
			{"his projects", "GET", one + "/projects", "tok-admin", "", 200, `{"projects": [], `},
			{"the groups of nobody", "GET", all + "/none/groups", "tok-admin", "", 404, "Could not find user: none."},
			{"delete by a member", "DELETE", one, "tok-member", "", 403, "identity:delete_user"},
			{"delete", "DELETE", one, "tok-admin", "", 204, ""},
			{"delete again", "DELETE", one, "tok-admin", "", 404, "Could not find user: {ID}."},
		})
	})
}

func TestGroups(t *testing.T) {
	const all, one = "/v3/groups", "/v3/groups/{ID}"
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedDomain(t, d)
		exec(t, d, `insert into "user" (id, extra, enabled, domain_id) values ('u1', '{}', $1, 'default')`, true)
		script(t, newStand(t, setup{db: d}), []step{
			{"none yet", "GET", all, "tok-admin", "", 200, `{"groups": [], "links"`},
			{"list by a member", "GET", all, "tok-member", "", 403, "identity:list_groups"},
			{"list without a token", "GET", all, "", "", 401, ""},
			{"create by a member", "POST", all, "tok-member", `{"group": {"name": "x"}}`, 403, "identity:create_group"},
			{"no name", "POST", all, "tok-admin", `{"group": {}}`, 400, ""},
			{"an unknown domain", "POST", all, "tok-admin", `{"group": {"name": "x", "domain_id": "none"}}`, 404, "Could not find domain: none."},
			{"create", "POST", all, "tok-admin", `{"group": {"name": " ops ", "k": 1}}`, 201, `"name": "ops", "domain_id": "default", "description": "", "links"`},
			{"a name twice", "POST", all, "tok-admin", `{"group": {"name": "ops"}}`, 409, "Duplicate entry found with name ops at domain ID default"},
			{"show", "GET", one, "tok-admin", "", 200, `{"group": {"k": 1, "id": "{ID}", "name": "ops"`},
			{"show by a member", "GET", one, "tok-member", "", 403, "identity:get_group"},
			{"by name", "GET", all + "?name=ops", "tok-admin", "", 200, `"id": "{ID}"`},
			{"patch nothing", "PATCH", one, "tok-admin", `{"group": {}}`, 400, ""},
			{"patch the domain", "PATCH", one, "tok-admin", `{"group": {"domain_id": "x"}}`, 400, "Cannot change Domain ID"},
			{"patch", "PATCH", one, "tok-admin", `{"group": {"description": null, "name": "ops2"}}`, 200, `"name": "ops2", "domain_id": "default", "description": null`},
			{"nobody is in it", "GET", one + "/users", "tok-admin", "", 200, `{"users": []`},
			{"he is not in it", "GET", one + "/users/u1", "tok-admin", "", 404, "User 'u1' not found in group '{ID}'"},
			{"add by a member", "PUT", one + "/users/u1", "tok-member", "", 403, "identity:add_user_to_group"},
			{"add nobody", "PUT", one + "/users/none", "tok-admin", "", 404, "Could not find user: none."},
			{"add", "PUT", one + "/users/u1", "tok-admin", "", 204, ""},
			{"add again", "PUT", one + "/users/u1", "tok-admin", "", 204, ""},
			{"he is in it", "GET", one + "/users/u1", "tok-admin", "", 204, ""},
			{"who is in it", "GET", one + "/users", "tok-admin", "", 200, `"id": "u1"`},
			{"his groups", "GET", "/v3/users/u1/groups", "tok-admin", "", 200, `"membership_expires_at": null`},
			{"remove", "DELETE", one + "/users/u1", "tok-admin", "", 204, ""},
			{"remove again", "DELETE", one + "/users/u1", "tok-admin", "", 404, "User 'u1' not found in group '{ID}'"},
			{"delete by a member", "DELETE", one, "tok-member", "", 403, "identity:delete_group"},
			{"delete", "DELETE", one, "tok-admin", "", 204, ""},
			{"delete again", "DELETE", one, "tok-admin", "", 404, "Could not find group: {ID}."},
			{"of what is not there", "GET", one + "/users", "tok-admin", "", 404, "Could not find group: {ID}."},
			{"unknown marker", "GET", all + "?marker=none", "tok-admin", "", 404, "Marker none could not be found."},
		})
	})
}

// TestJoinedForNow: a membership that ends is told with its end, and told no
// more after that.
func TestJoinedForNow(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedGrants(t, d)
		exec(t, d, `delete from user_group_membership`)
		exec(t, d, `insert into identity_provider (id, enabled, domain_id, authorization_ttl) values ('idp', $1, 'default', 30)`, true)
		verified := time.Now().UTC().Truncate(time.Second)
		exec(t, d, `insert into expiring_user_group_membership (user_id, group_id, idp_id, last_verified) values ('du', 'dg', 'idp', $1)`, verified)
		ends := `"membership_expires_at": "` + verified.Add(30*time.Minute).Format("2006-01-02T15:04:05.000000") + `"`
		script(t, scopedStand(t, d), []step{
			{"his groups", "GET", "/v3/users/du/groups", "tok-admin", "", 200, ends},
			{"a name of none, which is not asked of them", "GET", "/v3/users/du/groups?name=none", "tok-admin", "", 200, ends},
			{"what stands in no group's name", "GET", "/v3/users/du/groups?name__contains=none", "tok-admin", "", 200, `{"groups": []`},
			{"cut off", "GET", "/v3/users/du/groups?limit=0", "tok-admin", "", 200, `{"groups": []`},
			{"he is in it", "GET", "/v3/groups/dg/users/du", "tok-admin", "", 204, ""},
			{"not among its members", "GET", "/v3/groups/dg/users", "tok-admin", "", 200, `{"users": []`},
			{"which nobody can end", "DELETE", "/v3/groups/dg/users/du", "tok-admin", "", 404, "User 'du' not found in group 'dg'"},
		})
		exec(t, d, `update expiring_user_group_membership set last_verified = $1`, verified.Add(-time.Hour))
		script(t, scopedStand(t, d), []step{
			{"no group any more", "GET", "/v3/users/du/groups", "tok-admin", "", 200, `{"groups": []`},
			{"he was in it", "GET", "/v3/groups/dg/users/du", "tok-admin", "", 404, "User 'du' not found in group 'dg'"},
		})
	})
}

func exec(t *testing.T, d db.DB, text string, args ...any) {
	t.Helper()
	if _, err := d.Exec(t.Context(), text, args...); err != nil {
		t.Fatal(err)
	}
}
