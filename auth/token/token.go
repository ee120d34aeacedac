// Package token writes and reads Keystone's tokens and auth receipts.
package token

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"time"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/uuid"
)

// Token is what a token says about itself; nothing of it is checked against
// the database.
type Token struct {
	// Version is the Fernet payload version, 0 to 10; Issue sets it. It is 0 in
	// JWS tokens.
	Version int
	UserID  string
	// Methods are in falling order of their place in [auth] methods once
	// decoded from Fernet, whatever order they were issued in.
	Methods []string
	// At most one of System ("all"), DomainID and ProjectID is set.
	System, DomainID, ProjectID, TrustID string
	// GroupIDs, IDPID and ProtocolID belong to a federated token.
	GroupIDs                             []string
	IDPID, ProtocolID                    string
	Federated                            bool
	AccessTokenID, AppCredID, Thumbprint string
	// ExpiresAt and IssuedAt are UTC, in whole seconds; Issue sets IssuedAt.
	ExpiresAt, IssuedAt time.Time
	// AuditIDs are the token's own and, if it came from another, that one's.
	AuditIDs []string
}

// Receipt says which methods of a login have succeeded so far.
type Receipt struct {
	UserID              string
	Methods             []string
	ExpiresAt, IssuedAt time.Time
}

// Provider makes token strings and reads them.
type Provider interface {
	// Issue returns the string of a token. It sets IssuedAt and Version, and
	// cuts ExpiresAt to the second.
	Issue(*Token) (string, error)
	// Decode reads a string; what is not a token of this cloud is ErrNotFound.
	Decode(string) (*Token, error)
}

// ErrNotFound is in the chain of every refusal of Decode, beside the
// *fault.Error (404) with Keystone's words.
var ErrNotFound = errors.New("token not found")

// The words of keystone/token/provider.py and token_formatters.py.
const (
	textNone    = "No token in the request"
	textUnknown = "Could not recognize Fernet token"
	textVersion = "This is not a recognized Fernet payload version: %d"
)

// refusal is ErrNotFound in Keystone's words.
type refusal struct {
	fault *fault.Error
	log   string // instead of words that hold the token
}

func refuse(format string, args ...any) error {
	return &refusal{fault: fault.New(fault.NotFound, format, args...)}
}

// Error gives Keystone's words, or what may be logged in their place.
func (r *refusal) Error() string {
	if r.log != "" {
		return r.log
	}
	return r.fault.Error()
}

// Unwrap gives what the refusal is for clients and for callers.
func (r *refusal) Unwrap() []error { return []error{r.fault, ErrNotFound} }

// NoReceipt is the 401 for a receipt that is unknown, expired or another
// user's.
func NoReceipt(id string) *fault.Error {
	e := fault.New(fault.Unauthorized, "Could not find auth receipt: %s.", id)
	e.Detail = "Could not find the auth receipt." // for logs: a receipt is a secret
	return e.Because("bad_receipt")
}

// NewAuditID returns a fresh audit id: a random UUID in 22 characters.
func NewAuditID() string {
	raw, err := hex.DecodeString(uuid.Hex())
	if err != nil {
		panic(err) // unreachable: Hex is hexadecimal
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}
