package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
)

// hasPassword reports whether a user of the default domain has the password.
func (p place) hasPassword(t *testing.T, name, password string) bool {
	t.Helper()
	prog, _, _ := call{}.program()
	prog.root() // its flags
	prog.paths = append(prog.paths, conf.Path{Path: p.conf})
	cfg, err := prog.load()
	if err != nil {
		t.Fatal(err)
	}
	d, err := wire.OpenDB(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	a, err := db.One(t.Context(), d, identity.AccountByName(name, "default"))
	if err != nil {
		t.Fatalf("user %s: %v", name, err)
	}
	h, err := wire.NewHasher(cfg)
	if err != nil {
		t.Fatal(err)
	}
	same, err := h.Verify(context.Background(), a.Password.Hash, password)
	if err != nil {
		t.Fatal(err)
	}
	return same
}

func TestBootstrapPasswordSources(t *testing.T) {
	p := newPlace(t)
	p.must(t, "db_sync")
	file := filepath.Join(p.dir, "password")
	for name, text := range map[string]string{"password": "from file $\n", "empty": "\n", "two": "a\nb\n"} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	verb := []string{"--config-file", p.conf, "bootstrap"}
	r := call{}.run(t, verb...)
	r.expect(t, "no password", 1, "A password is needed", "")
	for i, x := range []struct {
		what     string
		call     call
		args     []string
		code     int
		says     string
		password string
	}{
		{"flag", call{}, []string{"--bootstrap-password", "from flag"}, 0, "", "from flag"},
		{"environment", call{env: []string{"OS_BOOTSTRAP_PASSWORD=from env"}}, []string{"--bootstrap-password", "from flag"}, 0, "", "from env"},
		{"file", call{}, []string{"--bootstrap-password-file", file}, 0, "", "from file $"},
		{"environment over file", call{env: []string{"OS_BOOTSTRAP_PASSWORD=from env"}}, []string{"--bootstrap-password-file", file}, 0, "", "from env"},
		{"stdin", call{stdin: "from stdin\r\n"}, []string{"--bootstrap-password-file", "-"}, 0, "", "from stdin"},
		{"stdin without line end", call{stdin: "bare"}, []string{"--bootstrap-password-file=-"}, 0, "", "bare"},
		{"empty stdin", call{}, []string{"--bootstrap-password-file", "-"}, 1, "there is no password in it", "bare"},
		{"empty file", call{}, []string{"--bootstrap-password-file", p.dir + "/empty"}, 1, "there is no password in it", "bare"},
		{"two lines", call{}, []string{"--bootstrap-password-file", p.dir + "/two"}, 1, "there is more than one line in it", "bare"},
		{"no such file", call{}, []string{"--bootstrap-password-file", p.dir + "/none"}, 1, "no such file", "bare"},
	} {
		r := x.call.run(t, append(verb, x.args...)...)
		if x.code == 0 {
			x.says = "Role admin exists, skipping creation."
			if i == 0 {
				x.says = "Created role admin"
			}
		}
		r.expect(t, x.what, x.code, "", x.says)
		if !p.hasPassword(t, "admin", x.password) {
			t.Errorf("%s: the administrator's password is not %q", x.what, x.password)
		}
		if strings.Contains(r.out+r.err, x.password) {
			t.Errorf("%s: the password is printed", x.what)
		}
	}
}

// TestBootstrapNames: every value from its flag or its variable, and twice is
// as good as once. Keys are not needed.
func TestBootstrapNames(t *testing.T) {
	p := newPlace(t)
	p.must(t, "db_sync")
	env := []string{"OS_BOOTSTRAP_USERNAME=root-env", "OS_BOOTSTRAP_PASSWORD=pw", "OS_BOOTSTRAP_PUBLIC_URL=http://env/v3", "OS_BOOTSTRAP_REGION_ID="}
	args := []string{
		"--config-file", p.conf, "bootstrap", "--bootstrap-username", "root-flag", "--bootstrap-project-name", "own-project",
		"--bootstrap-role-name", "boss", "--bootstrap-service-name", "id", "--bootstrap-internal-url", "http://flag/v3", "--bootstrap-region-id", "R1", "--no-immutable-roles",
	}
	call{env: env}.run(t, args...).expect(t, "bootstrap", 0, "", "Created role boss\n")
	again := call{env: env}.run(t, args...)
	again.expect(t, "bootstrap again", 0, "", "skipping creation.")
	// kolla-ansible counts these to tell whether anything was changed.
	for _, text := range []string{
		"Domain default already exists, skipping creation.", "Project own-project already exists, skipping creation.",
		"User root-env already exists, skipping creation.", "Role boss exists, skipping creation.",
		"User root-env already has role boss on project own-project.", "User root-env already has role boss on the system.",
		"Region R1 exists, skipping creation.", "public endpoint updated", "internal endpoint updated",
	} {
		if strings.Count(again.err, text) != 1 {
			t.Errorf("a second bootstrap does not say %q once:\n%s", text, again.err)
		}
	}
	if !p.hasPassword(t, "root-env", "pw") {
		t.Error("the user of the environment has not the password")
	}
	if got := p.endpoints(t); strings.Join(got, " ") != "internal=http://flag/v3@R1 public=http://env/v3@R1" {
		t.Errorf("endpoints: %v", got)
	}
}

// TestBootstrapWithoutURLs makes no service, as keystone-manage.
func TestBootstrapWithoutURLs(t *testing.T) {
	p := newPlace(t)
	p.must(t, "db_sync")
	p.must(t, "bootstrap", "--bootstrap-password", "x")
	d, err := db.Open(t.Context(), db.Config{URL: "sqlite:///" + p.dir + "/keystone.db"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if services, err := db.All(t.Context(), d, catalog.ServicesOfType("identity")); err != nil || len(services) != 0 {
		t.Errorf("identity services: %v, %v, want none", services, err)
	}
}

// endpoints lists the endpoints of identity: interface=url@region.
func (p place) endpoints(t *testing.T) []string {
	t.Helper()
	d, err := db.Open(t.Context(), db.Config{URL: "sqlite:///" + p.dir + "/keystone.db"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	services, err := db.All(t.Context(), d, catalog.ServicesOfType("identity"))
	if err != nil || len(services) != 1 {
		t.Fatalf("identity services: %v, %v", services, err)
	}
	list, err := db.All(t.Context(), d, catalog.EndpointsOfService(services[0].ID))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		region := ""
		if e.RegionID != nil {
			region = *e.RegionID
		}
		out = append(out, e.Interface+"="+e.URL+"@"+region)
	}
	slices.Sort(out)
	return out
}
