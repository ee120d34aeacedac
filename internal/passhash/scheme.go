package passhash

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// A stored hash comes from a database that others write to. One that asks for
// more than these is taken for unreadable, and no configuration may ask more.
const (
	maxBcryptCost   = 20       // 256 times the default's time
	maxScryptMemory = 1 << 30  // bytes: 128·N·r
	maxScryptWork   = 1 << 26  // N·r·p, 128 times the default's
	maxIterations   = 10 << 20 // of pbkdf2 and sha512_crypt
	maxArgonMemory  = 1 << 20  // KiB
	maxArgonWork    = 1 << 24  // KiB times passes
	maxSalt         = 256      // bytes
)

// stored is a hash that was read: how to derive it from a password, and what
// must come out.
type stored struct {
	scheme string // as [identity] password_hash_algorithm names it
	derive func(password []byte) []byte
	digest []byte
}

// read takes a stored string apart, by what stands between its first two
// dollar signs.
func read(text string) (stored, bool) {
	fields := strings.Split(text, "$")
	if len(fields) < 4 || fields[0] != "" {
		return stored{}, false
	}
	s, ok := readFields(fields[1], fields[2:])
	s.scheme = schemes[fields[1]]
	return s, ok
}

// Readable reports whether Verify can read a stored string.
func Readable(text string) bool {
	_, ok := read(text)
	return ok
}

var schemes = map[string]string{
	"2": "bcrypt", "2a": "bcrypt", "2b": "bcrypt", "2x": "bcrypt", "2y": "bcrypt", "bcrypt-sha256": "bcrypt_sha256", "scrypt": "scrypt", "7": "scrypt",
	"pbkdf2-sha512": "pbkdf2_sha512", "6": "sha512_crypt", "argon2id": "argon2id", "argon2i": "argon2i",
}

func readFields(ident string, rest []string) (stored, bool) {
	switch ident {
	case "2", "2a", "2b", "2x", "2y":
		return readBcrypt(ident, rest)
	case "bcrypt-sha256":
		return readBcryptSHA256(rest)
	case "scrypt":
		return readScrypt(rest)
	case "7":
		return readScrypt7(rest)
	case "pbkdf2-sha512":
		return readPBKDF2(rest)
	case "6":
		return readSHA512Crypt(rest)
	case "argon2id", "argon2i":
		return readArgon2(ident, rest)
	default:
		return stored{}, false
	}
}

// maker returns the function that makes new hashes, and the length of its
// salt in bytes.
func maker(o Options) (make func(password, salt []byte) string, saltBytes int, err error) {
	switch o.Algorithm {
	case "", "bcrypt", "bcrypt_sha256":
		cost := orDefault(o.Rounds, 12)
		if cost < 4 || cost > maxBcryptCost {
			return nil, 0, fmt.Errorf("password_hash_rounds is %d: for %s from 4 to %d", cost, o.Algorithm, maxBcryptCost)
		}
		if o.Algorithm == "bcrypt_sha256" {
			return makeBcryptSHA256(cost), bcryptSaltSize, nil
		}
		return makeBcrypt(cost), bcryptSaltSize, nil
	case "scrypt":
		p := scryptParams{ln: 16, r: orDefault(o.ScryptBlockSize, 8), p: orDefault(o.ScryptParallelism, 1)}
		if !p.sane() {
			return nil, 0, fmt.Errorf("scrypt_block_size %d with scrypt_parallelism %d is out of bounds", p.r, p.p)
		}
		return p.make, orDefault(o.SaltBytes, 16), checkSalt(o.SaltBytes)
	case "pbkdf2_sha512":
		rounds := orDefault(o.Rounds, 25000)
		if rounds < 1 || rounds > maxIterations {
			return nil, 0, fmt.Errorf("password_hash_rounds is %d: for pbkdf2_sha512 from 1 to %d", rounds, maxIterations)
		}
		return makePBKDF2(rounds), orDefault(o.SaltBytes, 16), checkSalt(o.SaltBytes)
	case "argon2id":
		p := argonParams{
			time:    orDefault(&o.Argon2Time, 3),
			memory:  orDefault(&o.Argon2Memory, 64<<10),
			threads: orDefault(&o.Argon2Threads, 1),
		}
		if !p.sane() {
			return nil, 0, fmt.Errorf("argon2_time %d, argon2_memory %d, argon2_threads %d are out of bounds", p.time, p.memory, p.threads)
		}
		return p.make, 16, nil
	default:
		return nil, 0, fmt.Errorf("password hash algorithm %q is not known", o.Algorithm)
	}
}

// orDefault takes 0 for unset, as Keystone does.
func orDefault(v *int, standard int) int {
	if v == nil || *v == 0 {
		return standard
	}
	return *v
}

func checkSalt(v *int) error {
	if v != nil && (*v < 0 || *v > 96) {
		return fmt.Errorf("salt_bytesize is %d: from 0 to 96", *v)
	}
	return nil
}

// params reads "a=1,b=2" into the variables named; all must be there, others
// must not.
func params(text string, into map[string]*int) bool {
	seen := 0
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		to := into[name]
		n, err := strconv.Atoi(value)
		if to == nil || err != nil || n < 1 {
			return false
		}
		*to = n
		seen++
	}
	return seen == len(into)
}

// decode64 reads the base64 of passlib: no padding, and "." as good as "+".
func decode64(text string) ([]byte, bool) {
	raw, err := base64.RawStdEncoding.DecodeString(strings.ReplaceAll(text, ".", "+"))
	return raw, err == nil && len(raw) > 0
}

func encode64(raw []byte) string { return base64.RawStdEncoding.EncodeToString(raw) }

// saltAndDigest reads the two last fields of most schemes.
func saltAndDigest(salt, digest string, digestSize int) (s, d []byte, ok bool) {
	s, okSalt := decode64(salt)
	d, okDigest := decode64(digest)
	return s, d, okSalt && okDigest && len(s) <= maxSalt && len(d) == digestSize
}
