package v3_test

import (
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/resource"
)

const limited = "0123456789abcdef0123456789abcdef"

// seedLimited makes a service, a region, the projects p1 and p2 of the domain
// default, and p3 of another.
func seedLimited(t *testing.T, d db.DB) {
	t.Helper()
	seedDomain(t, d)
	err := catalog.CreateService(t.Context(), d, catalog.Service{ID: limited, Enabled: true})
	if err == nil {
		err = catalog.Regions{DB: d}.Create(t.Context(), catalog.Region{ID: "here"})
	}
	if err == nil {
		err = resource.CreateDomain(t.Context(), d, resource.Domain{ID: "else", Name: "Else", Enabled: true})
	}
	for _, p := range []resource.Project{{ID: "p1", DomainID: "default"}, {ID: "p2", DomainID: "default", ParentID: "p1"}, {ID: "p3", DomainID: "else"}} {
		if err == nil {
			p.Name, p.Enabled = p.ID, true
			err = resource.CreateProject(t.Context(), d, p)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// ofCores is a body of one limit of cores, with more members.
func ofCores(key, more string) string {
	return `{"` + key + `": [{"service_id": "` + limited + `", "resource_name": "cores", ` + more + `}]}`
}

func TestRegisteredLimits(t *testing.T) {
	const all, one, key = "/v3/registered_limits", "/v3/registered_limits/{ID}", "registered_limits"
	long := strings.Repeat("é", 256)
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedLimited(t, d)
		script(t, newStand(t, setup{db: d}), []step{
			{"none yet", "GET", all, "tok-member", "", 200, `{"registered_limits": [], "links": {"next": null, "self": "http://127.0.0.1:5000/v3/registered_limits", "previous": null}}` + "\n"},
			{"list without a token", "GET", all, "", "", 401, ""},
			{"create by a member", "POST", all, "tok-member", ofCores(key, `"default_limit": 1`), 403, "identity:create_registered_limits"},
			{"the shape before the token", "POST", all, "", `{}`, 400, ""},
			{"nothing", "POST", all, "tok-admin", `{}`, 400, ""},
			{"none", "POST", all, "tok-admin", `{"registered_limits": []}`, 400, ""},
			{"beside", "POST", all, "tok-admin", `{"registered_limits": [], "x": 1}`, 400, ""},
			{"a word", "POST", all, "tok-admin", `{"registered_limits": ["x"]}`, 400, ""},
			{"no limit", "POST", all, "tok-admin", ofCores(key, `"description": null`), 400, ""},
			{"a text", "POST", all, "tok-admin", ofCores(key, `"default_limit": "1"`), 400, ""},
			{"true", "POST", all, "tok-admin", ofCores(key, `"default_limit": true`), 400, ""},
			{"a part", "POST", all, "tok-admin", ofCores(key, `"default_limit": 1.5`), 400, ""},
			{"below", "POST", all, "tok-admin", ofCores(key, `"default_limit": -2`), 400, ""},
			{"beyond", "POST", all, "tok-admin", ofCores(key, `"default_limit": 2147483648`), 400, ""},
			{"more", "POST", all, "tok-admin", ofCores(key, `"default_limit": 1, "x": 1`), 400, ""},
			{"long description", "POST", all, "tok-admin", ofCores(key, `"default_limit": 1, "description": "`+long+`"`), 400, ""},
			{"service of a word", "POST", all, "tok-admin", `{"registered_limits": [{"service_id": "x", "resource_name": "cores", "default_limit": 1}]}`, 400, ""},
			{"no such region", "POST", all, "tok-admin", ofCores(key, `"default_limit": 1, "region_id": "none"`), 400, "Expecting to find region_id in registered_limit."},
			{
				"create", "POST", all, "tok-admin", ofCores(key, `"default_limit": 5.0, "region_id": "here", "description": "d"`), 201,
				`"service_id": "` + limited + `", "region_id": "here", "resource_name": "cores", "default_limit": 5, "description": "d", "links": {"self": "http://127.0.0.1:5000/v3/registered_limits/`,
			},
			{"show", "GET", one, "tok-member", "", 200, `{"registered_limit": {"id": "{ID}", "service_id": "` + limited + `", "region_id": "here", "resource_name": "cores", "default_limit": 5, "description": "d", "links": {"self": "http://127.0.0.1:5000/v3/registered_limits/{ID}"}}}`},
			{"again", "POST", all, "tok-admin", ofCores(key, `"default_limit": 5, "region_id": "here"`), 409, "Conflict occurred attempting to store registered_limit - Duplicate entry."},
			{"by region", "GET", all + "?region_id=here", "tok-member", "", 200, `{"registered_limits": [{"id": "{ID}"`},
			{"by an empty region", "GET", all + "?region_id=", "tok-member", "", 400, ""},
			{"by a service of a word", "GET", all + "?service_id=x", "tok-member", "", 400, ""},
			{"by another name", "GET", all + "?resource_name=Cores", "tok-member", "", 200, `{"registered_limits": [], `},
			{"patch by a member", "PATCH", one, "tok-member", `{"registered_limit": {"default_limit": 1}}`, 403, "identity:update_registered_limit"},
			{"patch the id", "PATCH", one, "tok-admin", `{"registered_limit": {"id": "{ID}"}}`, 400, ""},
			{"patch nothing", "PATCH", one, "tok-admin", `{"registered_limit": {}}`, 200, `"default_limit": 5`},
			{"patch what it has", "PATCH", one, "tok-admin", `{"registered_limit": {"resource_name": "cores"}}`, 409, "Duplicate entry"},
			{"patch", "PATCH", one, "tok-admin", `{"registered_limit": {"region_id": null, "default_limit": 0, "description": null}}`, 200, `"region_id": null, "resource_name": "cores", "default_limit": 0, "description": null`},
			{"patch what is not there", "PATCH", all + "/none", "tok-admin", `{"registered_limit": {}}`, 404, "Could not find registered limit for none."},
			{"get what is not there", "GET", all + "/none", "tok-member", "", 404, "Could not find registered limit for none."},
			{"delete by a member", "DELETE", one, "tok-member", "", 403, "identity:delete_registered_limit"},
			{"delete", "DELETE", one, "tok-admin", "", 204, ""},
			{"delete again", "DELETE", one, "tok-admin", "", 404, ""},
		})
	})
}

func TestLimits(t *testing.T) {
	const all, one, key = "/v3/limits", "/v3/limits/{ID}", "limits"
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedLimited(t, d)
		script(t, scopedStand(t, d), []step{
			{"none yet", "GET", all, "tok-member", "", 200, `{"limits": [], "links": {"next": null, "self": "http://127.0.0.1:5000/v3/limits", "previous": null}}` + "\n"},
			{"list without a token", "GET", all, "", "", 401, ""},
			{"model", "GET", all + "/model", "tok-member", "", 200, `{"model": {"name": "flat", "description": "`},
			{"model without a token", "GET", all + "/model", "", "", 401, ""},
			{"the model is no limit", "PATCH", all + "/model", "tok-admin", `{"limit": {}}`, 404, "Could not find limit for model."},
			{"create by a member", "POST", all, "tok-member", ofCores(key, `"resource_limit": 1, "project_id": "p1"`), 403, "identity:create_limits"},
			{"the shape before the token", "POST", all, "", `{}`, 400, ""},
			{"none", "POST", all, "tok-admin", `{"limits": []}`, 400, ""},
			{"no owner", "POST", all, "tok-admin", ofCores(key, `"resource_limit": 1`), 400, ""},
			{"two owners", "POST", all, "tok-admin", ofCores(key, `"resource_limit": 1, "project_id": "p1", "domain_id": "default"`), 400, ""},
			{"project null", "POST", all, "tok-admin", ofCores(key, `"resource_limit": 1, "project_id": null`), 400, ""},
			{"domain null", "POST", all, "tok-admin", ofCores(key, `"resource_limit": 1, "domain_id": null`), 400, ""},
			{"more", "POST", all, "tok-admin", ofCores(key, `"resource_limit": 1, "project_id": "p1", "x": 1`), 400, ""},
			{"not registered", "POST", all, "tok-admin", ofCores(key, `"resource_limit": 1, "project_id": "p1"`), 403, "Unable to create a limit that has no corresponding registered limit."},
			{"register", "POST", "/v3/registered_limits", "tok-admin", ofCores("registered_limits", `"default_limit": 1`), 201, ""},
			{"no such project", "POST", all, "tok-admin", ofCores(key, `"resource_limit": 1, "project_id": "none"`), 400, "Expecting to find project_id in limit."},
			{"of a domain", "POST", all, "tok-admin", ofCores(key, `"resource_limit": -1, "project_id": "default"`), 201, `"project_id": null, "domain_id": "default", "service_id": "` + limited + `", "region_id": null, "resource_name": "cores", "resource_limit": -1, "description": null, "links"`},
			{"of a domain by a member of its project", "GET", one, "tok-member", "", 403, "identity:get_limit"},
			{"of a domain by the domain", "GET", one, "tok-domain-member", "", 200, `"id": "{ID}"`},
			{"of another domain", "POST", all, "tok-admin", ofCores(key, `"resource_limit": 3, "domain_id": "else"`), 201, `"domain_id": "else"`},
			{"of another domain by a domain", "GET", one, "tok-domain-member", "", 403, "identity:get_limit"},
			{"of another project", "POST", all, "tok-admin", ofCores(key, `"resource_limit": 2, "project_id": "p2"`), 201, `"project_id": "p2"`},
			{"of another project by a member", "GET", one, "tok-member", "", 403, "identity:get_limit"},
			{"of its project by the domain", "GET", one, "tok-domain-member", "", 200, `{"limit": {"id": "{ID}"`},
			{"of another domain's project", "POST", all, "tok-admin", ofCores(key, `"resource_limit": 2, "project_id": "p3"`), 201, `"project_id": "p3"`},
			{"of another domain's project by a domain", "GET", one, "tok-domain-member", "", 403, "identity:get_limit"},
			{"create", "POST", all, "tok-admin", ofCores(key, `"resource_limit": 7, "project_id": "p1", "description": "d"`), 201, `"resource_limit": 7, "description": "d"`},
			{"again", "POST", all, "tok-admin", ofCores(key, `"resource_limit": 7, "project_id": "p1"`), 409, "Conflict occurred attempting to store limit - Duplicate entry."},
			{"show", "GET", one, "tok-member", "", 200, `{"limit": {"id": "{ID}", "project_id": "p1", "domain_id": null, "service_id": "` + limited + `", "region_id": null, "resource_name": "cores", "resource_limit": 7, "description": "d", "links": {"self": "http://127.0.0.1:5000/v3/limits/{ID}"}}}`},
			{"a member's list", "GET", all, "tok-member", "", 200, `{"limits": [{"id": "{ID}", "project_id": "p1"`},
			{"and no other's", "GET", all + "?project_id=p2", "tok-member", "", 200, `{"limits": [], `},
			{"a service's", "GET", all + "?project_id=p2", "tok-service", "", 200, `"project_id": "p2"`},
			{"a domain's", "GET", all + "?project_id=p2", "tok-domain-member", "", 200, `"project_id": "p2"`},
			{"a domain's and no other's", "GET", all + "?project_id=p3", "tok-domain-member", "", 200, `{"limits": [], `},
			{"a domain of another", "GET", all + "?domain_id=else", "tok-domain-member", "", 200, `{"limits": [], `},
			{"no scope's", "GET", all, "tok-unscoped-member", "", 200, `{"limits": [], `},
			{"a system reader's", "GET", all + "?project_id=p3", "tok-system-reader", "", 200, `"project_id": "p3"`},
			{"no scope's own", "GET", one, "tok-unscoped-member", "", 403, "identity:get_limit"},
			{"by a project of a sign", "GET", all + "?project_id=a_b", "tok-admin", "", 400, ""},
			{"patch by a member", "PATCH", one, "tok-member", `{"limit": {"resource_limit": 1}}`, 403, "identity:update_limit"},
			{"patch what is not there by a member", "PATCH", all + "/none", "tok-member", `{"limit": {"resource_limit": 1}}`, 404, "Could not find limit for none."},
			{"patch another resource", "PATCH", one, "tok-admin", `{"limit": {"resource_name": "ram"}}`, 400, ""},
			{"patch to 0", "PATCH", one, "tok-admin", `{"limit": {"resource_limit": 0}}`, 200, `"resource_limit": 0, "description": "d"`},
			{"patch to no text", "PATCH", one, "tok-admin", `{"limit": {"description": null}}`, 200, `"resource_limit": 0, "description": null`},
			{"get what is not there by a member", "GET", all + "/none", "tok-member", "", 403, "identity:get_limit"},
			{"get what is not there", "GET", all + "/none", "tok-admin", "", 404, "Could not find limit for none."},
			{"delete by a member", "DELETE", one, "tok-member", "", 403, "identity:delete_limit"},
			{"delete", "DELETE", one, "tok-admin", "", 204, ""},
			{"delete again", "DELETE", one, "tok-admin", "", 404, ""},
		})
	})
}

