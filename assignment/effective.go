package assignment

import (
	"cmp"
	"slices"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/resource"
)

// The grants of a user are his own and those of his groups: $1 is the user.
const (
	userGrants   = `(a.actor_id = $1 and a.type in ('UserProject', 'UserDomain'))`
	groupGrants  = `(a.type in ('GroupProject', 'GroupDomain') and a.actor_id in (select m.group_id from user_group_membership m where m.user_id = $1))`
	systemGrants = `(a.actor_id = $1 and a.type = 'UserSystem' or a.type = 'GroupSystem' and a.actor_id in (select m.group_id from user_group_membership m where m.user_id = $1))`

	granted = `select r.id, r.name, r.domain_id from assignment a join role r on r.id = a.role_id
where (` + userGrants + ` or ` + groupGrants + `)`

	// Ancestors are looked for only where an inherited grant is met.
	onProject = granted + `
  and (a.target_id = $2 and a.inherited = $3 and a.type in ('UserProject', 'GroupProject')
    or a.inherited = $4 and a.target_id <> $2 and a.target_id in (
      with recursive up(id, parent_id, domain_id) as (
        select p.id, p.parent_id, p.domain_id from project p where p.id = $2
        union
        select q.id, q.parent_id, q.domain_id from project q join up u on q.id = u.parent_id
      )
      select u.id from up u union select u.domain_id from up u))`

	onDomain = granted + `
  and a.target_id = $2 and a.inherited = $3 and a.type in ('UserDomain', 'GroupDomain')`

	onSystem = `select r.id, r.name, r.domain_id from system_assignment a join role r on r.id = a.role_id
where (` + systemGrants + `) and a.target_id = 'system' and a.inherited = $2`

	implications = `select i.prior_role_id, r.id, r.name, r.domain_id from implied_role i join role r on r.id = i.implied_role_id`
)

// Implication says that whoever holds the role Prior holds Role too.
type Implication struct {
	Prior string
	Role  Role
}

// Implications reads them all: there are as many as the operator has made,
// four after bootstrap.
var Implications = db.Query[Implication]{
	Text: implications,
	Scan: func(r db.Row) (Implication, error) {
		var i Implication
		err := r.Scan(&i.Prior, &i.Role.ID, &i.Role.Name, &i.Role.DomainID)
		i.Role.DomainID = domainOf(i.Role.DomainID)
		return i, err
	},
}

// Effective closes granted roles over implication and leaves out those of a
// domain, which are only ways to others (keystone/assignment/core.py). The
// order is by name.
func Effective(granted []Role, all []Implication) []Role {
	held := make([]Role, 0, len(granted)+len(all))
	for _, r := range granted {
		held = addRole(held, r)
	}
	for i := 0; i < len(held); i++ {
		for _, m := range all {
			if m.Prior == held[i].ID {
				held = addRole(held, m.Role)
			}
		}
	}
	held = slices.DeleteFunc(held, func(r Role) bool { return r.DomainID != "" })
	slices.SortFunc(held, func(a, b Role) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return held
}

func addRole(held []Role, r Role) []Role {
	if slices.ContainsFunc(held, func(h Role) bool { return h.ID == r.ID }) {
		return held
	}
	return append(held, r)
}

// RolesOnProject reads the roles that a user was granted on a project: direct,
// by group, and inherited from its ancestors and its domain. Effective makes
// of them what he holds.
func RolesOnProject(userID, projectID string) db.Query[Role] {
	return db.Query[Role]{Text: onProject, Args: []any{userID, projectID, false, true}, Scan: scanRole}
}

// RolesOnDomain reads the roles that a user was granted on a domain.
func RolesOnDomain(userID, domainID string) db.Query[Role] {
	return db.Query[Role]{Text: onDomain, Args: []any{userID, domainID, false}, Scan: scanRole}
}

// RolesOnSystem reads the roles that a user was granted on the system.
func RolesOnSystem(userID string) db.Query[Role] {
	return db.Query[Role]{Text: onSystem, Args: []any{userID, false}, Scan: scanRole}
}

const (
	// shown finds the roles that are global or imply one that is: a grant of
	// any other gives no scope.
	shown = `with recursive shown(role_id) as (
  select r.id from role r where r.domain_id = '` + NoDomain + `'
  union
  select i.prior_role_id from implied_role i join shown h on h.role_id = i.implied_role_id
)`
	isShown = ` and a.role_id in (select h.role_id from shown h)`

	// reach finds the projects on which a user holds any role: $1 the user,
	// $2 false, $3 true.
	reach = shown + `, direct(id) as (
  select a.target_id from assignment a
  where (` + userGrants + ` or ` + groupGrants + `) and a.inherited = $2 and a.type in ('UserProject', 'GroupProject')` + isShown + `
), source(id) as (
  select a.target_id from assignment a
  where (` + userGrants + ` or ` + groupGrants + `) and a.inherited = $3` + isShown + `
), down(id) as (
  select p.id from project p
  where p.parent_id in (select s.id from source s) or p.domain_id in (select s.id from source s)
  union
  select q.id from project q join down d on q.parent_id = d.id
)
`
	reached = `select x.id from direct x union select y.id from down y`

	domainIDs = `select a.target_id from assignment a
where (` + userGrants + ` or ` + groupGrants + `) and a.inherited = $2 and a.type in ('UserDomain', 'GroupDomain')` + isShown
)

// ProjectsOf queues the reads of the projects that a user has a role on.
func ProjectsOf(b *db.Batch, userID string) resource.Records {
	return resource.RecordsIn(b, reach, reached, userID, false, true)
}

// ProjectIDsOf reads the ids of the projects that a user has a role on.
func ProjectIDsOf(userID string) db.Query[string] {
	return db.Query[string]{
		Text: reach + reached, Args: []any{userID, false, true},
		Scan: db.ScanText,
	}
}

// DomainsOf queues the reads of the domains that a user has a role on.
func DomainsOf(b *db.Batch, userID string) resource.Records {
	return resource.RecordsIn(b, shown, domainIDs, userID, false)
}
