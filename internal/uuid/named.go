package uuid

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"
)

// parse reads the forms that Python's uuid.UUID reads: with and without
// dashes, braces and "urn:uuid:".
func parse(text string) (u [16]byte, ok bool) {
	text = strings.NewReplacer("urn:", "", "uuid:", "").Replace(text)
	text = strings.ReplaceAll(strings.Trim(text, "{}"), "-", "")
	if len(text) != 32 {
		return u, false
	}
	_, err := hex.Decode(u[:], []byte(text))
	return u, err == nil
}

// Valid tells whether a text is a UUID to Python.
func Valid(text string) bool {
	_, ok := parse(text)
	return ok
}

// MustParse reads a UUID of the code's.
func MustParse(text string) [16]byte {
	u, ok := parse(text)
	if !ok {
		panic("uuid: " + text)
	}
	return u
}

// Named is the UUID of a name in a namespace, version 5 of RFC 9562, in 32
// hexadecimal digits.
func Named(space [16]byte, name string) string {
	sum := sha1.Sum(append(space[:], name...))
	u := sum[:16]
	u[6] = u[6]&0x0f | 0x50
	u[8] = u[8]&0x3f | 0x80
	return hex.EncodeToString(u)
}
