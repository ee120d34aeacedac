package test

import (
	"testing"

	"github.com/keystone-go/keystone-go/test/harness"
)

// secretsElsewhere are the routes of Python Keystone, besides logins, that take
// a secret from somebody without a token.
var secretsElsewhere = []string{
	"/v3/ec2tokens", "/v3/s3tokens",
	"/v3/OS-OAUTH1/request_token", "/v3/OS-OAUTH1/access_token", "/v3/OS-OAUTH2/token",
	"/v3/OS-FEDERATION/identity_providers/any/protocols/any/auth",
	"/v3/auth/OS-FEDERATION/websso/any", "/v3/auth/OS-FEDERATION/identity_providers/any/protocols/any/websso",
	"/v3/auth/OS-FEDERATION/saml2", "/v3/auth/OS-FEDERATION/saml2/ecp",
}

// R115, R116, R117, RL-H18, RL-H19: as long as such a route is not served, who
// asks it has his address charged and reaches nothing; so has who names a
// method of login that is not there.
func TestSecretsElsewhereAreCounted(t *testing.T) {
	withLimits(t, 2, 2, func(t *testing.T, s limited) {
		s.count.Reset()
		hashes := s.Hasher.Stats().Done
		for i, path := range secretsElsewhere {
			t.Run(path, func(t *testing.T) {
				statuses(t, repeat(4, func(int) harness.Answer {
					return s.Do(harness.Call{Method: "POST", Path: path, Body: `{"credentials":{"access":"invented"}}`, From: from(i + 1)})
				}), 404, 404, 429, 429)
			})
		}
		for i, method := range []string{"totp", "application_credential", "mapped", "oauth1", "external"} {
			t.Run(method, func(t *testing.T) {
				statuses(t, repeat(4, func(int) harness.Answer {
					return s.Do(harness.Call{
						Method: "POST", Path: "/v3/auth/tokens", From: from(100 + i),
						Body: `{"auth":{"identity":{"methods":["` + method + `"],"` + method + `":{"id":"invented","secret":"x"}}}}`,
					})
				}), 401, 401, 429, 429)
			})
		}
		if n := s.Hasher.Stats().Done - hashes; s.count.Statements != 0 || n != 0 {
			t.Errorf("%d statements and %d hashes, want none", s.count.Statements, n)
		}
	})
}
