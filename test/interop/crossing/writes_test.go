//go:build interop

package crossing_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// write is a change that one server makes and the other must know of with its
// next request.
type write struct {
	name string
	// method and route are those of the change, as the table of routes has
	// them. Where keystone-go serves no such route yet, Python alone makes the
	// change, and oneway.tsv names the area that it waits for.
	method, route string
	// scopes are those on which tokens are issued before; gone are those of
	// them that the change voids.
	scopes, gone []string
	// do makes the change.
	do func(c *cloud, w *peer.Server, p *person)
	// check looks at the rest, at each server, when it is not nil.
	check func(c *cloud, s *peer.Server, p *person)
}

// by sends a change that has an answer of 2xx.
func by(method, path string, body any) func(c *cloud, w *peer.Server, p *person) {
	return func(c *cloud, w *peer.Server, p *person) { c.change(w, method, p.fill(path), body) }
}

func (c *cloud) change(w *peer.Server, method, path string, body any) peer.Answer {
	c.t.Helper()
	a := w.Do(c.t, call{Method: method, Path: path, Body: body, Token: c.admin})
	if a.Status/100 != 2 {
		c.t.Fatalf("%s: %s %s: %v", w.Name, method, path, a)
	}
	return a
}

var everywhere = []string{"unscoped", "project", "group", "domain", "system"}

var voiding = []write{
	{
		name: "token revoked", method: "DELETE", route: "/v3/auth/tokens", scopes: []string{"unscoped", "project"},
		gone: []string{"project"},
		do: func(c *cloud, w *peer.Server, p *person) {
			for _, s := range c.Servers() {
				w.Want(c.t, http.StatusNoContent, call{Method: "DELETE", Path: "/v3/auth/tokens", Token: c.admin, Subject: p.tokens["project of "+s.Name]})
			}
		},
	},
	{
		name: "token revoked by its owner", method: "DELETE", route: "/v3/auth/tokens", scopes: []string{"unscoped", "project"},
		gone: []string{"project"},
		do: func(c *cloud, w *peer.Server, p *person) {
			for _, s := range c.Servers() {
				token := p.tokens["project of "+s.Name]
				w.Want(c.t, http.StatusNoContent, call{Method: "DELETE", Path: "/v3/auth/tokens", Token: token, Subject: token})
			}
		},
	},
	{
		name: "user disabled", method: "PATCH", route: "/v3/users/{user_id}", scopes: everywhere, gone: everywhere,
		do:    by("PATCH", "/v3/users/{user_id}", m{"user": m{"enabled": false}}),
		check: loginIs(http.StatusUnauthorized),
	},
	{
		name: "password changed by the administrator", method: "PATCH", route: "/v3/users/{user_id}", scopes: everywhere, gone: everywhere,
		do: func(c *cloud, w *peer.Server, p *person) {
			old := p.password
			p.password = name("new")
			c.change(w, "PATCH", p.fill("/v3/users/{user_id}"), m{"user": m{"password": p.password}})
			c.refused(p, old)
		},
		check: loginIs(http.StatusCreated),
	},
	{
		name: "password changed by the user", method: "POST", route: "/v3/users/{user_id}/password", scopes: everywhere, gone: everywhere,
		do: func(c *cloud, w *peer.Server, p *person) {
			old := p.password
			p.password = name("new")
			c.change(w, "POST", p.fill("/v3/users/{user_id}/password"), m{"user": m{"password": p.password, "original_password": old}})
			c.refused(p, old)
		},
		check: loginIs(http.StatusCreated),
	},
	{
		name: "all tokens revoked", method: "DELETE", route: "/v3/users/{user_id}/tokens", scopes: everywhere, gone: everywhere,
		do: by("DELETE", "/v3/users/{user_id}/tokens", nil),
	},
	{
		name: "user deleted", method: "DELETE", route: "/v3/users/{user_id}", scopes: everywhere, gone: everywhere,
		do:    by("DELETE", "/v3/users/{user_id}", nil),
		check: loginIs(http.StatusUnauthorized),
	},
	{
		name: "project disabled", method: "PATCH", route: "/v3/projects/{project_id}", scopes: everywhere, gone: []string{"project"},
		do: by("PATCH", "/v3/projects/{project_id}", m{"project": m{"enabled": false}}),
	},
	{
		name: "project deleted", method: "DELETE", route: "/v3/projects/{project_id}", scopes: everywhere, gone: []string{"project"},
		do: by("DELETE", "/v3/projects/{project_id}", nil),
	},
	{
		name: "domain disabled", method: "PATCH", route: "/v3/domains/{domain_id}", scopes: everywhere, gone: everywhere,
		do:    by("PATCH", "/v3/domains/{domain_id}", m{"domain": m{"enabled": false}}),
		check: loginIs(http.StatusUnauthorized),
	},
	{
		name: "role on a project removed", method: "DELETE", route: "/v3/projects/{project_id}/users/{user_id}/roles/{role_id}",
		scopes: everywhere, gone: []string{"project"},
		do: by("DELETE", "/v3/projects/{project_id}/users/{user_id}/roles/{role_id}", nil),
	},
	{
		name: "role on a domain removed", method: "DELETE", route: "/v3/domains/{domain_id}/users/{user_id}/roles/{role_id}",
		scopes: everywhere, gone: []string{"domain"},
		do: by("DELETE", "/v3/domains/{domain_id}/users/{user_id}/roles/{role_id}", nil),
	},
	{
		name: "role on the system removed", method: "DELETE", route: "/v3/system/users/{user_id}/roles/{role_id}",
		scopes: everywhere, gone: []string{"system"},
		do: by("DELETE", "/v3/system/users/{user_id}/roles/{role_id}", nil),
	},
	{
		name: "group's role removed", method: "DELETE", route: "/v3/projects/{project_id}/groups/{group_id}/roles/{role_id}",
		scopes: everywhere, gone: []string{"group"},
		do: by("DELETE", "/v3/projects/{group_project_id}/groups/{group_id}/roles/{role_id}", nil),
	},
	{
		name: "user taken out of a group", method: "DELETE", route: "/v3/groups/{group_id}/users/{user_id}", scopes: everywhere,
		// Python revokes all tokens of the user then.
		gone: everywhere,
		do:   by("DELETE", "/v3/groups/{group_id}/users/{user_id}", nil),
	},
	{
		name: "group deleted", method: "DELETE", route: "/v3/groups/{group_id}", scopes: everywhere,
		// As of a user taken out of it, where the group has a role.
		gone: everywhere,
		do:   by("DELETE", "/v3/groups/{group_id}", nil),
	},
	{
		name: "role deleted", method: "DELETE", route: "/v3/roles/{role_id}", scopes: []string{"project", "domain", "system", "group"},
		gone: []string{"project", "domain", "system", "group"},
		do:   by("DELETE", "/v3/roles/{role_id}", nil),
	},
}

