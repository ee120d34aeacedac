package identity_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/identity"
)

// change is a self-service change of the user as he is now.
func (s *stand) change(id, password string) error {
	s.Helper()
	v := s.get(id)
	return s.users.ChangePassword(s.Context(), v.Account, v.Options, password)
}

// TestChangePasswordEvent revokes the user's tokens, and his alone.
func TestChangePasswordEvent(t *testing.T) {
	each(t, func(s *stand) {
		v := s.create("ana")
		s.create("ben")
		s.must(s.change(v.Account.ID, "new"))
		if diff := cmp.Diff([]string{v.Account.ID}, s.events()); diff != "" {
			s.Errorf("events: want -, got +\n%s", diff)
		}
		if got := s.get(v.Account.ID).Account.Password; got.Hash != "plain:new" || !got.SelfService {
			s.Errorf("current password %+v", got)
		}
	})
}

// TestChangePasswordHistory compares with the last N, the present one
// included, and only then.
func TestChangePasswordHistory(t *testing.T) {
	const same = "400 The new password cannot be identical to a previous password. The total number which includes the new password must be unique is 2."
	each(t, func(s *stand) {
		v := s.create("1")
		s.clock = s.clock.Add(time.Second)
		s.must(s.change(v.Account.ID, "1")) // no rule yet
		s.users.Rules.History = 2
		for _, step := range []struct{ password, want string }{
			{"1", same}, {"2", ""}, {"2", same}, {"1", same}, {"3", ""}, {"2", same}, {"3", same}, {"1", ""},
		} {
			s.clock = s.clock.Add(time.Second)
			before := s.hashes(v.Account.ID)
			if got := message(s.change(v.Account.ID, step.password)); got != step.want {
				s.Errorf("rows %q, change to %s: got %q, want %q", before, step.password, got, step.want)
			}
			if after := s.hashes(v.Account.ID); step.want != "" && after != before {
				s.Errorf("a refusal left rows %q, were %q", after, before)
			}
		}
		s.hash.verified = 0
		s.update(v.Account.ID, identity.Change{Password: ptr(ptr("1"))}) // an administrator may
		if s.hash.verified != 0 {
			s.Errorf("an administrator's reset was held against the history")
		}
	})
}

// TestChangePasswordHashes bounds the work of the history to N hashes.
func TestChangePasswordHashes(t *testing.T) {
	each(t, func(s *stand) {
		s.users.Rules.History = 3
		v := s.create("0")
		for _, p := range []string{"1", "2", "3", "4"} {
			s.clock = s.clock.Add(time.Second)
			s.update(v.Account.ID, identity.Change{Password: ptr(&p)})
		}
		s.hash.verified = 0
		s.must(s.change(v.Account.ID, "new"))
		if s.hash.verified != 3 {
			s.Errorf("%d hashes for a history of 3 with 4 rows kept", s.hash.verified)
		}
	})
}

// TestChangePasswordAge bars a change too soon after a change of one's own;
// after an administrator's reset it does not.
func TestChangePasswordAge(t *testing.T) {
	const refusal = "400 You cannot change your password at this time due to the minimum password age. Once you change your password, it must be used for 2 day(s) before it can be changed. Please try again in "
	each(t, func(s *stand) {
		s.users.Rules.MinimumAgeDays = 2
		v := s.create("0")
		s.must(s.change(v.Account.ID, "1")) // the present one was not set by the user
		for _, step := range []struct {
			after time.Duration
			bars  bool
		}{{0, true}, {time.Hour, true}, {48*time.Hour - time.Microsecond, true}, {48 * time.Hour, false}} {
			s.clock = noon.Add(time.Microsecond + step.after) // "1" was put a microsecond behind "0"
			got := message(s.change(v.Account.ID, "2"))
			if step.bars != strings.HasPrefix(got, refusal) || !step.bars && got != "" {
				s.Errorf("change after %v: got %q", step.after, got)
			}
		}
		s.update(v.Account.ID, identity.Change{Password: ptr(ptr("reset"))})
		if err := s.change(v.Account.ID, "3"); err != nil {
			s.Errorf("change right after a reset by an administrator: %v", err)
		}
		s.users.Rules.MinimumAgeDays = 0
		if err := s.change(v.Account.ID, "4"); err != nil {
			s.Errorf("change right after a change, without the rule: %v", err)
		}
	})
}

// TestChangePasswordOrder names the first rule that bars: pattern, lock, age,
// history.
func TestChangePasswordOrder(t *testing.T) {
	each(t, func(s *stand) {
		v := s.create("1a")
		s.must(s.change(v.Account.ID, "1b"))
		lock := func(value *string) {
			s.update(v.Account.ID, identity.Change{Options: map[string]*string{identity.OptionLockPassword: value}})
		}
		lock(ptr("true"))
		s.users.Rules = identity.PasswordRules{Regex: `\d`, MinimumAgeDays: 1, History: 2}
		step := func(want string, undo func()) {
			s.Helper()
			password := "1b"
			if strings.Contains(want, "requirements") {
				password = "b"
			}
			if got := message(s.change(v.Account.ID, password)); !strings.HasPrefix(got, want) || want == "" && got != "" {
				s.Errorf("got %q, want %q", got, want)
			}
			undo()
		}
		step("400 The password does not match the requirements: None.", func() {})
		step("400 You cannot change your password at this time due to password policy disallowing password changes. Please contact your administrator to reset your password.", func() { lock(ptr("false")) })
		step("400 You cannot change your password at this time due to the minimum password age.", func() { s.users.Rules.MinimumAgeDays = 0 })
		step("400 The new password cannot be identical to a previous password.", func() { s.users.Rules.History = 0 })
		step("", func() {})
	})
}
