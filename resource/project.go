// Package resource holds domains and projects (keystone/resource).
package resource

import "github.com/keystone-go/keystone-go/internal/db"

// RootDomainID is the domain_id of every project that acts as a domain, and
// the id of a hidden row (keystone/resource/backends/base.py NULL_DOMAIN_ID).
const RootDomainID = "<<keystone.domain.root>>"

// Domain is a project row that acts as a domain.
type Domain struct {
	ID, Name    string
	Description *string
	Enabled     bool
	Extra       string
}

// Project is a project with the domain it is in.
type Project struct {
	ID, Name    string
	DomainID    string // "" for a project that acts as a domain
	ParentID    string
	Description *string
	Enabled     bool
	IsDomain    bool
	Extra       string
	// Domain is the owning domain's row; its ID is empty when there is none.
	Domain Domain
}

const domainCols = `d.id, d.name, d.description, d.enabled, d.extra`

func scanDomain(r db.Row) (Domain, error) {
	var d Domain
	var extra *string
	var enabled *bool
	err := r.Scan(&d.ID, &d.Name, &d.Description, &enabled, &extra)
	d.Extra, d.Enabled = deref(extra), enabled != nil && *enabled
	return d, err
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// DomainByID reads a domain by its id.
func DomainByID(id string) db.Query[Domain] {
	return db.Query[Domain]{
		Text: `select ` + domainCols + ` from project d where d.id = $1 and d.is_domain = $2 and d.id <> $3`,
		Args: []any{id, true, RootDomainID},
		Scan: scanDomain,
	}
}

// DomainByName reads a domain by its name.
func DomainByName(name string) db.Query[Domain] {
	return db.Query[Domain]{
		Text: `select ` + domainCols + ` from project d where d.name = $1 and d.domain_id = $2 and d.is_domain = $3 and d.id <> $2`,
		Args: []any{name, RootDomainID, true},
		Scan: scanDomain,
	}
}

const projectCols = `p.id, p.name, p.domain_id, p.parent_id, p.description, p.enabled, p.is_domain, p.extra, d.id, d.name, d.enabled`

const projectFrom = ` from project p left join project d on d.id = p.domain_id and d.id <> '` + RootDomainID + `'`

func scanProject(r db.Row) (Project, error) {
	var p Project
	var parent, extra, domainID, domainName *string
	var enabled, domainEnabled *bool
	err := r.Scan(&p.ID, &p.Name, &p.DomainID, &parent, &p.Description, &enabled, &p.IsDomain, &extra, &domainID, &domainName, &domainEnabled)
	p.ParentID, p.Extra = deref(parent), deref(extra)
	p.Enabled = enabled != nil && *enabled
	p.Domain = Domain{ID: deref(domainID), Name: deref(domainName), Enabled: domainEnabled != nil && *domainEnabled}
	if p.DomainID == RootDomainID {
		p.DomainID = ""
	}
	return p, err
}

// ProjectByID reads a project by its id; the hidden root row is never found.
func ProjectByID(id string) db.Query[Project] {
	return db.Query[Project]{
		Text: `select ` + projectCols + projectFrom + ` where p.id = $1 and p.id <> $2`,
		Args: []any{id, RootDomainID},
		Scan: scanProject,
	}
}

// ProjectsByID reads the projects of the given ids, in no order.
func ProjectsByID(ids []string) db.Query[Project] {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	return db.Query[Project]{
		Text: `select ` + projectCols + projectFrom + ` where p.id in ` + db.In(len(ids), 1),
		Args: args,
		Scan: scanProject,
	}
}

// ProjectByName reads a project by its name in the domain of the given id.
func ProjectByName(name, domainID string) db.Query[Project] {
	return db.Query[Project]{
		Text: `select ` + projectCols + projectFrom + ` where p.name = $1 and p.domain_id = $2 and p.id <> $3`,
		Args: []any{name, domainID, RootDomainID},
		Scan: scanProject,
	}
}

// ProjectByNames reads a project by its name and its domain's name.
func ProjectByNames(name, domainName string) db.Query[Project] {
	return db.Query[Project]{
		Text: `select ` + projectCols + projectFrom + ` where p.name = $1 and d.name = $2 and d.domain_id = $3`,
		Args: []any{name, domainName, RootDomainID},
		Scan: scanProject,
	}
}

// ProjectsIn reads the projects whose ids a subselect gives. with stands
// before the statement (a common table expression, or nothing).
func ProjectsIn(with, ids string, args ...any) db.Query[Project] {
	return db.Query[Project]{
		Text: with + `select ` + projectCols + projectFrom + ` where p.id in (` + ids + `) order by p.name, p.id`,
		Args: args,
		Scan: scanProject,
	}
}

// TagsIn reads the tags of the projects whose ids a subselect gives.
func TagsIn(with, ids string, args ...any) db.Query[Label] {
	return db.Query[Label]{
		Text: with + `select t.project_id, t.name from project_tag t where t.project_id in (` + ids + `) order by t.project_id, t.name`,
		Args: args,
		Scan: func(r db.Row) (Label, error) {
			var l Label
			err := r.Scan(&l.OwnerID, &l.Name)
			return l, err
		},
	}
}

// OptionsIn reads the options of the projects whose ids a subselect gives.
func OptionsIn(with, ids string, args ...any) db.Query[Label] {
	return db.Query[Label]{
		Text: with + `select o.project_id, o.option_id, o.option_value from project_option o where o.project_id in (` + ids + `)`,
		Args: args,
		Scan: ScanLabel,
	}
}
