// Package token writes and reads Keystone's tokens and auth receipts.
package token

import (
	"errors"
	"time"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/fernet"
)

// Token is what a token says about itself; nothing of it is checked against
// the database.
type Token struct {
	// Version is the Fernet payload version, 0 to 10; Issue sets it.
	Version int
	UserID  string
	// Methods are in falling order of their place in [auth] methods once
	// decoded, whatever order they were issued in.
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
	// Issue returns the string of a token, setting its IssuedAt and Version.
	Issue(*Token) (string, error)
	// Decode reads a string; what is not a token of this cloud is ErrNotFound.
	Decode(string) (*Token, error)
}

// ErrNotFound is in the chain of every refusal of Decode, beside the
// *fault.Error (404) with Keystone's words.
var ErrNotFound = errors.New("token not found")

// Fernet is the provider of Fernet tokens and receipts.
type Fernet struct{}

// NewFernet takes the keys, [auth] methods in file order, whose places are
// the bits of the payload, and [identity] default_domain_id.
func NewFernet(repo *fernet.Repository, methods []string, defaultDomainID string) *Fernet {
	return &Fernet{}
}

var errNotBuilt = errors.New("not built")

// Issue encrypts a token.
func (f *Fernet) Issue(t *Token) (string, error) { return "", errNotBuilt }

// Decode decrypts a token.
func (f *Fernet) Decode(text string) (*Token, error) { return nil, errNotBuilt }

// IssueReceipt encrypts a receipt and sets its IssuedAt.
func (f *Fernet) IssueReceipt(r *Receipt) (string, error) { return "", errNotBuilt }

// DecodeReceipt decrypts a receipt; what is none is NoReceipt.
func (f *Fernet) DecodeReceipt(text string) (*Receipt, error) { return nil, errNotBuilt }

// NoReceipt is the 401 for a receipt that is unknown, expired or another
// user's.
func NoReceipt(id string) *fault.Error {
	return fault.New(fault.Unauthorized, "Could not find auth receipt: %s.", id)
}

// NewAuditID returns a fresh audit id of 22 characters.
func NewAuditID() string { return "" }
