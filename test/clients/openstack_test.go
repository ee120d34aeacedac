package clients_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// openstack runs the openstack command with JSON output and reads it into v;
// v is nil for a command that prints nothing.
func openstack(t *testing.T, env []string, v any, args ...string) {
	t.Helper()
	if v != nil {
		args = append(args, "-f", "json")
	}
	r := call(t, env, venv("openstack"), args...)
	if r.code != 0 {
		t.Fatalf("openstack %s: status %d\n%s", strings.Join(args, " "), r.code, r.stderr)
	}
	if v == nil {
		return
	}
	if err := json.Unmarshal([]byte(r.stdout), v); err != nil {
		t.Fatalf("openstack %s: %v\n%s", strings.Join(args, " "), err, r.stdout)
	}
}

// refused runs the openstack command and wants it to fail with words in its
// message.
func refused(t *testing.T, env []string, words string, args ...string) {
	t.Helper()
	r := call(t, env, venv("openstack"), args...)
	if r.code == 0 || !strings.Contains(r.stderr, words) {
		t.Errorf("openstack %s: status %d, message %q, want a failure that says %q", strings.Join(args, " "), r.code, r.stderr, words)
	}
}

// issued is what openstack token issue prints.
type issued struct {
	ID        string `json:"id"`
	Expires   string `json:"expires"`
	UserID    string `json:"user_id"`
	ProjectID string `json:"project_id"`
	DomainID  string `json:"domain_id"`
	System    string `json:"system"`
}

const unauthorized = "The request you have made requires authentication. (HTTP 401)"

func openstackClient(t *testing.T, s server) {
	t.Run("token issue", func(t *testing.T) { tokenIssue(t, s) })
	t.Run("catalog", func(t *testing.T) { catalog(t, s) })
	t.Run("region", func(t *testing.T) { region(t, s) })
	t.Run("refusals", func(t *testing.T) {
		refused(t, s.environ(t, "OS_PASSWORD=wrong"), unauthorized, "token", "issue")
		refused(t, s.environ(t, "OS_USERNAME=nobody"), unauthorized, "token", "issue")
		refused(t, s.environ(t, "OS_PROJECT_NAME=nothing"), unauthorized, "token", "issue")
		refused(t, s.environ(t, "OS_USER_DOMAIN_NAME=nowhere"), unauthorized, "token", "issue")
	})
	if s.clouds != "" {
		t.Run("clouds.yaml", func(t *testing.T) {
			var got issued
			openstack(t, append(bare(t), "OS_CLIENT_CONFIG_FILE="+s.clouds, "OS_CLOUD=keystone-go"), &got, "token", "issue")
			if got.ID == "" || got.ProjectID == "" {
				t.Errorf("token: got %+v, want one for a project", got)
			}
		})
	}
}

func tokenIssue(t *testing.T, s server) {
	var project, domain, system, again issued
	openstack(t, s.environ(t), &project, "token", "issue")
	openstack(t, without(s.environ(t, "OS_DOMAIN_NAME=Default"), "OS_PROJECT_"), &domain, "token", "issue")
	openstack(t, without(s.environ(t, "OS_SYSTEM_SCOPE=all"), "OS_PROJECT_"), &system, "token", "issue")
	withToken := without(s.environ(t, "OS_AUTH_TYPE=v3token", "OS_TOKEN="+project.ID), "OS_USER", "OS_PASSWORD")
	openstack(t, withToken, &again, "token", "issue")

	for name, got := range map[string]issued{"project": project, "domain": domain, "system": system, "by token": again} {
		if got.ID == "" || len(got.ID) > 255 || got.UserID != project.UserID {
			t.Errorf("%s: got %+v, want a token of at most 255 characters for user %s", name, got, project.UserID)
		}
	}
	want := []issued{{ProjectID: project.ProjectID}, {DomainID: "default"}, {System: "all"}, {ProjectID: project.ProjectID}}
	var scopes []issued
	for _, got := range []issued{project, domain, system, again} {
		scopes = append(scopes, issued{ProjectID: got.ProjectID, DomainID: got.DomainID, System: got.System})
	}
	if diff := cmp.Diff(want, scopes); diff != "" || project.ProjectID == "" {
		t.Errorf("scopes (-want +got):\n%s", diff)
	}
	if again.Expires != project.Expires {
		t.Errorf("expiry of a token got by a token: got %s, want that of the first, %s", again.Expires, project.Expires)
	}

	openstack(t, s.environ(t), nil, "token", "revoke", project.ID)
	refused(t, withToken, "(HTTP 404)", "token", "issue")
}

