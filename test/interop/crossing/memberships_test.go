//go:build interop

package crossing_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// TestMembershipsThatEnd: what federated logins have made of a user, members
// for some time, both servers show and count alike, until it is over.
func TestMembershipsThatEnd(t *testing.T) {
	c := shared(t)
	p := c.person()
	c.put("/v3/domains/" + p.domain + "/groups/" + p.group + "/roles/" + p.role)
	c.put("/v3/system/groups/" + p.group + "/roles/" + p.role)
	sub := c.create("project", "/v3/projects", m{"name": name("project"), "domain_id": p.domain, "parent_id": p.groupProject})
	c.put("/v3/OS-INHERIT/projects/" + p.groupProject + "/groups/" + p.group + "/roles/" + p.role + "/inherited_to_projects")
	for _, on := range []string{"projects/" + p.project, "domains/" + p.domain, "system"} {
		c.by(c.Python, http.StatusNoContent, "DELETE", "/v3/"+on+"/users/"+p.id+"/roles/"+p.role, nil)
	}
	c.by(c.Python, http.StatusNoContent, "DELETE", "/v3/groups/"+p.group+"/users/"+p.id, nil)
	idp := name("idp")
	c.by(c.Python, http.StatusCreated, "PUT", "/v3/OS-FEDERATION/identity_providers/"+idp, m{"identity_provider": m{"domain_id": p.domain, "authorization_ttl": 30}})
	exec := func(text string, args ...any) {
		if _, err := c.DB.Exec(t.Context(), text, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`insert into expiring_user_group_membership (user_id, group_id, idp_id, last_verified) values ($1, $2, $3, $4)`, p.id, p.group, idp, time.Now().UTC())
	compared := 0
	for _, state := range []struct {
		name string
		ago  time.Duration
		ttl  any
		in   bool
	}{{"in time", 0, 30, true}, {"over", 31 * time.Minute, 30, false}, {"longer", 31 * time.Minute, 60, true}, {"as usual, which is no time", 0, nil, false}} {
		exec(`update expiring_user_group_membership set last_verified = $2 where user_id = $1`, p.id, time.Now().UTC().Add(-state.ago).Truncate(time.Second))
		exec(`update identity_provider set authorization_ttl = $2 where id = $1`, idp, state.ttl)
		for _, path := range []string{
			"/v3/users/" + p.id + "/groups", "/v3/users/" + p.id + "/groups?name=none",
			"/v3/groups/" + p.group + "/users/" + p.id, "/v3/groups/" + p.group + "/users", "/v3/users/" + p.id + "/projects",
			"/v3/role_assignments?effective&user.id=" + p.id, "/v3/role_assignments?effective&user.id=" + p.id + "&scope.project.id=" + sub,
			"/v3/role_assignments?effective&scope.project.id=" + p.groupProject, "/v3/role_assignments?effective&user.id=" + p.id + "&scope.domain.id=" + p.domain,
		} {
			compared++
			sameAnswer(t, state.name, c, call{Method: "GET", Path: path, Token: c.admin})
		}
		var unscoped string
		for _, s := range c.Servers() {
			for _, scope := range []string{"unscoped", "group", "domain", "system"} {
				compared++
				want := http.StatusUnauthorized
				if state.in || scope == "unscoped" {
					want = http.StatusCreated
				}
				a := s.Do(t, call{Method: "POST", Path: "/v3/auth/tokens", Body: p.byPassword(scope)})
				if a.Status != want || want == http.StatusCreated && scope != "unscoped" && a.Text("token", "roles", 0, "id") != p.role {
					t.Errorf("%s: %s: login on %s: %v, want %d", state.name, s.Name, scope, a, want)
				}
				if scope == "unscoped" {
					unscoped = a.Header.Get("X-Subject-Token")
				} else if a.Status == http.StatusCreated {
					p.tokens[scope+" of "+s.Name] = a.Header.Get("X-Subject-Token")
				}
			}
		}
		for _, path := range []string{"/v3/auth/projects", "/v3/auth/domains", "/v3/auth/system"} {
			compared++
			sameAnswer(t, state.name, c, call{Method: "GET", Path: path, Token: unscoped})
		}
		// A token that was issued in time is good for no longer.
		for of, token := range p.tokens {
			for _, s := range c.Servers() {
				compared++
				if a := s.Do(t, call{Method: "GET", Path: "/v3/auth/tokens", Token: c.admin, Subject: token}); (a.Status == http.StatusOK) != state.in {
					t.Errorf("%s: %s about the token on %s: %v", state.name, s.Name, of, a)
				}
			}
		}
	}
	t.Logf("figure: %d answers about memberships that end", compared)
}

// sameAnswer wants one answer of both, but for their addresses and the order of
// lists.
func sameAnswer(t *testing.T, when string, c *cloud, x call) {
	t.Helper()
	var forms [2]string
	for i, s := range c.Servers() {
		a := s.Do(t, x)
		a.Body = strings.ReplaceAll(a.Body, s.URL, "")
		forms[i] = fmt.Sprint(a.Status, " ", ordered(a))
	}
	if forms[0] != forms[1] {
		t.Errorf("%s: %s: Python answers\n%s\nhere\n%s", when, x.Path, forms[0], forms[1])
	}
}

// ordered are the objects of an answer's lists, in an order of their texts.
func ordered(a peer.Answer) string {
	var parts []string
	for key, v := range a.JSON() {
		if list, isList := v.([]any); isList {
			for _, x := range list {
				parts = append(parts, fmt.Sprint(key, ": ", x))
			}
		} else if a.Status == http.StatusOK {
			parts = append(parts, fmt.Sprint(key, ": ", v))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}
