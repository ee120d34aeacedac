package method

import (
	"context"
	"fmt"
	"slices"

	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// Held is a valid token, as the method "token" needs it.
type Held struct {
	Token   *token.Token
	Account identity.Account
	Options identity.Options
}

// Token is the method "token" (keystone/auth/plugins/token.py).
type Token struct {
	// Load queues the reads of a token; what it returns judges them. The token
	// itself is there whenever it could be decoded.
	Load func(b *db.Batch, id string) func() (Held, error)
	// Rescope is [token] allow_rescope_scoped_token.
	Rescope bool
	// Primary is [auth] additional_primary_auth_methods.
	Primary []string
}

// Parse reads {"id"}.
func (m Token) Parse(payload pyjson.Object, w Wanted) Attempt {
	id, ok := payload.String("id")
	if !ok {
		return &tokenAttempt{Token: m, fault: fault.Invalid("id", "token")}
	}
	return &tokenAttempt{Token: m, id: id, wants: w}
}

type tokenAttempt struct {
	Token
	fault error
	id    string
	wants Wanted
	judge func() (Held, error)
}

// Queue reads everything that the source token stands on.
func (a *tokenAttempt) Queue(b *db.Batch) {
	if a.fault == nil {
		a.judge = a.Load(b, a.id)
	}
}

// Waste does nothing: checking a token costs next to nothing.
func (a *tokenAttempt) Waste(context.Context) error { return nil }

// Spent is nothing.
func (a *tokenAttempt) Spent() Spent { return Spent{} }

// Verify judges the source; delegated tokens make no others, valid or not.
func (a *tokenAttempt) Verify(context.Context) (Proof, error) {
	if a.fault != nil {
		return Proof{}, a.fault
	}
	held, err := a.judge()
	if held.Token != nil {
		if refusal := a.forbidden(held.Token); refusal != nil {
			return Proof{}, refusal
		}
	}
	if err != nil {
		return Proof{}, err
	}
	t := held.Token
	if scoped(t) && !a.Rescope {
		return Proof{}, fault.ForbiddenAction("rescope a scoped token").Because(reasonForbidden)
	}
	methods := []string{"token"}
	for _, m := range t.Methods {
		if !slices.Contains(methods, m) {
			methods = append(methods, m)
		}
	}
	source := &Source{ExpiresAt: t.ExpiresAt}
	if n := len(t.AuditIDs); n > 0 {
		source.AuditID = t.AuditIDs[n-1] // the parent where there is one: a chain has two links at most
	}
	return Proof{Account: held.Account, Options: held.Options, Methods: methods, Source: source}, nil
}

// reasonForbidden is what metrics show of a token that makes no others.
const reasonForbidden = "token_may_not"

const another = "Using %[1]s-scoped token to create another token. Create a new %[1]s-scoped token instead"

// forbidden refuses what no other token may be made from: a token gained by
// delegation, or a system token on the way to a project or domain.
func (a *tokenAttempt) forbidden(t *token.Token) error {
	switch {
	case t.AccessTokenID != "":
		return fault.ForbiddenAction(fmt.Sprintf(another, "OAuth")).Because(reasonForbidden)
	case t.TrustID != "":
		return fault.ForbiddenAction(fmt.Sprintf(another, "trust")).Because(reasonForbidden)
	case t.System != "" && (a.wants.Project || a.wants.Domain):
		return fault.ForbiddenAction("Using a system-scoped token to create a project-scoped or domain-scoped token is not allowed.").Because(reasonForbidden)
	case t.Delegated(a.Primary):
		return fault.ForbiddenAction("Using a delegated token to create another token is not allowed.").Because(reasonForbidden)
	}
	return nil
}

func scoped(t *token.Token) bool {
	return t.System != "" || t.DomainID != "" || t.ProjectID != ""
}
