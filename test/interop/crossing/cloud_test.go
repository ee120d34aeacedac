//go:build interop

package crossing_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/test/interop/peer"
)

type (
	m    = peer.M
	call = peer.Call
)

// cloud makes what the tests work on. Python does it, which serves all of the
// API.
type cloud struct {
	*peer.Env
	t     *testing.T
	admin string // a token of the administrator on the system
}

func newCloud(t *testing.T, e *peer.Env) *cloud {
	t.Helper()
	return &cloud{Env: e, t: t, admin: e.Python.Token(t, "admin", peer.Password, peer.OnSystem())}
}

// name gives one that nobody has had.
func name(of string) string { return of + "-" + strings.ToLower(rand.Text())[:10] }

// by makes a call as the administrator.
func (c *cloud) by(s *peer.Server, status int, method, path string, body any) peer.Answer {
	c.t.Helper()
	return s.Want(c.t, status, call{Method: method, Path: path, Body: body, Token: c.admin})
}

// create makes something by Python and gives its id.
func (c *cloud) create(kind, path string, fields m) string {
	c.t.Helper()
	return c.by(c.Python, http.StatusCreated, "POST", path, m{kind: fields}).Text(kind, "id")
}

// put writes something without a body by Python.
func (c *cloud) put(path string) {
	c.t.Helper()
	if a := c.Python.Do(c.t, call{Method: "PUT", Path: path, Token: c.admin}); a.Status != http.StatusNoContent && a.Status != http.StatusCreated {
		c.t.Fatalf("PUT %s: %v", path, a)
	}
}

func (c *cloud) role(name string) string {
	c.t.Helper()
	id := c.by(c.Python, http.StatusOK, "GET", "/v3/roles?name="+name, nil).Text("roles", 0, "id")
	if id == "" {
		c.t.Fatalf("there is no role %s", name)
	}
	return id
}

// person is a user with all that he may be known by: a domain, a project in it,
// a group, a role of his own on project, domain and system, and one on another
// project by way of the group.
type person struct {
	c                   *cloud
	domain, project, id string
	group, groupProject string
	role                string
	name, password      string
	domainName          string
	kind                string            // of a service that was made for him
	tokens              map[string]string // by scope and issuer
}

func (c *cloud) person() *person {
	c.t.Helper()
	p := &person{c: c, name: name("user"), password: name("pw"), domainName: name("domain"), tokens: map[string]string{}}
	p.domain = c.create("domain", "/v3/domains", m{"name": p.domainName})
	p.project = c.create("project", "/v3/projects", m{"name": name("project"), "domain_id": p.domain})
	p.groupProject = c.create("project", "/v3/projects", m{"name": name("project"), "domain_id": p.domain})
	p.id = c.create("user", "/v3/users", m{"name": p.name, "domain_id": p.domain, "password": p.password})
	p.group = c.create("group", "/v3/groups", m{"name": name("group"), "domain_id": p.domain})
	p.role = c.create("role", "/v3/roles", m{"name": name("role")})
	c.put("/v3/groups/" + p.group + "/users/" + p.id)
	for _, on := range []string{"projects/" + p.project, "domains/" + p.domain, "system"} {
		c.put("/v3/" + on + "/users/" + p.id + "/roles/" + p.role)
	}
	c.put("/v3/projects/" + p.groupProject + "/groups/" + p.group + "/roles/" + p.role)
	return p
}

// scopes are those of a person, by name.
func (p *person) scope(of string) any {
	switch of {
	case "project":
		return m{"project": m{"id": p.project}}
	case "group":
		return m{"project": m{"id": p.groupProject}}
	case "domain":
		return m{"domain": m{"id": p.domain}}
	case "system":
		return peer.OnSystem()
	}
	return "unscoped"
}

var scopes = []string{"unscoped", "project", "group", "domain", "system"}

// byPassword is the body of a login by the user's id.
func (p *person) byPassword(scope string) m {
	return m{"auth": m{"scope": p.scope(scope), "identity": m{
		"methods": []string{"password"}, "password": m{"user": m{"id": p.id, "password": p.password}},
	}}}
}

// byToken is the body of a login by a token that the user has.
func (p *person) byToken(token, scope string) m {
	return m{"auth": m{"scope": p.scope(scope), "identity": m{"methods": []string{"token"}, "token": m{"id": token}}}}
}

// login has each server issue a token on each scope.
func (p *person) login(scopes ...string) {
	p.c.t.Helper()
	for _, s := range p.c.Servers() {
		for _, scope := range scopes {
			a := s.Want(p.c.t, http.StatusCreated, call{Method: "POST", Path: "/v3/auth/tokens", Body: p.byPassword(scope)})
			p.tokens[scope+" of "+s.Name] = a.Header.Get("X-Subject-Token")
		}
	}
}

// validate asks a server about a token, as the administrator.
func (c *cloud) validate(s *peer.Server, token string) peer.Answer {
	c.t.Helper()
	return s.Do(c.t, call{Method: "GET", Path: "/v3/auth/tokens", Token: c.admin, Subject: token})
}

// fill puts the person's ids into a path.
func (p *person) fill(path string) string {
	return strings.NewReplacer(
		"{user_id}", p.id, "{project_id}", p.project, "{domain_id}", p.domain, "{group_id}", p.group,
		"{role_id}", p.role, "{group_project_id}", p.groupProject,
	).Replace(path)
}
