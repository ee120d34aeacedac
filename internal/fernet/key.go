package fernet

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"strings"
	"sync"
	"time"
)

// The parts of a message: version, time, IV, whole blocks, HMAC.
const (
	version  = 0x80
	timeAt   = 1
	ivAt     = timeAt + 8
	bodyAt   = ivAt + aes.BlockSize
	signSize = sha256.Size
	smallest = bodyAt + aes.BlockSize + signSize
	keySize  = 32
	// lastSecond is the end of the year 9999, the last time that can be written
	// in an answer.
	lastSecond = 253402300799
)

var errKey = errors.New("not a Fernet key (44 characters of base64)")

// Key is one Fernet key, ready for use by any number of goroutines.
type Key struct {
	block cipher.Block
	macs  sync.Pool // of *mac: an HMAC keeps its padded key over Reset
	hash  string
}

type mac struct {
	hash.Hash
	sum [signSize]byte
}

// ParseKey reads the text of a key file. White space around the key is
// tolerated, and so is the other base64 alphabet, as Python's decoder does.
func ParseKey(text string) (*Key, error) {
	plain := strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimSpace(text))
	raw, err := base64.URLEncoding.DecodeString(plain)
	if err != nil || len(raw) != keySize {
		return nil, errKey // err would quote a place in the key
	}
	block, err := aes.NewCipher(raw[keySize/2:])
	if err != nil {
		return nil, errKey
	}
	sign := raw[:keySize/2]
	sum := sha1.Sum([]byte(text))
	k := &Key{block: block, hash: hex.EncodeToString(sum[:])}
	k.macs.New = func() any { return &mac{Hash: hmac.New(sha256.New, sign)} }
	return k, nil
}

// String hides the key.
func (k *Key) String() string { return "fernet.Key" }

// GoString hides the key.
func (k *Key) GoString() string { return "fernet.Key" }

// Hash is the SHA-1 of the key file's text in hex, as credential.key_hash
// holds it.
func (k *Key) Hash() string { return k.hash }

// Seal makes a message without base64 padding. The IV must be fresh and
// random for each; at is cut to the second.
func (k *Key) Seal(payload []byte, iv [aes.BlockSize]byte, at time.Time) string {
	pad := aes.BlockSize - len(payload)%aes.BlockSize
	end := bodyAt + len(payload) + pad
	msg := make([]byte, end, end+signSize)
	msg[0] = version
	binary.BigEndian.PutUint64(msg[timeAt:], uint64(at.Unix()))
	copy(msg[ivAt:], iv[:])
	copy(msg[bodyAt:], payload)
	for i := end - pad; i < end; i++ {
		msg[i] = byte(pad)
	}
	body := msg[bodyAt:]
	cipher.NewCBCEncrypter(k.block, iv[:]).CryptBlocks(body, body)
	m := k.macs.Get().(*mac)
	msg = m.of(msg, msg)
	k.macs.Put(m)
	return base64.RawURLEncoding.EncodeToString(msg)
}

// Open opens a message, padded or not, or fails with ErrInvalid.
func (k *Key) Open(text string) (payload []byte, issued time.Time, err error) {
	m := take()
	defer m.give()
	if !m.read(text) {
		return nil, time.Time{}, ErrInvalid
	}
	return keyring{k}.open(nil, m)
}

// of appends the signature of msg to dst.
func (m *mac) of(dst, msg []byte) []byte {
	m.Reset()
	m.Write(msg)
	return m.Sum(dst)
}

// signed reports, in constant time, whether the signature is this key's.
func (k *Key) signed(raw []byte) bool {
	m := k.macs.Get().(*mac)
	defer k.macs.Put(m)
	cut := len(raw) - signSize
	return hmac.Equal(m.of(m.sum[:0], raw[:cut]), raw[cut:])
}

// keyring holds the keys to try, in that order; the first one seals.
type keyring []*Key

// open appends the payload of a message to dst. It decrypts in place, so a
// message that opened cannot be opened again.
func (r keyring) open(dst []byte, m *message) ([]byte, time.Time, error) {
	for _, k := range r {
		if !k.signed(m.raw) {
			continue
		}
		body := m.raw[bodyAt : len(m.raw)-signSize]
		cipher.NewCBCDecrypter(k.block, m.raw[ivAt:bodyAt]).CryptBlocks(body, body)
		body, ok := unpad(body)
		seconds := binary.BigEndian.Uint64(m.raw[timeAt:])
		if !ok || seconds > lastSecond {
			break
		}
		return append(dst, body...), time.Unix(int64(seconds), 0).UTC(), nil
	}
	return dst, time.Time{}, ErrInvalid
}

// unpad takes the PKCS #7 padding off. The signature was checked before, so
// how long this takes tells nobody anything.
func unpad(body []byte) ([]byte, bool) {
	pad := int(body[len(body)-1])
	if pad < 1 || pad > aes.BlockSize {
		return nil, false
	}
	cut := len(body) - pad
	for _, b := range body[cut:] {
		if int(b) != pad {
			return nil, false
		}
	}
	return body[:cut], true
}
