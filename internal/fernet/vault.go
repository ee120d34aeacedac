package fernet

import (
	"errors"
	"io/fs"
	"log/slog"
	"sync/atomic"
	"time"
)

// Vault seals and opens what is stored, under a folder of keys that is looked at
// while it is used. Without a folder, or with one that holds no key, it seals
// under the null key, as Python Keystone does, until there are keys.
type Vault struct {
	dir  string
	now  func() time.Time
	repo atomic.Pointer[Repository] // nil until there are keys
}

// OpenVault fails where keys are there and cannot be read.
func OpenVault(dir string, now func() time.Time) (*Vault, error) {
	v := &Vault{dir: dir, now: now}
	_, err := v.repository()
	return v, err
}

// Keyless reports whether there are no keys but the null key.
func (v *Vault) Keyless() bool { return v.repo.Load() == nil }

// repository is nil where there are no keys.
func (v *Vault) repository() (*Repository, error) {
	if r := v.repo.Load(); r != nil {
		return r, nil
	}
	r, err := Open(v.dir, v.now)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoKey) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	// Whoever was first: all see the same folder.
	v.repo.CompareAndSwap(nil, r)
	return v.repo.Load(), nil
}

// Seal encrypts under the primary key, and gives the hash of that key too.
func (v *Vault) Seal(payload []byte) (text, keyHash string, err error) {
	r, err := v.repository()
	if err != nil {
		return "", "", err
	}
	ring := ringOf(nil)
	if r != nil {
		ring = r.ring()
	} else {
		slog.Warn("a credential is encrypted with the null key, which everybody knows: run credential_setup, then credential_migrate", "dir", v.dir)
	}
	text, err = ring.Seal(payload, v.now())
	return text, ring.Hash(), err
}

// Open decrypts under any of the keys, or fails with ErrInvalid.
func (v *Vault) Open(text string) ([]byte, error) {
	r, err := v.repository()
	if err != nil {
		return nil, err
	}
	if r == nil {
		return ringOf(nil).Open(text)
	}
	looks := r.looks.Load()
	payload, err := r.ring().Open(text)
	if err == nil {
		return payload, nil
	}
	// Sealed by another server, under a key that came just now.
	return ringOf(r.lookAgain(looks).ring).Open(text)
}

// ring is the keys as they are now, and the null key.
func (r *Repository) ring() Ring {
	r.glance()
	return ringOf(r.keys.Load().ring)
}
