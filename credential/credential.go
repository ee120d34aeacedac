package credential

import (
	"context"
	"errors"
	"fmt"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// Credential is a stored credential.
type Credential struct {
	ID, UserID, Type string
	ProjectID        *string
	// Blob is the secret; nil until Open has decrypted it.
	Blob  *string
	Extra pyjson.Object

	sealed, keyHash string
}

// Vault encrypts and decrypts what is stored: fernet.Vault.
type Vault interface {
	// Seal gives the hash of the key that it sealed with, too.
	Seal(plain []byte) (text, keyHash string, err error)
	Open(text string) ([]byte, error)
}

// Credentials are the stored credentials of a database.
type Credentials struct {
	DB    db.DB
	Vault Vault
	// UserLimit is [credential] user_limit: how many a user may have, without
	// bound below 0.
	UserLimit int
}

// Get returns a credential, its blob still sealed; 404 when there is none.
func (s Credentials) Get(ctx context.Context, id string) (Credential, error) {
	c, err := db.One(ctx, s.DB, byID(id))
	if errors.Is(err, db.ErrNoRow) || errors.Is(err, db.ErrBadValue) {
		return c, fault.NoSuch("credential", id)
	}
	return c, fault.Wrap(err, "read credential", id)
}

// List returns the credentials that match, by id, their blobs still sealed: not
// all may be for the eyes of the caller.
func (s Credentials) List(ctx context.Context, h hints.Hints) (hints.Page[Credential], error) {
	p, err := hints.List(ctx, s.DB, h, source)
	return p, fault.Wrap(err, "list", "credentials")
}

// Open decrypts the blob. The error of one that no key opens does not hold it.
func (s Credentials) Open(c Credential) (Credential, error) {
	plain, err := s.Vault.Open(c.sealed)
	if err != nil {
		return c, fmt.Errorf("decrypt credential %s: %w", c.ID, err)
	}
	blob, err := blobOf(c.Type, plain)
	if err != nil {
		return c, fmt.Errorf("credential %s: %w", c.ID, err)
	}
	c.Blob = &blob
	return c, nil
}

// Create stores a credential with its blob; 403 where the user has as many as
// he may. An ec2 credential must have been through Identify.
func (s Credentials) Create(ctx context.Context, n Credential) error {
	text, keyHash, err := s.Vault.Seal(plainOf(n.Type, *n.Blob))
	if err != nil {
		return fmt.Errorf("encrypt a credential: %w", err)
	}
	n.sealed, n.keyHash = text, keyHash
	if s.UserLimit < 0 {
		err = n.store(ctx, s.DB)
	} else {
		err = s.DB.Tx(ctx, func(c db.Conn) error { return n.storeWithin(ctx, c, s.UserLimit) })
	}
	if errors.Is(err, db.ErrDuplicate) {
		return fault.Duplicate("credential", "Duplicate entry found with ID %s", n.ID)
	}
	return fault.Wrap(err, "create credential", n.ID)
}

// storeWithin stores the credential of a user who has not too many. Two at once
// do not pass by the limit: they wait for one another at the row of the user.
func (n Credential) storeWithin(ctx context.Context, c db.Conn, limit int) error {
	if _, err := db.All(ctx, c, userHeld(c.Dialect(), n.UserID)); err != nil {
		return err
	}
	count, err := db.One(ctx, c, countOf(n.UserID))
	if err != nil {
		return err
	}
	if count >= int64(limit) {
		return fault.New(fault.Forbidden, "Unable to create additional credentials, maximum of %d already exceeded for user.", limit)
	}
	return n.store(ctx, c)
}

// Update gives a credential another blob; 404 when it is gone. The marks of a
// delegation in an ec2 credential stay as they are, or it is a 400.
func (s Credentials) Update(ctx context.Context, c Credential, blob string) (Credential, error) {
	if IsEC2(c.Type) {
		if err := s.keepMarks(c, blob); err != nil {
			return c, err
		}
	}
	// As Python does, without the layer of JSON that a new one has.
	text, keyHash, err := s.Vault.Seal([]byte(blob))
	if err != nil {
		return c, fmt.Errorf("encrypt credential %s: %w", c.ID, err)
	}
	n, err := s.DB.Exec(ctx, `update credential
set encrypted_blob = $1, key_hash = $2
where id = $3`, text, keyHash, c.ID)
	if err == nil && n == 0 {
		err = fault.NoSuch("credential", c.ID)
	}
	c.Blob = &blob
	return c, fault.Wrap(err, "update credential", c.ID)
}

// Delete removes a credential; 404 when there is none.
func (s Credentials) Delete(ctx context.Context, id string) error {
	n, err := s.DB.Exec(ctx, `delete from credential where id = $1`, id)
	if err == nil && n == 0 {
		err = fault.NoSuch("credential", id)
	}
	return fault.Wrap(err, "delete credential", id)
}
