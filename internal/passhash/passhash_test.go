package passhash_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/passhash"
	"golang.org/x/crypto/bcrypt"
)

func number(n int) *int { return &n }

// hasher is one of little cost unless the options say otherwise.
func hasher(t testing.TB, o passhash.Options) *passhash.Hasher {
	t.Helper()
	if o.Rounds == nil && o.Algorithm != "pbkdf2_sha512" {
		o.Rounds = number(4)
	}
	h, err := passhash.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// left reports whether a hash is of such a cost that it is left out under the
// race detector, which makes it ten times dearer; there is no concurrency in it.
func left(stored string) bool {
	if !raceEnabled {
		return false
	}
	for _, cost := range []string{"$12$", "r=11$", "r=12$", "2a,12$", "ln=16,r=8", "25000$", "656000$", "m=65536"} {
		if strings.Contains(stored, cost) {
			return true
		}
	}
	return false
}

func verify(t testing.TB, h *passhash.Hasher, stored, password string) bool {
	t.Helper()
	ok, err := h.Verify(context.Background(), stored, password)
	if err != nil {
		t.Fatalf("Verify(%s): %v", stored, err)
	}
	return ok
}

// Every recorded hash gives the verdict that is on record. Those that the
// recorder could not read are right all the same, since databases hold them.
func TestPeerHashes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../test/testdata/peer/passwords.json")
	if err != nil {
		t.Fatal(err)
	}
	var peer struct {
		Hashes []struct {
			Scheme   string  `json:"scheme"`
			Plain    string  `json:"plain"`
			Hash     string  `json:"hash"`
			Wrong    string  `json:"wrong"`
			Also     *string `json:"also_verifies"`
			Verifies bool    `json:"zed_verifies"`
		} `json:"hashes"`
	}
	if err := json.Unmarshal(text, &peer); err != nil {
		t.Fatal(err)
	}
	if len(peer.Hashes) < 30 {
		t.Errorf("only %d hashes on record", len(peer.Hashes))
	}
	for _, p := range peer.Hashes {
		if left(p.Hash) {
			continue
		}
		// Keystone cuts by the configured scheme, so that one is configured.
		scheme := p.Scheme
		switch scheme {
		case "sha512_crypt", "md5_crypt":
			scheme = "scrypt"
		}
		h := hasher(t, passhash.Options{Algorithm: scheme})
		want := p.Verifies || p.Scheme == "bcrypt_sha256"
		if got := verify(t, h, p.Hash, p.Plain); got != want {
			t.Errorf("%s: %v for the right password, want %v", p.Hash, got, want)
		}
		if verify(t, h, p.Hash, p.Wrong) {
			t.Errorf("%s: true for a wrong password", p.Hash)
		}
		if p.Also != nil && !verify(t, h, p.Hash, *p.Also) {
			t.Errorf("%s: false for %q", p.Hash, *p.Also)
		}
	}
}

