//go:build interop

package crossing_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fernet"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// inCredentials are changes of EC2 keys, which are stored in two forms.
var inCredentials = []write{
	{
		name: "EC2 key changed", method: "PATCH", route: "/v3/credentials/{credential_id}",
		do: func(c *cloud, w *peer.Server, p *person) {
			access := name("access")
			p.name = c.create("credential", "/v3/credentials", m{"type": "ec2", "user_id": name("user"), "project_id": "p", "blob": `{"access":"` + access + `"}`})
			for _, s := range c.Servers() {
				isAt("/v3/credentials", http.StatusOK)(c, s, p)
			}
			c.change(w, "PATCH", "/v3/credentials/"+p.name, m{"credential": m{"blob": `{"secret":"néw","access":"` + access + `"}`}})
		},
		check: func(c *cloud, s *peer.Server, p *person) {
			c.t.Helper()
			isAt("/v3/credentials", http.StatusOK)(c, s, p)
			a := c.by(s, http.StatusOK, "GET", "/v3/credentials/"+p.name, nil)
			if got, want := a.Text("credential", "blob"), `{"secret": "n\u00e9w", "access": `; !strings.HasPrefix(got, want) {
				c.t.Errorf("the blob at %s is %s, want %s", s.Name, got, want)
			}
		},
	},
}

// TestCredentialKeys: what either stores both read, through rotations and
// migrations by either.
func TestCredentialKeys(t *testing.T) {
	c := shared(t)
	owner, err := peer.Owner()
	if err != nil {
		t.Fatal(err)
	}
	type stored struct{ id, blob string }
	var all []stored
	store := func() {
		t.Helper()
		for _, s := range c.Servers() {
			for _, kind := range []string{"ec2", "EC2", "totp"} {
				blob := name("sécret \U0001f511")
				if kind != "totp" {
					blob = `{"access":"` + name("access") + `","secret":"` + blob + `"}`
				}
				a := c.change(s, "POST", "/v3/credentials", m{"credential": m{"type": kind, "user_id": name("user"), "project_id": "p", "blob": blob, "note": "näïve"}})
				all = append(all, stored{a.Text("credential", "id"), blob})
			}
		}
	}
	read := func(when string) {
		t.Helper()
		for _, one := range all {
			a := c.same(t, when, call{Method: "GET", Path: "/v3/credentials/" + one.id, Token: c.admin})
			if got := a.Text("credential", "blob"); got != one.blob {
				t.Errorf("%s: the blob is %q, want %q", when, got, one.blob)
			}
		}
	}
	migrate := func(s *peer.Server) {
		t.Helper()
		s.MustManage(t, append([]string{"credential_migrate"}, owner...)...)
		ring, err := fernet.ReadRing(c.Dir + "/credential-keys")
		if err != nil {
			t.Fatal(err)
		}
		behind, err := db.All(t.Context(), c.DB, db.Query[string]{
			Text: `select id from credential where key_hash <> $1`, Args: []any{ring.Hash()}, Scan: db.ScanText,
		})
		if err != nil || len(behind) > 0 {
			t.Errorf("after the migration by %s: %d credentials are not under the newest key, %v", s.Name, len(behind), err)
		}
	}
	store()
	read("at first")
	for _, turn := range []struct{ rotate, migrate *peer.Server }{
		{c.Go, c.Python}, {c.Python, c.Go}, {c.Go, c.Go}, {c.Python, c.Python}, {c.Go, c.Python},
	} {
		// The server that is not Python's may have sealed under the key before
		// the newest for as long as it did not look.
		migrate(turn.migrate)
		turn.rotate.MustManage(t, append([]string{"credential_rotate"}, owner...)...)
		read("after a rotation by " + turn.rotate.Name)
		store()
		read("before the migration by " + turn.migrate.Name)
		migrate(turn.migrate)
		read("after it")
	}
	t.Logf("figure: %d credentials read by both through 5 rotations and 10 migrations", len(all))
}