func catalog(t *testing.T, s server) {
	type endpoint struct {
		Interface string `json:"interface"`
		Region    string `json:"region"`
		RegionID  string `json:"region_id"`
		URL       string `json:"url"`
	}
	var services []struct {
		Name, Type string
		Endpoints  []endpoint
	}
	openstack(t, s.environ(t), &services, "catalog", "list")
	if len(services) != 1 || services[0].Name != "keystone" || services[0].Type != "identity" {
		t.Fatalf("catalog list: got %+v, want keystone alone", services)
	}
	urls := map[string]string{}
	for _, e := range services[0].Endpoints {
		urls[e.Interface+" "+e.Region+" "+e.RegionID] = e.URL
	}
	want := map[string]string{}
	for _, face := range []string{"public", "internal", "admin"} {
		want[face+" RegionOne RegionOne"] = s.url + "/v3"
	}
	if diff := cmp.Diff(want, urls); diff != "" {
		t.Errorf("endpoints (-want +got):\n%s", diff)
	}
	var shown struct{ Name, Type string }
	openstack(t, s.environ(t), &shown, "catalog", "show", "identity")
	if shown.Name != "keystone" {
		t.Errorf("catalog show identity: got %+v, want keystone", shown)
	}
	var versions []struct{ Status, Endpoint string }
	openstack(t, s.environ(t), &versions, "versions", "show")
	if len(versions) != 1 || versions[0].Status != "CURRENT" || versions[0].Endpoint != s.url+"/v3/" {
		t.Errorf("versions show: got %+v, want one, current, at %s/v3/", versions, s.url)
	}
}

func region(t *testing.T, s server) {
	env := s.environ(t)
	type shown struct {
		Region      string  `json:"region"`
		Description string  `json:"description"`
		Parent      *string `json:"parent_region"`
	}
	var made, got shown
	openstack(t, env, &made, "region", "create", "--description", "höhö", "osc-region")
	if diff := cmp.Diff(shown{"osc-region", "höhö", nil}, made); diff != "" {
		t.Errorf("region create (-want +got):\n%s", diff)
	}
	refused(t, env, "409", "region", "create", "osc-region")
	openstack(t, env, &made, "region", "create", "--parent-region", "osc-region", "osc-child")

	var list []struct {
		Region string
		Parent *string `json:"Parent Region"`
	}
	openstack(t, env, &list, "region", "list", "--parent-region", "osc-region")
	if len(list) != 1 || list[0].Region != "osc-child" || list[0].Parent == nil || *list[0].Parent != "osc-region" {
		t.Errorf("region list --parent-region osc-region: got %+v, want osc-child alone", list)
	}
	openstack(t, env, nil, "region", "set", "--description", "changed", "osc-child")
	openstack(t, env, &got, "region", "show", "osc-child")
	if got.Description != "changed" || got.Parent == nil || *got.Parent != "osc-region" {
		t.Errorf("region show osc-child: got %+v, want it changed, below osc-region", got)
	}
	openstack(t, env, nil, "region", "delete", "osc-child", "osc-region")
	refused(t, env, "Could not find region: osc-region", "region", "show", "osc-region")
	openstack(t, env, &list, "region", "list")
	if len(list) != 1 || list[0].Region != "RegionOne" {
		t.Errorf("region list: got %+v, want RegionOne alone", list)
	}
}

// without leaves out the variables that begin in one of the given ways.
func without(env []string, prefixes ...string) []string {
	var kept []string
	for _, v := range env {
		drop := false
		for _, p := range prefixes {
			drop = drop || strings.HasPrefix(v, p)
		}
		if !drop {
			kept = append(kept, v)
		}
	}
	return kept
}