// Vectors of Python Keystone, passlib and the argon2 command.
func TestVectors(t *testing.T) {
	t.Parallel()
	cases := []struct{ password, stored string }{
		{"pässwörd", "$2b$12$i4ngzyw4ax/6LiJKHbCJteQSTn3XYAITZWhza8J5pkXwF781WSw6q"},
		{"pässwörd", "$bcrypt-sha256$v=2,t=2b,r=12$Rzqk7t/5stiCB03MRxv3cu$xujdFdo4xdOdYOW1GCAVW/SZqNcAkOK"},
		{"pässwörd", "$scrypt$ln=16,r=8,p=1$B9SvRSrwxYAClwugHKoHTg$A1PLuFd/ZLoD2zRZP9o42QvPJRSXSdtcW/CD2sV7W/s"},
		{"pässwörd", "$pbkdf2-sha512$25000$Q4EVCjyqIHCuaEcC4zF1uw$HNWDHS2l2oQrmbyw2sCkOkVObpaz7JzK2dMJ9YLk2AsSFFr4u2pX4VMMIXtJkt5O4bm38uW/cD4BixkWIJcXnQ"},
		{"password", "$2y$04$9vCmSVQmU6KQVQsn8focl.FZetOc3WP0V.dr3kvJ43bAkllhVrVL2"},
		{"password", "$2x$04$9vCmSVQmU6KQVQsn8focl.FZetOc3WP0V.dr3kvJ43bAkllhVrVL2"},
		{"password", "$scrypt$ln=4,r=8,p=1$fm/NWStljBFizLkXIkTIWQ$EFw5LibRn7mP23qji/H4JMCCs0nTu1pXpc/8vZUo2j4"},
		{"password", "$7$26..../....Vupda21tTcnZ+1/rHUPI2Q$XrrIvQiLwFo3sGCZs1XrTpNdnT8bxxYefvuUwRJgaS4"},
		{"password", "$pbkdf2-sha512$1000$hzCmVMr5X6t1DiFEqFUKIQ$dK0UJIy8Je9kpXQpKqVAywJkR1pLTjogSdypv7P5qLxTczhQGK0QvbIIP5a4IrMZFlEjWxqmwVXzI70x/JdoPA"},
		{"password", "$6$rounds=656000$.IeFXvQu4fnS.9Qv$j1JQgZDs.7ng0w4BQW/ptRbnuIWwkhTfd3WD4DTGDgEGPYkxYgXA/zmfrHYvCnQkq3lvnTrsaICIjFb9Uld5L/"},
	}
	h := hasher(t, passhash.Options{Algorithm: "scrypt"})
	for _, c := range cases {
		if left(c.stored) {
			continue
		}
		if !verify(t, h, c.stored, c.password) {
			t.Errorf("%s: false for %s", c.stored, c.password)
		}
		wrongs := []string{c.password + "x", c.password[1:], "", strings.ToUpper(c.password)}
		if c.password == "pässwörd" || strings.HasPrefix(c.stored, "$6$") {
			wrongs = wrongs[:1] // these take their time
		}
		for _, wrong := range wrongs {
			if verify(t, h, c.stored, wrong) {
				t.Errorf("%s: true for %q", c.stored, wrong)
			}
		}
	}
}

