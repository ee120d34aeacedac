package assignment_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/fault"
)

// brief writes an assignment as stand.grant reads it, with "<" and what it
// comes from behind it.
func brief(a assignment.Assignment) string {
	out := a.UserID + a.GroupID
	switch {
	case a.ProjectID != "":
		out += " project " + a.ProjectID
	case a.DomainID != "":
		out += " domain " + a.DomainID
	default:
		out += " system"
	}
	out += " " + strings.TrimPrefix(a.RoleID, "id-")
	if a.Inherited {
		out += "*"
	}
	for _, by := range []string{a.By.GroupID, a.By.ProjectID, a.By.DomainID, strings.TrimPrefix(a.By.RoleID, "id-")} {
		if by != "" {
			out += "<" + by
		}
	}
	return out
}

func (s *stand) assignments(f assignment.Filter) string {
	s.Helper()
	found, err := assignment.Grants{DB: s.db, Memberships: lasting}.Assignments(s.Context(), f)
	s.must(err)
	out := make([]string, len(found))
	for i, a := range found {
		out[i] = brief(a)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func (s *stand) grantAll(grants string) {
	s.Helper()
	s.noGrants()
	for g := range strings.SplitSeq(grants, ", ") {
		if g != "" {
			s.grant(g)
		}
	}
}

// TestAssignments lists grants as they were made.
func TestAssignments(t *testing.T) {
	yes, no := true, false
	each(t, func(s *stand) {
		s.grantAll("u project leaf p, u project mid q*, g project leaf q, u domain d a, g domain d p*, v domain e p, u project far p, h system p, u system q, u project leaf ds")
		for _, tt := range []struct {
			f    assignment.Filter
			want string
		}{
			{assignment.Filter{}, "g domain d p*, g project leaf q, h system p, u domain d a, u project far p, u project leaf ds, u project leaf p, u project mid q*, u system q, v domain e p"},
			{assignment.Filter{UserID: "u"}, "u domain d a, u project far p, u project leaf ds, u project leaf p, u project mid q*, u system q"},
			{assignment.Filter{GroupID: "g"}, "g domain d p*, g project leaf q"},
			{assignment.Filter{GroupID: "h"}, "h system p"},
			{assignment.Filter{RoleID: "id-q"}, "g project leaf q, u project mid q*, u system q"},
			{assignment.Filter{ProjectID: "leaf"}, "g project leaf q, u project leaf ds, u project leaf p"},
			{assignment.Filter{ProjectID: "mid", Subtree: true}, "g project leaf q, u project leaf ds, u project leaf p, u project mid q*"},
			{assignment.Filter{ProjectID: "mid", Subtree: true, UserID: "u", RoleID: "id-p"}, "u project leaf p"},
			{assignment.Filter{DomainID: "d"}, "g domain d p*, u domain d a"},
			{assignment.Filter{DomainID: "d", Inherited: &yes}, "g domain d p*"},
			{assignment.Filter{DomainID: "d", Inherited: &no}, "u domain d a"},
			// grants on the system are shown whatever is asked of inheritance
			{assignment.Filter{Inherited: &yes}, "g domain d p*, h system p, u project mid q*, u system q"},
			{assignment.Filter{System: true}, "h system p, u system q"},
			{assignment.Filter{System: true, UserID: "u"}, "u system q"},
			{assignment.Filter{System: true, UserID: "u", RoleID: "id-p"}, ""},
			{assignment.Filter{InDomain: "d"}, "g domain d p*, g project leaf q, u domain d a, u project leaf ds, u project leaf p, u project mid q*"},
			{assignment.Filter{InDomain: "e"}, "u project far p, v domain e p"},
			{assignment.Filter{UserID: "none"}, ""},
			{assignment.Filter{UserID: "g"}, ""},
			{assignment.Filter{ProjectID: "none", Subtree: true}, ""},
			{assignment.Filter{ProjectID: "a\x00b"}, ""},
		} {
			if d := cmp.Diff(tt.want, s.assignments(tt.f)); d != "" {
				s.Errorf("%+v: %s", tt.f, d)
			}
		}
	})
}

// TestEffectiveAssignments shows what users hold, and by what.
func TestEffectiveAssignments(t *testing.T) {
	yes, no := true, false
	each(t, func(s *stand) {
		for _, tt := range []struct {
			grants string
			f      assignment.Filter
			want   string
		}{
			{"u project leaf p, v project leaf p", assignment.Filter{}, "u project leaf p, v project leaf p"},
			{"g project leaf p, h project leaf p", assignment.Filter{}, "u project leaf p<g"},
			{"g project leaf p, u project leaf p", assignment.Filter{UserID: "u"}, "u project leaf p, u project leaf p<g"},
			{"u system p, g system p", assignment.Filter{}, ""},
			{"u domain d p, g domain d q", assignment.Filter{DomainID: "d"}, "u domain d p, u domain d q<g"},
			{"u domain d p*", assignment.Filter{}, "u project leaf p<d, u project mid p<d, u project side p<d, u project top p<d"},
			{"u project top p*", assignment.Filter{}, "u project leaf p<top, u project mid p<top"},
			{"u project leaf p*", assignment.Filter{}, ""},
			{"g project top p*", assignment.Filter{UserID: "u"}, "u project leaf p<g<top, u project mid p<g<top"},
			{"u project d p*", assignment.Filter{}, "u project leaf p<d, u project mid p<d, u project side p<d, u project top p<d"},
			{"u domain d p*", assignment.Filter{DomainID: "d"}, ""},
			// on a project: what reaches it
			{"u project top p*, u project mid q*, u domain d z*, u project leaf x*, u project side p*, u domain e p*", assignment.Filter{ProjectID: "leaf", RoleID: "id-p"}, "u project leaf p<top"},
			{"u project top p*, u project mid q*, u domain d z*, u project leaf q*, u project side p*", assignment.Filter{ProjectID: "leaf"}, "u project leaf p<top, u project leaf q<mid, u project leaf z<d"},
			{"u project mid p*, u project leaf q*, u domain d z*, u project mid q", assignment.Filter{ProjectID: "mid"}, "u project mid q, u project mid z<d"},
			{"u project mid p*, u project leaf q*, u domain d z*, u project mid q, u project leaf q", assignment.Filter{ProjectID: "mid", Subtree: true}, "u project leaf p<mid, u project leaf q, u project leaf z<d, u project mid q, u project mid z<d"},
			{"u project top p*", assignment.Filter{ProjectID: "mid", Subtree: true}, "u project leaf p<top, u project mid p<top"},
			{"u project leaf p*", assignment.Filter{ProjectID: "leaf", Subtree: true}, ""},
			{"u project leaf p, u project top q*", assignment.Filter{ProjectID: "leaf", Inherited: &yes}, "u project leaf q<top"},
			{"u project leaf p, u project top q*", assignment.Filter{ProjectID: "leaf", Inherited: &no}, "u project leaf p"},
			{"u project leaf p, u project top q*", assignment.Filter{Inherited: &no}, "u project leaf p"},
			// implication, each step once
			{"u project leaf a", assignment.Filter{}, "u project leaf a, u project leaf b<a, u project leaf c<b"},
			{"u project leaf a, u project leaf b", assignment.Filter{}, "u project leaf a, u project leaf b, u project leaf b<a, u project leaf c<b"},
			{"u project leaf x", assignment.Filter{}, "u project leaf x, u project leaf x<y, u project leaf y<x"},
			{"u project leaf ds, u project leaf a2, u project leaf dm", assignment.Filter{}, "u project leaf a2, u project leaf c<ds, u project leaf z<dm"},
			{"g domain d a*", assignment.Filter{ProjectID: "side", RoleID: "id-c"}, "u project side c<g<d<b"},
			// of a domain alone
			{"u domain d p, u domain d q*, u domain e p, u project far p, u project top p", assignment.Filter{InDomain: "e"}, "u domain e p, u project far p"},
			{"u domain d p, u domain e q*, u domain e p, u project d p", assignment.Filter{InDomain: "e"}, "u domain e p, u project far q<e"},
		} {
			s.grantAll(tt.grants)
			tt.f.Effective = true
			if d := cmp.Diff(tt.want, s.assignments(tt.f)); d != "" {
				s.Errorf("%q %+v: %s", tt.grants, tt.f, d)
			}
		}
		for _, f := range []assignment.Filter{{UserID: "none"}, {ProjectID: "none"}, {ProjectID: "none", Inherited: &yes}, {UserID: "\x00"}} {
			f.Effective = true
			if _, err := (assignment.Grants{DB: s.db, Memberships: lasting}).Assignments(s.Context(), f); !fault.Is(err, fault.NotFound) {
				s.Errorf("%+v: %v, want a 404", f, err)
			}
		}
	})
}

// TestEffectiveAsTokens: what the list says that a user holds is what his token
// for the place holds, and a list for one user or one project is that part of
// the whole.
func TestEffectiveAsTokens(t *testing.T) {
	each(t, func(s *stand) {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // no secret
		pick := func(words string) string { all := strings.Fields(words); return all[r.IntN(len(all))] }
		for range 8 {
			s.noGrants()
			for range 1 + r.IntN(10) {
				star := pick("- *")
				s.grant(fmt.Sprintf("%s %s %s%s", pick("u v g h"), strings.ReplaceAll(pick("project-top project-mid project-leaf project-side project-far project-d domain-d domain-e"), "-", " "),
					pick("p q a b c x y ds a2 dm z"), strings.Trim(star, "-")))
			}
			whole := s.assignments(assignment.Filter{Effective: true})
			for _, project := range []string{"top", "mid", "leaf", "side", "far"} {
				want := s.roles(assignment.RolesOnProject("u", project))
				if got := rolesIn(whole, "u project "+project+" "); got != want {
					s.Errorf("seed %d: on %s the token has %q, the list %q: %s", seed, project, want, got, whole)
				}
				part := s.assignments(assignment.Filter{Effective: true, ProjectID: project, UserID: "u"})
				if got := only(whole, "u project "+project+" "); got != part {
					s.Errorf("seed %d: of the whole list for u on %s %q, the list of that %q", seed, project, got, part)
				}
			}
			if got, want := rolesIn(whole, "u domain d "), s.roles(assignment.RolesOnDomain("u", "d")); got != want {
				s.Errorf("seed %d: on the domain the token has %q, the list %q: %s", seed, want, got, whole)
			}
		}
	})
}

func only(list, prefix string) string {
	out := strings.Split(list, ", ")
	return strings.Join(slices.DeleteFunc(out, func(a string) bool { return !strings.HasPrefix(a, prefix) }), ", ")
}

// rolesIn are the names of roles in a list, each once.
func rolesIn(list, prefix string) string {
	var names []string
	for a := range strings.SplitSeq(only(list, prefix), ", ") {
		if rest, found := strings.CutPrefix(a, prefix); found {
			name, _, _ := strings.Cut(rest, "<")
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}

// TestAssignmentStatements: one round trip and one for names, however much there
// is.
func TestAssignmentStatements(t *testing.T) {
	each(t, func(s *stand) {
		counter := dbtest.Count(s, s.db)
		grants := assignment.Grants{DB: counter}
		s.grantAll("u project leaf p")
		cost := func(f assignment.Filter) [2]int {
			counter.Reset()
			found, err := grants.Assignments(s.Context(), f)
			s.must(err)
			_, err = grants.Names(s.Context(), found)
			s.must(err)
			return [2]int{counter.RoundTrips, counter.Statements}
		}
		all := []assignment.Filter{
			{}, {Effective: true}, {Effective: true, UserID: "u"}, {Effective: true, ProjectID: "leaf", Subtree: true}, {Effective: true, DomainID: "d"}, {UserID: "u"}, {System: true},
		}
		var before [][2]int
		for _, f := range all {
			before = append(before, cost(f))
		}
		for i := range 600 { // more than are named in a list of ids
			s.exec(`insert into "user" (id, extra, enabled, domain_id) values ($1, '{}', $2, 'd')`, fmt.Sprint("many", i), true)
			s.exec(`insert into user_group_membership (user_id, group_id) values ($1, 'g')`, fmt.Sprint("many", i))
			s.exec(`insert into assignment (type, actor_id, target_id, role_id, inherited) values ('UserProject', $1, 'leaf', 'id-a', $2)`, fmt.Sprint("many", i), false)
		}
		s.grant("g domain d a*")
		s.grant("g domain d a")
		for i, f := range all {
			if after := cost(f); after != before[i] || after[0] != 2 {
				s.Errorf("%+v: %v round trips and statements, then %v", f, before[i], after)
			}
		}
	})
}

// TestNames names users of any source, and nothing that is gone.
func TestNames(t *testing.T) {
	each(t, func(s *stand) {
		s.exec(`insert into local_user (domain_id, user_id, name) values ('d', 'u', 'Uma')`)
		names, err := assignment.Grants{DB: s.db}.Names(s.Context(), []assignment.Assignment{
			{UserID: "u", ProjectID: "leaf", RoleID: "id-p"}, {GroupID: "g", DomainID: "e", RoleID: "id-ds"}, {UserID: "gone", ProjectID: "gone", RoleID: "gone"}, {UserID: "v", ProjectID: "d", RoleID: "id-p"},
		})
		s.must(err)
		want := assignment.Names{
			Users:  map[string]assignment.Name{"u": {Name: "Uma", DomainID: "d", DomainName: "d"}, "v": {DomainID: "d", DomainName: "d"}},
			Groups: map[string]assignment.Name{"g": {Name: "g", DomainID: "d", DomainName: "d"}},
			Places: map[string]assignment.Name{"leaf": {Name: "leaf", DomainID: "d", DomainName: "d"}, "d": {Name: "d"}, "e": {Name: "e"}},
			Roles:  map[string]assignment.Name{"id-p": {Name: "p"}, "id-ds": {Name: "ds", DomainID: "d", DomainName: "d"}},
		}
		if d := cmp.Diff(want, names); d != "" {
			s.Error(d)
		}
	})
}
