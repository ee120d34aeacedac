package assignment_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/resource"
)

// lists gives the names of the projects and domains that user u reaches.
func (s *stand) lists() (projects, domains string) {
	s.Helper()
	var b db.Batch
	p, d := assignment.ProjectsOf(&b, "u", lasting), assignment.DomainsOf(&b, "u", lasting)
	s.must(s.db.Send(s.Context(), &b))
	var ps, ds []string
	for _, x := range p.All() {
		ps = append(ps, x.Name)
	}
	for _, x := range d.All() {
		ds = append(ds, x.Name)
	}
	return strings.Join(ps, " "), strings.Join(ds, " ")
}

// TestLists shows what a token can be asked for: where user u has at least one
// role that a token shows.
func TestLists(t *testing.T) {
	each(t, func(s *stand) {
		for _, tt := range []struct{ grants, projects, domains string }{
			{"", "", ""},
			{"u project mid p", "mid", ""},
			{"g project side p", "side", ""},
			{"u domain d p", "", "d"},
			{"g domain e p, u domain d q", "", "d e"},
			{"u project top p*", "leaf mid", ""},
			{"u project mid p*, u project mid p", "leaf mid", ""},
			{"u domain d p*", "leaf mid side top", ""},
			{"g domain e p*, u project leaf p, g project leaf q", "far leaf", ""},
			{"u project leaf p*", "", ""},
			{"v project mid p, h project mid p, h domain d p, v domain d p*", "", ""},
			{"u system p, g system p", "", ""},
			{"u project side ds, u domain d ds", "side", "d"}, // ds implies a role that is shown
		} {
			s.noGrants()
			for _, g := range strings.Split(tt.grants, ", ") {
				if g != "" {
					s.grant(g)
				}
			}
			projects, domains := s.lists()
			if projects != tt.projects || domains != tt.domains {
				s.Errorf("grants %q: projects %q, domains %q, want %q, %q", tt.grants, projects, domains, tt.projects, tt.domains)
			}
		}
	})
}

// TestListsHideDomainRoles: a role of a domain that implies none that is shown
// gives no scope, so it is listed nowhere.
func TestListsHideDomainRoles(t *testing.T) {
	each(t, func(s *stand) {
		s.must(assignment.Unimply(s.Context(), s.db, "id-ds", "id-c"))
		for _, g := range []string{"u project side ds", "u domain d ds", "u project top ds*", "g domain e ds*"} {
			s.grant(g)
		}
		if projects, domains := s.lists(); projects != "" || domains != "" {
			s.Errorf("projects %q, domains %q, want none", projects, domains)
		}
		s.must(assignment.Imply(s.Context(), s.db, "id-ds", "id-dm")) // dm implies z
		if projects, domains := s.lists(); projects != "far leaf mid side" || domains != "d" {
			s.Errorf("projects %q, domains %q, want far leaf mid side and d", projects, domains)
		}
	})
}

// TestListsShow has disabled ones in, and the tags and options of all listed.
func TestListsShow(t *testing.T) {
	each(t, func(s *stand) {
		s.exec(`update project set enabled = $1 where id in ('leaf', 'e')`, false)
		s.exec(`insert into project_tag (project_id, name) values ('leaf', 'red'), ('leaf', 'blue'), ('side', 'no'), ('e', 'cold')`)
		s.exec(`insert into project_option (project_id, option_id, option_value) values ('leaf', 'IMMU', 'true'), ('side', 'IMMU', 'true'), ('e', 'IMMU', 'false')`)
		s.grant("u project leaf p")
		s.grant("u domain e p")
		var b db.Batch
		p, d := assignment.ProjectsOf(&b, "u", lasting), assignment.DomainsOf(&b, "u", lasting)
		s.must(s.db.Send(s.Context(), &b))
		if all := p.All(); len(all) != 1 || all[0].Enabled || all[0].ParentID != "mid" || all[0].Domain.Name != "d" {
			s.Errorf("projects: %+v", all)
		}
		if all := d.All(); len(all) != 1 || all[0].Enabled {
			s.Errorf("domains: %+v", all)
		}
		leaf, e := p.All()[0], d.All()[0]
		for name, got := range map[string][2][]resource.Label{
			"tags":           {leaf.Tags, {{OwnerID: "leaf", Name: "blue"}, {OwnerID: "leaf", Name: "red"}}},
			"options":        {leaf.Options, {{OwnerID: "leaf", Name: "IMMU", Value: "true"}}},
			"domain tags":    {e.Tags, {{OwnerID: "e", Name: "cold"}}},
			"domain options": {e.Options, {{OwnerID: "e", Name: "IMMU", Value: "false"}}},
		} {
			if diff := cmp.Diff(got[1], got[0]); diff != "" {
				s.Errorf("%s: want -, got +\n%s", name, diff)
			}
		}
	})
}

// TestListsCost asks as much of the database for two hundred projects as for
// none.
func TestListsCost(t *testing.T) {
	each(t, func(s *stand) {
		cost := func() [3]int {
			c := dbtest.Count(s.T, s.db)
			var b db.Batch
			assignment.ProjectsOf(&b, "u", lasting)
			assignment.DomainsOf(&b, "u", lasting)
			db.Add(&b, assignment.RolesOnProject("u", "leaf"))
			s.must(c.Send(s.Context(), &b))
			return [3]int{c.RoundTrips, c.Statements, c.Writes}
		}
		none := cost()
		for i := range 200 {
			id := fmt.Sprintf("n%03d", i)
			s.must(resource.CreateProject(s.Context(), s.db, resource.Project{ID: id, Name: id, DomainID: "d", Enabled: true}))
			s.exec(`insert into project_tag (project_id, name) values ($1, 'a'), ($1, 'b')`, id)
		}
		s.grant("u domain d p*")
		projects, _ := s.lists()
		if n := len(strings.Fields(projects)); n != 204 {
			s.Errorf("%d projects listed, want 204", n)
		}
		if many := cost(); many != none || many != [3]int{1, 9, 0} {
			s.Errorf("round trips, statements, writes: %v for none, %v for 204, want [1 9 0]", none, many)
		}
	})
}
