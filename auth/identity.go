package auth

import (
	"time"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/resource"
)

// Check says which tokens of a request are to be validated, and how.
type Check struct {
	Caller       string // X-Auth-Token; empty: anonymous
	Opened       Opened // of Caller, where Decodes was asked; else it is opened now
	Subject      string // X-Subject-Token; empty: none asked for
	Service      string // X-Service-Token; empty: none
	AllowExpired bool   // the subject may be past its life by [token] allow_expired_window
	Catalog      bool   // the subject's catalog is wanted
	CallerFull   bool   // the caller's catalog is wanted
}

// Result holds what validation found; nothing in it is nil by accident.
type Result struct {
	// Caller is nil for an anonymous request: no token, or one that is
	// unknown, expired or revoked.
	Caller *Identity
	// Refused answers at once: the caller's token is real but its project or
	// user is gone or disabled (404), or it may not be used here (403).
	Refused error
	// Subject is nil when SubjectErr is not.
	Subject    *Identity
	SubjectErr error
}

// User is the owner of a token as its body shows him.
type User struct {
	ID, Name, DomainID, DomainName string
	PasswordExpiresAt              *time.Time // naive UTC; nil: never
}

// Identity is a valid token with the live rows behind it.
type Identity struct {
	ID               string // the token's text
	Token            *token.Token
	User             User
	Project          *resource.Project // project scope
	Domain           *resource.Domain  // domain scope
	Roles            []assignment.Role
	Catalog          pyjson.Raw // as answers show it; empty: none was asked for
	ServiceProviders []ServiceProvider
	IsAdminProject   *bool     // nil: [resource] admin_project_* are not set
	AdminToken       bool      // [DEFAULT] admin_token: every rule is passed
	Service          *Identity // the valid X-Service-Token beside it; nil: none
}

// ServiceProvider is one enabled service provider of the token body.
type ServiceProvider struct{ ID, AuthURL, SPURL string }

// Scope names the kind of scope: "system", "domain", "project" or "".
func (id *Identity) Scope() string {
	switch {
	case id.Token == nil:
		return ""
	case id.Token.System != "":
		return "system"
	case id.Domain != nil:
		return "domain"
	case id.Project != nil:
		return "project"
	}
	return ""
}
