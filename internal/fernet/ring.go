package fernet

import (
	"crypto/aes"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// nullText is the key of 32 zero bytes. Keystone writes credentials under it
// where there is no key folder, and so reads them by it for ever.
const nullText = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

// Ring is the keys of a folder as one reading gave them, the primary first and
// the null key last: what stored credentials are encrypted under.
type Ring struct{ keys keyring }

// ReadRing reads the keys of a folder and fails when there is none.
func ReadRing(dir string) (Ring, error) {
	s, err := load(dir)
	if err != nil {
		return Ring{}, fmt.Errorf("read Fernet keys: %w", err)
	}
	return ringOf(s.ring), nil
}

var nullKey = sync.OnceValue(func() *Key {
	k, _ := ParseKey(nullText) // that it is a key is tested
	return k
})

// ringOf puts the null key behind the keys.
func ringOf(keys keyring) Ring { return Ring{append(slices.Clip(keys), nullKey())} }

// Hash is Key.Hash of the key that seals.
func (r Ring) Hash() string { return r.keys[0].Hash() }

// Seal encrypts under the primary key, with base64 padding, which tokens are
// without; at is cut to the second.
func (r Ring) Seal(payload []byte, at time.Time) (string, error) {
	var iv [aes.BlockSize]byte
	if _, err := rand.Read(iv[:]); err != nil {
		return "", fmt.Errorf("make an IV: %w", err)
	}
	text := r.keys[0].Seal(payload, iv, at)
	return text + strings.Repeat("=", -len(text)&3), nil
}

// Open decrypts under any of the keys, or fails with ErrInvalid.
func (r Ring) Open(text string) ([]byte, error) {
	m := take()
	defer m.give()
	if !m.read(text) {
		return nil, ErrInvalid
	}
	payload, _, err := r.keys.open(nil, m)
	return payload, err
}
