package v3_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/credential"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/cascade"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fernet"
	"github.com/keystone-go/keystone-go/internal/passhash"
	"github.com/keystone-go/keystone-go/internal/uuid"
	"github.com/keystone-go/keystone-go/limit"
	"github.com/keystone-go/keystone-go/resource"
)

// step is one call of a script, in which each depends on those before it. {ID}
// in path, body and want stands for the id that the last answer kept.
type step struct {
	name, method, path, token, body string
	status                          int
	want                            string // in the body
}

// inOtherCase are steps that name what there is with letters of another case:
// MariaDB finds it.
var inOtherCase = map[string]bool{"by type of another case": true, "by another name": true, "letter case counts": true}

// script runs the steps against a server on a database.
func script(t *testing.T, st *stand, steps []step) {
	t.Helper()
	kept := ""
	for _, c := range steps {
		t.Run(c.name, func(t *testing.T) {
			fill := func(s string) string { return strings.ReplaceAll(s, "{ID}", kept) }
			w := st.do(call{method: c.method, path: fill(c.path), token: c.token, body: fill(c.body)})
			body := w.Body.String()
			if st.folds && inOtherCase[c.name] {
				c.status, c.want = http.StatusOK, `"id": "`
			}
			if w.Code != c.status || !strings.Contains(body, fill(c.want)) {
				t.Errorf("%s %s %s: got %d %s, want %d with %s", c.method, fill(c.path), fill(c.body), w.Code, body, c.status, fill(c.want))
			}
			if w.Code >= http.StatusBadRequest {
				wantEnvelope(t, w.Result(), body, c.status)
			}
			if w.Code == http.StatusNoContent && (len(body) > 0 || w.Header().Get("Content-Type") != "") {
				t.Errorf("204 with a body or its type: %q %v", body, w.Header())
			}
			if _, after, found := strings.Cut(body, `"id": "`); found && w.Code == http.StatusCreated {
				kept, _, _ = strings.Cut(after, `"`)
			}
		})
	}
}

var usualConfig = sync.OnceValue(conf.Default)

// resources are all there are, on a database.
func resources(t testing.TB, d db.DB) v3.Resources {
	t.Helper()
	revoker := cascade.Revoker{Keep: time.Hour, Now: time.Now}
	rounds := 4
	hasher, err := passhash.New(passhash.Options{Slots: 1, Rounds: &rounds})
	if err != nil {
		t.Fatal(err)
	}
	memberships := identity.Memberships{Now: time.Now, Usual: 60}
	return v3.Resources{
		DB: d, DefaultDomain: "default", Now: time.Now,
		Regions: catalog.Regions{DB: d}, Services: catalog.Services{DB: d}, Endpoints: catalog.Endpoints{DB: d},
		Policies:       catalog.Policies{DB: d},
		EndpointGroups: catalog.EndpointGroups{DB: d}, EndpointFilter: catalog.EndpointFilter{DB: d},
		Projects: resource.Projects{DB: d, MaxDepth: 5, FederatedDomain: "Federated", Revoker: revoker},
		DomainConfigs: resource.DomainConfigs{DB: d, DefaultDomain: "default", Running: func(group, option string) (any, bool) {
			if option == "password_regex" {
				return "^a", true
			}
			s, found := usualConfig().Find(group, option)
			return s.Value, found && !s.Secret
		}},
		Users:       identity.Users{DB: d, Hasher: hasher, Revoker: revoker, Now: time.Now, NewID: uuid.Hex},
		Groups:      identity.Groups{DB: d, Revoker: revoker, Memberships: memberships},
		Roles:       assignment.Roles{DB: d, Prohibited: []string{"admin"}},
		Grants:      assignment.Grants{DB: d, Memberships: memberships},
		Credentials: v3.Credentials{Credentials: credential.Credentials{DB: d, Vault: vault(t), UserLimit: -1}},
		Registry:    limit.Registry{DB: d}, Limits: limit.Limits{DB: d, Model: limit.Flat},
	}
}

// vault has keys of its own.
func vault(t testing.TB) *fernet.Vault {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "credential-keys")
	if err := fernet.Setup(dir, fernet.Owner{UID: -1, GID: -1}); err != nil {
		t.Fatal(err)
	}
	v, err := fernet.OpenVault(dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
