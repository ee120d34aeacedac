package passhash

import (
	"fmt"
	"strings"

	"golang.org/x/crypto/scrypt"
)

const scryptSize = 32

// scryptParams are the logarithm of N, the block size and the parallelism.
type scryptParams struct{ ln, r, p int }

// sane keeps each factor below 2^31 before they are multiplied.
func (s scryptParams) sane() bool {
	if s.ln < 1 || s.ln > 30 || s.r < 1 || s.r > 1<<16 || s.p < 1 || s.p > 1<<16 {
		return false
	}
	blocks := int64(s.r) << s.ln
	return blocks <= maxScryptMemory/128 && blocks*int64(s.p) <= maxScryptWork
}

func (s scryptParams) derive(password, salt []byte) []byte {
	digest, err := scrypt.Key(password, salt, 1<<s.ln, s.r, s.p, scryptSize)
	if err != nil {
		return nil // unreachable for sane parameters, and equal to no digest
	}
	return digest
}

func (s scryptParams) make(password, salt []byte) string {
	return fmt.Sprintf("$scrypt$ln=%d,r=%d,p=%d$%s$%s", s.ln, s.r, s.p, encode64(salt), encode64(s.derive(password, salt)))
}

func readScrypt(fields []string) (stored, bool) {
	if len(fields) != 3 {
		return stored{}, false
	}
	var s scryptParams
	okParams := params(fields[0], map[string]*int{"ln": &s.ln, "r": &s.r, "p": &s.p})
	salt, digest, ok := saltAndDigest(fields[1], fields[2], scryptSize)
	if !okParams || !s.sane() || !ok {
		return stored{}, false
	}
	return stored{derive: func(password []byte) []byte { return s.derive(password, salt) }, digest: digest}, true
}

// readScrypt7 reads "$7$", N r p salt "$" digest: numbers and digest in the
// base64 of crypt(3), the salt as it stands.
func readScrypt7(fields []string) (stored, bool) {
	if len(fields) != 2 || len(fields[0]) <= 11 || len(fields[0]) > 11+maxSalt {
		return stored{}, false
	}
	var s scryptParams
	var ok [3]bool
	head := fields[0][:11]
	s.ln, ok[0] = crypt64Number(head[:1])
	s.r, ok[1] = crypt64Number(head[1:6])
	s.p, ok[2] = crypt64Number(head[6:])
	salt := []byte(fields[0][11:])
	digest, okDigest := crypt64Decode(fields[1])
	if ok != [3]bool{true, true, true} || !s.sane() || !okDigest || len(digest) != scryptSize {
		return stored{}, false
	}
	return stored{derive: func(password []byte) []byte { return s.derive(password, salt) }, digest: digest}, true
}

// crypt64 is the alphabet of crypt(3), whose low bits come first.
const crypt64 = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// crypt64Number reads at most five characters.
func crypt64Number(text string) (int, bool) {
	n := 0
	for i := range len(text) {
		v := strings.IndexByte(crypt64, text[i])
		if v < 0 {
			return 0, false
		}
		n |= v << (6 * i)
	}
	return n, true
}

func crypt64Decode(text string) ([]byte, bool) {
	var out []byte
	for len(text) > 0 {
		part := text[:min(4, len(text))]
		text = text[len(part):]
		n, ok := crypt64Number(part)
		if !ok || len(part) == 1 {
			return nil, false
		}
		for range len(part) * 6 / 8 {
			out = append(out, byte(n))
			n >>= 8
		}
	}
	return out, true
}
