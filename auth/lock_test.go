package auth_test

import (
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// account reads a user of the stand.
func (s *stand) account(name string) identity.Account {
	s.Helper()
	a, err := db.One(s.Context(), s.db, identity.AccountByID(s.ids[name]))
	s.must(err)
	return a
}

func (s *stand) failures(name string, n int, at time.Time) {
	s.Helper()
	s.exec(`update local_user set failed_auth_count = $1, failed_auth_at = $2 where user_id = $3`, n, at, s.ids[name])
}

// TestLockedMeanwhile holds a right password in its hash until other guesses
// have filled the count: whatever it would have been told then, it is told the
// bare 401. With one try left it is told.
func TestLockedMeanwhile(t *testing.T) {
	const garbage = "gAAAAABrDMkAAAECAwQFBgcICQoLDA0OD5datpzvcvP44lXFE_E-EWBOeX5Xx"
	for _, tt := range []struct {
		name    string
		prepare func(s *stand)
		login   func(s *stand) error
		told    string // with one try left
		left    int    // failures then
	}{
		{
			"login, something to write", func(*stand) {},
			func(s *stand) error { _, err := s.try(byPassword(s.ids["ana"], "ana", onP1)); return err }, "", 0,
		},
		{
			"login, nothing to write", func(s *stand) { s.token("ana", onP1) },
			func(s *stand) error { _, err := s.try(byPassword(s.ids["ana"], "ana", onP1)); return err }, "", 0,
		},
		{
			"login, one failure before", func(s *stand) { s.failures("ana", 1, noon) },
			func(s *stand) error { _, err := s.try(byPassword(s.ids["ana"], "ana", "")); return err }, "", 0,
		},
		{
			"login without a role", func(*stand) {},
			func(s *stand) error {
				_, err := s.try(byPassword(s.ids["ana"], "ana", `{"project": {"id": "pfar"}}`))
				return err
			}, bare, 0,
		},
		{
			"receipt", func(s *stand) { s.option("ana", identity.OptionMFARules, `[["password", "totp"]]`) },
			func(s *stand) error { _, err := s.try(byPassword(s.ids["ana"], "ana", onP1)); return err },
			"401 Additional authentications steps required.", 0,
		},
		{
			"bad receipt", func(*stand) {},
			func(s *stand) error {
				r := s.parse(byPassword(s.ids["ana"], "ana", onP1))
				r.Receipt = "nonsense"
				_, err := s.auth.Authenticate(s.Context(), r)
				return err
			},
			"401 Could not find auth receipt: nonsense.", 0,
		},
		{
			"bad token behind it", func(*stand) {},
			func(s *stand) error {
				_, err := s.try(login(`"methods": ["password", "token"], "password": {"user": {"id": "`+s.ids["ana"]+`", "password": "ana"}}, "token": {"id": "`+garbage+`"}`, ""))
				return err
			},
			"404 Could not recognize Fernet token", 0,
		},
		{
			"expired password", func(s *stand) {
				s.exec(`update password set expires_at = $1, expires_at_int = $2`, noon, noon.UnixMicro())
			},
			func(s *stand) error { _, err := s.try(byPassword(s.ids["ana"], "ana", onP1)); return err },
			"401 The password is expired and needs to be changed for user: 00000000000000000000000000000001.", 2,
		},
		{
			"self-service change", func(*stand) {},
			func(s *stand) error {
				return s.auth.ChangePassword(s.Context(), s.users, auth.Change{UserID: s.ids["ana"], Original: "ana", Password: "new"})
			}, "", 0,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, world{attempts: ptr(3), duration: time.Hour}, func(s *stand) {
				tt.prepare(s)
				s.hash.during = func() { s.failures("ana", 3, noon) }
				if got := message(tt.login(s)); got != bare {
					s.Errorf("locked meanwhile: told %q, want %q", got, bare)
				}
				if a := s.account("ana"); a.FailedAuthCount != 3 || a.Password.Hash != "plain:ana" {
					s.Errorf("locked meanwhile: %d failures and password %s are left", a.FailedAuthCount, a.Password.Hash)
				}
				s.failures("ana", 0, noon)
				s.hash.during = func() { s.failures("ana", 2, noon) }
				if got := message(tt.login(s)); got != tt.told {
					s.Errorf("one try left: told %q, want %q", got, tt.told)
				}
				if a := s.account("ana"); a.FailedAuthCount != tt.left {
					s.Errorf("one try left: %d failures are left, want %d", a.FailedAuthCount, tt.left)
				}
			})
		})
	}
}

