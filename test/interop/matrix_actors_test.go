//go:build interop

package interop_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"testing"

	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// actor is somebody who calls.
type actor struct {
	name   string
	domain string // of the user
	role   string
	on     string            // project, domain or system: what the role and the token are for
	vars   map[string]string // those of diff_matrix; none for the anonymous one
}

// everybody are the actors of the matrix. The domains mx and my have a project
// each, mx-p and my-p.
func everybody() []actor {
	return []actor{
		{name: "admin", domain: "default", role: "admin", on: "project"},
		{name: "domain-admin", domain: "mx", role: "admin", on: "domain"},
		{name: "domain-manager", domain: "mx", role: "manager", on: "domain"},
		{name: "member", domain: "mx", role: "member", on: "project"},
		{name: "reader", domain: "mx", role: "reader", on: "project"},
		{name: "service", domain: "default", role: "service", on: "project"},
		{name: "system-reader", domain: "default", role: "reader", on: "system"},
		{name: "other", domain: "my", role: "member", on: "project"},
		{name: "anonymous", domain: "mx"},
	}
}

// fixture makes rows through a server's API.
type fixture struct {
	t      *testing.T
	server *peer.Server
	token  string // the administrator's
	ids    map[string]string
}

func (f fixture) post(collection, kind string, body peer.M) string {
	f.t.Helper()
	a := f.server.Want(f.t, http.StatusCreated, peer.Call{Method: "POST", Path: "/v3/" + collection, Token: f.token, Body: peer.M{kind: body}})
	id := a.Text(kind, "id")
	f.ids[kind+" "+body["name"].(string)] = id
	return id
}

func (f fixture) put(path string) {
	f.t.Helper()
	f.server.Want(f.t, http.StatusNoContent, peer.Call{Method: "PUT", Path: path, Token: f.token})
}

// populate makes the actors with what they own, and gets their tokens.
func (s *stand) populate(t *testing.T, python *peer.Server) {
	t.Helper()
	f := fixture{t: t, server: python, token: python.Token(t, "boot", peer.Password, peer.OnProject("boot")), ids: map[string]string{"domain default": "default"}}
	for _, role := range python.Do(t, peer.Call{Method: "GET", Path: "/v3/roles", Token: f.token}).At("roles").([]any) {
		role := role.(peer.M)
		f.ids["role "+role["name"].(string)] = role["id"].(string)
	}
	for _, domain := range []string{"mx", "my"} {
		id := f.post("domains", "domain", peer.M{"name": domain})
		f.post("projects", "project", peer.M{"name": domain + "-p", "domain_id": id})
		target := f.user(domain, domain+"-target")
		f.put("/v3/projects/" + f.ids["project "+domain+"-p"] + "/users/" + target + "/roles/" + f.ids["role member"])
	}
	f.post("projects", "project", peer.M{"name": "default-p", "domain_id": "default"})
	s.actors = everybody()
	for i, a := range s.actors {
		s.actors[i].vars = f.actor(a)
	}
	maps.Copy(s.vars, map[string]string{"admin": s.actors[0].vars["token"], "mx": f.ids["domain mx"], "mx-p": f.ids["project mx-p"]})
	for _, a := range s.actors {
		s.vars[a.name] = a.vars["token"]
		s.vars[a.name+"-user"] = a.vars["user"]
	}
	s.fixtures(t, python, f.token)
	s.catalog(t, f.ids["project mx-p"])
}

func (f fixture) user(domain, name string) string {
	f.t.Helper()
	return f.post("users", "user", peer.M{"name": name, "domain_id": f.ids["domain "+domain], "password": "pw-" + name})
}

// login gives a token of a user; scope may be nil.
func (f fixture) login(name string, scope any) string {
	f.t.Helper()
	auth := peer.M{"identity": peer.M{"methods": []string{"password"}, "password": peer.M{"user": peer.M{"id": f.ids["user "+name], "password": "pw-" + name}}}}
	if scope != nil {
		auth["scope"] = scope
	}
	a := f.server.Want(f.t, http.StatusCreated, peer.Call{Method: "POST", Path: "/v3/auth/tokens?nocatalog", Body: peer.M{"auth": auth}})
	return a.Header.Get("X-Subject-Token")
}

// scope is what the actor's tokens are for.
func (f fixture) scope(a actor) peer.M {
	switch a.on {
	case "system":
		return peer.OnSystem()
	case "domain":
		return peer.M{"domain": peer.M{"id": f.ids["domain "+a.domain]}}
	}
	return peer.M{"project": peer.M{"id": f.ids["project "+a.domain+"-p"]}}
}

// actor makes one, and gives his variables.
func (f fixture) actor(a actor) map[string]string {
	f.t.Helper()
	foreign := "my"
	if a.domain == "my" {
		foreign = "mx"
	}
	near := a.domain
	if near == "default" {
		near = "mx"
	}
	scope, err := json.Marshal(f.scope(a))
	if err != nil {
		f.t.Fatal(err)
	}
	vars := map[string]string{
		"actor": a.name, "domain": f.ids["domain "+a.domain], "scope": string(scope),
		"neighbour": f.ids["user "+near+"-target"], "stranger": f.ids["user "+foreign+"-target"],
		"foreign-project": f.ids["project "+foreign+"-p"], "garbage": "gAAAAABgarbage",
	}
	for _, who := range []struct{ name, domain string }{{"neighbour", near}, {"stranger", foreign}} {
		for _, suffix := range []string{"-token", "-token-for-this-actor"} {
			vars[who.name+suffix] = f.login(who.domain+"-target", f.scope(actor{domain: who.domain, on: "project"}))
		}
	}
	if a.role == "" {
		nobody := map[string]string{"user": "nobody", "owner": vars["neighbour"], "name": "nobody", "password": "nothing"}
		for _, token := range []string{"token", "unscoped", "fresh", "fresh2", "revoked"} {
			nobody[token] = vars["neighbour-token"]
		}
		maps.Copy(vars, nobody)
		return vars
	}
	name := "mx-" + a.name
	user := f.user(a.domain, name)
	vars["user"], vars["owner"], vars["name"], vars["password"] = user, user, name, "pw-"+name
	role := f.ids["role "+a.role]
	switch a.on {
	case "system":
		f.put("/v3/system/users/" + user + "/roles/" + role)
	case "domain":
		f.put("/v3/domains/" + f.ids["domain "+a.domain] + "/users/" + user + "/roles/" + role)
	default:
		f.put("/v3/projects/" + f.ids["project "+a.domain+"-p"] + "/users/" + user + "/roles/" + role)
	}
	for _, token := range []string{"token", "fresh", "fresh2", "revoked"} {
		vars[token] = f.login(name, f.scope(a))
	}
	vars["unscoped"] = f.login(name, "unscoped")
	f.server.Want(f.t, http.StatusNoContent, peer.Call{Method: "DELETE", Path: "/v3/auth/tokens", Token: f.token, Subject: vars["revoked"]})
	return vars
}
