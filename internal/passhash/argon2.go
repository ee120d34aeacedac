package passhash

import (
	"fmt"

	"golang.org/x/crypto/argon2"
)

const argonSize = 32

// argonParams are passes, KiB and threads.
type argonParams struct{ time, memory, threads int }

func (a argonParams) sane() bool {
	return a.time >= 1 && a.threads >= 1 && a.threads <= 255 && a.memory >= 8*a.threads &&
		a.memory <= maxArgonMemory && a.time <= maxArgonWork/a.memory
}

func (a argonParams) make(password, salt []byte) string {
	digest := argon2.IDKey(password, salt, uint32(a.time), uint32(a.memory), uint8(a.threads), argonSize)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
		argon2.Version, a.memory, a.time, a.threads, encode64(salt), encode64(digest))
}

func readArgon2(ident string, fields []string) (stored, bool) {
	if len(fields) != 4 || fields[0] != fmt.Sprintf("v=%d", argon2.Version) {
		return stored{}, false
	}
	var a argonParams
	okParams := params(fields[1], map[string]*int{"m": &a.memory, "t": &a.time, "p": &a.threads})
	salt, okSalt := decode64(fields[2])
	digest, okDigest := decode64(fields[3])
	if !okParams || !a.sane() || !okSalt || !okDigest || len(salt) > maxSalt || len(digest) < 16 || len(digest) > 128 {
		return stored{}, false
	}
	derive := func(password []byte) []byte {
		key := argon2.IDKey
		if ident == "argon2i" {
			key = argon2.Key
		}
		return key(password, salt, uint32(a.time), uint32(a.memory), uint8(a.threads), uint32(len(digest)))
	}
	return stored{derive: derive, digest: digest}, true
}
