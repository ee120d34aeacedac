package auth

import (
	"context"
	"errors"

	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/passhash"
)

// Observer is told what became of logins and tokens, in words of the code
// alone: never an id, a name or an address.
type Observer interface {
	// Login tells of an attempt: the method, how it ended, and why.
	Login(method, outcome, reason string)
	// Issued tells of a new token, by [token] provider.
	Issued(provider string)
	// Validated tells how a token was judged.
	Validated(outcome string)
	// Revoked tells of a token that its holder or an administrator voided.
	Revoked()
}

type unobserved struct{}

func (unobserved) Login(string, string, string) {}
func (unobserved) Issued(string)                {}
func (unobserved) Validated(string)             {}
func (unobserved) Revoked()                     {}

const (
	reasonScope   = "bad_scope"
	reasonFactors = "factors_missing"
)

// label is the method of a login as metrics show it; one of several is not
// told from the others, so that the number of labels stays that of the methods.
func label(methods []string) string {
	switch len(methods) {
	case 0:
		return "none"
	case 1:
		return methods[0]
	}
	return "several"
}

// outcome says in one word how a login ended: success, partial (more methods
// are asked for), failure, refused (a limit, a full queue), error, or gone
// (the client hung up).
func outcome(err error) string {
	f, _ := errors.AsType[*fault.Error](err)
	busy, _ := errors.AsType[*passhash.Busy](err)
	switch {
	case err == nil:
		return "success"
	case busy != nil || f != nil && f.Kind == fault.TooMany:
		return "refused"
	case f != nil && f.Reason == reasonFactors:
		return "partial"
	case f != nil && f.Kind < fault.Internal:
		return "failure"
	case errors.Is(err, context.Canceled):
		return "gone"
	}
	return "error"
}

// reason says in one word why a login ended as it did; "none" for one that
// succeeded.
func reason(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		if f.Reason != "" {
			return f.Reason
		}
		switch f.Kind {
		case fault.BadRequest:
			return "bad_request"
		case fault.Forbidden:
			return "forbidden"
		case fault.TooMany:
			return "limited"
		case fault.NotFound:
			return "unknown_token"
		case fault.Unauthorized:
			return "denied"
		}
	}
	busy, _ := errors.AsType[*passhash.Busy](err)
	switch {
	case err == nil:
		return "none"
	case busy != nil:
		return "hash_queue"
	case errors.Is(err, context.Canceled):
		return "gone"
	case errors.Is(err, db.ErrUnavailable), errors.Is(err, db.ErrSerialize):
		return "database"
	}
	return "internal"
}

// validity says in one word how a token was judged: valid, expired, revoked,
// disabled or gone (its user, project or domain), no_role, unusable or invalid.
func validity(err error) string {
	if err == nil {
		return "valid"
	}
	f, ok := errors.AsType[*fault.Error](err)
	switch {
	case !ok || errors.Is(err, token.ErrNotFound):
		return "invalid"
	case f.Reason != "":
		return f.Reason
	}
	return "gone"
}
