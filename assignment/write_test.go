package assignment_test

import (
	"testing"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/fault"
)

func (s *stand) count(text string, args ...any) int64 {
	s.Helper()
	n, err := db.One(s.Context(), s.db, db.Query[int64]{Text: text, Args: args, Scan: func(r db.Row) (n int64, err error) {
		err = r.Scan(&n)
		return n, err
	}})
	s.must(err)
	return n
}

// TestCreateRole stores what Python reads, and tells a taken name.
func TestCreateRole(t *testing.T) {
	each(t, func(s *stand) {
		s.must(assignment.CreateRole(s.Context(), s.db, assignment.Role{ID: "r", Name: "new"}, true))
		if n := s.count(`select count(*) from role where id = 'r' and domain_id = '<<null>>' and extra = '{}' and description is null`); n != 1 {
			s.Error("the role's row is not as Python writes it")
		}
		if n := s.count(`select count(*) from role_option where role_id = 'r' and option_id = 'IMMU' and option_value = 'true'`); n != 1 {
			s.Error("an immutable role has no option IMMU")
		}
		err := assignment.CreateRole(s.Context(), s.db, assignment.Role{ID: "r2", Name: "new"}, true)
		if want := "Conflict occurred attempting to store role - Duplicate entry found with name new."; !fault.Is(err, fault.Conflict) || err.Error() != want {
			s.Errorf("taken name: got %v, want %s", err, want)
		}
		if n := s.count(`select count(*) from role_option`); n != 1 {
			s.Errorf("a refused role left %d options", n-1)
		}
		if err := assignment.CreateRole(s.Context(), s.db, assignment.Role{ID: "r3", Name: "new", DomainID: "d"}, false); err != nil {
			s.Errorf("the same name in a domain: %v", err)
		}
		found, err := db.All(s.Context(), s.db, assignment.RolesByName("new"))
		if s.must(err); len(found) != 1 || found[0].ID != "r" {
			s.Errorf("RolesByName finds %v, want the global one", found)
		}
		if found, _ := db.All(s.Context(), s.db, assignment.RolesByName("NEW")); len(found) != 0 && dbtest.Exact(s.db) {
			s.Errorf("RolesByName in capitals finds %v", found)
		}
	})
}

// TestTwiceIsOnce repeats every grant inside one transaction, which must go on.
func TestTwiceIsOnce(t *testing.T) {
	each(t, func(s *stand) {
		c := s.Context()
		u, g := assignment.Actor{ID: "u"}, assignment.Actor{ID: "g", Group: true}
		s.must(s.db.Tx(c, func(tx db.Conn) error {
			for range 2 {
				for _, err := range []error{
					assignment.GrantOnProject(c, tx, u, "leaf", "id-p", false),
					assignment.GrantOnProject(c, tx, u, "leaf", "id-p", true),
					assignment.GrantOnProject(c, tx, g, "leaf", "id-p", false),
					assignment.GrantOnDomain(c, tx, u, "d", "id-p", true),
					assignment.GrantOnDomain(c, tx, g, "d", "id-p", false),
					assignment.GrantOnSystem(c, tx, u, "id-p"),
					assignment.GrantOnSystem(c, tx, g, "id-p"),
					assignment.Imply(c, tx, "id-p", "id-q"),
				} {
					if err != nil {
						return err
					}
				}
			}
			return nil
		}))
		if n := s.count(`select count(*) from assignment`); n != 5 {
			s.Errorf("%d grants, want 5", n)
		}
		if n := s.count(`select count(*) from system_assignment where target_id = 'system' and inherited = $1`, false); n != 2 {
			s.Errorf("%d system grants, want 2", n)
		}
		if got := s.roles(assignment.RolesOnSystem("u")); got != "p q" {
			s.Errorf("roles on the system %q, want p q", got)
		}
		s.must(assignment.Unimply(c, s.db, "id-p", "id-q"))
		s.must(assignment.Unimply(c, s.db, "id-p", "id-q"))
		if got := s.roles(assignment.RolesOnSystem("u")); got != "p" {
			s.Errorf("roles after Unimply %q, want p", got)
		}
		if err := assignment.Imply(c, s.db, "id-p", "no such role"); err == nil {
			s.Error("a role that is not there was implied")
		}
	})
}
