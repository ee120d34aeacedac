package test

import (
	"testing"

	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/test/harness"
)

// TestFirstLogin is the whole way: bootstrap, log in, validate, revoke.
func TestFirstLogin(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			s := harness.New(t, harness.Options{Engine: engine})
			login := s.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("admin", harness.Password, harness.OnProject("admin"))})
			if login.Status != 201 {
				t.Fatalf("login: %d %s", login.Status, login.Body)
			}
			token := login.Header.Get("X-Subject-Token")
			if got := login.At(t, "token", "catalog", 0, "type"); got != "identity" {
				t.Errorf("catalog: %v in %s", got, login.Body)
			}
			got := s.Do(harness.Call{Method: "GET", Path: "/v3/auth/tokens", Token: token, Subject: token})
			if got.Status != 200 || got.At(t, "token", "user", "name") != "admin" {
				t.Fatalf("validate: %d %s", got.Status, got.Body)
			}
			if a := s.Do(harness.Call{Method: "DELETE", Path: "/v3/auth/tokens", Token: token, Subject: token}); a.Status != 204 {
				t.Fatalf("revoke: %d %s", a.Status, a.Body)
			}
			if a := s.Do(harness.Call{Method: "GET", Path: "/v3/auth/tokens", Token: token, Subject: token}); a.Status != 401 {
				t.Errorf("after revoking: %d %s", a.Status, a.Body)
			}
		})
	}
}
