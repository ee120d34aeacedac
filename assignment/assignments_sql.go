package assignment

import (
	"strings"

	"github.com/keystone-go/keystone-go/internal/db"
)

// row is a grant as it was made.
type row struct {
	Assignment
	home   string // the domain of its project
	hidden bool   // its role is of a domain, or gone
}

const rowCols = `select a.type, a.actor_id, a.target_id, a.role_id, a.inherited, r.domain_id, p.domain_id`

func scanRow(r db.Row) (row, error) {
	var a row
	var kind, actor, target string
	var roleDomain, home *string
	err := r.Scan(&kind, &actor, &target, &a.RoleID, &a.Inherited, &roleDomain, &home)
	a.hidden = roleDomain == nil || *roleDomain != NoDomain
	if home != nil {
		a.home = *home
	}
	if strings.HasPrefix(kind, "Group") {
		a.GroupID = actor
	} else {
		a.UserID = actor
	}
	switch {
	case strings.HasSuffix(kind, "Project"):
		a.ProjectID = target
	case strings.HasSuffix(kind, "Domain"):
		a.DomainID = target
	}
	return a, err
}

// source is a selection of grants: what stands before the statements, and the
// conditions on the table a.
type source struct {
	Filter
	with  string
	where db.Where
}

const (
	ofUsers    = `a.type in ('UserProject', 'UserDomain')`
	ofGroups   = `a.type in ('GroupProject', 'GroupDomain')`
	onProjects = `a.type in ('UserProject', 'GroupProject')`
	onDomains  = `a.type in ('UserDomain', 'GroupDomain')`
)

// source selects the grants that matter for what is asked. An implied role may
// come of any, so that effective ones are not selected by their role.
func (f Filter) source() source {
	s := source{Filter: f}
	project := ""
	if f.ProjectID != "" {
		project = s.where.Arg(f.ProjectID) // the first, for tree
	}
	if f.RoleID != "" && !f.Effective {
		s.where.And(`a.role_id = ?`, f.RoleID)
	}
	switch {
	case f.UserID != "" && f.Effective:
		// Whether he is still in a group for now is known when they are read.
		s.where.And(`(`+ofUsers+` and a.actor_id = ? or `+ofGroups+` and (a.actor_id in (select m.group_id from user_group_membership m where m.user_id = ?)
  or a.actor_id in (select e.group_id from expiring_user_group_membership e where e.user_id = ?)))`, f.UserID, f.UserID, f.UserID)
	case f.UserID != "":
		s.where.And(ofUsers+` and a.actor_id = ?`, f.UserID)
	case f.GroupID != "":
		s.where.And(ofGroups+` and a.actor_id = ?`, f.GroupID)
	}
	switch {
	case f.ProjectID != "":
		s.onProject(project)
	case f.DomainID != "":
		s.where.And(onDomains+` and a.target_id = ?`, f.DomainID)
	}
	switch {
	case f.DomainID != "" && f.Effective:
		s.where.And(`a.inherited = ?`, false) // domains inherit nothing
	case f.Inherited != nil:
		s.where.And(`a.inherited = ?`, *f.Inherited)
	}
	return s
}

// onProject selects what is on a project, with the subtree on all of it, and
// for the effective ones what these inherit.
func (s *source) onProject(id string) {
	s.with = `with recursive here(id, parent_id, domain_id) as (select p.id, p.parent_id, p.domain_id from project p where p.id = ` + id + `)`
	if s.Subtree {
		s.with = `with recursive here(id, parent_id, domain_id) as (
  select p.id, p.parent_id, p.domain_id from project p where p.id = ` + id + `
  union
  select q.id, q.parent_id, q.domain_id from project q join here t on q.parent_id = t.id
)`
	}
	on := onProjects + ` and a.target_id in (select t.id from here t)`
	if !s.Effective {
		s.where.And(on)
		return
	}
	s.with += `, up(id, parent_id, domain_id) as (
  select t.id, t.parent_id, t.domain_id from here t where t.id = ` + id + `
  union
  select q.id, q.parent_id, q.domain_id from project q join up u on q.id = u.parent_id
)`
	above := `select u.id from up u where u.id <> ` + id
	if s.Subtree {
		above = `select u.id from up u union select t.id from here t`
	}
	s.where.And(`(`+on+` and a.inherited = ?
  or a.inherited = ? and (`+onProjects+` and a.target_id in (`+above+`) or `+onDomains+` and a.target_id in (select t.domain_id from here t)))`, false, true)
}

