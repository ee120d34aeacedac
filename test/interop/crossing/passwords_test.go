//go:build interop

package crossing_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/passhash"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// scheme is one way to hash a new password.
type scheme struct {
	Algorithm string `json:"algorithm"`
	Rounds    *int   `json:"rounds"`
}

func (s scheme) String() string {
	if s.Rounds == nil {
		return s.Algorithm
	}
	return fmt.Sprintf("%s with %d rounds", s.Algorithm, *s.Rounds)
}

func schemes() []scheme {
	n := func(i int) *int { return &i }
	return []scheme{
		{"bcrypt", nil},
		{"bcrypt", n(4)},
		{"bcrypt", n(9)},
		// See TestFewRounds.
		{"bcrypt_sha256", nil},
		{"bcrypt_sha256", n(10)},
		{"scrypt", nil},
		{"pbkdf2_sha512", nil},
		{"pbkdf2_sha512", n(1000)},
	}
}

// passwords are those whose bytes a scheme may take amiss. Those of more than
// 72 bytes come last: a server that hashes by bcrypt cuts them there, and cuts
// what it holds against hashes of any scheme, so that only its own can match.
var passwords = []string{
	"simple", "pässwörd \u2713 \U0001f511", " leading and trailing ", "a\"b\\c'd$e%f", strings.Repeat("x", 72),
	strings.Repeat("long-0123456789-", 8), strings.Repeat("ü", 36) + "beyond", strings.Repeat("x", 71) + "ü",
}

// hashPython has Keystone's own code hash each password by each scheme.
func hashPython(t *testing.T) [][]string {
	t.Helper()
	in, err := json.Marshal(m{"schemes": schemes(), "passwords": passwords})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(peer.Venv("python"), "-W", "ignore", "hashes.py")
	cmd.Stdin = strings.NewReader(string(in))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("hashes.py: %v", err)
	}
	var hashes [][]string
	if err := json.Unmarshal(out, &hashes); err != nil {
		t.Fatal(err)
	}
	return hashes
}

func hashGo(t *testing.T) [][]string {
	t.Helper()
	out := make([][]string, len(schemes()))
	for i, s := range schemes() {
		h, err := passhash.New(passhash.Options{Algorithm: s.Algorithm, Rounds: s.Rounds})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range passwords {
			hash, err := h.Hash(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			out[i] = append(out[i], hash)
		}
	}
	return out
}

// TestPasswords: what the code of one has hashed logs in at the other, and a
// password that differs in one letter does not. The first of them are tried by
// every scheme, the rest by cheap ones.
func TestPasswords(t *testing.T) {
	c := shared(t)
	p := c.person()
	for maker, hashes := range map[string][][]string{"python": hashPython(t), "go": hashGo(t)} {
		for i, s := range schemes() {
			for j, password := range passwords {
				if j > 0 && (s.Rounds == nil || *s.Rounds > 4 && *s.Rounds < 1000) || len(password) > 72 && s.Algorithm != "bcrypt" {
					continue
				}
				if _, err := c.DB.Exec(t.Context(), `update password set password_hash = $1
where local_user_id = (select id from local_user where user_id = $2)`, hashes[i][j], p.id); err != nil {
					t.Fatal(err)
				}
				for _, server := range c.Servers() {
					if got := c.tries(server, p, password); got != http.StatusCreated {
						t.Errorf("%s hashed %q by %s (%.12s…): login at %s: %d", maker, password, s, hashes[i][j], server.Name, got)
					}
				}
				if got := c.tries(c.Go, p, "z"+password[1:]); got != http.StatusUnauthorized {
					t.Errorf("%s hashed %q by %s: another password logs in: %d", maker, password, s, got)
				}
			}
		}
	}
}

// TestFewRounds: a hash of Keystone 30.0.0 that it cannot read itself.
func TestFewRounds(t *testing.T) {
	c := shared(t)
	p := c.person()
	p.password = "simple"
	c.exec(`update password set password_hash = $1 where local_user_id = (select id from local_user where user_id = $2)`,
		"$bcrypt-sha256$v=2,t=2b,r=5$2Yc.wZlvkt2ztMJRFDzWIO$0KNsOWfJpeWRTuO97ujsnEhI0W3xIJC", p.id)
	if python, ours := c.tries(c.Python, p, p.password), c.tries(c.Go, p, p.password); python != http.StatusUnauthorized || ours != http.StatusCreated {
		t.Errorf("Python answers %d, keystone-go %d; want 401 and 201", python, ours)
	}
}
