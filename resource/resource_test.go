package resource_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/resource"
)

// stand is a database with domains a (on) and b (off), and projects in them.
type stand struct {
	*testing.T
	db db.DB
}

func each(t *testing.T, f func(s *stand)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		s := &stand{T: t, db: d}
		for _, x := range []resource.Domain{
			{ID: "a", Name: "A", Enabled: true, Description: new("first"), Extra: `{"k": 1}`}, {ID: "b", Name: "B"},
		} {
			s.must(resource.CreateDomain(t.Context(), d, x))
		}
		for _, p := range []resource.Project{
			{ID: "p", Name: "same", DomainID: "a", Enabled: true, Description: new("pd")},
			{ID: "q", Name: "same", DomainID: "b", Enabled: true},
			{ID: "child", Name: "child", DomainID: "a", ParentID: "p"},
		} {
			s.must(resource.CreateProject(t.Context(), d, p))
		}
		f(s)
	})
}

func (s *stand) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stand) exec(text string, args ...any) {
	s.Helper()
	_, err := s.db.Exec(s.Context(), text, args...)
	s.must(err)
}

// folded are the cases that MariaDB finds in spite of their letters.
var folded = map[string]bool{"id in capitals": true, "name in capitals": true, "name in another case": true}

// TestProjects reads by id and by name; the hidden root row is never found,
// and a domain is a project without a domain.
func TestProjects(t *testing.T) {
	each(t, func(s *stand) {
		s.exec(`insert into project (id, name, domain_id, parent_id, is_domain) values ('nulls', 'n', 'a', 'a', $1)`, false)
		on := resource.Domain{ID: "a", Name: "A", Enabled: true}
		off := resource.Domain{ID: "b", Name: "B"}
		p := resource.Project{ID: "p", Name: "same", DomainID: "a", ParentID: "a", Enabled: true, Description: new("pd"), Extra: "{}", Domain: on}
		q := resource.Project{ID: "q", Name: "same", DomainID: "b", ParentID: "b", Enabled: true, Extra: "{}", Domain: off}
		root := resource.RootDomainID
		for _, tt := range []struct {
			name string
			q    db.Query[resource.Project]
			want []resource.Project
		}{
			{"id", resource.ProjectByID("p"), []resource.Project{p}},
			{"id of a domain", resource.ProjectByID("a"), []resource.Project{{ID: "a", Name: "A", Enabled: true, IsDomain: true, Description: new("first"), Extra: `{"k": 1}`}}},
			{"id, everything null", resource.ProjectByID("nulls"), []resource.Project{{ID: "nulls", Name: "n", DomainID: "a", ParentID: "a", Domain: on}}},
			{"id of a child", resource.ProjectByID("child"), []resource.Project{{ID: "child", Name: "child", DomainID: "a", ParentID: "p", Extra: "{}", Domain: on}}},
			{"id in capitals", resource.ProjectByID("P"), nil},
			{"id of the root", resource.ProjectByID(root), nil},
			{"name", resource.ProjectByName("same", "a"), []resource.Project{p}},
			{"name in another domain", resource.ProjectByName("same", "b"), []resource.Project{q}},
			{"name in capitals", resource.ProjectByName("Same", "a"), nil},
			{"name of the root", resource.ProjectByName(root, root), nil},
			{"names", resource.ProjectByNames("same", "A"), []resource.Project{p}},
			{"names, the other domain", resource.ProjectByNames("same", "B"), []resource.Project{q}},
			{"names, a project as domain", resource.ProjectByNames("child", "same"), nil},
			{"names, the root as domain", resource.ProjectByNames("A", root), nil},
			{"ids", resource.ProjectsByID([]string{"q", "none"}), []resource.Project{q}},
		} {
			got, err := db.All(s.Context(), s.db, tt.q)
			s.must(err)
			if !dbtest.Exact(s.db) && folded[tt.name] {
				if len(got) != 1 {
					s.Errorf("%s: found %d, want the one in another case", tt.name, len(got))
				}
				continue
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				s.Errorf("%s: want -, got +\n%s", tt.name, diff)
			}
		}
	})
}

