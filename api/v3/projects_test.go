package v3_test

import (
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/resource"
)

// seedDomain stores the domain "default", in which the callers of the tests
// are.
func seedDomain(t *testing.T, d db.DB) {
	t.Helper()
	if err := resource.CreateDomain(t.Context(), d, resource.Domain{ID: "default", Name: "Default", Enabled: true}); err != nil {
		t.Fatal(err)
	}
}

func TestProjects(t *testing.T) {
	const all, one = "/v3/projects", "/v3/projects/{ID}"
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedDomain(t, d)
		st := newStand(t, setup{db: d})
		script(t, st, []step{
			{"none yet", "GET", all, "tok-admin", "", 200, `{"projects": [], "links": {"next": null, "self": "http://127.0.0.1:5000/v3/projects", "previous": null}}` + "\n"},
			{"list by a member", "GET", all, "tok-member", "", 403, "identity:list_projects"},
			{"list without a token", "GET", all, "", "", 401, ""},
			{"create by a member", "POST", all, "tok-member", `{"project": {"name": "x"}}`, 403, "identity:create_project"},
			{"no name", "POST", all, "tok-admin", `{"project": {}}`, 400, ""},
			{"a blank name", "POST", all, "tok-admin", `{"project": {"name": " "}}`, 400, ""},
			{"a long name", "POST", all, "tok-admin", `{"project": {"name": "` + strings.Repeat("é", 65) + `"}}`, 400, ""},
			{"another key", "POST", all, "tok-admin", `{"project": {"name": "x"}, "more": 1}`, 400, ""},
			{"an odd parent id", "POST", all, "tok-admin", `{"project": {"name": "x", "parent_id": "a b"}}`, 400, ""},
			{"an unknown option", "POST", all, "tok-admin", `{"project": {"name": "x", "options": {"o": true}}}`, 400, ""},
			{"a tag twice", "POST", all, "tok-admin", `{"project": {"name": "x", "tags": ["a", "a"]}}`, 400, ""},
			{"a tag with a comma", "POST", all, "tok-admin", `{"project": {"name": "x", "tags": ["a,b"]}}`, 400, ""},
			{"an unknown domain", "POST", all, "tok-admin", `{"project": {"name": "x", "domain_id": "none"}}`, 400, "Could not find domain: none."},
			{"an unknown parent", "POST", all, "tok-admin", `{"project": {"name": "x", "parent_id": "none"}}`, 400, "Could not find project: none."},
			{"a domain below one", "POST", all, "tok-admin", `{"project": {"name": "x", "is_domain": true, "domain_id": "default"}}`, 400, "only root projects are allowed to act as domains."},
			{
				"create", "POST", all, "tok-admin", `{"project": {"name": " top ", "description": null, "a-b": 1, "tags": ["z", "a"], "options": {"immutable": false}}}`, 201,
				`"name": "top", "domain_id": "default", "description": null, "enabled": true, "parent_id": "default", "is_domain": false, "tags": ["a", "z"], "options": {"immutable": false}, "links"`,
			},
			{"show", "GET", one, "tok-admin", "", 200, `{"project": {"a_b": 1, "id": "{ID}", "name": "top"`},
			{"show by a member of another", "GET", one, "tok-member", "", 403, "identity:get_project"},
			{"a name twice", "POST", all, "tok-admin", `{"project": {"name": "top"}}`, 409, "it is not permitted to have two projects with either the same name or same id in the same domain"},
			{"patch the parent", "PATCH", one, "tok-admin", `{"project": {"parent_id": "x"}}`, 403, "Update of `parent_id` is not allowed."},
			{"patch the domain", "PATCH", one, "tok-admin", `{"project": {"domain_id": "x"}}`, 400, "Cannot change Domain ID"},
			{"patch what it is", "PATCH", one, "tok-admin", `{"project": {"is_domain": true}}`, 400, "Update of `is_domain` is not allowed."},
			{"patch", "PATCH", one, "tok-admin", `{"project": {"description": "d", "c": [1]}}`, 200, `"extra": {"a_b": 1, "c": [1]}`},
			{"patch nothing", "PATCH", one, "tok-admin", `{"project": {}}`, 200, `"description": "d"`},
			{"a child", "POST", all, "tok-admin", `{"project": {"name": "child", "parent_id": "{ID}"}}`, 201, `"parent_id": "{ID}"`},
			{"patch to a name that is taken", "PATCH", one, "tok-admin", `{"project": {"name": "top"}}`, 409, "it is not permitted to have two projects with either the same name"},
			{"patch by a word", "PATCH", one, "tok-admin", `{"project": {"enabled": "True", "links": {}, "extra": {"x": 1}}}`, 200, `"extra": {}`},
			{"parents as ids", "GET", one + "?parents_as_ids", "tok-admin", "", 200, `{"default": null}`},
			{"parents both ways", "GET", one + "?parents_as_ids&parents_as_list", "tok-admin", "", 400, "Cannot use parents_as_list and parents_as_ids query params at the same time."},
			{"parents as a list of those that one has a role on", "GET", one + "?parents_as_list", "tok-admin", "", 200, `"parents": []`},
			{"make it immutable", "PATCH", one, "tok-admin", `{"project": {"options": {"immutable": true}}}`, 200, `"options": {"immutable": true}`},
			{"change the immutable", "PATCH", one, "tok-admin", `{"project": {"name": "y"}}`, 403, "Unable to update immutable project resource: `{ID}. Set resource option \\\"immutable\\\" to false first."},
			{"tag the immutable", "PUT", one + "/tags/t", "tok-admin", "", 403, "is immutable"},
			{"delete the immutable", "DELETE", one, "tok-admin", "", 403, "Unable to delete immutable project resource: `{ID}."},
			{"make it mutable", "PATCH", one, "tok-admin", `{"project": {"options": {"immutable": null}}}`, 200, `"options": {}`},
			{"delete by a member", "DELETE", one, "tok-member", "", 403, "identity:delete_project"},
			{"delete", "DELETE", one, "tok-admin", "", 204, ""},
			{"delete again", "DELETE", one, "tok-admin", "", 404, "Could not find project: {ID}."},
			{"a member does not learn that", "DELETE", one, "tok-member", "", 403, "identity:delete_project"},
			{"the hidden root", "GET", all + "/%3C%3Ckeystone.domain.root%3E%3E", "tok-admin", "", 404, ""},
		})
	})
}