// loginIs checks how a login by password is answered.
func loginIs(status int) func(c *cloud, s *peer.Server, p *person) {
	return func(c *cloud, s *peer.Server, p *person) {
		c.t.Helper()
		a := s.Do(c.t, call{Method: "POST", Path: "/v3/auth/tokens", Body: p.byPassword("unscoped")})
		if a.Status != status {
			c.t.Errorf("login at %s: %v, want %d", s.Name, a, status)
		}
	}
}

// refused: the old password is no good any more.
func (c *cloud) refused(p *person, password string) {
	c.t.Helper()
	was := *p
	was.password = password
	for _, s := range c.Servers() {
		loginIs(http.StatusUnauthorized)(c, s, &was)
	}
}

// TestVoided: tokens that a change at one server voids are refused by the
// other with its next request, and no other tokens are.
func TestVoided(t *testing.T) {
	c := shared(t)
	for _, w := range voiding {
		for _, writer := range c.writers(w) {
			t.Run(w.name+" by "+writer.Name, func(t *testing.T) {
				t.Parallel()
				newCloud(t, c.Env).voided(w, writer)
			})
		}
	}
}

// writers are the servers that can make the change.
func (c *cloud) writers(w write) []*peer.Server {
	if served(w.method, w.route) {
		return c.Servers()
	}
	return []*peer.Server{c.Python}
}

func (c *cloud) voided(w write, writer *peer.Server) {
	p := c.person()
	p.login(w.scopes...)
	for which, token := range p.tokens {
		for _, s := range c.Servers() {
			if a := c.validate(s, token); a.Status != http.StatusOK {
				c.t.Fatalf("before: the token %s at %s: %v", which, s.Name, a)
			}
		}
	}
	w.do(c, writer, p)
	for _, scope := range w.scopes {
		for _, issuer := range c.Servers() {
			want := http.StatusOK
			if slices.Contains(w.gone, scope) {
				want = http.StatusNotFound
			}
			for _, s := range c.Servers() {
				if a := c.validate(s, p.tokens[scope+" of "+issuer.Name]); a.Status != want {
					c.t.Errorf("afterwards the %s token of %s at %s: %v, want %d", scope, issuer.Name, s.Name, a, want)
				}
			}
		}
	}
	if w.check != nil {
		for _, s := range c.Servers() {
			w.check(c, s, p)
		}
	}
}

// TestChainRevoked: an event for a chain of audit ids, as a revocation of its root
// writes it, voids the tokens that were exchanged for others at both.
func TestChainRevoked(t *testing.T) {
	c := shared(t)
	p := c.person()
	both(t, c.Env, func(t *testing.T, one, other *peer.Server) {
		first := one.Want(t, http.StatusCreated, call{Method: "POST", Path: "/v3/auth/tokens", Body: p.byPassword("unscoped")})
		chain := []string{first.Header.Get("X-Subject-Token")}
		for _, s := range c.Servers() {
			for _, scope := range []string{"project", "domain"} {
				a := s.Want(t, http.StatusCreated, call{Method: "POST", Path: "/v3/auth/tokens", Body: p.byToken(chain[0], scope)})
				chain = append(chain, a.Header.Get("X-Subject-Token"))
			}
		}
		apart := other.Want(t, http.StatusCreated, call{Method: "POST", Path: "/v3/auth/tokens", Body: p.byPassword("project")}).Header.Get("X-Subject-Token")
		_, err := c.DB.Exec(t.Context(), `insert into revocation_event (audit_chain_id, issued_before, revoked_at) values ($1, $2, $2)`,
			first.Text("token", "audit_ids", 0), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.Servers() {
			// The first token has no parent, which is what an event names.
			for i, token := range chain {
				want := http.StatusNotFound
				if i == 0 {
					want = http.StatusOK
				}
				if a := c.validate(s, token); a.Status != want {
					t.Errorf("token %d of the chain at %s: %v, want %d", i, s.Name, a, want)
				}
			}
			if a := c.validate(s, apart); a.Status != http.StatusOK {
				t.Errorf("a token of no chain at %s: %v", s.Name, a)
			}
		}
	})
}
