// Package fernet seals and opens Fernet messages under a folder of keys as
// keystone-manage fernet_setup makes it.
package fernet

import (
	"errors"
	"time"
)

// ErrInvalid is every reason why a message does not open.
var ErrInvalid = errors.New("not a Fernet message under any known key")

var errNotBuilt = errors.New("not built")

// Repository is a key folder, kept up to date while it is used.
type Repository struct{}

// Open reads the keys of a folder and fails when there is none.
func Open(dir string, now func() time.Time) (*Repository, error) { return nil, errNotBuilt }

// Encrypt seals the payload with the primary key; issued is in whole seconds.
func (r *Repository) Encrypt(payload []byte) (token string, issued time.Time, err error) {
	return "", time.Time{}, errNotBuilt
}

// Decrypt opens a message under any key, or fails with ErrInvalid.
func (r *Repository) Decrypt(token string) (payload []byte, issued time.Time, err error) {
	return nil, time.Time{}, errNotBuilt
}

// Info describes the keys in use; it holds none.
type Info struct {
	// Keys is how many there are, Primary the number of the one that seals.
	Keys, Primary int
	// PrimaryHash is what credential.key_hash holds for the primary key.
	PrimaryHash string
	// Rotated is when the newest key was made: the last rotation.
	Rotated time.Time
	// Err is why the last look at the folder failed, nil when it did not.
	Err error
}

// Info describes the keys in use.
func (r *Repository) Info() Info { return Info{} }

// Owner is the user and group of what Setup and Rotate make; -1 leaves one.
type Owner struct{ UID, GID int }

// Setup makes the folder and its first keys, 0 and 1; it does nothing when
// there is a key 0 (see Initialized).
func Setup(dir string, owner Owner) error { return errNotBuilt }

// Initialized reports whether Setup has nothing to do.
func Initialized(dir string) bool { return false }

// Rotate makes key 0 the primary, makes a new 0 and deletes the oldest keys
// beyond maxActive. A failure leaves the folder as it was.
func Rotate(dir string, maxActive int, owner Owner) error { return errNotBuilt }
