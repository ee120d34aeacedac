package passhash

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	//lint:ignore SA1019 bcrypt is made of Blowfish
	"golang.org/x/crypto/blowfish"
)

const (
	bcryptSaltSize = 16
	saltChars      = 22
	digestChars    = 31
	// yieldEvery rounds, less than a millisecond, other goroutines get their
	// turn: a validation must not wait until the scheduler takes the core away.
	yieldEvery = 8
)

// bcrypt64 is bcrypt's own base64.
var bcrypt64 = base64.NewEncoding("./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789").WithPadding(base64.NoPadding)

// bcryptMagic is what is encrypted, 64 times.
const bcryptMagic = "OrpheanBeholderScryDoubt"

// bcryptDigest is bcrypt with a salt of choice, which x/crypto/bcrypt does not
// offer and bcrypt_sha256 needs. key must not be empty; 72 bytes of it count.
func bcryptDigest(key, salt []byte, cost int) []byte {
	key = key[:min(len(key), bcryptLength)]
	c, err := blowfish.NewSaltedCipher(key, salt)
	if err != nil {
		panic(err) // unreachable: an empty key alone is an error
	}
	others := newRunnable()
	for i := range 1 << cost {
		blowfish.ExpandKey(key, c)
		blowfish.ExpandKey(salt, c)
		if i%yieldEvery == yieldEvery-1 {
			others.yield()
		}
	}
	out := []byte(bcryptMagic)
	for i := 0; i < len(out); i += blowfish.BlockSize {
		for range 64 {
			c.Encrypt(out[i:], out[i:])
		}
	}
	return out[:len(out)-1] // the first implementation forgot a byte
}

// terminated is a password as C has it, with the NUL that bcrypt hashes too.
func terminated(password []byte) []byte {
	return append(bytes.Clone(password), 0)
}

func makeBcrypt(cost int) func(password, salt []byte) string {
	return func(password, salt []byte) string {
		digest := bcryptDigest(terminated(password), salt, cost)
		return fmt.Sprintf("$2b$%02d$%s%s", cost, bcrypt64.EncodeToString(salt), bcrypt64.EncodeToString(digest))
	}
}

// readBcrypt treats the later variants alike: they mark faults of old
// libraries that Python's does not have either. The first of all, "$2$",
// hashed no NUL.
func readBcrypt(ident string, fields []string) (stored, bool) {
	if len(fields) != 2 || len(fields[0]) != 2 || len(fields[1]) != saltChars+digestChars {
		return stored{}, false
	}
	cost, okCost := bcryptCost(fields[0])
	salt, digest, ok := bcryptFields(fields[1][:saltChars], fields[1][saltChars:])
	if !okCost || !ok {
		return stored{}, false
	}
	derive := func(password []byte) []byte {
		if ident == "2" && len(password) > 0 {
			return bcryptDigest(password, salt, cost)
		}
		digest := bcryptDigest(terminated(password), salt, cost)
		if ident == "2" {
			return nil // there was nothing to make a key of
		}
		return digest
	}
	return stored{derive: derive, digest: digest}, true
}

func bcryptCost(text string) (int, bool) {
	cost, err := strconv.Atoi(text)
	return cost, err == nil && cost >= 4 && cost <= maxBcryptCost
}

func bcryptFields(salt, digest string) (s, d []byte, ok bool) {
	s, err1 := bcrypt64.DecodeString(salt)
	d, err2 := bcrypt64.DecodeString(digest)
	return s, d, err1 == nil && err2 == nil && len(s) == bcryptSaltSize && len(d) == len(bcryptMagic)-1
}

// A bcrypt_sha256 hash below this cost cannot be read by Keystone, which does
// not fill the cost up to two digits.
const minSHA256Cost = 10

func makeBcryptSHA256(cost int) func(password, salt []byte) string {
	cost = max(cost, minSHA256Cost)
	return func(password, salt []byte) string {
		text := bcrypt64.EncodeToString(salt)
		digest := bcryptDigest(terminated(saltedSHA256(password, text)), salt, cost)
		return fmt.Sprintf("$bcrypt-sha256$v=2,t=2b,r=%d$%s$%s", cost, text, bcrypt64.EncodeToString(digest))
	}
}

// readBcryptSHA256 knows the form that Keystone writes, "v=2,t=2b,r=12", and
// passlib's first, "2b,12", which hashed the password without the salt.
func readBcryptSHA256(fields []string) (stored, bool) {
	if len(fields) != 3 {
		return stored{}, false
	}
	text := fields[1]
	prepare := func(password []byte) []byte { return saltedSHA256(password, text) }
	rounds, ok := strings.CutPrefix(fields[0], "v=2,t=2b,r=")
	if !ok {
		var variant string
		variant, rounds, _ = strings.Cut(fields[0], ",")
		if variant != "2a" && variant != "2b" {
			return stored{}, false
		}
		prepare = plainSHA256
	}
	cost, okCost := bcryptCost(rounds)
	salt, digest, okFields := bcryptFields(text, fields[2])
	if !okCost || !okFields {
		return stored{}, false
	}
	derive := func(password []byte) []byte {
		return bcryptDigest(terminated(prepare(password)), salt, cost)
	}
	return stored{derive: derive, digest: digest}, true
}

// saltedSHA256 is keyed with the salt's text, not its bytes.
func saltedSHA256(password []byte, salt string) []byte {
	mac := hmac.New(sha256.New, []byte(salt))
	mac.Write(password)
	return base64.StdEncoding.AppendEncode(nil, mac.Sum(nil))
}

func plainSHA256(password []byte) []byte {
	sum := sha256.Sum256(password)
	return base64.StdEncoding.AppendEncode(nil, sum[:])
}
