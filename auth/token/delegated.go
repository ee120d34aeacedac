package token

import "slices"

// primary are the methods that prove who one is. Any other, a later one that
// nobody has thought of too, stands for another's trust in its holder
// (keystone/api/_shared/delegation.py).
var primary = []string{"external", "kerberos", "mapped", "openid", "password", "saml2", "token", "totp", "x509"}

// Delegated tells whether a token was gained by what somebody has handed on: a
// trust, an application credential, OAuth, a signature. One that does not say
// how it was gained counts as such. also are the further methods that prove who
// one is: [auth] additional_primary_auth_methods.
func (t *Token) Delegated(also []string) bool {
	if t.TrustID != "" || t.AppCredID != "" || t.AccessTokenID != "" || t.Thumbprint != "" {
		return true
	}
	for _, m := range t.Methods {
		if m == "ec2credential" || !slices.Contains(primary, m) && !slices.Contains(also, m) {
			return true
		}
	}
	return len(t.Methods) == 0
}