// TestLock follows an account through its lock: at the limit, until the
// duration is over, counted anew then.
func TestLock(t *testing.T) {
	each(t, world{attempts: ptr(3), duration: 30 * time.Minute}, func(s *stand) {
		step := func(what, password, answer string, failures int) {
			s.Helper()
			_, err := s.try(byPassword(s.ids["ana"], password, onP1))
			if got := message(err); got != answer {
				s.Errorf("%s: answer %q, want %q", what, got, answer)
			}
			if a := s.account("ana"); a.FailedAuthCount != failures {
				s.Errorf("%s: %d failures, want %d", what, a.FailedAuthCount, failures)
			}
		}
		step("first", "wrong", bare, 1)
		step("second", "wrong", bare, 2)
		step("right in between", "ana", "", 0)
		step("first again", "wrong", bare, 1)
		step("second again", "wrong", bare, 2)
		s.clock = noon.Add(time.Minute)
		step("third", "wrong", bare, 3)
		s.clock = noon.Add(2 * time.Minute)
		step("locked", "wrong", bare, 3)
		step("locked, right", "ana", bare, 3)
		s.clock = dbtest.Kept(s.db, noon).Add(31*time.Minute - time.Microsecond)
		step("locked to the last", "ana", bare, 3)
		s.clock = noon.Add(31 * time.Minute)
		step("over, wrong", "wrong", bare, 1)
		step("over, right", "ana", "", 0)
		s.failures("ana", 3, noon)
		step("over at once, right", "ana", "", 0)
	})
}

// TestLockForEver knows no end but the administrator.
func TestLockForEver(t *testing.T) {
	each(t, world{attempts: ptr(1)}, func(s *stand) {
		_, _ = s.try(byPassword(s.ids["ana"], "wrong", onP1))
		s.clock = noon.AddDate(9, 0, 0)
		if _, err := s.try(byPassword(s.ids["ana"], "ana", onP1)); message(err) != bare {
			s.Errorf("nine years on: %q", message(err))
		}
		s.update("ana", identity.Change{Enabled: ptr(true)})
		s.token("ana", onP1)
	})
}

// TestLockExempt never locks a user with the option, and counts all the same.
func TestLockExempt(t *testing.T) {
	each(t, world{attempts: ptr(2), duration: time.Hour}, func(s *stand) {
		s.option("ana", identity.OptionIgnoreLockout, "true")
		for range 5 {
			if _, err := s.try(byPassword(s.ids["ana"], "wrong", onP1)); message(err) != bare {
				s.Errorf("wrong password: %q", message(err))
			}
		}
		if a := s.account("ana"); a.FailedAuthCount != 5 {
			s.Errorf("%d failures, want 5", a.FailedAuthCount)
		}
		s.token("ana", onP1)
		if a := s.account("ana"); a.FailedAuthCount != 0 {
			s.Errorf("%d failures after a login, want 0", a.FailedAuthCount)
		}
	})
}

// TestNoLock counts without a limit.
func TestNoLock(t *testing.T) {
	each(t, world{}, func(s *stand) {
		for range 9 {
			_, _ = s.try(byPassword(s.ids["ana"], "wrong", onP1))
		}
		if a := s.account("ana"); a.FailedAuthCount != 9 || a.FailedAuthAt == nil || !a.FailedAuthAt.Equal(dbtest.Kept(s.db, noon)) {
			s.Errorf("%d failures at %v", a.FailedAuthCount, a.FailedAuthAt)
		}
		s.token("ana", onP1)
	})
}
