//go:build interop

package suites_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/test/interop/peer"
	"github.com/keystone-go/keystone-go/test/interop/suites"
)

// gophercloud runs its own acceptance tests of identity v3, of the release that
// test/clients/gophercloud names.
func (p *pair) gophercloud(t *testing.T, s *peer.Server) []suites.Outcome {
	cmd := exec.CommandContext(t.Context(), "go", "-C", "../../clients/gophercloud", "test", "-count=1", "-json", "-tags", "fixtures acceptance",
		"github.com/gophercloud/gophercloud/v2/internal/acceptance/openstack/identity/v3")
	// What they want to be set, though they use nothing of the last line.
	cmd.Env = p.environ(t, s, "HOME="+os.Getenv("HOME"), "OS_DOMAIN_NAME=Default", "OS_BRANCH=stable/2026.1",
		"OS_IMAGE_ID=x", "OS_FLAVOR_ID=1", "OS_FLAVOR_ID_RESIZE=2", "OS_POOL_NAME=p", "OS_EXTGW_ID=e")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run() // that tests fail is told below
	said := map[string]string{}
	var out []suites.Outcome
	for line := range strings.Lines(stdout.String()) {
		var e struct{ Action, Test, Output string }
		if json.Unmarshal([]byte(line), &e) != nil || e.Test == "" || strings.Contains(e.Test, "/") {
			continue
		}
		switch e.Action {
		case "output":
			if text := strings.TrimSpace(e.Output); !strings.HasPrefix(text, "---") && !strings.HasPrefix(text, "===") && text != "" {
				said[e.Test] = text
			}
		case "pass", "fail", "skip":
			out = append(out, suites.Outcome{ID: e.Test, Outcome: e.Action, Detail: said[e.Test]})
		}
	}
	const least = 60
	if len(out) < least {
		t.Errorf("gophercloud: %d tests, want at least %d: %v\n%s", len(out), least, err, stderr.String())
	}
	return out
}

var gophercloudArea = byPart(
	"validates3", "s3tokens", "applicationcredential", "application_credentials", "accessrule", "access_rules", "trust", "OS-TRUST", "ec2", "OS-EC2", "oauth1", "OS-OAUTH1",
	"inherit", "OS-INHERIT", "projectendpoint", "OS-EP-FILTER", "endpointgroup", "OS-EP-FILTER", "federat", "OS-FEDERATION", "mapping", "OS-FEDERATION",
	"registeredlimit", "registered_limits", "limit", "limits", "enforcementmodel", "limits", "polic", "policies", "credential", "credentials", "endpoint", "endpoints",
	"service", "services", "group", "groups", "role", "roles", "domain", "domains", "project", "projects", "user", "users", "", "users",
)
