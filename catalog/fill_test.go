package catalog_test

import (
	"testing"

	"github.com/keystone-go/keystone-go/catalog"
)

// TestFill is keystone/common/utils.py format_url: "$(" counts as "%(", then
// Python's formatting with the keys that are allowed.
func TestFill(t *testing.T) {
	full := catalog.Scope{ProjectID: "p1", UserID: "u1", PublicEndpoint: "https://pub"}
	bare := catalog.Scope{UserID: "u1"}
	const bad = "!"
	for _, tt := range []struct {
		url   string
		scope catalog.Scope
		want  string // "!": an error
	}{
		{"https://x/v3", full, "https://x/v3"},
		{"", full, ""},
		{"https://x/$(tenant_id)s", full, "https://x/p1"},
		{"https://x/%(tenant_id)s/", full, "https://x/p1/"},
		{"https://x/$(project_id)s", full, "https://x/p1"},
		{"https://x/%(project_id)s/%(project_id)s", full, "https://x/p1/p1"},
		{"https://x/AUTH_$(tenant_id)s/%(user_id)s", full, "https://x/AUTH_p1/u1"},
		{"$(public_endpoint)s/v3", full, "https://pub/v3"},
		{"$(public_endpoint)s/v3", bare, "None/v3"},
		{"https://x/100%%", full, "https://x/100%"},
		{"https://x/%%(user_id)s", full, "https://x/%(user_id)s"},
		{"https://x/$$(user_id)s", full, "https://x/$u1"},
		{"https://x/$HOME", full, "https://x/$HOME"},
		{"https://x/(user_id)s", full, "https://x/(user_id)s"},
		{"https://x/$(user_id)s", catalog.Scope{UserID: "%(tenant_id)s"}, "https://x/%(tenant_id)s"},
		// without a project
		{"https://x/$(tenant_id)s", bare, bad},
		{"https://x/%(project_id)s", bare, bad},
		{"https://x/$(user_id)s", bare, "https://x/u1"},
		// keys that are not allowed, wrong or missing type, lone percent signs
		{"https://$(compute_host)s/", full, bad},
		{"https://x/$(admin_token)s", full, bad},
		{"https://x/%(connection)s", full, bad},
		{"https://x/$()s", full, bad},
		{"https://x/$(Tenant_id)s", full, bad},
		{"https://x/$( tenant_id )s", full, bad},
		{"https://x/$(project_id)", full, bad},
		{"https://x/$(project_id)d", full, bad},
		{"https://x/%(project_id", full, bad},
		{"https://x/$(project_id)d/$(user_id)s", full, bad},
		{"https://x/%s", full, bad},
		{"https://x/a%20b", full, bad},
		{"https://x/100%", full, bad},
		{"https://x/%%%", full, bad},
	} {
		got, err := catalog.Fill(tt.url, tt.scope)
		if err != nil {
			got = bad
		}
		if got != tt.want {
			t.Errorf("Fill(%q, %+v) = %q, %v, want %q", tt.url, tt.scope, got, err, tt.want)
		}
	}
}