func TestIncludeLimits(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedLimited(t, d)
		exec(t, d, `insert into role (id, name, domain_id) values ('r', 'r', '<<null>>')`)
		for _, p := range []string{"p1", "p2"} {
			exec(t, d, `insert into assignment (type, actor_id, target_id, role_id, inherited) values ('UserProject', 'u-admin', $1, 'r', false)`, p)
		}
		c := dbtest.Count(t, d)
		st := newStand(t, setup{db: c})
		script(t, st, []step{
			{"register", "POST", "/v3/registered_limits", "tok-admin", ofCores("registered_limits", `"default_limit": 1`), 201, ""},
			{"limit", "POST", "/v3/limits", "tok-admin", ofCores("limits", `"resource_limit": 7, "project_id": "p2"`), 201, ""},
			{"subtree", "GET", "/v3/projects/p1?subtree_as_list&include_limits", "tok-admin", "", 200, `"limits": [{"id": "{ID}", "project_id": "p2", "domain_id": null, "service_id": "` + limited + `", "region_id": null, "resource_name": "cores", "resource_limit": 7, "description": null}]}}]`},
			{"parents", "GET", "/v3/projects/p2?parents_as_list&include_limits=1", "tok-admin", "", 200, `"id": "p1"`},
			{"none of the parent", "GET", "/v3/projects/p2?parents_as_list&include_limits=1", "tok-admin", "", 200, `"limits": []}}]`},
			{"switched off", "GET", "/v3/projects/p1?subtree_as_list&include_limits=0", "tok-admin", "", 200, `/v3/projects/p2"}}}]`},
			{"of itself", "GET", "/v3/projects/p2?include_limits", "tok-admin", "", 200, `/v3/projects/p2"}}}`},
		})
		c.Reset()
		if st.do(call{path: "/v3/projects/p1?subtree_as_list&include_limits", token: "tok-admin"}); c.RoundTrips != 4 || c.Writes > 0 {
			t.Errorf("%d round trips: %q", c.RoundTrips, c.Texts)
		}
	})
}