func TestProjectLists(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedDomain(t, d)
		st := newStand(t, setup{db: d})
		make := func(id, name, parent string, enabled bool, tags ...string) {
			t.Helper()
			p := resources(t, d).Projects
			_, err := p.Create(t.Context(), resource.New{ID: id, DomainID: "default", ParentID: parent, Change: resource.Change{Name: &name, Enabled: &enabled, Tags: &tags}})
			if err != nil {
				t.Fatal(err)
			}
		}
		make("p1", "Alpha", "", true, "red", "blue")
		make("p2", "beta", "p1", true, "red")
		make("p3", "gamma", "p2", false, "green")
		ids := func(path string) string {
			w := st.do(call{path: path, token: "tok-admin"})
			var out []string
			for _, part := range strings.Split(w.Body.String(), `"id": "`)[1:] {
				id, _, _ := strings.Cut(part, `"`)
				out = append(out, id)
			}
			if w.Code != 200 {
				return w.Body.String()
			}
			return strings.Join(out, " ")
		}
		for path, want := range map[string]string{
			"":                                  "p1 p2 p3",
			"?enabled":                          "p1 p2",
			"?enabled=0":                        "p3",
			"?name=Alpha":                       "p1",
			"?name=alpha":                       "",
			"?name__icontains=A&enabled=true":   "p1 p2",
			"?name__startswith=a":               "",
			"?is_domain=true":                   "default",
			"?domain_id=default":                "p1 p2 p3",
			"?tags=red,blue":                    "p1",
			"?tags=red":                         "p1 p2",
			"?tags-any=blue,green":              "p1 p3",
			"?not-tags=red,blue":                "p2 p3",
			"?not-tags-any=red":                 "p3",
			"?tags=red&not-tags-any=blue":       "p2",
			"?tags=":                            "",
			"?tags-any=green&limit=1":           "p3",
			"?limit=2":                          "p1 p2",
			"?limit=%C2%A00_2%20":               "p1 p2",
			"?limit=%2B2":                       "p1 p2",
			"?limit=-0":                         "p1 p2 p3",
			"?limit=" + strings.Repeat("9", 99): "p1 p2 p3",
			"?limit=1__0":                       `{"error"`,
			"?limit=-1":                         `{"error"`,
			"?limit=2&marker=p1":                "p2 p3",
			"?limit=2&marker=p3":                "",
			"?limit=1&name__startswith=b":       "",
			"?sort_key=name":                    "p1 p2 p3",
			"?parent_id=" + "00000000000000000": `{"error"`,
		} {
			if path == "?name=alpha" && !dbtest.Exact(d) {
				want = "p1"
			}
			if got := ids("/v3/projects" + path); got != want && !(want == `{"error"` && strings.HasPrefix(got, want)) {
				t.Errorf("projects%s: %s, want %s", path, got, want)
			}
		}
		script(t, st, []step{
			{"unknown marker", "GET", "/v3/projects?marker=none", "tok-admin", "", 404, "Marker none could not be found."},
			{"next page", "GET", "/v3/projects?limit=2&name__icontains=a", "tok-admin", "", 200, `"next": "http://127.0.0.1:5000/v3/projects?limit=2&name__icontains=a&marker=p2"`},
			{"truncated", "GET", "/v3/projects?limit=2", "tok-admin", "", 200, `"truncated": true`},
			{"subtree as ids", "GET", "/v3/projects/p1?subtree_as_ids", "tok-admin", "", 200, `"subtree": {"p2": {"p3": null}}`},
			{"parents as ids", "GET", "/v3/projects/p3?parents_as_ids", "tok-admin", "", 200, `"parents": {"p2": {"p1": {"default": null}}}`},
			{"no subtree", "GET", "/v3/projects/p3?subtree_as_ids", "tok-admin", "", 200, `"subtree": null`},
			{"delete a parent", "DELETE", "/v3/projects/p2", "tok-admin", "", 403, "Cannot delete the project p2 since it is not a leaf in the hierarchy."},
			{"disable above an enabled one", "PATCH", "/v3/projects/p1", "tok-admin", `{"project": {"enabled": false}}`, 403, "Cannot disable project p1 since its subtree contains enabled projects."},
			{"disable above a disabled one", "PATCH", "/v3/projects/p2", "tok-admin", `{"project": {"enabled": false}}`, 200, ""},
			{"enable below it", "PATCH", "/v3/projects/p3", "tok-admin", `{"project": {"enabled": true}}`, 403, "Cannot enable project p3 since it has disabled parents"},
			{"create below it", "POST", "/v3/projects", "tok-admin", `{"project": {"name": "n", "parent_id": "p2"}}`, 400, "cannot create a project in a branch containing a disabled project: p2"},
			{"tags", "GET", "/v3/projects/p1/tags", "tok-admin", "", 200, `{"tags": ["blue", "red"], "links": {"self": "http://127.0.0.1:5000/v3"}}`},
			{"has a tag", "GET", "/v3/projects/p1/tags/red", "tok-admin", "", 204, ""},
			{"has not", "GET", "/v3/projects/p1/tags/Red", "tok-admin", "", 404, "Could not find project tag: Red."},
			{"add a tag", "PUT", "/v3/projects/p1/tags/new", "tok-admin", "", 201, ""},
			{"add it again", "PUT", "/v3/projects/p1/tags/new", "tok-admin", "", 400, ""},
			{"add by a member", "PUT", "/v3/projects/p1/tags/x", "tok-member", "", 403, "identity:create_project_tag"},
			{"take it", "DELETE", "/v3/projects/p1/tags/new", "tok-admin", "", 204, ""},
			{"take it again", "DELETE", "/v3/projects/p1/tags/new", "tok-admin", "", 404, ""},
			{"set tags", "PUT", "/v3/projects/p1/tags", "tok-admin", `{"tags": [" one ", "two"]}`, 200, `{"tags": ["one", "two"]`},
			{"set no list", "PUT", "/v3/projects/p1/tags", "tok-admin", `{"tags": "one"}`, 400, ""},
			{"set nothing", "PUT", "/v3/projects/p1/tags", "tok-admin", `{}`, 400, ""},
			{"take all", "DELETE", "/v3/projects/p1/tags", "tok-admin", "", 204, ""},
			{"none are left", "GET", "/v3/projects/p1/tags", "tok-admin", "", 200, `{"tags": []`},
			{"of what is not there", "GET", "/v3/projects/none/tags", "tok-admin", "", 404, "Could not find project: none."},
		})
	})
}

