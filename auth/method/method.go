// Package method holds the ways of proving who one is, one file a method. A
// method never issues a token and knows nothing of scope.
package method

import (
	"context"
	"time"

	"github.com/keystone-go/keystone-go/auth/guess"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// Method reads its part of a login body. A fault of the body is kept in the
// attempt and comes out of Verify: the scope is judged before it.
type Method interface {
	Parse(payload pyjson.Object, w Wanted) Attempt
}

// Wanted tells what else the login is, as far as a method may care: which
// kinds of scope it asks for, and from where it comes.
type Wanted struct {
	Project, Domain bool
	Client          guess.Client
}

// Attempt is one use of a method.
type Attempt interface {
	// Queue adds what it must read to the first batch of the login.
	Queue(b *db.Batch)
	// Waste does the costly part of Verify for nothing, where there is one: a
	// login that fails for another reason then costs the same.
	Waste(ctx context.Context) error
	// Verify decides, after the batch was sent.
	Verify(ctx context.Context) (Proof, error)
	// Spent tells afterwards what the attempt took.
	Spent() Spent
}

// Spent is what an attempt took.
type Spent struct {
	// Secret: a secret was to be verified, so a refusal must not tell by its
	// time why it is one.
	Secret bool
	// Hashing is how long the hash took, with the wait for it.
	Hashing time.Duration
	// Counted: a failure was written, which no other refusal does.
	Counted bool
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
