package identity_test

import (
	"testing"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// TestGroups stores groups and members; twice a member is once, and the
// transaction goes on.
func TestGroups(t *testing.T) {
	each(t, func(s *stand) {
		id := s.create("ana").Account.ID
		s.must(identity.CreateGroup(s.Context(), s.db, identity.Group{ID: "g", Name: "ops", DomainID: "d"}))
		err := identity.CreateGroup(s.Context(), s.db, identity.Group{ID: "h", Name: "ops", DomainID: "d"})
		if want := "409 Conflict occurred attempting to store group - Duplicate entry found with name ops at domain ID d."; message(err) != want {
			s.Errorf("group of a taken name: got %q, want %q", message(err), want)
		}
		s.must(identity.CreateGroup(s.Context(), s.db, identity.Group{ID: "h", Name: dbtest.Apart(s.db, "Ops", "ops2"), DomainID: "d"}))
		if got := one[string](s, `select extra from "group" where id = 'g'`); got != "{}" {
			s.Errorf("extra of a group = %q, want {}", got)
		}
		s.must(s.db.Tx(s.Context(), func(c db.Conn) error {
			for _, group := range []string{"g", "g", "h"} {
				if err := identity.AddToGroup(s.Context(), c, id, group); err != nil {
					return err
				}
			}
			return nil
		}))
		if got := s.count(`select count(*) from user_group_membership where user_id = $1`, id); got != 2 {
			s.Errorf("member of %d groups, want 2", got)
		}
		if err := identity.AddToGroup(s.Context(), s.db, id, "nothing"); err == nil {
			s.Error("a member of a group that is not there")
		}
	})
}
