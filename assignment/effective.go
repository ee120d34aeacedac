package assignment

import (
	"cmp"
	"slices"
	"time"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
)

// The grants of a user are his own and those of his groups: $1 is the user.
const (
	userGrants   = `(a.actor_id = $1 and a.type in ('UserProject', 'UserDomain'))`
	groupGrants  = `(a.type in ('GroupProject', 'GroupDomain') and a.actor_id in (select m.group_id from user_group_membership m where m.user_id = $1))`
	systemGrants = `(a.actor_id = $1 and a.type = 'UserSystem' or a.type = 'GroupSystem' and a.actor_id in (select m.group_id from user_group_membership m where m.user_id = $1))`

	granted = `select r.id, r.name, r.domain_id, null, 0 from assignment a join role r on r.id = a.role_id
where (` + userGrants + ` or ` + groupGrants + `)`

	// grantedForNow finds those of groups in which the user is for now.
	grantedForNow = `
union all
select r.id, r.name, r.domain_id, ` + identity.EndingCols + ` from ` + identity.EndingFrom + `
join assignment a on a.actor_id = e.group_id and a.type in ('GroupProject', 'GroupDomain') join role r on r.id = a.role_id
where e.user_id = $1`

	// Ancestors are looked for only where an inherited grant is met.
	isOnProject = `
  and (a.target_id = $2 and a.inherited = $3 and a.type in ('UserProject', 'GroupProject')
    or a.inherited = $4 and a.target_id <> $2 and a.target_id in (
      with recursive up(id, parent_id, domain_id) as (
        select p.id, p.parent_id, p.domain_id from project p where p.id = $2
        union
        select q.id, q.parent_id, q.domain_id from project q join up u on q.id = u.parent_id
      )
      select u.id from up u union select u.domain_id from up u))`

	isOnDomain = `
  and a.target_id = $2 and a.inherited = $3 and a.type in ('UserDomain', 'GroupDomain')`

	onProject = granted + isOnProject + grantedForNow + isOnProject
	onDomain  = granted + isOnDomain + grantedForNow + isOnDomain

	isOnSystem = ` and a.target_id = 'system' and a.inherited = $2`

	onSystem = `select r.id, r.name, r.domain_id, null, 0 from system_assignment a join role r on r.id = a.role_id
where (` + systemGrants + `)` + isOnSystem + `
union all
select r.id, r.name, r.domain_id, ` + identity.EndingCols + ` from ` + identity.EndingFrom + `
join system_assignment a on a.actor_id = e.group_id and a.type = 'GroupSystem' join role r on r.id = a.role_id
where e.user_id = $1` + isOnSystem

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

// Granted is a role that was granted to a user, or to a group in which he is
// for good, else until Membership ends.
type Granted struct {
	Role
	Membership *identity.Membership
}

func scanGranted(r db.Row) (Granted, error) {
	var g Granted
	var verified *time.Time
	var minutes int
	err := r.Scan(&g.ID, &g.Name, &g.DomainID, &verified, &minutes)
	g.DomainID = domainOf(g.DomainID)
	g.Membership = identity.EndingOf(verified, minutes)
	return g, err
}

// Effective closes the granted roles that still count over implication and
// leaves out those of a domain, which are only ways to others
// (keystone/assignment/core.py). The order is by name.
func Effective(granted []Granted, all []Implication, m identity.Memberships) []Role {
	held := make([]Role, 0, len(granted)+len(all))
	for _, r := range granted {
		if m.Counts(r.Membership) {
			held = addRole(held, r.Role)
		}
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
func RolesOnProject(userID, projectID string) db.Query[Granted] {
	return db.Query[Granted]{Text: onProject, Args: []any{userID, projectID, false, true}, Scan: scanGranted}
}

// RolesOnDomain reads the roles that a user was granted on a domain.
func RolesOnDomain(userID, domainID string) db.Query[Granted] {
	return db.Query[Granted]{Text: onDomain, Args: []any{userID, domainID, false}, Scan: scanGranted}
}

// RolesOnSystem reads the roles that a user was granted on the system.
func RolesOnSystem(userID string) db.Query[Granted] {
	return db.Query[Granted]{Text: onSystem, Args: []any{userID, false}, Scan: scanGranted}
}
