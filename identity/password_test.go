package identity_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// TestPasswordExpiry decides expires_at of a new row: so many days on, without
// its fraction; at once where the first use must change it; never where the
// user is exempt.
func TestPasswordExpiry(t *testing.T) {
	whole := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	exempt := func(ids ...string) map[string]*string {
		o := map[string]*string{}
		for _, id := range ids {
			o[id] = ptr("true")
		}
		return o
	}
	each(t, func(s *stand) {
		for _, tt := range []struct {
			name          string
			rules         identity.PasswordRules
			options       map[string]*string
			admin, change *time.Time // after an administrator set it, after the user did
		}{
			{"no rule", identity.PasswordRules{}, nil, nil, nil},
			{"days", identity.PasswordRules{ExpiresDays: ptr(90)}, nil, ptr(whole.AddDate(0, 0, 90)), ptr(whole.AddDate(0, 0, 90))},
			{"days, exempt", identity.PasswordRules{ExpiresDays: ptr(90)}, exempt("1001"), nil, nil},
			{"days, exempt of another", identity.PasswordRules{ExpiresDays: ptr(90)}, exempt("1000", "1002"), ptr(whole.AddDate(0, 0, 90)), ptr(whole.AddDate(0, 0, 90))},
			{"first use", identity.PasswordRules{ChangeUponFirstUse: true}, nil, ptr(noon), nil},
			{"first use, exempt", identity.PasswordRules{ChangeUponFirstUse: true}, exempt("1000"), nil, nil},
			{"first use, exempt from expiry alone", identity.PasswordRules{ChangeUponFirstUse: true}, exempt("1001"), ptr(noon), nil},
			{"both", identity.PasswordRules{ChangeUponFirstUse: true, ExpiresDays: ptr(1)}, nil, ptr(noon), ptr(whole.AddDate(0, 0, 1))},
			{"both, exempt from first use", identity.PasswordRules{ChangeUponFirstUse: true, ExpiresDays: ptr(1)}, exempt("1000"), ptr(whole.AddDate(0, 0, 1)), ptr(whole.AddDate(0, 0, 1))},
		} {
			s.users.Rules = tt.rules
			v, err := s.users.Create(s.Context(), "d", identity.Change{Name: &tt.name, Password: ptr(ptr("1")), Options: tt.options})
			s.must(err)
			s.expires(tt.name+", created", v.Account.ID, tt.admin)
			v = s.update(v.Account.ID, identity.Change{Password: ptr(ptr("2"))})
			s.expires(tt.name+", reset", v.Account.ID, tt.admin)
			s.must(s.users.ChangePassword(s.Context(), v.Account, v.Options, "3"))
			s.expires(tt.name+", changed", v.Account.ID, tt.change)
			if rows := s.passwords(v.Account.ID); !rows[len(rows)-1].SelfService || rows[len(rows)-2].SelfService {
				s.Errorf("%s: self_service is not true for the user's own change alone", tt.name)
			}
		}
	})
}

// expires holds both columns of the newest row against the time wanted.
func (s *stand) expires(what, userID string, want *time.Time) {
	s.Helper()
	rows := s.passwords(userID)
	last := rows[len(rows)-1]
	stored := want
	if want != nil {
		stored = ptr(dbtest.Kept(s.db, *want))
	}
	if diff := cmp.Diff(stored, last.Expires); diff != "" {
		s.Errorf("%s: expires_at: want -, got +\n%s", what, diff)
	}
	var micros *int64
	if want != nil {
		micros = ptr(want.UnixMicro())
	}
	if diff := cmp.Diff(micros, last.ExpiresInt); diff != "" {
		s.Errorf("%s: expires_at_int: want -, got +\n%s", what, diff)
	}
	if got := s.get(userID).Account.Password.ExpiresAt; !cmp.Equal(got, want) {
		s.Errorf("%s: the account says %v, want %v", what, got, want)
	}
}

