// Package gophercloud_test logs in to a running server with gophercloud, in
// each way that programs built on it do. The OS_* variables name the server.
package gophercloud_test

import (
	"net/http"
	"os"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/regions"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
)

func options(t *testing.T) gophercloud.AuthOptions {
	t.Helper()
	url := os.Getenv("OS_AUTH_URL")
	if url == "" {
		t.Fatal("OS_AUTH_URL is not set: these tests are run by those of test/clients")
	}
	return gophercloud.AuthOptions{
		IdentityEndpoint: url,
		Username:         os.Getenv("OS_USERNAME"),
		Password:         os.Getenv("OS_PASSWORD"),
		DomainName:       "Default",
	}
}

// login authenticates and reads the token back from the server.
func login(t *testing.T, opts gophercloud.AuthOptions) (*gophercloud.ServiceClient, tokens.GetResult) {
	t.Helper()
	provider, err := openstack.AuthenticatedClient(t.Context(), opts)
	if err != nil {
		t.Fatalf("log in: %v", err)
	}
	client, err := openstack.NewIdentityV3(provider, gophercloud.EndpointOpts{Region: os.Getenv("OS_REGION_NAME")})
	if err != nil {
		// An unscoped token has no catalog; the client is then made by hand.
		client = &gophercloud.ServiceClient{ProviderClient: provider, Endpoint: gophercloud.NormalizeURL(opts.IdentityEndpoint)}
	}
	got := tokens.Get(t.Context(), client, provider.Token())
	if got.Err != nil {
		t.Fatalf("validate the new token: %v", got.Err)
	}
	return client, got
}

func TestPassword(t *testing.T) {
	project := os.Getenv("OS_PROJECT_NAME")
	scopes := map[string]struct {
		scope                   *gophercloud.AuthScope
		project, domain, system bool
	}{
		"unscoped":         {nil, false, false, false},
		"project by name":  {&gophercloud.AuthScope{ProjectName: project, DomainName: "Default"}, true, false, false},
		"domain by name":   {&gophercloud.AuthScope{DomainName: "Default"}, false, true, false},
		"domain by id":     {&gophercloud.AuthScope{DomainID: "default"}, false, true, false},
		"the whole system": {&gophercloud.AuthScope{System: true}, false, false, true},
	}
	for name, want := range scopes {
		t.Run(name, func(t *testing.T) {
			opts := options(t)
			opts.Scope = want.scope
			_, got := login(t, opts)

			user, err := got.ExtractUser()
			if err != nil || user.Name != opts.Username || user.Domain.Name != "Default" {
				t.Errorf("user: got %+v, %v, want %s of Default", user, err, opts.Username)
			}
			p, err := got.ExtractProject()
			if err != nil || (p != nil) != want.project || p != nil && p.Name != project {
				t.Errorf("project: got %+v, %v, want one: %v", p, err, want.project)
			}
			d, err := got.ExtractDomain()
			if err != nil || (d != nil) != want.domain || d != nil && d.Name != "Default" {
				t.Errorf("domain: got %+v, %v, want one: %v", d, err, want.domain)
			}
			var token struct {
				System map[string]bool `json:"system"`
			}
			if err := got.ExtractInto(&token); err != nil || token.System["all"] != want.system {
				t.Errorf("system: got %v, %v, want %v", token.System, err, want.system)
			}
			checkRolesAndCatalog(t, got, want.scope != nil)
		})
	}
}

func checkRolesAndCatalog(t *testing.T, got tokens.GetResult, scoped bool) {
	t.Helper()
	roles, err := got.ExtractRoles()
	admin := false
	for _, r := range roles {
		admin = admin || r.Name == "admin"
	}
	if err != nil || admin != scoped {
		t.Errorf("roles: got %+v, %v, want admin among them: %v", roles, err, scoped)
	}
	catalog, err := got.ExtractServiceCatalog()
	if err != nil || (len(catalog.Entries) > 0) != scoped {
		t.Errorf("catalog: got %+v, %v, want entries: %v", catalog, err, scoped)
	}
}

func TestToken(t *testing.T) {
	opts := options(t)
	unscoped, _ := login(t, opts)
	id := unscoped.Token()

	t.Run("rescoped to a project", func(t *testing.T) {
		_, got := login(t, gophercloud.AuthOptions{
			IdentityEndpoint: opts.IdentityEndpoint,
			TokenID:          id,
			Scope:            &gophercloud.AuthScope{ProjectName: os.Getenv("OS_PROJECT_NAME"), DomainName: "Default"},
		})
		if p, err := got.ExtractProject(); err != nil || p == nil {
			t.Errorf("project: got %+v, %v, want %s", p, err, os.Getenv("OS_PROJECT_NAME"))
		}
	})
	t.Run("alone", func(t *testing.T) {
		client, _ := login(t, gophercloud.AuthOptions{IdentityEndpoint: opts.IdentityEndpoint, TokenID: id})
		if client.Token() == "" {
			t.Error("no token")
		}
	})
	t.Run("revoked", func(t *testing.T) {
		if err := tokens.Revoke(t.Context(), unscoped, id).Err; err != nil {
			t.Fatalf("revoke: %v", err)
		}
		if _, err := tokens.Get(t.Context(), unscoped, id).ExtractToken(); err == nil {
			t.Error("the token is still valid")
		}
	})
}

func TestWrongPassword(t *testing.T) {
	opts := options(t)
	for name, change := range map[string]func(*gophercloud.AuthOptions){
		"wrong password": func(o *gophercloud.AuthOptions) { o.Password += "x" },
		"unknown user":   func(o *gophercloud.AuthOptions) { o.Username = "nobody-" + o.Username },
		"unknown domain": func(o *gophercloud.AuthOptions) { o.DomainName = "nowhere" },
		"unknown scope":  func(o *gophercloud.AuthOptions) { o.Scope = &gophercloud.AuthScope{ProjectID: "nothing"} },
	} {
		t.Run(name, func(t *testing.T) {
			o := opts
			change(&o)
			_, err := openstack.AuthenticatedClient(t.Context(), o)
			if !gophercloud.ResponseCodeIs(err, http.StatusUnauthorized) {
				t.Errorf("got %v, want 401", err)
			}
		})
	}
}

// TestReauthentication has a client whose token has become invalid log in anew.
func TestReauthentication(t *testing.T) {
	opts := options(t)
	opts.AllowReauth = true
	opts.Scope = &gophercloud.AuthScope{ProjectName: os.Getenv("OS_PROJECT_NAME"), DomainName: "Default"}
	client, _ := login(t, opts)
	client.SetToken("no token at all")

	pages, err := regions.List(client, regions.ListOpts{}).AllPages(t.Context())
	if err != nil {
		t.Fatalf("list regions: %v", err)
	}
	found, err := regions.ExtractRegions(pages)
	if err != nil || len(found) == 0 {
		t.Errorf("regions: got %v, %v, want at least one", found, err)
	}
	if client.Token() == "no token at all" {
		t.Error("the client kept the invalid token")
	}
}
