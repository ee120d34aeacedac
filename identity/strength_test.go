package identity_test

import (
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/identity"
)

const badConfig = "400 Password validation error: Unable to validate password due to invalid configuration."

// TestPasswordRegex matches as Python's re.match: anchored at the start alone,
// with look-ahead; a bad pattern refuses every password.
func TestPasswordRegex(t *testing.T) {
	const usual = `^(?=.*\d)(?=.*[a-zA-Z]).{7,}$` // the one of Keystone's documentation
	refused := func(what string) string { return "400 The password does not match the requirements: " + what + "." }
	each(t, func(s *stand) {
		n := 0
		for _, tt := range []struct{ regex, description, password, want string }{
			{usual, "", "abcdef1", ""},
			{usual, "", "abcde1", refused("None")},
			{usual, "", "abcdefg", refused("None")},
			{usual, "a letter, a digit, seven", "1234567", refused("a letter, a digit, seven")},
			{usual, "", "пароль1x", ""},
			{`.{7}`, "", "пароль1", ""}, // characters, not bytes
			{`.{7}`, "", "пароль", refused("None")},
			{`abc`, "", "abcdef", ""},
			{`abc`, "", "xabc", refused("None")},
			{`a|b`, "", "xb", refused("None")},
			{`a|b`, "", "bx", ""},
			{`(?i)ABC`, "", "abc", ""},
			{`(?P<c>.)(?P=c)`, "", "aab", ""},
			{`(?P<c>.)(?P=c)`, "", "aba", refused("None")},
			{`(?!.*(.)\1\1)`, "", "aab", ""},
			{`(?!.*(.)\1\1)`, "", "aaab", refused("None")},
			{`^^(??=.*\d)$`, "unseen", "abcdef1", badConfig},
			{`[`, "", "x", badConfig},
			{`(a`, "", "a", badConfig},
			{`*`, "", "*", badConfig},
			{"", "unseen", "x", ""},
		} {
			n++
			s.users.Rules = identity.PasswordRules{Regex: tt.regex, RegexDescription: tt.description}
			_, err := s.users.Create(s.Context(), "d", identity.Change{Name: ptr(strings.Repeat("n", n)), Password: ptr(&tt.password)})
			if message(err) != tt.want {
				s.Errorf("create with password %q under %q: got %q, want %q", tt.password, tt.regex, message(err), tt.want)
			}
		}
	})
}

// TestPasswordRegexEverywhere holds every way of setting a password to it.
func TestPasswordRegexEverywhere(t *testing.T) {
	each(t, func(s *stand) {
		v := s.create("ana")
		s.users.Rules.Regex = `\d`
		want := "400 The password does not match the requirements: None."
		_, err := s.users.Update(s.Context(), v, identity.Change{Password: ptr(ptr("new"))})
		if message(err) != want {
			s.Errorf("update: got %q, want %q", message(err), want)
		}
		if err := s.users.ChangePassword(s.Context(), v.Account, v.Options, "new"); message(err) != want {
			s.Errorf("change: got %q, want %q", message(err), want)
		}
		_, err = s.users.Update(s.Context(), v, identity.Change{Password: ptr[*string](nil)})
		if want := "400 Password validation error: Password must be a string type."; message(err) != want {
			s.Errorf("password null under a pattern: got %q, want %q", message(err), want)
		}
		if got := s.hashes(v.Account.ID); got != "ana" {
			s.Errorf("passwords after refusals: %s", got)
		}
	})
}

// TestPasswordRegexBounded gives a pattern that doubles its work with each
// letter to a hostile password.
func TestPasswordRegexBounded(t *testing.T) {
	each(t, func(s *stand) {
		s.users.Rules.Regex = `^(a+)+$`
		began := time.Now()
		password := strings.Repeat("a", 60) + "!"
		_, err := s.users.Create(s.Context(), "d", identity.Change{Name: ptr("x"), Password: ptr(&password)})
		if want := "400 The password does not match the requirements: None."; message(err) != want {
			s.Errorf("got %q, want %q", message(err), want)
		}
		if took := time.Since(began); took > 10*time.Second {
			s.Errorf("one match took %v", took)
		}
	})
}

// TestPasswordLength refuses what the hasher refuses, before it is hashed.
func TestPasswordLength(t *testing.T) {
	each(t, func(s *stand) {
		v := s.create("ana")
		s.hash.max = 5
		_, err := s.users.Create(s.Context(), "d", identity.Change{Name: ptr("b"), Password: ptr(ptr("123456"))})
		if message(err) != "403 too long" {
			s.Errorf("create: got %q", message(err))
		}
		_, err = s.users.Update(s.Context(), v, identity.Change{Password: ptr(ptr("123456"))})
		if message(err) != "403 too long" {
			s.Errorf("update: got %q", message(err))
		}
		if err := s.users.ChangePassword(s.Context(), v.Account, v.Options, "123456"); message(err) != "403 too long" {
			s.Errorf("change: got %q", message(err))
		}
	})
}
