package olog

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// tokenStarts are how Fernet and JWS tokens begin, in base64.
var tokenStarts = [...]string{"gAAAA", "eyJ"}

// tokenLeast is shorter than any token.
const tokenLeast = 40

// hideTokens replaces what looks like a token by its hash, in the form in
// which keystoneauth shows tokens in the logs of clients. Errors name what was
// not found, and clients ask for tokens in places where ids belong.
func hideTokens(s string) string {
	for _, start := range tokenStarts {
		for from := 0; ; {
			at := strings.Index(s[from:], start)
			if at < 0 {
				break
			}
			at += from
			n := tokenLength(s[at:])
			if n < tokenLeast {
				from = at + len(start)
				continue
			}
			sum := sha256.Sum256([]byte(s[at : at+n]))
			shown := "{SHA256}" + hex.EncodeToString(sum[:])
			s, from = s[:at]+shown+s[at+n:], at+len(shown)
		}
	}
	return s
}

// tokenLength is how far the characters of tokens reach.
func tokenLength(s string) int {
	n := strings.IndexFunc(s, func(r rune) bool {
		return r != '-' && r != '_' && r != '.' && r != '=' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	if n < 0 {
		n = len(s)
	}
	return len(strings.TrimRight(s[:n], "."))
}