func TestDomains(t *testing.T) {
	const all, one = "/v3/domains", "/v3/domains/{ID}"
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedDomain(t, d)
		script(t, newStand(t, setup{db: d}), []step{
			{"list", "GET", all, "tok-admin", "", 200, `{"domains": [{"id": "default", "name": "Default", `},
			{"list by a member", "GET", all, "tok-member", "", 403, "identity:list_domains"},
			{"one's own", "GET", all + "/default", "tok-member", "", 200, `"id": "default"`},
			{"create by a member", "POST", all, "tok-member", `{"domain": {"name": "x"}}`, 403, "identity:create_domain"},
			{"reserved name", "POST", all, "tok-admin", `{"domain": {"name": "federated"}}`, 400, "Domain cannot be named federated"},
			{"no such id", "POST", all, "tok-admin", `{"domain": {"name": "x", "explicit_domain_id": "abc"}}`, 400, "Domain ID does not conform to required UUID format."},
			{"long description", "POST", all, "tok-admin", `{"domain": {"name": "x", "description": "` + strings.Repeat("d", 256) + `"}}`, 400, ""},
			{"with an id", "POST", all, "tok-admin", `{"domain": {"name": "x", "explicit_domain_id": "00000000000000000000000000000001"}}`, 201, `"id": "00000000000000000000000000000001", "name": "x", "description": "", "enabled": true, "tags": [], "options": {}, "links"`},
			{"a name twice", "POST", all, "tok-admin", `{"domain": {"name": "x"}}`, 409, "it is not permitted to have two projects acting as domains with the same name: x"},
			{"by name", "GET", all + "?name=x", "tok-admin", "", 200, `{"domains": [{"id": "{ID}"`},
			{"no other's", "GET", one, "tok-member", "", 403, "identity:get_domain"},
			{"patch nothing", "PATCH", one, "tok-admin", `{"domain": {}}`, 400, ""},
			{"patch", "PATCH", one, "tok-admin", `{"domain": {"description": "d", "k": 1}}`, 200, `{"domain": {"k": 1, "id": "{ID}", "name": "x", "description": "d"`},
			{"delete while enabled", "DELETE", one, "tok-admin", "", 403, "Cannot delete a domain that is enabled, please disable it first."},
			{"disable", "PATCH", one, "tok-admin", `{"domain": {"enabled": false}}`, 200, `"enabled": false`},
			{"delete", "DELETE", one, "tok-admin", "", 204, ""},
			{"delete again", "DELETE", one, "tok-admin", "", 404, "Could not find domain: {ID}."},
			{"patch what is not there", "PATCH", one, "tok-admin", `{"domain": {"name": "y"}}`, 404, "Could not find domain: {ID}."},
			{"a project as a domain", "POST", "/v3/projects", "tok-admin", `{"project": {"name": "pd", "is_domain": true}}`, 201, `"domain_id": null`},
			{"is one", "GET", one, "tok-admin", "", 200, `"name": "pd"`},
			{"a project", "POST", "/v3/projects", "tok-admin", `{"project": {"name": "p"}}`, 201, ""},
			{"is none", "GET", one, "tok-admin", "", 404, "Could not find domain: {ID}."},
		})
	})
}
