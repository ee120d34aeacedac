// Package uuid makes random identifiers.
package uuid

import (
	"crypto/rand"
	"encoding/hex"
)

// Hex is a random UUID in 32 hexadecimal digits, the form of Keystone's ids.
func Hex() string {
	u := random()
	return hex.EncodeToString(u[:])
}

// Text is a random UUID with its dashes.
func Text() string {
	u := random()
	text := make([]byte, 36)
	at := 0
	for _, part := range [][]byte{u[:4], u[4:6], u[6:8], u[8:10], u[10:]} {
		if at > 0 {
			text[at] = '-'
			at++
		}
		at += hex.Encode(text[at:], part)
	}
	return string(text)
}

// random is version 4 of RFC 9562.
func random() (u [16]byte) {
	// crypto/rand.Read never fails.
	_, _ = rand.Read(u[:])
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return u
}
