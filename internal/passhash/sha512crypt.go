package passhash

import (
	"bytes"
	"crypto/sha512"
	"hash"
	"strconv"
	"strings"
)

// Rounds of sha512_crypt: what no "rounds=" means, and the least there are.
const (
	sha512CryptRounds    = 5000
	sha512CryptMinRounds = 1000
	sha512CryptSalt      = 16
	// sha512CryptYield rounds take about a millisecond (see yieldEvery).
	sha512CryptYield = 1024
)

// readSHA512Crypt reads "$6$", perhaps "rounds=N$", salt "$" digest, which
// Keystone wrote until 2013 and read until 2024.2.
func readSHA512Crypt(fields []string) (stored, bool) {
	rounds := sha512CryptRounds
	if text, ok := strings.CutPrefix(fields[0], "rounds="); ok {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxIterations {
			return stored{}, false
		}
		rounds, fields = max(n, sha512CryptMinRounds), fields[1:]
	}
	if len(fields) != 2 {
		return stored{}, false
	}
	salt := []byte(fields[0][:min(len(fields[0]), sha512CryptSalt)])
	digest, ok := crypt64Decode(fields[1])
	if !ok || len(digest) != sha512.Size {
		return stored{}, false
	}
	derive := func(password []byte) []byte { return sha512Crypt(password, salt, rounds) }
	return stored{derive: derive, digest: digest}, true
}

// sha512Crypt is Drepper's scheme (akkadia.org/drepper/SHA-crypt.txt), whose
// numbers of the steps stand here.
func sha512Crypt(password, salt []byte, rounds int) []byte {
	// 4 to 8: the alternate sum.
	b := sha512.New()
	b.Write(password)
	b.Write(salt)
	b.Write(password)
	alternate := b.Sum(nil)
	// 1 to 3 and 9 to 12.
	a := sha512.New()
	a.Write(password)
	a.Write(salt)
	a.Write(stretch(alternate, len(password)))
	for n := len(password); n > 0; n >>= 1 {
		if n&1 != 0 {
			a.Write(alternate)
		} else {
			a.Write(password)
		}
	}
	sum := a.Sum(nil)
	// 13 to 16: the password's bytes, and 17 to 20: the salt's.
	dp := sha512.New()
	for range password {
		dp.Write(password)
	}
	p := stretch(dp.Sum(nil), len(password))
	ds := sha512.New()
	for range 16 + int(sum[0]) {
		ds.Write(salt)
	}
	s := stretch(ds.Sum(nil), len(salt))
	// 21: the rounds.
	c, others := sha512.New(), newRunnable()
	for i := range rounds {
		c.Reset()
		sum = sha512CryptRound(c, sum, p, s, i)
		if i%sha512CryptYield == sha512CryptYield-1 {
			others.yield()
		}
	}
	return transpose(sum)
}

func sha512CryptRound(c hash.Hash, sum, p, s []byte, i int) []byte {
	first, last := sum, p
	if i%2 == 1 {
		first, last = p, sum
	}
	c.Write(first)
	if i%3 != 0 {
		c.Write(s)
	}
	if i%7 != 0 {
		c.Write(p)
	}
	c.Write(last)
	return c.Sum(sum[:0])
}

// stretch repeats a sum up to a length.
func stretch(sum []byte, size int) []byte {
	return bytes.Repeat(sum, size/len(sum)+1)[:size]
}

// transpose orders the sum as its text has it (step 22): threes of bytes that
// stand a third of the sum apart, turning.
func transpose(sum []byte) []byte {
	out := make([]byte, 0, len(sum))
	for i := range 21 {
		three := [3]byte{sum[i], sum[i+21], sum[i+42]}
		// The text begins with the low bits, that is with the last of the three.
		turn := [3][3]int{{2, 1, 0}, {0, 2, 1}, {1, 0, 2}}[i%3]
		for _, at := range turn {
			out = append(out, three[at])
		}
	}
	return append(out, sum[63])
}
