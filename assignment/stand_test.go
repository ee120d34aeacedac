package assignment_test

import (
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/resource"
)

// stand is a database with
//
//	domains   d: top > mid > leaf, side        e: far
//	user u in group g, group h without him
//	roles     p q         global, imply nothing
//	          a > b > c   global
//	          x > y > x   global
//	          ds > c      ds belongs to domain d
//	          a2 > dm > z dm belongs to domain d
type stand struct {
	*testing.T
	db db.DB
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// lasting has it noon, and a membership that ends last an hour.
var lasting = identity.Memberships{Now: func() time.Time { return noon }, Usual: 60}

func each(t *testing.T, f func(s *stand)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		s := &stand{T: t, db: d}
		s.build()
		f(s)
	})
}

func (s *stand) build() {
	s.Helper()
	c := s.Context()
	for _, id := range []string{"d", "e"} {
		s.must(resource.CreateDomain(c, s.db, resource.Domain{ID: id, Name: id, Enabled: true}))
	}
	for _, p := range []resource.Project{
		{ID: "top", DomainID: "d"},
		{ID: "mid", DomainID: "d", ParentID: "top"},
		{ID: "leaf", DomainID: "d", ParentID: "mid"},
		{ID: "side", DomainID: "d"},
		{ID: "far", DomainID: "e"},
	} {
		p.Name, p.Enabled = p.ID, true
		s.must(resource.CreateProject(c, s.db, p))
	}
	for _, id := range []string{"u", "v"} {
		s.exec(`insert into "user" (id, extra, enabled, domain_id) values ($1, '{}', $2, 'd')`, id, true)
	}
	for _, id := range []string{"g", "h"} {
		s.must(identity.CreateGroup(c, s.db, identity.Group{ID: id, Name: id, DomainID: "d"}))
	}
	s.must(identity.AddToGroup(c, s.db, "u", "g"))
	for _, name := range strings.Fields("p q a b c x y a2 z") {
		s.must(assignment.CreateRole(c, s.db, assignment.Role{ID: "id-" + name, Name: name}, false))
	}
	for _, name := range []string{"ds", "dm"} {
		s.must(assignment.CreateRole(c, s.db, assignment.Role{ID: "id-" + name, Name: name, DomainID: "d"}, false))
	}
	for _, pair := range []string{"a b", "b c", "x y", "y x", "ds c", "a2 dm", "dm z"} {
		prior, implied, _ := strings.Cut(pair, " ")
		s.must(assignment.Imply(c, s.db, "id-"+prior, "id-"+implied))
	}
}

func (s *stand) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stand) exec(text string, args ...any) {
	s.Helper()
	if _, err := s.db.Exec(s.Context(), text, args...); err != nil {
		s.Fatalf("%s: %v", text, err)
	}
}

// grant writes "actor target role", where the actor is u, v, g or h, the
// target has its kind before it ("project leaf", "domain d", "system"), and a
// star behind the role stands for inherited.
func (s *stand) grant(text string) {
	s.Helper()
	f := strings.Fields(text)
	actor := assignment.Actor{ID: f[0], Group: f[0] == "g" || f[0] == "h"}
	role, inherited := strings.CutSuffix(f[len(f)-1], "*")
	role = "id-" + role
	switch f[1] {
	case "project":
		s.must(assignment.GrantOnProject(s.Context(), s.db, actor, f[2], role, inherited))
	case "domain":
		s.must(assignment.GrantOnDomain(s.Context(), s.db, actor, f[2], role, inherited))
	case "system":
		s.must(assignment.GrantOnSystem(s.Context(), s.db, actor, role))
	default:
		s.Fatalf("grant %q", text)
	}
}

func (s *stand) noGrants() {
	s.Helper()
	s.exec(`delete from assignment`)
	s.exec(`delete from system_assignment`)
}

// roles gives the names of the roles that come of what a query finds.
func (s *stand) roles(q db.Query[assignment.Granted]) string {
	s.Helper()
	granted, err := db.All(s.Context(), s.db, q)
	s.must(err)
	implied, err := db.All(s.Context(), s.db, assignment.Implications)
	s.must(err)
	var names []string
	for _, r := range assignment.Effective(granted, implied, lasting) {
		if r.ID != "id-"+r.Name || r.DomainID != "" {
			s.Errorf("role %+v is shown", r)
		}
		names = append(names, r.Name)
	}
	return strings.Join(names, " ")
}
