//go:build interop

package crossing_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// inTokens are changes that show in logins and tokens.
var inTokens = []write{
	{
		name: "user made", method: "POST", route: "/v3/users",
		do: func(c *cloud, w *peer.Server, p *person) {
			p.password = name("pw")
			p.id = c.change(w, "POST", "/v3/users", m{"user": m{"name": name("user"), "domain_id": p.domain, "password": p.password, "note": "näïve"}}).Text("user", "id")
		},
		check: loginIs(http.StatusCreated),
	},
	{
		name: "user renamed", method: "PATCH", route: "/v3/users/{user_id}",
		do: func(c *cloud, w *peer.Server, p *person) {
			p.name = name("Renamed ünd")
			c.change(w, "PATCH", p.fill("/v3/users/{user_id}"), m{"user": m{"name": p.name}})
		},
		check: func(c *cloud, s *peer.Server, p *person) {
			s.Want(c.t, http.StatusCreated, call{Method: "POST", Path: "/v3/auth/tokens", Body: m{"auth": m{"identity": m{
				"methods": []string{"password"}, "password": m{"user": m{"name": p.name, "domain": m{"name": p.domainName}, "password": p.password}},
			}}}})
		},
	},
	{
		name: "a second factor asked for", method: "PATCH", route: "/v3/users/{user_id}",
		do: func(c *cloud, w *peer.Server, p *person) {
			c.change(w, "PATCH", p.fill("/v3/users/{user_id}"), m{"user": m{"options": m{
				"multi_factor_auth_enabled": true, "multi_factor_auth_rules": [][]string{{"password", "application_credential"}},
			}}})
		},
		check: func(c *cloud, s *peer.Server, p *person) {
			a := s.Want(c.t, http.StatusUnauthorized, call{Method: "POST", Path: "/v3/auth/tokens", Body: p.byPassword("unscoped")})
			if a.Header.Get("Openstack-Auth-Receipt") == "" {
				c.t.Errorf("%s gave no receipt: %v", s.Name, a)
			}
		},
	},
	{
		name: "project made", method: "POST", route: "/v3/projects",
		do: func(c *cloud, w *peer.Server, p *person) {
			p.project = c.change(w, "POST", "/v3/projects", m{"project": m{"name": name("project"), "domain_id": p.domain}}).Text("project", "id")
			c.put(p.fill("/v3/projects/{project_id}/users/{user_id}/roles/{role_id}"))
		},
		check: tokenHas("project", "roles", 0, "name"),
	},
	{
		name: "role on a project given", method: "PUT", route: "/v3/projects/{project_id}/users/{user_id}/roles/{role_id}",
		do: func(c *cloud, w *peer.Server, p *person) {
			p.role = c.create("role", "/v3/roles", m{"name": name("role")})
			c.change(w, "PUT", p.fill("/v3/projects/{project_id}/users/{user_id}/roles/{role_id}"), nil)
		},
		check: tokenHas("project", "roles", 1, "name"),
	},
	{
		name: "role on the system given", method: "PUT", route: "/v3/system/users/{user_id}/roles/{role_id}",
		do: func(c *cloud, w *peer.Server, p *person) {
			p.role = c.create("role", "/v3/roles", m{"name": name("role")})
			c.change(w, "PUT", p.fill("/v3/system/users/{user_id}/roles/{role_id}"), nil)
		},
		check: tokenHas("system", "roles", 1, "name"),
	},
	{
		name: "role inherited", method: "PUT", route: "/v3/OS-INHERIT/domains/{domain_id}/users/{user_id}/roles/{role_id}/inherited_to_projects",
		do: func(c *cloud, w *peer.Server, p *person) {
			p.role = c.create("role", "/v3/roles", m{"name": name("role")})
			c.change(w, "PUT", p.fill("/v3/OS-INHERIT/domains/{domain_id}/users/{user_id}/roles/{role_id}/inherited_to_projects"), nil)
		},
		check: tokenHas("group", "roles", 1, "name"),
	},
	{
		name: "role implied", method: "PUT", route: "/v3/roles/{prior_role_id}/implies/{implied_role_id}",
		do: func(c *cloud, w *peer.Server, p *person) {
			c.change(w, "PUT", p.fill("/v3/roles/{role_id}/implies/")+c.create("role", "/v3/roles", m{"name": name("role")}), nil)
		},
		check: tokenHas("project", "roles", 1, "name"),
	},
	{
		name: "endpoint made", method: "POST", route: "/v3/endpoints",
		do: func(c *cloud, w *peer.Server, p *person) {
			p.kind = name("kind")
			service := c.create("service", "/v3/services", m{"type": p.kind, "name": name("service")})
			c.change(w, "POST", "/v3/endpoints", m{"endpoint": m{
				"service_id": service, "interface": "public", "url": "http://x/%(project_id)s/" + name("path"), "region_id": "RegionOne",
			}})
		},
		// The catalog has what others made, too.
		check: func(c *cloud, s *peer.Server, p *person) {
			a := s.Want(c.t, http.StatusCreated, call{Method: "POST", Path: "/v3/auth/tokens", Body: p.byPassword("project")})
			catalog, _ := a.At("token", "catalog").([]any)
			if !slices.ContainsFunc(catalog, func(v any) bool { return v.(m)["type"] == p.kind }) {
				c.t.Errorf("the token of %s has no service of kind %s: %v", s.Name, p.kind, a)
			}
			c.sameToken(c.t, s, a, a.Header.Get("X-Subject-Token"))
		},
	},
}

// tokenHas checks that a new token has something under a path, and is the same
// at both.
func tokenHas(scope string, path ...any) func(c *cloud, s *peer.Server, p *person) {
	return func(c *cloud, s *peer.Server, p *person) {
		c.t.Helper()
		a := s.Want(c.t, http.StatusCreated, call{Method: "POST", Path: "/v3/auth/tokens", Body: p.byPassword(scope)})
		if a.At(append([]any{"token"}, path...)...) == nil {
			c.t.Errorf("the token of %s has nothing at %v: %v", s.Name, path, a)
		}
		c.sameToken(c.t, s, a, a.Header.Get("X-Subject-Token"))
	}
}

// TestShown: a change at one server shows in the next answers of the other.
func TestShown(t *testing.T) {
	c := shared(t)
	for _, w := range showing {
		t.Run(w.name, func(t *testing.T) {
			for _, writer := range c.writers(w) {
				t.Run("by "+writer.Name, func(t *testing.T) {
					c := newCloud(t, c.Env)
					p := c.person()
					w.do(c, writer, p)
					for _, s := range c.Servers() {
						w.check(c, s, p)
					}
				})
			}
		})
	}
}