// TestDomains finds domains alone.
func TestDomains(t *testing.T) {
	each(t, func(s *stand) {
		a := resource.Domain{ID: "a", Name: "A", Enabled: true, Description: new("first"), Extra: `{"k": 1}`}
		b := resource.Domain{ID: "b", Name: "B", Extra: "{}"}
		root := resource.RootDomainID
		for _, tt := range []struct {
			name string
			q    db.Query[resource.Domain]
			want []resource.Domain
		}{
			{"id", resource.DomainByID("a"), []resource.Domain{a}},
			{"name", resource.DomainByName("B"), []resource.Domain{b}},
			{"name in another case", resource.DomainByName("b"), nil},
			{"id of a project", resource.DomainByID("p"), nil},
			{"name of a project", resource.DomainByName("same"), nil},
			{"id of the root", resource.DomainByID(root), nil},
			{"name of the root", resource.DomainByName(root), nil},
		} {
			got, err := db.All(s.Context(), s.db, tt.q)
			s.must(err)
			if !dbtest.Exact(s.db) && folded[tt.name] {
				if len(got) != 1 {
					s.Errorf("%s: found %d, want the one in another case", tt.name, len(got))
				}
				continue
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				s.Errorf("%s: want -, got +\n%s", tt.name, diff)
			}
		}
	})
}

// TestStored looks at what Python will read.
func TestStored(t *testing.T) {
	each(t, func(s *stand) {
		type row struct{ id, extra, domain, parent string }
		got, err := db.All(s.Context(), s.db, db.Query[row]{
			Text: `select p.id, p.extra, p.domain_id, coalesce(p.parent_id, 'null') from project p where p.id <> $1 order by p.id`,
			Args: []any{resource.RootDomainID},
			Scan: func(r db.Row) (w row, err error) { err = r.Scan(&w.id, &w.extra, &w.domain, &w.parent); return w, err },
		})
		s.must(err)
		root := resource.RootDomainID
		want := []row{{"a", `{"k": 1}`, root, "null"}, {"b", "{}", root, "null"}, {"child", "{}", "a", "p"}, {"p", "{}", "a", "a"}, {"q", "{}", "b", "b"}}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
			s.Errorf("rows: want -, got +\n%s", diff)
		}
	})
}

// TestTaken is the 409 of a name that is taken.
func TestTaken(t *testing.T) {
	each(t, func(s *stand) {
		for want, err := range map[string]error{
			"Conflict occurred attempting to store domain - Duplicate entry found with name A.":                    resource.CreateDomain(s.Context(), s.db, resource.Domain{ID: "x", Name: "A"}),
			"Conflict occurred attempting to store project - Duplicate entry found with name same at domain ID a.": resource.CreateProject(s.Context(), s.db, resource.Project{ID: "x", Name: "same", DomainID: "a"}),
		} {
			if !fault.Is(err, fault.Conflict) || err.Error() != want {
				s.Errorf("got %v, want %s", err, want)
			}
		}
		if err := resource.CreateProject(s.Context(), s.db, resource.Project{ID: "x", Name: "x", DomainID: "none"}); err == nil || fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "create project x") {
			s.Errorf("a project in no domain: got %v", err)
		}
	})
}

// TestLabels reads tags and options of many projects at once.
func TestLabels(t *testing.T) {
	each(t, func(s *stand) {
		s.exec(`insert into project_tag (project_id, name) values ('p', 'z'), ('p', 'a'), ('q', 'm'), ('child', 'no')`)
		s.exec(`insert into project_option (project_id, option_id, option_value) values ('p', 'IMMU', 'true'), ('q', 'XXXX', $1)`, nil)
		ids := `select x.id from project x where x.name = $1`
		tags, err := db.All(s.Context(), s.db, resource.TagsIn("", ids, "same"))
		s.must(err)
		if diff := cmp.Diff([]resource.Label{{OwnerID: "p", Name: "a"}, {OwnerID: "p", Name: "z"}, {OwnerID: "q", Name: "m"}}, tags); diff != "" {
			s.Errorf("tags: want -, got +\n%s", diff)
		}
		options, err := db.All(s.Context(), s.db, resource.OptionsIn("", ids, "same"))
		s.must(err)
		want := map[resource.Label]bool{{OwnerID: "p", Name: "IMMU", Value: "true"}: true, {OwnerID: "q", Name: "XXXX"}: true}
		if len(options) != 2 || !want[options[0]] || !want[options[1]] {
			s.Errorf("options: got %v", options)
		}
		projects, err := db.All(s.Context(), s.db, resource.ProjectsIn("", ids, "same"))
		if s.must(err); len(projects) != 2 || projects[0].ID != "p" || projects[1].ID != "q" {
			s.Errorf("projects: got %v", projects)
		}
		domains, err := db.All(s.Context(), s.db, resource.ProjectsIn("with w(n) as (select $1) ", `select x.id from project x, w where x.name = w.n`, "B"))
		if s.must(err); len(domains) != 1 || domains[0].ID != "b" {
			s.Errorf("domains: got %v", domains)
		}
	})
}