// What is made is what the same and another reader of the scheme take.
func TestHash(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		o      passhash.Options
		prefix string
		size   int
	}{
		{"bcrypt is the default", passhash.Options{Rounds: number(4)}, "$2b$04$", 60},
		{"bcrypt", passhash.Options{Algorithm: "bcrypt", Rounds: number(5)}, "$2b$05$", 60},
		{"cost unset", passhash.Options{Algorithm: "bcrypt", Rounds: number(0)}, "$2b$12$", 60},
		{"bcrypt_sha256", passhash.Options{Algorithm: "bcrypt_sha256", Rounds: number(11)}, "$bcrypt-sha256$v=2,t=2b,r=11$", 83},
		{"bcrypt_sha256 at a cost that Python cannot read", passhash.Options{Algorithm: "bcrypt_sha256", Rounds: number(4)}, "$bcrypt-sha256$v=2,t=2b,r=10$", 83},
		{"scrypt", passhash.Options{Algorithm: "scrypt", Rounds: number(4)}, "$scrypt$ln=16,r=8,p=1$", 22 + 22 + 1 + 43},
		{"scrypt with options", passhash.Options{Algorithm: "scrypt", ScryptBlockSize: number(1), ScryptParallelism: number(2), SaltBytes: number(32)}, "$scrypt$ln=16,r=1,p=2$", 22 + 43 + 1 + 43},
		{"pbkdf2_sha512", passhash.Options{Algorithm: "pbkdf2_sha512"}, "$pbkdf2-sha512$25000$", 21 + 22 + 1 + 86},
		{"pbkdf2_sha512 with options", passhash.Options{Algorithm: "pbkdf2_sha512", Rounds: number(7), SaltBytes: number(24)}, "$pbkdf2-sha512$7$", 17 + 32 + 1 + 86},
		{"argon2id", passhash.Options{Algorithm: "argon2id"}, "$argon2id$v=19$m=65536,t=3,p=1$", 31 + 22 + 1 + 43},
		{"argon2id with options", passhash.Options{Algorithm: "argon2id", Argon2Time: 1, Argon2Memory: 64, Argon2Threads: 2}, "$argon2id$v=19$m=64,t=1,p=2$", 28 + 22 + 1 + 43},
	}
	for _, c := range cases {
		if left(c.prefix) {
			continue
		}
		h, err := passhash.New(c.o)
		if err != nil {
			t.Errorf("%s: New: %v", c.name, err)
			continue
		}
		passwords := []string{"secret", "pässwörd ☃", "a\x00b"}
		if strings.HasPrefix(c.prefix, "$2b$12$") || strings.Contains(c.prefix, "ln=16,r=8") || strings.Contains(c.prefix, "65536") {
			passwords = passwords[2:] // these take their time
		}
		for _, password := range passwords {
			stored, err := h.Hash(t.Context(), password)
			if err != nil || !strings.HasPrefix(stored, c.prefix) || len(stored) != c.size {
				t.Errorf("%s: got %s (%d), %v, want %s… (%d)", c.name, stored, len(stored), err, c.prefix, c.size)
			}
			if !verify(t, h, stored, password) || verify(t, h, stored, password+"x") {
				t.Errorf("%s: %s does not tell %q from another", c.name, stored, password)
			}
		}
		one, err1 := h.Hash(t.Context(), "x")
		two, err2 := h.Hash(t.Context(), "x")
		if err := errors.Join(err1, err2); err != nil || one == two {
			t.Errorf("%s: %v, %s, %s: the salt is not fresh", c.name, err, one, two)
		}
	}
}

// Our bcrypt is golang.org/x/crypto's, which is the oracle both ways.
func TestBcryptAgainstOracle(t *testing.T) {
	h := hasher(t, passhash.Options{})
	for _, password := range []string{"", "a", "a\x00", "\x00", strings.Repeat("é", 36), strings.Repeat("x", 71), strings.Repeat("x", 72)} {
		stored, err := h.Hash(t.Context(), password)
		if err != nil {
			t.Fatal(err)
		}
		if err := bcrypt.CompareHashAndPassword([]byte(stored), []byte(password)); err != nil {
			t.Errorf("%q: the oracle does not take %s: %v", password, stored, err)
		}
		theirs, err := bcrypt.GenerateFromPassword([]byte(password), 5)
		if err != nil {
			t.Fatal(err)
		}
		if !verify(t, h, string(theirs), password) || verify(t, h, string(theirs), password+"y") != (len(password) == 72) {
			t.Errorf("%q: wrong about the oracle's %s", password, theirs)
		}
	}
}