// TestPasswordRows ends the rows before: those without an end, and those that
// would end later. One that ended before keeps its time.
func TestPasswordRows(t *testing.T) {
	each(t, func(s *stand) {
		s.users.Rules.History = 5
		v := s.create("0")
		s.users.Rules.ExpiresDays = ptr(1)
		v = s.update(v.Account.ID, identity.Change{Password: ptr(ptr("1"))})
		s.clock = noon.AddDate(0, 0, 10) // "1" has run out
		s.users.Rules.ExpiresDays = ptr(90)
		v = s.update(v.Account.ID, identity.Change{Password: ptr(ptr("2"))})
		s.clock = s.clock.Add(time.Hour)
		s.users.Rules.ExpiresDays = nil
		s.update(v.Account.ID, identity.Change{Password: ptr(ptr("3"))})

		ended := []time.Time{noon, time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC), noon.AddDate(0, 0, 10).Add(time.Hour)}
		rows := s.passwords(v.Account.ID)
		if got := s.hashes(v.Account.ID); got != "0 1 2 3" {
			s.Fatalf("rows %q, want 0 1 2 3", got)
		}
		for i, p := range rows {
			switch {
			case i == len(ended):
				if p.Expires != nil || p.ExpiresInt != nil {
					s.Errorf("the current row ends at %v", p.Expires)
				}
			case p.Expires == nil || p.ExpiresInt == nil || !p.Expires.Equal(dbtest.Kept(s.db, ended[i])) || *p.ExpiresInt != ended[i].UnixMicro():
				s.Errorf("row %d ends at %v (%v), want %v", i, p.Expires, p.ExpiresInt, ended[i])
			}
			if !p.Created.Equal(dbtest.Kept(s.db, time.UnixMicro(p.CreatedInt))) {
				s.Errorf("row %d: created_at %v and created_at_int %d differ", i, p.Created, p.CreatedInt)
			}
		}
	})
}

// TestPasswordHistory keeps the last N rows, at least one, and the new one.
func TestPasswordHistory(t *testing.T) {
	each(t, func(s *stand) {
		for n, want := range map[int]string{0: "4 5", 1: "4 5", 2: "3 4 5", 3: "2 3 4 5", 10: "0 1 2 3 4 5"} {
			s.users.Rules.History = n
			name := "user" + string(rune('a'+n))
			v, err := s.users.Create(s.Context(), "d", identity.Change{Name: &name, Password: ptr(ptr("0"))})
			s.must(err)
			for _, p := range []string{"1", "2", "3", "4", "5"} {
				s.clock = s.clock.Add(time.Second)
				s.update(v.Account.ID, identity.Change{Password: ptr(&p)})
			}
			if got := s.hashes(v.Account.ID); got != want {
				s.Errorf("unique_last_password_count = %d: rows %q, want %q", n, got, want)
			}
		}
	})
}

// TestPasswordsAtOnce sets passwords without the clock moving: the one set last
// is the current one.
func TestPasswordsAtOnce(t *testing.T) {
	each(t, func(s *stand) {
		s.users.Rules.History = 5
		v := s.create("0")
		for _, p := range []string{"1", "2", "3"} {
			v = s.update(v.Account.ID, identity.Change{Password: ptr(&p)})
			if got := v.Account.Password.Hash; got != "plain:"+p {
				s.Fatalf("after setting %q the current password is %q", p, got)
			}
		}
		rows := s.passwords(v.Account.ID)
		for i, p := range rows {
			if i > 0 && p.CreatedInt <= rows[i-1].CreatedInt {
				s.Errorf("created_at_int does not rise: %d after %d", p.CreatedInt, rows[i-1].CreatedInt)
			}
			if last := i == len(rows)-1; (p.Expires == nil) != last {
				s.Errorf("row %d of %d ends at %v", i, len(rows), p.Expires)
			}
		}
	})
}

// TestPasswordNull ends the password and puts a row without a hash.
func TestPasswordNull(t *testing.T) {
	each(t, func(s *stand) {
		v := s.create("ana")
		s.clock = s.clock.Add(time.Second)
		v = s.update(v.Account.ID, identity.Change{Password: ptr[*string](nil)})
		if got := s.hashes(v.Account.ID); got != "ana null" {
			s.Errorf("rows %q, want ana null", got)
		}
		if p := v.Account.Password; p.ID == 0 || p.Hash != "" {
			s.Errorf("current password %+v, want the row without a hash", p)
		}
		if got := s.events(); len(got) != 0 {
			s.Errorf("a password set to null revoked the tokens of %v", got)
		}
	})
}
