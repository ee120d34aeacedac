// Package fault holds the one error type that may reach a client: a kind,
// which decides the HTTP status, and a message fit to be shown.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind names what went wrong; each has one HTTP status.
type Kind int

// The kinds, with the status that each becomes.
const (
	BadRequest       Kind = 400
	Unauthorized     Kind = 401
	Forbidden        Kind = 403
	NotFound         Kind = 404
	MethodNotAllowed Kind = 405
	Conflict         Kind = 409
	Gone             Kind = 410
	TooLarge         Kind = 413
	TooMany          Kind = 429
	Internal         Kind = 500
	NotImplemented   Kind = 501
	Unavailable      Kind = 503
)

// Error is a refusal in Keystone's words (keystone/exception.py).
type Error struct {
	Kind    Kind
	Message string
	// Detail replaces Message when [DEFAULT] insecure_debug is on: the true
	// reason of a 401 or 403 whose public text hides it.
	Detail string
	// Identity goes into error.identity of an authentication failure.
	Identity map[string]any
	// Body replaces the whole answer (the receipt of an unfinished login).
	Body map[string]any
	// Header is added to the answer.
	Header map[string]string
	// RetryAfter is sent in whole seconds, rounded up, at least 1, when set.
	RetryAfter time.Duration
	// Plain401 leaves WWW-Authenticate out.
	Plain401 bool
	// Reason says in one word of the code's what happened, for metrics; clients
	// never see it.
	Reason string
}

// Because names the reason, and returns the fault.
func (e *Error) Because(reason string) *Error {
	e.Reason = reason
	return e
}

// Error gives the most specific text; it is for logs, not for clients.
func (e *Error) Error() string {
	if e.Detail != "" {
		return e.Detail
	}
	return e.Message
}

// Texts that keystone/exception.py fixes for whole classes.
const (
	unauthorizedText = "The request you have made requires authentication."
	forbiddenText    = "You are not authorized to perform the requested action."
)

// New makes a fault whose message is always shown.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Denied is the bare 401, the same for every cause; reason is shown under
// insecure_debug alone.
func Denied(reason string, args ...any) *Error {
	return &Error{Kind: Unauthorized, Message: unauthorizedText, Detail: fmt.Sprintf(reason, args...)}
}

// Refused is the 403 whose reason stays hidden (keystone.exception.Forbidden).
func Refused(reason string, args ...any) *Error {
	return &Error{Kind: Forbidden, Message: forbiddenText, Detail: fmt.Sprintf(reason, args...)}
}

// ForbiddenAction is the 403 of a policy refusal: it names the action.
func ForbiddenAction(action string) *Error {
	return New(Forbidden, "You are not authorized to perform the requested action: %s.", action)
}

// NoSuch is the 404 for an object: NoSuch("region", id).
func NoSuch(what, id string) *Error {
	return New(NotFound, "Could not find %s: %s.", what, id)
}

// Invalid is keystone.exception.ValidationError: an attribute is missing from
// what was sent.
func Invalid(attribute, target string) *Error {
	return New(BadRequest, "Expecting to find %s in %s. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.", attribute, target)
}

// Duplicate is the 409 of an object that exists.
func Duplicate(kind, details string, args ...any) *Error {
	return New(Conflict, "Conflict occurred attempting to store %s - %s.", kind, fmt.Sprintf(details, args...))
}

// Is reports whether err carries a fault of the kind.
func Is(err error, kind Kind) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == kind
}

// Wrap says what was attempted, "delete region" and its id, unless the error is
// meant for the client.
func Wrap(err error, what, id string) error {
	if _, told := errors.AsType[*Error](err); err == nil || told {
		return err
	}
	return fmt.Errorf("%s %s: %w", what, id, err)
}
