package assignment_test

import (
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/internal/db"
)

// TestRoles grants and asks for the effective roles of user u. Each case is
// "grants, one a comma" and what they give on project leaf, on domain d and on
// the system.
func TestRoles(t *testing.T) {
	each(t, func(s *stand) {
		for _, tt := range []struct{ grants, leaf, domain, system string }{
			{"", "", "", ""},
			// where a grant reaches
			{"u project leaf p", "p", "", ""},
			{"g project leaf p", "p", "", ""},
			{"u domain d p", "", "p", ""},
			{"g domain d p", "", "p", ""},
			{"u system p", "", "", "p"},
			{"g system p", "", "", "p"},
			{"u project mid p", "", "", ""},
			{"u project side p", "", "", ""},
			{"u project far p, u domain e p", "", "", ""},
			// whose it is
			{"v project leaf p, v domain d p, v system p", "", "", ""},
			{"h project leaf p, h domain d p, h system p", "", "", ""},
			{"u project leaf p, g project leaf q", "p q", "", ""},
			// inheritance: from above, never from the project or domain itself
			{"u project leaf p*", "", "", ""},
			{"u project mid p*", "p", "", ""},
			{"u project top p*", "p", "", ""},
			{"g project top p*", "p", "", ""},
			{"u domain d p*", "p", "", ""},
			{"g domain d p*", "p", "", ""},
			{"u domain e p*", "", "", ""},
			{"u project side p*", "", "", ""},
			{"h domain d p*, v project top p*", "", "", ""},
			// one role by several ways is one role
			{"u project leaf p, g project leaf p, u project mid p*, u project top p*, g domain d p*", "p", "", ""},
			{"u domain d p, g domain d p", "", "p", ""},
			{"u system p, g system p", "", "", "p"},
			{"u domain d p, u domain d p*, u system q, u project leaf q", "p q", "p", "q"},
			// implication
			{"u project leaf a", "a b c", "", ""},
			{"u project top b*", "b c", "", ""},
			{"u domain d a", "", "a b c", ""},
			{"g system a", "", "", "a b c"},
			{"u project leaf x", "x y", "", ""},
			{"u domain d y, u system x", "", "x y", "x y"},
			{"u project leaf a, u project leaf c, g domain d x*", "a b c x y", "", ""},
			// roles of a domain are not shown, what they imply is
			{"u project leaf ds", "c", "", ""},
			{"u domain d ds*", "c", "", ""},
			{"u domain d ds", "", "c", ""},
			{"u project leaf dm", "z", "", ""},
			{"u project leaf a2, u domain d a2", "a2 z", "a2 z", ""},
			{"u system a2", "", "", "a2 z"},
		} {
			s.noGrants()
			for _, g := range strings.Split(tt.grants, ", ") {
				if g != "" {
					s.grant(g)
				}
			}
			for scope, got := range map[string][2]string{
				"project leaf": {s.roles(assignment.RolesOnProject("u", "leaf")), tt.leaf},
				"domain d":     {s.roles(assignment.RolesOnDomain("u", "d")), tt.domain},
				"system":       {s.roles(assignment.RolesOnSystem("u")), tt.system},
			} {
				if got[0] != got[1] {
					s.Errorf("grants %q: roles on %s are %q, want %q", tt.grants, scope, got[0], got[1])
				}
			}
		}
	})
}

// TestRolesForeignRows holds against rows that another program may have left:
// a grant of the wrong kind for its target, an inherited one on the system, a
// role that is gone, a role under two targets of one id.
func TestRolesForeignRows(t *testing.T) {
	insert := `insert into assignment (type, actor_id, target_id, role_id, inherited) values ($1, $2, $3, $4, $5)`
	each(t, func(s *stand) {
		s.exec(insert, "UserDomain", "u", "leaf", "id-p", false)
		s.exec(insert, "UserProject", "u", "d", "id-p", false)
		s.exec(insert, "GroupProject", "u", "leaf", "id-p", false) // a group of the user's id
		s.exec(insert, "UserProject", "g", "leaf", "id-p", false)  // a user of the group's id
		if s.db.Dialect() == db.Postgres {                         // SQLite has a reference there
			s.exec(insert, "UserProject", "u", "leaf", "id-gone", false)
		}
		system := `insert into system_assignment (type, actor_id, target_id, role_id, inherited) values ($1, $2, $3, $4, $5)`
		s.exec(system, "UserSystem", "u", "system", "id-p", true)
		s.exec(system, "UserSystem", "u", "elsewhere", "id-p", false)
		s.exec(system, "GroupSystem", "u", "system", "id-p", false)
		for scope, q := range map[string]db.Query[assignment.Granted]{
			"leaf": assignment.RolesOnProject("u", "leaf"), "domain": assignment.RolesOnDomain("u", "d"), "system": assignment.RolesOnSystem("u"),
			"the domain as a project": assignment.RolesOnProject("u", "e"),
		} {
			if got := s.roles(q); got != "" {
				s.Errorf("roles on %s: got %q, want none", scope, got)
			}
		}
	})
}

// TestRolesOfDomainAsProject: a project that acts as a domain takes project
// grants on itself, and passes inherited ones down alone.
func TestRolesOfDomainAsProject(t *testing.T) {
	each(t, func(s *stand) {
		s.grant("u project d p")
		s.grant("u domain d q*")
		if got := s.roles(assignment.RolesOnProject("u", "d")); got != "p" {
			s.Errorf("roles on the domain as a project: %q, want p", got)
		}
		if got := s.roles(assignment.RolesOnProject("u", "leaf")); got != "q" {
			s.Errorf("roles on a project below: %q, want q", got)
		}
	})
}
