package golden

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/test/harness"
)

// recordedTokens are tokens that a Python Keystone issued, with its answers.
type recordedTokens struct {
	Tokens []struct {
		Kind, Token string
		GetResponse struct {
			Status int
			Body   string
		} `json:"get_response"`
		Payload struct{ Version int }
	}
}

// notServed are the payload versions of tokens that cannot be judged yet:
// trust, federation, OAuth1, application credential.
var notServed = map[int]bool{3: true, 4: true, 5: true, 6: true, 7: true, 9: true}

// TestRecordedTokens validates tokens that Python issued, on the database that
// it issued them from.
func TestRecordedTokens(t *testing.T) {
	raw, err := os.ReadFile(harness.Testdata("peer/tokens.json"))
	if err != nil {
		t.Fatal(err)
	}
	var recorded recordedTokens
	if err := json.Unmarshal(raw, &recorded); err != nil {
		t.Fatal(err)
	}
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			s := harness.New(t, harness.Options{
				URL: dbtest.RecordedURL(t, engine), Keys: harness.Keys(t), Bare: true,
				Conf: func(c *conf.Config) {
					c.Auth.Methods = []string{"external", "password", "token", "oauth1", "mapped", "application_credential", "totp"}
				},
			})
			equal, refused := 0, 0
			for _, x := range recorded.Tokens {
				a := s.Do(harness.Call{Method: "GET", Path: "/v3/auth/tokens", Token: adminToken(t, recorded), Subject: x.Token})
				if notServed[x.Payload.Version] {
					refused++
					if a.Status != 404 {
						t.Errorf("%s: %d, want 404 until it is served", x.Kind, a.Status)
					}
					continue
				}
				equal++
				if x.Kind == "revoked" {
					// Its answer was recorded before it was revoked; 170-tok-get-revoked
					// is the one after.
					x.GetResponse.Status, x.GetResponse.Body = 404, revokedAnswer(t)
				}
				if a.Status != x.GetResponse.Status {
					t.Errorf("%s: %d, want %d: %.200s", x.Kind, a.Status, x.GetResponse.Status, a.Body)
					continue
				}
				compareBodies(t, x.Kind, a.Body, x.GetResponse.Body)
			}
			t.Logf("%s: %d tokens as recorded, %d refused", engine, equal, refused)
			if equal != 33 || refused != 16 {
				t.Errorf("%d as recorded and %d refused, want 33 and 16", equal, refused)
			}
		})
	}
}

func revokedAnswer(t *testing.T) string {
	t.Helper()
	for _, x := range load(t) {
		if x.Name == "170-tok-get-revoked" {
			return x.Response.Body
		}
	}
	t.Fatal("the recording is gone")
	return ""
}

func adminToken(t *testing.T, r recordedTokens) string {
	t.Helper()
	for _, x := range r.Tokens {
		if x.Kind == "admin-project" {
			return x.Token
		}
	}
	t.Fatal("no administrator's token among the recorded ones")
	return ""
}

func compareBodies(t *testing.T, kind, got, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Errorf("%s: %v", kind, err)
		return
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	var out []string
	diff("$", normal(w, "$", nil), normal(g, "$", nil), &out)
	if len(out) > 0 {
		t.Errorf("%s:\n  %s", kind, strings.Join(out, "\n  "))
	}
}
