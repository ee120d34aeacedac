//go:build interop

package crossing_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// shop is a service with two endpoints, a project and an endpoint group, three
// policies, and every kind of tie between them; ids by short names.
type shop map[string]string

// shop has Python make one.
func (c *cloud) shop() shop {
	c.t.Helper()
	s := shop{}
	s["service"] = c.create("service", "/v3/services", m{"type": name("kind")})
	s["region"] = c.create("region", "/v3/regions", m{"id": name("region")})
	s["below"] = c.create("region", "/v3/regions", m{"id": name("below"), "parent_region_id": s["region"]})
	s["project"] = c.create("project", "/v3/projects", m{"name": name("project"), "domain_id": "default"})
	for _, e := range []string{"one", "two"} {
		s[e] = c.create("endpoint", "/v3/endpoints", m{"service_id": s["service"], "interface": "public", "url": "http://" + e})
		c.put("/v3/OS-EP-FILTER/projects/" + s["project"] + "/endpoints/" + s[e])
	}
	s["group"] = c.create("endpoint_group", "/v3/OS-EP-FILTER/endpoint_groups", m{"name": "g", "filters": m{"service_id": s["service"]}})
	c.put("/v3/OS-EP-FILTER/endpoint_groups/" + s["group"] + "/projects/" + s["project"])
	for policy, of := range map[string]string{
		"own": "endpoints/" + s["one"], "all": "services/" + s["service"], "near": "services/" + s["service"] + "/regions/" + s["region"],
		"nearer": "services/" + s["service"] + "/regions/" + s["below"],
	} {
		s[policy] = c.create("policy", "/v3/policies", m{"blob": "b", "type": "t"})
		c.put("/v3/policies/" + s[policy] + "/OS-ENDPOINT-POLICY/" + of)
	}
	return s
}

// rows are all there are about the shop, by its short names.
func (c *cloud) rows(s shop) []string {
	c.t.Helper()
	all, err := db.All(c.t.Context(), c.DB, db.Query[string]{
		Text: `select 'region ' || id from region
union all select 'service ' || id from service
union all select 'endpoint ' || id || ' of ' || service_id from endpoint
union all select 'project ' || id from project
union all select 'group ' || id from endpoint_group
union all select 'policy ' || id from policy
union all select 'project_endpoint ' || project_id || ' ' || endpoint_id from project_endpoint
union all select 'project_endpoint_group ' || project_id || ' ' || endpoint_group_id from project_endpoint_group
union all select 'policy_association ' || policy_id || ' ' || coalesce(endpoint_id, '-') || ' ' || coalesce(service_id, '-') || ' ' || coalesce(region_id, '-') from policy_association`,
		Scan: func(r db.Row) (text string, err error) { err = r.Scan(&text); return text, err },
	})
	if err != nil {
		c.t.Fatal(err)
	}
	var out []string
	for _, row := range all {
		named := row
		for short, id := range s {
			named = strings.ReplaceAll(named, id, short)
		}
		if named != row {
			out = append(out, named)
		}
	}
	slices.Sort(out)
	return out
}

// TestCatalogDeletions: what either server deletes takes the same rows with it,
// and here those as well that Python leaves behind (D-64).
func TestCatalogDeletions(t *testing.T) {
	const (
		own, all, near, nearer = "policy_association own one - -", "policy_association all - service -", "policy_association near - service region", "policy_association nearer - service below"
	)
	c := shared(t)
	for what, x := range map[string]struct {
		path string   // below /v3/, before the id
		more []string // rows that go here alone
	}{
		"one":     {"endpoints/", []string{own}},
		"service": {"services/", []string{all, near, nearer, own, "project_endpoint project one", "project_endpoint project two"}},
		"region":  {"regions/", []string{near, nearer}},
		"group":   {"OS-EP-FILTER/endpoint_groups/", nil},
		"project": {"projects/", nil},
		"own":     {"policies/", []string{own}},
		"near":    {"policies/", []string{near}},
	} {
		t.Run(what, func(t *testing.T) {
			c := newCloud(t, c.Env)
			left := map[*peer.Server][]string{}
			for _, writer := range c.Servers() {
				s := c.shop()
				before := c.rows(s)
				if len(before) != 18 {
					t.Fatalf("before: %q", before)
				}
				c.by(writer, http.StatusNoContent, "DELETE", "/v3/"+x.path+s[what], nil)
				left[writer] = c.rows(s)
				if len(left[writer]) >= len(before) {
					t.Errorf("%s deleted nothing: %q", writer.Name, left[writer])
				}
			}
			var more []string
			for _, row := range left[c.Python] {
				if !slices.Contains(left[c.Go], row) {
					more = append(more, row)
				}
			}
			slices.Sort(x.more)
			if d := cmp.Diff(x.more, more); d != "" {
				t.Errorf("what goes here alone (-want +got):\n%s", d)
			}
			for _, row := range left[c.Go] {
				if !slices.Contains(left[c.Python], row) {
					t.Errorf("left here, and not by Python: %s", row)
				}
			}
		})
	}
}
