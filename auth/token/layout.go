package token

import "fmt"

// element is one part of a payload. Each has one way to be written (write.go)
// and one to be read (read.go).
type element int

const (
	user element = iota
	methodNumber
	domain     // [is a UUID, id]
	bareDomain // a UUID, or the default domain's id
	project
	trust // a UUID
	groups
	idp
	protocol
	accessToken
	system
	expires
	audits
	appCred
	thumbprint
)

// layouts are the payload versions, by number: what follows the version
// (keystone/token/token_formatters.py). Version 11 is keystone-rs's alone and
// stays unknown.
var layouts = [...][]element{
	0:  {user, methodNumber, expires, audits},
	1:  {user, methodNumber, bareDomain, expires, audits},
	2:  {user, methodNumber, project, expires, audits},
	3:  {user, methodNumber, project, expires, audits, trust},
	4:  {user, methodNumber, groups, idp, protocol, expires, audits},
	5:  {user, methodNumber, project, groups, idp, protocol, expires, audits},
	6:  {user, methodNumber, domain, groups, idp, protocol, expires, audits},
	7:  {user, methodNumber, project, accessToken, expires, audits},
	8:  {user, methodNumber, system, expires, audits},
	9:  {user, methodNumber, project, expires, audits, appCred},
	10: {user, methodNumber, project, domain, expires, audits, thumbprint},
}

// receiptLayout is a receipt, which has no version.
var receiptLayout = []element{user, methodNumber, expires}

// federatedFrom and federatedTo are the versions of federated tokens.
const (
	federatedFrom = 4
	federatedTo   = 6
)

// versionOf picks the first version that fits a token, in Keystone's order.
func versionOf(t *Token) (int, error) {
	switch {
	case t.AccessTokenID != "":
		return 7, nil
	case t.TrustID != "":
		return 3, nil
	case t.Federated && t.System != "":
		return 0, fmt.Errorf("a federated token cannot have system scope")
	case t.Federated && t.ProjectID != "":
		return 5, nil
	case t.Federated && t.DomainID != "":
		return 6, nil
	case t.Federated:
		return 4, nil
	case t.AppCredID != "":
		return 9, nil
	case t.Thumbprint != "":
		return 10, nil
	case t.ProjectID != "":
		return 2, nil
	case t.DomainID != "":
		return 1, nil
	case t.System != "":
		return 8, nil
	default:
		return 0, nil
	}
}
