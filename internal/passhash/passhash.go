// Package passhash hashes and verifies passwords in the formats that Python
// Keystone has ever stored, with a limit on how much of that runs at once.
package passhash

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"time"

	"github.com/keystone-go/keystone-go/internal/fault"
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
	// MaxLength is the longest password in bytes of UTF-8; bcrypt has 72 at most.
	MaxLength int
	// Strict refuses a longer password instead of cutting it.
	Strict bool
	// Argon2Time is in passes, Argon2Memory in KiB.
	Argon2Time, Argon2Memory, Argon2Threads int
	// Slots hashes run at once (0: half the cores), Queue more may wait (0: 64 a
	// slot), each for Wait at most (0: 15 s).
	Slots, Queue int
	Wait         time.Duration
	// Observe, if set, is told the scheme of every hash that was computed and
	// how long that took, without the queue.
	Observe func(scheme string, took time.Duration)
}

// Hasher hashes and verifies passwords inside a gate of bounded slots.
type Hasher struct {
	gate      *gate
	make      func(password, salt []byte) string
	saltBytes int
	limit     int
	strict    bool
	scheme    string // of new hashes
	observe   func(scheme string, took time.Duration)
}

// The longest passwords in bytes (keystone/common/password_hashing.py).
const (
	defaultLength = 4096
	bcryptLength  = 72
)

// New checks the options.
func New(o Options) (*Hasher, error) {
	if o.Slots < 0 || o.Queue < 0 || o.Wait < 0 {
		return nil, fmt.Errorf("hash slots, queue and wait must not be negative: %d, %d, %v", o.Slots, o.Queue, o.Wait)
	}
	h := &Hasher{gate: newGate(o.Slots, o.Queue, o.Wait), limit: o.MaxLength, strict: o.Strict, scheme: o.Algorithm, observe: o.Observe}
	if h.scheme == "" {
		h.scheme = "bcrypt"
	}
	if h.limit <= 0 {
		h.limit = defaultLength
	}
	if o.Algorithm == "" || o.Algorithm == "bcrypt" {
		h.limit = min(h.limit, bcryptLength)
	}
	var err error
	h.make, h.saltBytes, err = maker(o)
	return h, err
}

// Hash makes the string to store for a password, in the configured scheme.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	if err := h.CheckLength(password); err != nil {
		return "", err
	}
	var stored string
	err := h.run(ctx, h.scheme, func() { stored = h.fresh(password) })
	if err != nil {
		return "", err
	}
	return stored, nil
}

// Verify reports whether the password is the one stored. A stored string that
// cannot be read, or whose price is absurd, costs one Dummy and is never right.
// An overlong password is cut, Strict or not: see CheckLength.
func (h *Hasher) Verify(ctx context.Context, stored, password string) (bool, error) {
	known, ok := read(stored)
	if !ok {
		return false, h.Dummy(ctx, password)
	}
	var right bool
	err := h.run(ctx, known.scheme, func() {
		right = subtle.ConstantTimeCompare(known.derive(h.cut(password)), known.digest) == 1
	})
	if err != nil {
		return false, err
	}
	return right, nil
}

// Dummy spends what one Hash costs, so that an account that cannot log in
// takes as long to say so as one that can.
func (h *Hasher) Dummy(ctx context.Context, password string) error {
	return h.run(ctx, h.scheme, func() { h.fresh(password) })
}

// run computes a hash in the gate.
func (h *Hasher) run(ctx context.Context, scheme string, work func()) error {
	if h.observe == nil {
		return h.gate.run(ctx, work)
	}
	return h.gate.run(ctx, func() {
		start := time.Now()
		work()
		h.observe(scheme, time.Since(start))
	})
}

// CheckLength refuses an overlong password, as a *fault.Error, when Strict.
func (h *Hasher) CheckLength(password string) error {
	if !h.strict || len(password) <= h.limit {
		return nil
	}
	return fault.New(fault.Forbidden, "The password length must be less than or equal to %d. The server could not comply with the request because the password is invalid.", h.limit).Because("password_too_long")
}

// Stats returns the present counts.
func (h *Hasher) Stats() Stats { return h.gate.stats() }

// fresh computes a new hash; it must run in the gate.
func (h *Hasher) fresh(password string) string {
	salt := make([]byte, h.saltBytes)
	_, _ = rand.Read(salt) // it never fails
	return h.make(h.cut(password), salt)
}

// cut takes the bytes that count, by the configured scheme whatever scheme the
// stored hash is of, as Keystone does. It may part a character.
func (h *Hasher) cut(password string) []byte {
	return []byte(password[:min(len(password), h.limit)])
}
