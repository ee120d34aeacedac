//go:build interop

package suites_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/test/interop/peer"
	"github.com/keystone-go/keystone-go/test/interop/suites"
)

// authToken runs keystonemiddleware before a small program, with and without
// memcached.
func (p *pair) authToken(t *testing.T, s *peer.Server) []suites.Outcome {
	admin := s.Admin(t)
	revoked := s.Admin(t)
	s.Want(t, http.StatusNoContent, peer.Call{Method: "DELETE", Path: "/v3/auth/tokens", Token: admin, Subject: revoked})
	return p.program(t, s, []string{
		"MEMCACHED=" + p.Memcached, "USER_TOKEN=" + admin, "REVOKED_TOKEN=" + revoked, "REVOKE_TOKEN=" + s.Admin(t),
		"SERVICE_TOKEN=" + s.Token(t, "nova", "pw-nova", peer.OnProject("admin")), "EXPIRED_TOKEN=" + p.expired(t),
	}, "testdata/auth_token.py")
}

// osloLimit runs oslo.limit's enforcer.
func (p *pair) osloLimit(t *testing.T, s *peer.Server) []suites.Outcome {
	return p.program(t, s, []string{"ENDPOINT_ID=" + p.ids["endpoint"], "PROJECT_ID=" + p.ids["demo-project"]}, "testdata/limits.py")
}

// openstackSDK runs the functional tests that openstacksdk's wheel has.
func (p *pair) openstackSDK(t *testing.T, s *peer.Server) []suites.Outcome {
	modules := modules(t, "openstack/tests/functional/identity")
	for _, name := range []string{"domain", "services", "project", "groups", "users", "endpoints", "identity"} {
		modules = append(modules, "openstack.tests.functional.cloud.test_"+name)
	}
	return p.program(t, s, p.clouds(t, s), append([]string{unittestLines}, modules...)...)
}

var sdkArea = byPart(
	"application_credential", "application_credentials", "access_rule", "access_rules", "domain_config", "domain_config",
	"endpoint_group", "OS-EP-FILTER", "registered_limit", "registered_limits", "test_limit", "limits", "endpoint", "endpoints",
	"service", "services", "group", "groups", "role", "roles", "domain", "domains", "project", "projects", "user", "users", "", "users",
)

// byPart names the area by the first of the parts, given in pairs with their
// areas, that is in a test's name.
func byPart(pairs ...string) func(string) string {
	return func(id string) string {
		low := strings.ToLower(id)
		for i := 0; i < len(pairs); i += 2 {
			if strings.Contains(low, strings.ToLower(pairs[i])) {
				return pairs[i+1]
			}
		}
		return "unknown"
	}
}

// modules are the test modules below a folder of the installed packages.
func modules(t *testing.T, below string) []string {
	t.Helper()
	roots, err := filepath.Glob(filepath.Join(filepath.Dir(peer.Venv("")), "lib", "python3*", "site-packages"))
	if err != nil || len(roots) != 1 {
		t.Fatalf("site-packages: %v, %v", roots, err)
	}
	var out []string
	err = filepath.WalkDir(filepath.Join(roots[0], below), func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), "test_") && strings.HasSuffix(path, ".py") {
			name, _ := filepath.Rel(roots[0], strings.TrimSuffix(path, ".py"))
			out = append(out, strings.ReplaceAll(name, "/", "."))
		}
		return err
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("no tests below %s: %v", below, err)
	}
	slices.Sort(out)
	return out
}
