//go:build interop_full

// Package debian_test upgrades a database that the Keystone of Debian's
// packages made and served, an older release.
package debian_test

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/keystone-go/keystone-go/test/interop/peer"
)

type m = peer.M

// TestUpgrade: keystone-go brings the database to its schema, Python's newest
// release finds nothing left to do there, and both know the tokens, users and
// passwords of the older one.
func TestUpgrade(t *testing.T) {
	version, err := exec.Command("/usr/bin/python3", "-c", "import importlib.metadata; print(importlib.metadata.version('keystone'))").Output()
	if err != nil {
		t.Fatalf("Debian's Keystone: %v", err)
	}
	t.Logf("Debian's Keystone is %s", strings.TrimSpace(string(version)))
	e := peer.Start(t, peer.Options{Debian: true})
	old := e.OfDebian()
	if err := old.Start(); err != nil {
		t.Fatal(err)
	}
	admin := old.Admin(t)
	old.Want(t, http.StatusCreated, peer.Call{Method: "POST", Path: "/v3/users", Token: admin, Body: m{"user": m{"name": "Üser", "password": "pw", "email": "ü@example.org"}}})
	user := old.Do(t, peer.Call{Method: "GET", Path: "/v3/users?name=%C3%9Cser", Token: admin}).Text("users", 0, "id")
	role := old.Do(t, peer.Call{Method: "GET", Path: "/v3/roles?name=member", Token: admin}).Text("roles", 0, "id")
	old.Want(t, http.StatusNoContent, peer.Call{Method: "PUT", Path: "/v3/domains/default/users/" + user + "/roles/" + role, Token: admin})
	scopes := map[string]any{
		"admin": peer.OnProject("admin"), "system": peer.OnSystem(), "unscoped": "unscoped",
		"domain": m{"domain": m{"id": "default"}},
	}
	issued, tokens := map[string]peer.Answer{}, map[string]string{}
	for name, scope := range scopes {
		login := peer.Login("admin", peer.Password, scope)
		if name == "domain" {
			login = peer.Login("Üser", "pw", scope)
		}
		issued[name] = old.Want(t, http.StatusCreated, peer.Call{Method: "POST", Path: "/v3/auth/tokens", Body: login})
		tokens[name] = issued[name].Header.Get("X-Subject-Token")
	}
	if err := old.Stop(); err != nil {
		t.Fatal(err)
	}

	// Before the upgrade keystone-go says what is missing, and does not start.
	if out, err := e.Go.Manage("db_sync", "--check"); err == nil {
		t.Errorf("db_sync --check is content with the old schema:\n%s", out)
	}
	if out, err := e.Go.Manage("serve"); err == nil || !strings.Contains(out, "db_sync") {
		t.Errorf("serve on the old schema: %v\n%s", err, out)
	}
	e.Go.MustManage(t, "db_sync")
	for _, s := range e.Servers() {
		s.MustManage(t, "db_sync", "--check")
	}

	for _, s := range e.Servers() {
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		defer s.Stop()
		for name, token := range tokens {
			a := s.Want(t, http.StatusOK, peer.Call{Method: "GET", Path: "/v3/auth/tokens", Token: tokens["system"], Subject: token})
			// The newest release adds the role manager to what admin implies, and
			// lists what is a set in any order.
			ignore := cmpopts.IgnoreMapEntries(func(k string, _ any) bool { return k == "roles" || k == "catalog" })
			if d := cmp.Diff(issued[name].JSON(), a.JSON(), ignore); d != "" {
				t.Errorf("the token %s at %s (-issued +validated):\n%s", name, s.Name, d)
			}
		}
		s.Want(t, http.StatusCreated, peer.Call{Method: "POST", Path: "/v3/auth/tokens", Body: peer.Login("Üser", "pw", scopes["domain"])})
	}
}
