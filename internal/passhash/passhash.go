// Package passhash hashes and verifies passwords in the formats that Python
// Keystone has ever stored, with a limit on how much of that runs at once.
package passhash

import (
	"context"
	"errors"
	"time"
)

// Options says how new passwords are hashed and how much hashing may run at
// once. The zero value of a field stands for Keystone's default.
type Options struct {
	// Algorithm is bcrypt, bcrypt_sha256, scrypt, pbkdf2_sha512 or argon2id.
	Algorithm string
	// Rounds is the cost of bcrypt and bcrypt_sha256, the iterations of
	// pbkdf2_sha512; scrypt takes no notice of it.
	Rounds *int
	// ScryptBlockSize and ScryptParallelism are scrypt's r and p; SaltBytes is
	// the length of the salt of scrypt and pbkdf2_sha512.
	ScryptBlockSize, ScryptParallelism, SaltBytes *int
	// MaxLength is the longest password in bytes of UTF-8.
	MaxLength int
	// Strict refuses a longer password instead of cutting it.
	Strict bool
	// Argon2Time is in passes, Argon2Memory in KiB.
	Argon2Time, Argon2Memory, Argon2Threads int
	// Slots hashes run at once, Queue more may wait, each for Wait at most.
	Slots, Queue int
	Wait         time.Duration
}

// Hasher hashes and verifies passwords inside a gate of bounded slots.
type Hasher struct{}

// Busy is the refusal of a full or too slow queue: a 503.
type Busy struct{ RetryAfter time.Duration }

// Error names the refusal.
func (b *Busy) Error() string { return "password hashing is busy" }

// Stats counts what the gate has done and holds.
type Stats struct {
	// Done counts hashes computed, Refused callers turned away since the start.
	Done, Refused uint64
	// Waiting and Running are the present numbers.
	Waiting, Running uint64
}

// New checks the options.
func New(Options) (*Hasher, error) { return &Hasher{}, nil }

var errNotBuilt = errors.New("not built")

// Hash makes the string to store for a password, in the configured scheme.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) { return "", errNotBuilt }

// Verify reports whether the password is the one stored; a stored string that
// cannot be read costs one Dummy and is never right.
func (h *Hasher) Verify(ctx context.Context, stored, password string) (bool, error) {
	return false, errNotBuilt
}

// Dummy spends what one Hash costs.
func (h *Hasher) Dummy(ctx context.Context, password string) error { return errNotBuilt }

// CheckLength refuses an overlong password, as a *fault.Error, when Strict.
func (h *Hasher) CheckLength(password string) error { return nil }

// Stats returns the present counts.
func (h *Hasher) Stats() Stats { return Stats{} }