func TestFormsOfOtherWriters(t *testing.T) {
	t.Parallel()
	h := hasher(t, passhash.Options{Algorithm: "scrypt"})
	for name, c := range map[string]struct {
		stored, password string
	}{
		// made with passlib 1.7.4
		"bcrypt_sha256 v1": {"$bcrypt-sha256$2a,12$LrmaIX5x4TRtAwEfwJZa1.$2ehnw6LvuIUTM0iz4iz9hTxv21B6KFO", "password"},
		// made with the reference argon2 command
		"argon2id": {"$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc", "password"},
		"argon2i":  {"$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA", "password"},
		// akkadia.org/drepper/SHA-crypt.txt
		"sha512_crypt":              {"$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1", "Hello world!"},
		"sha512_crypt, rounds":      {"$6$rounds=10000$saltstringsaltstring$OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v.", "Hello world!"},
		"sha512_crypt, few rounds":  {"$6$rounds=10$roundstoolow$kUMsbe306n21p9R.FRkW3IGn.S9NPN0x50YhH1xhLsPuWGsUSklZt58jaTfF4ZEQpyUNGc0dqbpBYYBaHHrsX.", "the minimum number is still observed"},
		"sha512_crypt, long":        {"$6$rounds=5000$toolongsaltstring$lQ8jolhgVRVhY4b5pZKaysCLi0QBxGoNeKQzQ3glMhwllF7oGDZxUhx1yxdYcz/e1JSbq3y6JMxxl8audkUEm0", "This is just a test"},
		"sha512_crypt, a long text": {"$6$rounds=1400$anotherlongsaltstring$POfYwTEok97VWcjxIiSOjiykti.o/pQs.wPvMxQ6Fm7I6IoYN3CmLs66x9t0oSwbtEW7o7UmJEiDwGqd8p4ur1", "a very much longer text to encrypt.  This one even stretches over morethan one line."},
	} {
		if left(c.stored) {
			continue
		}
		if !verify(t, h, c.stored, c.password) {
			t.Errorf("%s: false for the right password", name)
		}
		if verify(t, h, c.stored, c.password+"x") {
			t.Errorf("%s: true for a wrong password", name)
		}
	}
}

