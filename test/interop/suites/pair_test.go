//go:build interop

package suites_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/fernet"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// newPair starts both servers on one database, which Python fills with what
// has no row here yet.
func newPair(t *testing.T) *pair {
	t.Helper()
	// Tempest's own expectations of a cloud with rules.
	settings := peer.Conf{
		"security_compliance": {"lockout_failure_attempts": "2", "lockout_duration": "5", "unique_last_password_count": "2"},
	}
	maps.Copy(settings, limited(t))
	options := peer.Options{Conf: settings, Processes: 2}
	if bar {
		// Python alone writes while its bar is taken: what it remembers is right,
		// and a validation takes it an eighth of the time so.
		options.Cache = peer.PyMemcache
	}
	p := &pair{ids: map[string]string{}, Env: peer.Start(t, options)}
	if err := p.StartMemcached(); err != nil {
		t.Fatal(err)
	}
	admin := p.Python.Admin(t)
	get := func(path string, at ...any) string {
		t.Helper()
		id := p.Python.Want(t, http.StatusOK, peer.Call{Method: "GET", Path: path, Token: admin}).Text(at...)
		if id == "" {
			t.Fatalf("%s has nothing at %v", path, at)
		}
		return id
	}
	p.ids["admin"] = get("/v3/users?name=admin", "users", 0, "id")
	p.ids["admin-project"] = get("/v3/projects?name=admin", "projects", 0, "id")
	p.ids["keystone"] = get("/v3/services?type=identity", "services", 0, "id")
	p.ids["endpoint"] = get("/v3/endpoints?interface=public", "endpoints", 0, "id")
	member, service := get("/v3/roles?name=member", "roles", 0, "id"), get("/v3/roles?name=service", "roles", 0, "id")
	post := func(path, kind string, body peer.M) string {
		t.Helper()
		return p.Python.Want(t, http.StatusCreated, peer.Call{Method: "POST", Path: path, Token: admin, Body: peer.M{kind: body}}).Text(kind, "id")
	}
	for _, name := range []string{"demo", "alt_demo"} {
		project := post("/v3/projects", "project", peer.M{"name": name, "domain_id": "default"})
		p.ids[name] = post("/v3/users", "user", peer.M{"name": name, "domain_id": "default", "password": "pw-" + name})
		p.ids[name+"-project"] = project
		p.grant(t, admin, project, p.ids[name], member)
	}
	p.ids["password"] = "pw-alt_demo" // of alt_demo; a suite changes it
	p.ids["nova"] = post("/v3/users", "user", peer.M{"name": "nova", "domain_id": "default", "password": "pw-nova"})
	p.grant(t, admin, p.ids["admin-project"], p.ids["nova"], service)
	p.Python.Want(t, http.StatusCreated, peer.Call{Method: "POST", Path: "/v3/registered_limits", Token: p.Python.Token(t, "admin", peer.Password, peer.OnSystem()), Body: peer.M{
		"registered_limits": []peer.M{{"service_id": p.ids["keystone"], "region_id": "RegionOne", "resource_name": "widgets", "default_limit": 5}},
	}})
	return p
}

func (p *pair) grant(t *testing.T, admin, project, user, role string) {
	t.Helper()
	p.Python.Want(t, http.StatusNoContent, peer.Call{Method: "PUT", Path: "/v3/projects/" + project + "/users/" + user + "/roles/" + role, Token: admin})
}

// expired is a token of the administrator whose time is over, sealed with the
// keys of both servers.
func (p *pair) expired(t *testing.T) string {
	t.Helper()
	keys, err := fernet.Open(filepath.Join(p.Dir, "fernet-keys"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	text, err := token.NewFernet(keys, conf.Default().Auth.Methods, "default").Issue(&token.Token{
		UserID: p.ids["admin"], ProjectID: p.ids["admin-project"], Methods: []string{"password"},
		ExpiresAt: time.Now().UTC().Add(-time.Minute), AuditIDs: []string{token.NewAuditID()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// clouds writes the clouds.yaml that functional tests read, and gives its
// variables. The home of some is all that they let their commands see.
func (p *pair) clouds(t *testing.T, s *peer.Server) []string {
	t.Helper()
	home := t.TempDir()
	file := filepath.Join(home, ".config", "openstack", "clouds.yaml")
	text := "clouds:\n"
	for _, c := range []struct{ name, user, password, scope string }{
		{"devstack", "demo", "pw-demo", "project_name: demo"},
		{"devstack-alt", "alt_demo", p.ids["password"], "project_name: alt_demo"},
		{"devstack-admin", "admin", peer.Password, "project_name: admin"},
		{"devstack-system-admin", "admin", peer.Password, "system_scope: all"},
	} {
		domain := "\n      project_domain_id: default"
		if c.scope == "system_scope: all" {
			domain = ""
		}
		text += fmt.Sprintf("  %s:\n    region_name: RegionOne\n    identity_api_version: '3'\n    auth:\n      auth_url: %s/v3\n      username: %s\n      password: %s\n      user_domain_id: default\n      %s%s\n",
			c.name, s.URL, c.user, c.password, c.scope, domain)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"HOME=" + home, "OS_CLIENT_CONFIG_FILE=" + file, "OS_CLOUD=devstack-admin", "OS_TEST_TIMEOUT=300"}
}
