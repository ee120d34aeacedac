package fernet

import (
	"crypto/aes"
	"encoding/base64"
	"slices"
	"strings"
	"sync"
)

// message is the bytes behind a token's text, in a buffer used over and over.
type message struct{ raw []byte }

// keep is the longest buffer that is worth keeping.
const keep = 8 << 10

var messages = sync.Pool{New: func() any { return new(message) }}

func take() *message { return messages.Get().(*message) }

func (m *message) give() {
	if cap(m.raw) <= keep {
		messages.Put(m)
	}
}

// strict refuses set bits behind the last byte, so that a token has one text
// (two with its padding). Python's decoder skips what is not base64 and takes
// more texts than one for the same bytes; nothing makes such tokens.
var strict = base64.RawURLEncoding.Strict()

// read decodes a token and reports whether it has the shape of one.
func (m *message) read(text string) bool {
	for range 2 {
		text = strings.TrimSuffix(text, "=")
	}
	// The decoder passes over line ends even when it is strict.
	if strings.ContainsAny(text, "\r\n") {
		return false
	}
	size := strict.DecodedLen(len(text))
	if size < smallest || (size-bodyAt-signSize)%aes.BlockSize != 0 {
		return false
	}
	m.raw = slices.Grow(m.raw[:0], size)[:size]
	n, err := strict.Decode(m.raw, []byte(text))
	return err == nil && n == size && m.raw[0] == version
}