// The configured scheme says what of a long password counts.
func TestLength(t *testing.T) {
	t.Parallel()
	x := func(n int) string { return strings.Repeat("x", n) }
	const (
		cut = "$2b$12$pD6XcjzGZQFqzCYc1oCjx.aE39D7AQ4tbGjaFi/9NPv9sr.40jh4K"
		all = "$bcrypt-sha256$v=2,t=2b,r=12$BzmadWLUDjcCqc2Vn8CL.O$m8UQ66t/9gaR026gVzLspfCuk.oCy3i"
	)
	for _, c := range []struct {
		name, stored, password string
		o                      passhash.Options
		want                   bool
	}{
		{"bcrypt, as made", cut, x(100), passhash.Options{}, true},
		{"bcrypt, 72", cut, x(72), passhash.Options{}, true},
		{"bcrypt, another tail", cut, x(72) + "y", passhash.Options{}, true},
		{"bcrypt, 71", cut, x(71), passhash.Options{}, false},
		{"bcrypt, 54", cut, x(54), passhash.Options{}, false},
		{"bcrypt under another scheme", cut, x(100), passhash.Options{Algorithm: "scrypt"}, true},
		{"bcrypt_sha256, as made", all, x(100), passhash.Options{Algorithm: "bcrypt_sha256"}, true},
		{"bcrypt_sha256, another tail", all, x(99) + "y", passhash.Options{Algorithm: "bcrypt_sha256"}, false},
		{"bcrypt_sha256, where bcrypt cuts first", all, x(100), passhash.Options{}, false},
		{"the option", cut, x(72) + "y", passhash.Options{MaxLength: 60}, false},
	} {
		if left(c.stored) {
			continue
		}
		if got := verify(t, hasher(t, c.o), c.stored, c.password); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	// In bytes, so that a character may be parted: é×40 is 80 of them.
	h := hasher(t, passhash.Options{})
	stored, err := h.Hash(t.Context(), strings.Repeat("é", 40))
	if err != nil || !verify(t, h, stored, strings.Repeat("é", 36)) || verify(t, h, stored, strings.Repeat("é", 35)) {
		t.Errorf("é×40: %s, %v", stored, err)
	}
	h = hasher(t, passhash.Options{MaxLength: 3})
	stored, err = h.Hash(t.Context(), "éé")
	if err != nil || !verify(t, h, stored, "é\xc3") {
		t.Errorf("a parted character: %s, %v", stored, err)
	}
	h = hasher(t, passhash.Options{Algorithm: "pbkdf2_sha512", Rounds: number(1)})
	stored, err = h.Hash(t.Context(), x(5000))
	if err != nil || !verify(t, h, stored, x(4096)) || verify(t, h, stored, x(4095)) {
		t.Errorf("5000 bytes: %s, %v", stored, err)
	}
}

func TestStrict(t *testing.T) {
	h := hasher(t, passhash.Options{Strict: true})
	long := strings.Repeat("x", 73)
	err := h.CheckLength(long)
	e, ok := errors.AsType[*fault.Error](err)
	want := "The password length must be less than or equal to 72. The server could not comply with the request because the password is invalid."
	if !ok || e.Kind != fault.Forbidden || e.Message != want {
		t.Errorf("CheckLength: got %v", err)
	}
	if _, err := h.Hash(t.Context(), long); !fault.Is(err, fault.Forbidden) {
		t.Errorf("Hash: got %v", err)
	}
	if err := h.CheckLength(long[:72]); err != nil {
		t.Errorf("72 bytes: got %v", err)
	}
	if err := hasher(t, passhash.Options{}).CheckLength(long); err != nil {
		t.Errorf("not strict: got %v", err)
	}
	err = hasher(t, passhash.Options{Strict: true, Algorithm: "scrypt"}).CheckLength(strings.Repeat("x", 4097))
	if err == nil || !strings.Contains(err.Error(), "4096") {
		t.Errorf("scrypt: got %v", err)
	}
}

// What cannot be read, or costs too much, is one dummy hash and false.
func TestUnreadable(t *testing.T) {
	salt, digest := "Q4EVCjyqIHCuaEcC4zF1uw", strings.Repeat("A", 86)
	h := hasher(t, passhash.Options{})
	for _, stored := range []string{
		"", "secret", "$", "$$", "$$$", "$$$$$$", "x$2b$12$abc", "{SSHA}abc",
		"$1$Lvh.czzc$vUAA0Ta2Nsa/IUGaU.0/h.",
		"$2b$12$", "$2b$12$short", "$2c$12$i4ngzyw4ax/6LiJKHbCJteQSTn3XYAITZWhza8J5pkXwF781WSw6q",
		"$2b$31$i4ngzyw4ax/6LiJKHbCJteQSTn3XYAITZWhza8J5pkXwF781WSw6q",
		"$2b$03$i4ngzyw4ax/6LiJKHbCJteQSTn3XYAITZWhza8J5pkXwF781WSw6q",
		"$2b$4$i4ngzyw4ax/6LiJKHbCJteQSTn3XYAITZWhza8J5pkXwF781WSw6qq",
		"$2b$-4$i4ngzyw4ax/6LiJKHbCJteQSTn3XYAITZWhza8J5pkXwF781WSw6q",
		"$2b$04$i4ngzyw4ax/6LiJKHbCJt!QSTn3XYAITZWhza8J5pkXwF781WSw6q",
		"$2b$04$i4ngzyw4ax/6LiJKHbCJteQSTn3XYAITZWhza8J5pkXwF781WSw6q$",
		"$bcrypt-sha256$v=2,t=2b,r=12$Rzqk7t/5stiCB03MRxv3cu$short",
		"$bcrypt-sha256$v=3,t=2b,r=12$Rzqk7t/5stiCB03MRxv3cu$xujdFdo4xdOdYOW1GCAVW/SZqNcAkOK",
		"$bcrypt-sha256$v=2,t=2b,r=30$Rzqk7t/5stiCB03MRxv3cu$xujdFdo4xdOdYOW1GCAVW/SZqNcAkOK",
		"$scrypt$ln=30,r=8,p=1$" + salt + "$" + digest[:43],
		"$scrypt$ln=16,r=999999999,p=1$" + salt + "$" + digest[:43],
		"$scrypt$ln=16,r=8,p=65536$" + salt + "$" + digest[:43],
		"$scrypt$ln=63,r=8,p=1$" + salt + "$" + digest[:43],
		"$scrypt$ln=0,r=8,p=1$" + salt + "$" + digest[:43],
		"$scrypt$ln=4,r=8$" + salt + "$" + digest[:43],
		"$scrypt$ln=4,r=8,p=1,x=1$" + salt + "$" + digest[:43],
		"$scrypt$ln=4,ln=4,r=8$" + salt + "$" + digest[:43],
		"$scrypt$ln=4,r=8,p=1$" + salt + "$" + digest[:42],
		"$scrypt$ln=4,r=8,p=1$$" + digest[:43],
		"$scrypt$ln=99999999999999999999,r=8,p=1$" + salt + "$" + digest[:43],
		"$7$26..../....$" + digest[:43], "$7$26....$" + digest[:43], "$7$zzzzzzzzzzzsalt$" + digest[:43],
		"$pbkdf2-sha512$0$" + salt + "$" + digest, "$pbkdf2-sha512$-1$" + salt + "$" + digest,
		"$pbkdf2-sha512$999999999$" + salt + "$" + digest, "$pbkdf2-sha512$1000$" + salt + "$" + digest[:43],
		"$pbkdf2-sha512$1000$" + strings.Repeat("A", 400) + "$" + digest,
		"$pbkdf2-sha512$1000$!!!!$" + digest,
		"$6$rounds=999999999$salt$" + digest, "$6$rounds=$salt$" + digest, "$6$salt$" + digest[:50], "$6$rounds=1000$salt",
		"$argon2id$v=19$m=99999999,t=3,p=1$" + salt + "$" + digest[:43],
		"$argon2id$v=19$m=65536,t=99999999,p=1$" + salt + "$" + digest[:43],
		"$argon2id$v=19$m=65536,t=3,p=256$" + salt + "$" + digest[:43],
		"$argon2id$v=19$m=1,t=1,p=1$" + salt + "$" + digest[:43],
		"$argon2id$v=16$m=64,t=1,p=1$" + salt + "$" + digest[:43],
		"$argon2id$v=19$m=64,t=1,p=1$" + salt + "$AAAA",
		"$argon2d$v=19$m=64,t=1,p=1$" + salt + "$" + digest[:43],
		"$argon2id$m=64,t=1,p=1$" + salt + "$" + digest[:43],
		strings.Repeat("$", 10000), "$2b$12$" + strings.Repeat("\x00", 53), "\xff\xfe$2b$",
	} {
		before := h.Stats().Done
		if verify(t, h, stored, "secret") {
			t.Errorf("%q: true", stored)
		}
		if got := h.Stats().Done - before; got != 1 {
			t.Errorf("%q: %d hashes, want the dummy's one", stored, got)
		}
	}
}

func TestDummyIsOneHash(t *testing.T) {
	h := hasher(t, passhash.Options{})
	for _, password := range []string{"secret", "", strings.Repeat("x", 5000), "\x00"} {
		before := h.Stats().Done
		if err := h.Dummy(t.Context(), password); err != nil || h.Stats().Done != before+1 {
			t.Errorf("Dummy(%.10q): %v, %d hashes", password, err, h.Stats().Done-before)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for name, o := range map[string]passhash.Options{
		"an unknown algorithm": {Algorithm: "md5"},
		"sha512_crypt":         {Algorithm: "sha512_crypt"},
		"bcrypt's cost 3":      {Rounds: number(3)},
		"bcrypt's cost 31":     {Rounds: number(31)},
		"no iterations":        {Algorithm: "pbkdf2_sha512", Rounds: number(-1)},
		"a huge block":         {Algorithm: "scrypt", ScryptBlockSize: number(1 << 20)},
		"a negative salt":      {Algorithm: "scrypt", SaltBytes: number(-1)},
		"a long salt":          {Algorithm: "pbkdf2_sha512", SaltBytes: number(97)},
		"much memory":          {Algorithm: "argon2id", Argon2Memory: 1 << 30},
		"negative slots":       {Slots: -1},
		"a negative wait":      {Wait: -1},
	} {
		if _, err := passhash.New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