// The limits of a project and of a domain go with it.
func TestLimitsGoWithTheirOwner(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedLimited(t, d)
		script(t, newStand(t, setup{db: d}), []step{
			{"of the domain", "POST", "/v3/registered_limits", "tok-admin", ofCores("registered_limits", `"default_limit": 1`), 201, ""},
			{"limit", "POST", "/v3/limits", "tok-admin", ofCores("limits", `"resource_limit": 7, "domain_id": "else"`), 201, ""},
			{"of its project", "POST", "/v3/limits", "tok-admin", ofCores("limits", `"resource_limit": 7, "project_id": "p3"`), 201, ""},
			{"of another", "POST", "/v3/limits", "tok-admin", ofCores("limits", `"resource_limit": 7, "project_id": "p1"`), 201, ""},
			{"delete a project", "DELETE", "/v3/projects/p3", "tok-admin", "", 204, ""},
			{"its limit is gone", "GET", "/v3/limits?project_id=p3", "tok-admin", "", 200, `{"limits": [], `},
			{"the domain's is not", "GET", "/v3/limits?domain_id=else", "tok-admin", "", 200, `"domain_id": "else"`},
			{"disable", "PATCH", "/v3/domains/else", "tok-admin", `{"domain": {"enabled": false}}`, 200, ""},
			{"delete a domain", "DELETE", "/v3/domains/else", "tok-admin", "", 204, ""},
			{"another's is left alone", "GET", "/v3/limits", "tok-admin", "", 200, `{"limits": [{"id": "{ID}", "project_id": "p1"`},
			{"only that", "GET", "/v3/limits?domain_id=else", "tok-admin", "", 200, `{"limits": [], `},
		})
	})
}

