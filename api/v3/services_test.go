package v3_test

import (
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

func TestServices(t *testing.T) {
	const all, one = "/v3/services", "/v3/services/{ID}"
	long := strings.Repeat("é", 256)
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		st := newStand(t, setup{db: d})
		script(t, st, []step{
			{"none yet", "GET", all, "tok-admin", "", 200, `{"services": [], "links": {"next": null, "self": "http://127.0.0.1:5000/v3/services", "previous": null}}` + "\n"},
			{"list by a member", "GET", all, "tok-member", "", 403, "identity:list_services"},
			{"list without a token", "GET", all, "", "", 401, ""},
			{"create by a member", "POST", all, "tok-member", `{"service": {"type": "x"}}`, 403, "identity:create_service"},
			{"no type", "POST", all, "tok-admin", `{"service": {}}`, 400, ""},
			{"empty type", "POST", all, "tok-admin", `{"service": {"type": ""}}`, 400, ""},
			{"long type", "POST", all, "tok-admin", `{"service": {"type": "` + long + `"}}`, 400, ""},
			{"a word for enabled", "POST", all, "tok-admin", `{"service": {"type": "x", "enabled": "true"}}`, 400, ""},
			{"no name", "POST", all, "tok-admin", `{"service": {"type": "volume", "a-b": 1}, "more": 1}`, 201, `"a_b": 1, "name": "", "id": "`},
			{"show it", "GET", one, "tok-admin", "", 200, `"type": "volume", "enabled": true, "links": {"self": "http://127.0.0.1:5000/v3/services/{ID}"}}}`},
			{"create", "POST", all, "tok-admin", `{"service": {"type": "compute", "name": "nova", "description": "d", "enabled": false}}`, 201, `"description": "d"`},
			{"show by a member", "GET", one, "tok-member", "", 403, "identity:get_service"},
			{"by type", "GET", all + "?type=volume", "tok-admin", "", 200, `"a_b": 1`},
			{"by name", "GET", all + "?name=nova", "tok-admin", "", 200, `{"services": [{"name": "nova"`},
			{"by a part of the name", "GET", all + "?name__icontains=OV", "tok-admin", "", 200, `"nova"`},
			{"by a part of the type in its case", "GET", all + "?type__contains=olum", "tok-admin", "", 200, `"a_b": 1`},
			{"by two types", "GET", all + "?type=volume&type=compute", "tok-admin", "", 200, `{"services": [], `},
			{"with a limit", "GET", all + "?limit=1", "tok-admin", "", 200, `"truncated": true`},
			{"with a limit of no number", "GET", all + "?limit=x", "tok-admin", "", 400, ""},
			{"patch nothing", "PATCH", one, "tok-admin", `{"service": {}}`, 400, ""},
			{"patch the id", "PATCH", one, "tok-admin", `{"service": {"id": "x"}}`, 400, "Cannot change ID"},
			{"patch", "PATCH", one, "tok-admin", `{"service": {"name": "n2", "enabled": true}}`, 200, `"name": "n2", "description": "d", "id": "{ID}", "type": "compute", "enabled": true`},
			{"patch what is not there", "PATCH", all + "/none", "tok-admin", `{"service": {"name": "x"}}`, 404, "Could not find service: none."},
			{"get what is not there", "GET", all + "/none", "tok-admin", "", 404, "Could not find service: none."},
			{"delete by a member", "DELETE", one, "tok-member", "", 403, "identity:delete_service"},
			{"delete what is not there", "DELETE", all + "/none", "tok-admin", "", 404, ""},
			{"delete", "DELETE", one, "tok-admin", "", 204, ""},
			{"delete again", "DELETE", one, "tok-admin", "", 404, ""},
		})
	})
}

// A service takes its endpoints with it.
func TestDeleteServiceWithEndpoints(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedRegions(t, d)
		useRegion(t, d, "RegionOne")
		if w := newStand(t, setup{db: d}).do(call{method: "DELETE", path: "/v3/services/s", token: "tok-admin"}); w.Code != 204 {
			t.Fatalf("delete: %d %s", w.Code, w.Body)
		}
		left, err := db.All(t.Context(), d, catalog.EndpointsOfService("s"))
		if err != nil || len(left) > 0 {
			t.Errorf("endpoints left: %v %v", left, err)
		}
	})
}
