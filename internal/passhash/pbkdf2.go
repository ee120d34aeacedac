package passhash

import (
	"crypto/pbkdf2"
	"crypto/sha512"
	"fmt"
	"strconv"
)

func derivePBKDF2(password, salt []byte, rounds int) []byte {
	digest, err := pbkdf2.Key(sha512.New, string(password), salt, rounds, sha512.Size)
	if err != nil {
		return nil // unreachable outside FIPS mode, and equal to no digest
	}
	return digest
}

func makePBKDF2(rounds int) func(password, salt []byte) string {
	return func(password, salt []byte) string {
		return fmt.Sprintf("$pbkdf2-sha512$%d$%s$%s", rounds, encode64(salt), encode64(derivePBKDF2(password, salt, rounds)))
	}
}

func readPBKDF2(fields []string) (stored, bool) {
	if len(fields) != 3 {
		return stored{}, false
	}
	rounds, err := strconv.Atoi(fields[0])
	salt, digest, ok := saltAndDigest(fields[1], fields[2], sha512.Size)
	if err != nil || rounds < 1 || rounds > maxIterations || !ok {
		return stored{}, false
	}
	return stored{derive: func(password []byte) []byte { return derivePBKDF2(password, salt, rounds) }, digest: digest}, true
}
