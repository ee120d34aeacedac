package assignment_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/assignment"
)

// forNow makes the membership of u in g one that ends: so long verified, by a
// provider that says how many minutes it lasts, nil for nothing.
func (s *stand) forNow(ago time.Duration, minutes any) {
	s.Helper()
	s.exec(`delete from user_group_membership where user_id = 'u'`)
	s.exec(`delete from expiring_user_group_membership where user_id = 'u'`)
	s.exec(`delete from identity_provider where id = 'idp'`)
	s.exec(`insert into identity_provider (id, enabled, domain_id, authorization_ttl) values ('idp', $1, 'd', $2)`, true, minutes)
	s.exec(`insert into expiring_user_group_membership (user_id, group_id, idp_id, last_verified) values ('u', 'g', 'idp', $1)`, noon.Add(-ago))
}

// what tells what u holds by tokens, by lists of scopes and by the list of his
// assignments.
func (s *stand) what() map[string]string {
	s.Helper()
	projects, domains := s.lists()
	return map[string]string{
		"leaf":   s.roles(assignment.RolesOnProject("u", "leaf")),
		"side":   s.roles(assignment.RolesOnProject("u", "side")),
		"domain": s.roles(assignment.RolesOnDomain("u", "d")), "system": s.roles(assignment.RolesOnSystem("u")),
		"projects": projects, "domains": domains,
		"assignments": s.assignments(assignment.Filter{Effective: true, UserID: "u"}),
		"on leaf":     s.assignments(assignment.Filter{Effective: true, UserID: "u", ProjectID: "leaf"}),
		"on domain":   s.assignments(assignment.Filter{Effective: true, UserID: "u", DomainID: "d"}),
	}
}

// TestMembershipsThatEnd count as those that stay, until they end.
func TestMembershipsThatEnd(t *testing.T) {
	each(t, func(s *stand) {
		for _, grants := range []string{
			"g project leaf a, g domain d p, g system q", "g project top p*, g domain d ds*", "u project leaf q, g project leaf q, h project leaf z",
			"g domain e p*, g project side a2, v project leaf p", "u domain d p*, g domain d p*, g system a",
		} {
			s.exec(`delete from expiring_user_group_membership`)
			s.exec(`delete from user_group_membership`)
			s.grantAll(grants)
			without := s.what()
			s.exec(`insert into user_group_membership (user_id, group_id) values ('u', 'g')`)
			with := s.what()
			if cmp.Equal(with, without) {
				s.Fatalf("%q: the group gives nothing: %v", grants, with)
			}
			for _, x := range []struct {
				name    string
				ago     time.Duration
				minutes any
				counts  bool
			}{
				{"as long as the provider says", 9 * time.Minute, 10, true},
				{"longer", 11 * time.Minute, 10, false},
				{"to the moment", 10 * time.Minute, 10, false},
				{"longer than usual, as the provider says", 2 * time.Hour, 180, true},
				{"as usual", 59 * time.Minute, nil, true},
				{"longer than usual", 60 * time.Minute, nil, false},
				{"as usual, by zero", 59 * time.Minute, 0, true},
			} {
				s.forNow(x.ago, x.minutes)
				want := without
				if x.counts {
					want = with
				}
				if d := cmp.Diff(want, s.what()); d != "" {
					s.Errorf("%q, verified %s: (-want +got)\n%s", grants, x.name, d)
				}
				// Who is in a group for now is none of those in it.
				if whole := s.assignments(assignment.Filter{Effective: true}); strings.Contains(whole, "<g") {
					s.Errorf("%q: the whole list %s", grants, whole)
				}
			}
		}
	})
}
