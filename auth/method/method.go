// Package method holds the ways of proving who one is, one file a method. A
// method never issues a token and knows nothing of scope.
package method

import (
	"context"
	"time"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// Method reads its part of a login body. A fault of the body is kept in the
// attempt and comes out of Verify: the scope is judged before it.
type Method interface {
	Parse(payload pyjson.Object, w Wanted) Attempt
}

// Wanted tells which kinds of scope the login asks for, as far as a method
// may care.
type Wanted struct{ Project, Domain bool }

// Attempt is one use of a method.
type Attempt interface {
	// Queue adds what it must read to the first batch of the login.
	Queue(b *db.Batch)
	// Waste does the costly part of Verify for nothing, where there is one: a
	// login that fails for another reason then costs the same.
	Waste(ctx context.Context) error
	// Verify decides, after the batch was sent.
	Verify(ctx context.Context) (Proof, error)
}

// Proof is what a successful attempt has shown.
type Proof struct {
	Account identity.Account
	Options identity.Options
	Methods []string // the methods that count as passed
	// Source is set by method token: the life and the audit id that the new
	// token inherits.
	Source *Source
	// Settle queues a read for the second batch that decides whether the proof
	// still stands, asked for by Settled once that was sent; either may be nil.
	Settle  func(b *db.Batch)
	Settled func(ctx context.Context) error
}

// Source is the token that a new token is made from.
type Source struct {
	ExpiresAt time.Time
	AuditID   string // first of the chain
}
