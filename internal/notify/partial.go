package notify

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
)

// hashes are those of [security_compliance] invalid_password_hash_function
// that are served.
var hashes = map[string]func() hash.Hash{
	"sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
}

// sqlDriver salts what is told of wrong passwords, so that Python servers
// beside this one tell the same of the same password.
const sqlDriver = "keystone.identity.backends.sql.Identity"

// Partial makes what is told of a wrong password: as many characters as asked
// for of an HMAC under a key that listeners do not have, all of them for 0.
func Partial(key, function string, most int) (func(password string) string, error) {
	h := hashes[function]
	switch {
	case key == "":
		return nil, errors.New("invalid_password_hash_secret_key has to be set for report_invalid_password_hash")
	case h == nil:
		return nil, fmt.Errorf("invalid_password_hash_function %s is not served", function)
	}
	sum := func(key, text []byte) []byte {
		m := hmac.New(h, key)
		m.Write(text)
		return m.Sum(nil)
	}
	return func(password string) string {
		text := base64.RawStdEncoding.EncodeToString(sum([]byte(key), sum([]byte(sqlDriver), []byte(password))))
		if most > 0 && most < len(text) {
			text = text[:most]
		}
		return text
	}, nil
}