const grantTables = ` from assignment a left join role r on r.id = a.role_id left join project p on p.id = a.target_id`

func (s source) query() db.Query[row] {
	return db.Query[row]{Text: s.with + rowCols + grantTables + s.where.String(), Args: s.where.Args, Scan: scanRow}
}

// onSystem selects the grants on the system.
func (f Filter) onSystem() db.Query[row] {
	var w db.Where
	w.And(`a.target_id = ?`, onTheSystem)
	switch {
	case f.UserID != "":
		w.And(`a.actor_id = ? and a.type = 'UserSystem'`, f.UserID)
	case f.GroupID != "":
		w.And(`a.actor_id = ? and a.type = 'GroupSystem'`, f.GroupID)
	}
	if f.RoleID != "" {
		w.And(`a.role_id = ?`, f.RoleID)
	}
	return db.Query[row]{
		Text: `select a.type, a.actor_id, a.target_id, a.role_id, a.inherited, r.domain_id, null from system_assignment a left join role r on r.id = a.role_id` + w.String(),
		Args: w.Args, Scan: scanRow,
	}
}

type membership struct{ user, group string }

// members reads who is in the groups of the selected grants.
func (s source) members() db.Query[membership] {
	return db.Query[membership]{
		Text: s.with + `select m.user_id, m.group_id from user_group_membership m where m.group_id in (select a.actor_id from assignment a` + s.also(ofGroups) + `)`,
		Args: s.where.Args,
		Scan: func(r db.Row) (m membership, err error) {
			err = r.Scan(&m.user, &m.group)
			return m, err
		},
	}
}

// also is the clause with a condition more.
func (s source) also(cond string) string {
	if all := s.where.Conditions(); all != "" {
		return ` where ` + all + ` and ` + cond
	}
	return ` where ` + cond
}

// node is a project in the tree.
type node struct{ id, parent, domain string }

func scanNode(r db.Row) (node, error) {
	var n node
	var parent *string
	err := r.Scan(&n.id, &parent, &n.domain)
	if parent != nil {
		n.parent = *parent
	}
	return n, err
}

// tree reads the projects on which inherited grants can hold: the one that is
// asked for, with what is below where that is asked, else all that is below a
// selected grant.
func (s source) tree() db.Query[node] {
	if s.ProjectID != "" {
		return db.Query[node]{Text: s.with + ` select t.id, t.parent_id, t.domain_id from here t`, Args: s.where.Args[:1], Scan: scanNode}
	}
	inherited := s.where.Arg(true)
	return db.Query[node]{
		Text: `with recursive source(id) as (
  select a.target_id from assignment a` + s.also(`a.inherited = `+inherited) + `
), down(id, parent_id, domain_id) as (
  select p.id, p.parent_id, p.domain_id from project p where p.parent_id in (select s.id from source s) or p.domain_id in (select s.id from source s)
  union
  select q.id, q.parent_id, q.domain_id from project q join down d on q.parent_id = d.id
)
select d.id, d.parent_id, d.domain_id from down d`,
		Args: s.where.Args, Scan: scanNode,
	}
}

func userByID(id string) db.Query[string] {
	return db.Query[string]{Text: `select u.id from "user" u where u.id = $1`, Args: []any{id}, Scan: db.ScanText}
}
