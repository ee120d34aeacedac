package test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/test/harness"
)

// recordedUserCalls are recordings of PATCH /v3/users/{id} and POST
// /v3/users/{id}/password, in their order; the words of schema errors are
// jsonschema's own and not compared.
var recordedUserCalls = []struct {
	name  string
	words bool
}{
	{"351-patch-user", true},
	{"352-patch-user-domain", true},
	{"353-patch-user-id", true},
	{"354-patch-user-empty", false},
	{"356-patch-user-name-taken", true},
	{"357-patch-user-404", true},
	{"358-patch-user-option-off", true},
	{"359-password-wrong-original", true},
	{"360-password-locked", true},
	{"361-password-same", true},
	{"362-password-ok", true},
	{"363-password-missing", false},
	{"365-password-new-works", false},
}

// TestUserRecorded makes the recorded calls on the recorded database: the
// answers are those of a Python Keystone, byte for byte.
func TestUserRecorded(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			s := harness.New(t, harness.Options{
				URL: dbtest.RecordedURL(t, engine), Keys: harness.Keys(t), Bare: true,
				Conf: func(c *conf.Config) { withTOTP(c); c.Token.Expiration = 1892160000 },
			})
			for _, x := range recordedUserCalls {
				raw, err := os.ReadFile(filepath.Join(harness.Testdata("peer/golden"), x.name+".json"))
				if err != nil {
					t.Fatal(err)
				}
				var recorded struct {
					Request struct {
						Method, Path, Body string
						Headers            map[string]string
					}
					Response struct {
						Status  int
						Body    string
						Headers [][2]string
					}
				}
				if err := json.Unmarshal(raw, &recorded); err != nil {
					t.Fatal(err)
				}
				q, want := recorded.Request, recorded.Response
				r := harness.Call{Method: q.Method, Path: q.Path, Body: q.Body, Header: q.Headers}.Request(t)
				r.Host = "127.0.0.1:5000"
				got := s.Serve(r)
				if got.Status != want.Status || x.words && got.Body != want.Body {
					t.Errorf("%s: %d %s\nwant %d %s", x.name, got.Status, got.Body, want.Status, want.Body)
				}
				for _, h := range want.Headers {
					switch name := strings.ToLower(h[0]); name {
					case "content-type", "vary", "www-authenticate":
						if got.Header.Get(name) != h[1] {
							t.Errorf("%s: %s %q, want %q", x.name, h[0], got.Header.Get(name), h[1])
						}
					}
				}
			}
		})
	}
}
