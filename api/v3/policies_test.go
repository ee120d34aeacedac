package v3_test

import (
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

func TestPolicies(t *testing.T) {
	const all, one = "/v3/policies", "/v3/policies/{ID}"
	long := strings.Repeat("é", 256)
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		script(t, newStand(t, setup{db: d}), []step{
			{"none yet", "GET", all, "tok-admin", "", 200, `{"policies": [], "links": {"next": null, "self": "http://127.0.0.1:5000/v3/policies", "previous": null}}` + "\n"},
			{"list by a member", "GET", all, "tok-member", "", 403, "identity:list_policies"},
			{"list without a token", "GET", all, "", "", 401, ""},
			{"create by a member", "POST", all, "tok-member", `{"policy": {"blob": "b", "type": "t"}}`, 403, "identity:create_policy"},
			{"403 before the shape", "POST", all, "tok-member", `{"policy": {}}`, 403, "identity:create_policy"},
			{"401 before the shape", "POST", all, "", `{}`, 401, ""},
			{"nothing", "POST", all, "tok-admin", `{}`, 400, ""},
			{"no blob", "POST", all, "tok-admin", `{"policy": {"type": "t"}}`, 400, ""},
			{"no type", "POST", all, "tok-admin", `{"policy": {"blob": "b"}}`, 400, ""},
			{"a blob of an object", "POST", all, "tok-admin", `{"policy": {"blob": {}, "type": "t"}}`, 400, ""},
			{"long type", "POST", all, "tok-admin", `{"policy": {"blob": "b", "type": "` + long + `"}}`, 400, ""},
			{"create", "POST", all, "tok-admin", `{"policy": {"blob": "{\"a\": 1}", "type": "application/json", "a-b": 1, "links": {}}, "more": 1}`, 201, `{"policy": {"a_b": 1, "id": "`},
			{"show it", "GET", one, "tok-admin", "", 200, `"id": "{ID}", "blob": "{\"a\": 1}", "type": "application/json", "links": {"self": "http://127.0.0.1:5000/v3/policies/{ID}"}}}`},
			{"show by a member", "GET", one, "tok-member", "", 403, "identity:get_policy"},
			{"empty texts", "POST", all, "tok-admin", `{"policy": {"blob": "", "type": ""}}`, 201, `"blob": "", "type": ""`},
			{"by type", "GET", all + "?type=application/json", "tok-admin", "", 200, `{"policies": [{"a_b"`},
			{"by another type", "GET", all + "?type=Application/json", "tok-admin", "", 200, `{"policies": [], `},
			{"by a part of the type", "GET", all + "?type__icontains=JSON", "tok-admin", "", 200, `{"policies": [{"a_b"`},
			{"with a limit", "GET", all + "?limit=1", "tok-admin", "", 200, `"truncated": true`},
			{"patch nothing", "PATCH", one, "tok-admin", `{"policy": {}}`, 400, ""},
			{"patch nothing by a member", "PATCH", one, "tok-member", `{"policy": {}}`, 403, "identity:update_policy"},
			{"patch the id", "PATCH", one, "tok-admin", `{"policy": {"id": "x"}}`, 400, "Cannot change policy ID"},
			{"patch a null id", "PATCH", one, "tok-admin", `{"policy": {"id": null}}`, 400, "Cannot change policy ID"},
			{"patch", "PATCH", one, "tok-admin", `{"policy": {"id": "{ID}", "type": "t2", "k": 1}}`, 200, `{"policy": {"k": 1, "id": "{ID}", "blob": "", "type": "t2", `},
			{"patch what is not there", "PATCH", all + "/none", "tok-admin", `{"policy": {"type": "x"}}`, 404, "Could not find policy: none."},
			{"get what is not there", "GET", all + "/none", "tok-admin", "", 404, "Could not find policy: none."},
			{"delete by a member", "DELETE", one, "tok-member", "", 403, "identity:delete_policy"},
			{"delete", "DELETE", one, "tok-admin", "", 204, ""},
			{"delete again", "DELETE", one, "tok-admin", "", 404, "Could not find policy: {ID}."},
		})
	})
}

func TestPolicyTies(t *testing.T) {
	const of, at = "/v3/policies/{ID}/OS-ENDPOINT-POLICY/", "/v3/endpoints/e/OS-ENDPOINT-POLICY/policy"
	steps := []step{
		{"a policy", "POST", "/v3/policies", "tok-admin", `{"policy": {"blob": "b", "type": "t"}}`, 201, ""},
		{"none of the endpoint", "GET", at, "tok-admin", "", 404, "No policy is associated with endpoint e."},
		{"of no endpoint", "GET", strings.Replace(at, "/e/", "/none/", 1), "tok-admin", "", 404, "Could not find endpoint: none."},
		{"of the endpoint by a member", "GET", at, "tok-member", "", 403, "identity:get_policy_for_endpoint"},
		{"none of the policy", "GET", of + "endpoints", "tok-admin", "", 200, `{"endpoints": [], "links": `},
		{"of the policy by a member", "GET", of + "endpoints", "tok-member", "", 403, "identity:list_endpoints_for_policy"},
		{"of no policy", "GET", "/v3/policies/none/OS-ENDPOINT-POLICY/endpoints", "tok-admin", "", 404, "Could not find policy: none."},
	}
	for _, x := range []struct{ path, rule, missing string }{
		{"endpoints/e", "endpoint", "endpoints/none"}, {"services/s", "service", "services/none"}, {"services/s/regions/RegionOne", "region_and_service", "services/s/regions/none"},
	} {
		rule := "_policy_association_for_" + x.rule
		steps = append(steps, []step{
			{"check " + x.path, "GET", of + x.path, "tok-admin", "", 404, "Could not find policy association."},
			{"check by a member " + x.path, "GET", of + x.path, "tok-member", "", 403, "identity:check" + rule},
			{"put by a member " + x.path, "PUT", of + x.path, "tok-member", "", 403, "identity:create" + rule},
			{"put without a token " + x.path, "PUT", of + x.path, "", "", 401, ""},
			{"put to what is not there " + x.path, "PUT", of + x.missing, "tok-admin", "", 404, ": none."},
			{"put " + x.path, "PUT", of + x.path, "tok-admin", "", 204, ""},
			{"put again " + x.path, "PUT", of + x.path, "tok-admin", "", 204, ""},
			{"is there " + x.path, "GET", of + x.path, "tok-admin", "", 204, ""},
			{"the policy by " + x.path, "GET", at, "tok-admin", "", 200, `{"policy": {"id": "{ID}", "blob": "b", "type": "t", "links": {"self": "http://127.0.0.1:5000/v3/endpoints/{ID}"}}}`},
			{"the endpoint by " + x.path, "GET", of + "endpoints", "tok-admin", "", 200, `{"endpoints": [{"id": "e", "interface": "public", "region_id": "RegionOne", "service_id": "s", "url": "http://x", "enabled": true, "links": {"self": "http://127.0.0.1:5000/v3/endpoints/e"}}], "links": `},
			{"delete by a member " + x.path, "DELETE", of + x.path, "tok-member", "", 403, "identity:delete" + rule},
			{"delete " + x.path, "DELETE", of + x.path, "tok-admin", "", 204, ""},
			{"delete again " + x.path, "DELETE", of + x.path, "tok-admin", "", 204, ""},
		}...)
	}
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedRegions(t, d)
		useRegion(t, d, "RegionOne")
		script(t, newStand(t, setup{db: d}), steps)
	})
}
