//go:build interop

package suites_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/keystone-go/keystone-go/test/interop/peer"
	"github.com/keystone-go/keystone-go/test/interop/suites"
)

const tempestConf = `[DEFAULT]
log_file = %[1]s/tempest.log
[oslo_concurrency]
lock_path = %[1]s/lock
[auth]
use_dynamic_credentials = true
create_isolated_networks = false
admin_username = admin
admin_password = %[3]s
admin_domain_name = Default
admin_project_name = admin
tempest_roles = member
[identity]
auth_version = v3
uri_v3 = %[2]s/v3
v3_endpoint_type = public
region = RegionOne
default_domain_id = default
user_lockout_failure_attempts = 2
user_lockout_duration = 5
user_unique_last_password_count = 2
[identity-feature-enabled]
api_v2 = false
api_v3 = true
trust = true
security_compliance = true
access_rules = true
application_credentials = true
project_tags = true
external_idp = false
enforce_scope = true
[service_available]
nova = false
glance = false
cinder = false
neutron = false
swift = false
`

// tempest runs tempest's identity tests.
func (p *pair) tempest(t *testing.T, s *peer.Server) []suites.Outcome {
	return p.tempestModules(t, s, "tempest/api/identity")
}

// tempestPlugin runs the plugin's tests of the API.
func (p *pair) tempestPlugin(t *testing.T, s *peer.Server) []suites.Outcome {
	return p.tempestModules(t, s, "keystone_tempest_plugin/tests/api")
}

// tempestRBAC runs the plugin's tests of who may do what: far more than the
// others, and nearly all of it logins of users made for each class of tests.
func (p *pair) tempestRBAC(t *testing.T, s *peer.Server) []suites.Outcome {
	return p.inTwo(t, s, tempestEnv(t, s), unittestLines, modules(t, "keystone_tempest_plugin/tests/rbac"))
}

func (p *pair) tempestModules(t *testing.T, s *peer.Server, below string) []suites.Outcome {
	return p.program(t, s, tempestEnv(t, s), append([]string{unittestLines}, modules(t, below)...)...)
}

// tempestEnv writes tempest's configuration, and gives the variables that lead
// to it.
func tempestEnv(t *testing.T, s *peer.Server) []string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tempest.conf"), fmt.Appendf(nil, tempestConf, dir, s.URL, peer.Password), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"TEMPEST_CONFIG_DIR=" + dir, "TEMPEST_CONFIG=tempest.conf", "OS_TEST_TIMEOUT=600"}
}

var tempestArea = byPart(
	"inherit", "OS-INHERIT", "trust", "OS-TRUST", "oauth", "OS-OAUTH1", "ec2", "OS-EC2", "application_credential", "application_credentials",
	"access_rule", "access_rules", "domain_configuration", "domain_config", "endpoint_groups", "OS-EP-FILTER", "project_tags", "project_tags",
	"identity_provider", "OS-FEDERATION", "service_provider", "OS-FEDERATION", "mapping", "OS-FEDERATION", "protocol", "OS-FEDERATION",
	"federat", "OS-FEDERATION", "consumer", "OS-OAUTH1", "polic", "policies", "credential", "credentials", "endpoint", "endpoints", "service", "services", "group", "groups", "role", "roles",
	"domain", "domains", "project", "projects", "region", "users", "", "users",
)
