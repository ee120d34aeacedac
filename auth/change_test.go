package auth_test

import (
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/identity"
)

// change is POST /v3/users/{id}/password.
func (s *stand) change(id, original, password string) error {
	s.Helper()
	return s.auth.ChangePassword(s.Context(), s.users, auth.Change{UserID: id, Original: original, Password: password})
}

// TestChangePassword sets the new password and voids the tokens made so far,
// those of the very second among them.
func TestChangePassword(t *testing.T) {
	eachWay(t, world{attempts: ptr(3), duration: time.Hour}, func(s *stand) {
		held := s.token("ana", onP1)
		bens := s.token("ben", unscoped)
		s.must(s.change(s.ids["ana"], "ana", "new"))
		if _, err := s.subject(held.ID); message(err) != "404 Failed to validate token" {
			s.Errorf("a token from before: %q", message(err))
		}
		if _, err := s.subject(bens.ID); err != nil {
			s.Errorf("another user's token: %v", err)
		}
		if _, err := s.try(byPassword(s.ids["ana"], "ana", onP1)); message(err) != bare {
			s.Errorf("the old password: %q", message(err))
		}
		s.clock = s.clock.Add(time.Second)
		fresh, err := s.try(byPassword(s.ids["ana"], "new", onP1))
		s.must(err)
		if _, err := s.subject(fresh.ID); err != nil {
			s.Errorf("a token from after: %v", err)
		}
	})
}

// TestChangePasswordRefused: who does not know the password is told nothing,
// costs one hash, and is counted where there is a user to count for.
func TestChangePasswordRefused(t *testing.T) {
	each(t, world{attempts: ptr(3), duration: time.Hour}, func(s *stand) {
		s.failures("ben", 3, noon)
		for what, tt := range map[string]struct {
			id, original string
			writes       int
		}{
			"wrong":             {s.ids["ana"], "wrong", 1},
			"empty":             {s.ids["ana"], "", 1},
			"locked":            {s.ids["ben"], "ben", 0},
			"disabled":          {s.ids["cyd"], "cyd", 0},
			"domain disabled":   {s.ids["oli"], "oli", 0},
			"unknown":           {"nobody", "ana", 0},
			"name for an id":    {"ana", "ana", 0},
			"no text":           {"\xff\xfe", "ana", 0},
			"with a NUL":        {"a\x00b", "ana", 0},
			"empty id":          {"", "ana", 0},
			"wrong letter case": {s.ids["ana"], "ANA", 1},
		} {
			s.quiet()
			if err := s.change(tt.id, tt.original, "new"); message(err) != bare {
				s.Errorf("%s: got %q, want %q", what, message(err), bare)
			}
			if n := s.hash.verified.Load() + s.hash.dummies.Load(); n != 1 || s.db.Writes != tt.writes {
				s.Errorf("%s: %d hashes, %d writes, want 1, %d", what, n, s.db.Writes, tt.writes)
			}
		}
		for name := range s.ids {
			if a := s.account(name); a.Password.Hash != "plain:"+name {
				s.Errorf("password of %s is %s", name, a.Password.Hash)
			}
		}
		if a := s.account("ana"); a.FailedAuthCount != 3 {
			s.Errorf("%d failures, want 3", a.FailedAuthCount)
		}
	})
}

// TestChangePasswordExpired: the way back in for a password that has run out,
// by its days or upon first use.
func TestChangePasswordExpired(t *testing.T) {
	each(t, world{}, func(s *stand) {
		s.users.Rules.ChangeUponFirstUse = true
		s.update("ana", identity.Change{Password: ptr(ptr("first"))})
		want := "401 The password is expired and needs to be changed for user: " + s.ids["ana"] + "."
		if _, err := s.try(byPassword(s.ids["ana"], "first", onP1)); message(err) != want {
			s.Errorf("expired: got %q, want %q", message(err), want)
		}
		if _, err := s.try(byPassword(s.ids["ana"], "wrong", onP1)); message(err) != bare {
			s.Errorf("expired and wrong: got %q, want %q: the text would tell that the user is there", message(err), bare)
		}
		s.must(s.change(s.ids["ana"], "first", "second"))
		if _, err := s.try(byPassword(s.ids["ana"], "second", onP1)); err != nil {
			s.Errorf("after the change: %v", err)
		}
		s.update("ana", identity.Change{Password: ptr(ptr("third"))})
		s.option("ana", identity.OptionIgnoreExpiry, "true")
		if _, err := s.try(byPassword(s.ids["ana"], "third", onP1)); err != nil {
			s.Errorf("exempt: %v", err)
		}
	})
}

// TestChangePasswordRules come after the proof, and leave all as it is.
func TestChangePasswordRules(t *testing.T) {
	each(t, world{}, func(s *stand) {
		s.users.Rules.Regex = `\d`
		if err := s.change(s.ids["ana"], "wrong", "new"); message(err) != bare {
			s.Errorf("wrong and weak: %q", message(err))
		}
		if err := s.change(s.ids["ana"], "ana", "new"); message(err) != "400 The password does not match the requirements: None." {
			s.Errorf("weak: %q", message(err))
		}
		s.token("ana", onP1)
	})
}