// Rows that no request makes: a limit of a domain by its project, of a project
// that is gone, of nobody, for a registered limit that is gone. What they lack
// belongs to nobody who has none of it.
func TestOddLimits(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedLimited(t, d)
		for id, owner := range map[string]any{"by-project": "else", "gone": "none", "nobody": nil} {
			exec(t, d, `insert into "limit" (id, project_id, resource_limit, registered_limit_id) values ($1, $2, 1, 'none')`, id, owner)
		}
		st := scopedStand(t, d)
		for _, id := range []string{"by-project", "gone", "nobody"} {
			for token, status := range map[string]int{
				"tok-member": 403, "tok-domain-member": 403, "tok-unscoped-member": 403, "tok-system-member": 403, "tok-system-reader": 200, "tok-admin": 200,
			} {
				w := st.do(call{path: "/v3/limits/" + id, token: token})
				if w.Code != status || status == 200 && !strings.Contains(w.Body.String(), `"service_id": null, "region_id": null, "resource_name": null, "resource_limit": 1`) {
					t.Errorf("%s by %s: %d %s", id, token, w.Code, w.Body)
				}
			}
		}
		for _, token := range []string{"tok-member", "tok-domain-member", "tok-unscoped-member"} {
			if w := st.do(call{path: "/v3/limits", token: token}); !strings.Contains(w.Body.String(), `"limits": []`) {
				t.Errorf("list by %s: %s", token, w.Body)
			}
		}
	})
}
