package token_test

import (
	"testing"

	"github.com/keystone-go/keystone-go/auth/token"
)

func TestDelegated(t *testing.T) {
	also := []string{"ours", "ec2credential"}
	for name, c := range map[string]struct {
		token token.Token
		want  bool
	}{
		"password":               {token.Token{Methods: []string{"password"}}, false},
		"two factors":            {token.Token{Methods: []string{"password", "totp", "token"}}, false},
		"one of the operator's":  {token.Token{Methods: []string{"ours"}}, false},
		"unknown":                {token.Token{Methods: []string{"password", "theirs"}}, true},
		"signature":              {token.Token{Methods: []string{"ec2credential"}}, true},
		"none":                   {token.Token{}, true},
		"application credential": {token.Token{Methods: []string{"application_credential"}}, true},
		"trust":                  {token.Token{Methods: []string{"password"}, TrustID: "t"}, true},
		"its id alone":           {token.Token{Methods: []string{"password"}, AppCredID: "a"}, true},
		"OAuth":                  {token.Token{Methods: []string{"token"}, AccessTokenID: "a"}, true},
		"OAuth 2":                {token.Token{Methods: []string{"password"}, Thumbprint: "x"}, true},
	} {
		if got := c.token.Delegated(also); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
