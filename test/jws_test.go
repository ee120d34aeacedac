package test

import (
	"context"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/test/harness"
)

// signedBy makes a server's tokens JWS ones under the recorded keys.
func signedBy(alg string) func(*conf.Config) {
	return func(c *conf.Config) {
		c.Token.Provider = "jws"
		c.JWTTokens.JWSAlgorithm, c.JWTTokens.JWSAcceptedAlgorithms = alg, []string{alg}
		c.JWTTokens.JWSPrivateKeyRepository = harness.Testdata("jws/" + alg + "/private")
		c.JWTTokens.JWSPublicKeyRepository = harness.Testdata("jws/" + alg + "/public")
	}
}

// TestJWSTokens: the life of a token is the same whichever provider made it.
func TestJWSTokens(t *testing.T) {
	for _, alg := range []string{"ES256", "ES384", "ES512", "EdDSA"} {
		t.Run(alg, func(t *testing.T) {
			s := harness.New(t, harness.Options{Engine: dbtest.Engines()[0], Conf: signedBy(alg)})
			validate := func(caller, subject string) harness.Answer {
				return s.Do(harness.Call{Method: "GET", Path: "/v3/auth/tokens", Token: caller, Subject: subject})
			}
			admin, other := s.Admin(), s.Token("admin", harness.Password, harness.M{"system": harness.M{"all": true}})
			if strings.Count(admin, ".") != 2 {
				t.Fatalf("no JWS: %s", admin)
			}
			a := validate(admin, other)
			if a.Status != 200 || a.At(t, "token", "system", "all") != true || a.At(t, "token", "methods", 0) != "password" {
				t.Errorf("validate: %d %s", a.Status, a.Body)
			}
			rescoped := s.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.M{"auth": harness.M{
				"identity": harness.M{"methods": []string{"token"}, "token": harness.M{"id": admin}}, "scope": harness.OnProject("admin"),
			}}})
			again := rescoped.Header.Get("X-Subject-Token")
			if rescoped.Status != 201 || rescoped.At(t, "token", "methods", 1) != "password" || rescoped.At(t, "token", "audit_ids", 1) == nil {
				t.Errorf("rescope: %d %s", rescoped.Status, rescoped.Body)
			}
			if a := s.Do(harness.Call{Method: "DELETE", Path: "/v3/auth/tokens", Token: admin, Subject: other}); a.Status != 204 {
				t.Errorf("revoke: %d %s", a.Status, a.Body)
			}
			if a := validate(admin, other); a.Status != 404 {
				t.Errorf("validate what is revoked: %d %s", a.Status, a.Body)
			}
			if a := validate(admin, again); a.Status != 200 {
				t.Errorf("validate the rescoped one: %d %s", a.Status, a.Body)
			}
			strange := admin[:len(admin)-4] + "AAAA"
			if a := validate(admin, strange); a.Status != 404 || a.At(t, "error", "message") != "Could not find token: "+strange+"." {
				t.Errorf("validate a stranger's: %d %s", a.Status, a.Body)
			}
			if a := validate(strange, admin); a.Status != 401 {
				t.Errorf("a stranger's caller: %d %s", a.Status, a.Body)
			}
		})
	}
}

// TestJWSNeedsItsKeys: like Python's, the server does not start without them.
func TestJWSNeedsItsKeys(t *testing.T) {
	keys := harness.Keys(t)
	for what, c := range map[string]struct {
		spoil func(*conf.Config)
		says  string
	}{
		"no private key":      {func(c *conf.Config) { c.JWTTokens.JWSPrivateKeyRepository = keys }, "jws_private_key_repository"},
		"no public folder":    {func(c *conf.Config) { c.JWTTokens.JWSPublicKeyRepository = keys + "/none" }, "jws_public_key_repository"},
		"another algorithm":   {func(c *conf.Config) { c.JWTTokens.JWSAlgorithm = "ES384" }, "jws_algorithm"},
		"an unknown provider": {func(c *conf.Config) { c.Token.Provider = "uuid" }, `[token] provider: "uuid" is not known`},
	} {
		cfg := conf.Default()
		cfg.Database.Connection = dbtest.OpenURL(t, dbtest.Engines()[0])
		cfg.FernetTokens.KeyRepository, cfg.FernetReceipts.KeyRepository = keys, keys
		signedBy("ES256")(cfg)
		c.spoil(cfg)
		if app, err := wire.Build(context.Background(), cfg, wire.Options{}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q", what, err, c.says)
			if app != nil {
				app.Close()
			}
		}
	}
}
