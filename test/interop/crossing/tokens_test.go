//go:build interop

package crossing_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// TestTokens: a token of one is the same token at the other, on each scope and
// by each method, and can be exchanged there.
func TestTokens(t *testing.T) {
	c := shared(t)
	p := c.person()
	reader := c.role("reader")
	c.put("/v3/roles/" + p.role + "/implies/" + reader)
	both(t, c.Env, func(t *testing.T, one, other *peer.Server) {
		for _, scope := range scopes {
			t.Run(scope, func(t *testing.T) {
				issued := one.Want(t, http.StatusCreated, call{Method: "POST", Path: "/v3/auth/tokens", Body: p.byPassword(scope)})
				token := issued.Header.Get("X-Subject-Token")
				c.sameToken(t, one, issued, token)
				for _, back := range []*peer.Server{other, one} {
					again := back.Want(t, http.StatusCreated, call{Method: "POST", Path: "/v3/auth/tokens", Body: p.byToken(token, scope)})
					c.sameToken(t, back, again, again.Header.Get("X-Subject-Token"))
					if got, want := again.At("token", "audit_ids", 1), issued.At("token", "audit_ids", 0); got != want {
						t.Errorf("exchanged at %s: the chain of audit ids ends in %v, want %v", back.Name, got, want)
					}
				}
			})
		}
		t.Run("user's own", func(t *testing.T) {
			token := one.Want(t, http.StatusCreated, call{Method: "POST", Path: "/v3/auth/tokens", Body: p.byPassword("project")}).Header.Get("X-Subject-Token")
			for _, path := range []string{"/v3/auth/catalog", "/v3/auth/projects", "/v3/auth/domains", "/v3/auth/system", "/v3/regions"} {
				c.same(t, "with a token of "+one.Name, call{Method: "GET", Path: path, Token: token})
			}
			c.same(t, "of himself", call{Method: "GET", Path: "/v3/auth/tokens", Token: token, Subject: token})
			c.same(t, "without catalog", call{Method: "GET", Path: "/v3/auth/tokens?nocatalog", Token: token, Subject: token})
		})
		t.Run("default project", func(t *testing.T) {
			c := newCloud(t, c.Env)
			c.by(c.Python, http.StatusOK, "PATCH", "/v3/users/"+p.id, m{"user": m{"default_project_id": p.project}})
			login := p.byPassword("project")
			delete(login["auth"].(m), "scope")
			a := one.Want(t, http.StatusCreated, call{Method: "POST", Path: "/v3/auth/tokens", Body: login})
			if got := a.Text("token", "project", "id"); got != p.project {
				t.Errorf("the project is %q, want %q", got, p.project)
			}
			c.sameToken(t, one, a, a.Header.Get("X-Subject-Token"))
		})
	})
}

// TestRootRevoked: with a token go those that were exchanged for it, at both,
// whoever issued and whoever revoked.
func TestRootRevoked(t *testing.T) {
	c := shared(t)
	p := c.person()
	both(t, c.Env, func(t *testing.T, one, other *peer.Server) {
		for _, revoker := range c.Servers() {
			root := one.Want(t, http.StatusCreated, call{Method: "POST", Path: "/v3/auth/tokens", Body: p.byPassword("unscoped")}).Header.Get("X-Subject-Token")
			tokens := []string{root}
			for _, s := range []*peer.Server{one, other} {
				a := s.Want(t, http.StatusCreated, call{Method: "POST", Path: "/v3/auth/tokens", Body: p.byToken(root, "project")})
				tokens = append(tokens, a.Header.Get("X-Subject-Token"))
			}
			revoker.Want(t, http.StatusNoContent, call{Method: "DELETE", Path: "/v3/auth/tokens", Token: c.admin, Subject: root})
			for i, token := range tokens {
				for _, s := range c.Servers() {
					if a := c.validate(s, token); a.Status != http.StatusNotFound {
						t.Errorf("revoked by %s, token %d at %s: %v", revoker.Name, i, s.Name, a)
					}
				}
			}
		}
	})
}

// sameToken: what the login said, both servers say of the token.
func (c *cloud) sameToken(t *testing.T, issuer *peer.Server, issued peer.Answer, token string) {
	t.Helper()
	for _, s := range c.Servers() {
		a := c.validate(s, token)
		if a.Status != http.StatusOK {
			t.Errorf("a token of %s at %s: %v", issuer.Name, s.Name, a)
			continue
		}
		if d := cmp.Diff(body(issuer, issued), body(s, a)); d != "" {
			t.Errorf("a token of %s at %s (-issued +validated):\n%s", issuer.Name, s.Name, d)
		}
	}
}
