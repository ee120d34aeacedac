package assignment

import (
	"slices"
	"time"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/resource"
)

const (
	// shown finds the roles that are global or imply one that is: a grant of
	// any other gives no scope.
	shown = `with recursive shown(role_id) as (
  select r.id from role r where r.domain_id = '` + NoDomain + `'
  union
  select i.prior_role_id from implied_role i join shown h on h.role_id = i.implied_role_id
)`
	isShown = ` and a.role_id in (select h.role_id from shown h)`

	// his are the grants of the user $1 and of all his groups, those among them
	// that he has left since: ways tell which count.
	his = `(` + userGrants + ` or ` + groupGrants + `
    or a.type in ('GroupProject', 'GroupDomain') and a.actor_id in (select e.group_id from expiring_user_group_membership e where e.user_id = $1))`

	// reach finds the projects on which the user $1 may hold any role; $2 is
	// false, $3 true.
	reach = shown + `, direct(id) as (
  select a.target_id from assignment a
  where ` + his + ` and a.inherited = $2 and a.type in ('UserProject', 'GroupProject')` + isShown + `
), source(id) as (
  select a.target_id from assignment a
  where ` + his + ` and a.inherited = $3` + isShown + `
), down(id) as (
  select p.id from project p
  where p.parent_id in (select s.id from source s) or p.domain_id in (select s.id from source s)
  union
  select q.id from project q join down d on q.parent_id = d.id
)
`
	reached = `select x.id from direct x union select y.id from down y`

	// given are the user's grants, each with the membership that it hangs on.
	given = shown + `, given(id, type, inherited, verified, minutes) as (
  select a.target_id, a.type, a.inherited, null, 0 from assignment a
  where (` + userGrants + ` or ` + groupGrants + `)` + isShown

	givenForNow = `
  union all
  select a.target_id, a.type, a.inherited, ` + identity.EndingCols + ` from ` + identity.EndingFrom + `
  join assignment a on a.actor_id = e.group_id and a.type in ('GroupProject', 'GroupDomain')
  where e.user_id = $1` + isShown + `
)`

	// ifForNow is true for a user with memberships that end. Where there are
	// none, which is nearly always, all that is reached counts, and nobody needs
	// to be told why.
	ifForNow = ` and exists (select 1 from expiring_user_group_membership x where x.user_id = $1)`

	toProjects = `, down(id, verified, minutes) as (
  select p.id, s.verified, s.minutes from project p join given s on p.parent_id = s.id where s.inherited = $3
  union
  select p.id, s.verified, s.minutes from project p join given s on p.domain_id = s.id where s.inherited = $3
  union
  select q.id, d.verified, d.minutes from project q join down d on q.parent_id = d.id
)
select g.id, g.verified, g.minutes from given g where g.inherited = $2 and g.type in ('UserProject', 'GroupProject')
union
select d.id, d.verified, d.minutes from down d`

	toDomains = `
select g.id, g.verified, g.minutes from given g where g.inherited = $2 and g.type in ('UserDomain', 'GroupDomain')`
)

// way is how a user comes to a project or a domain: for good, or by a membership
// that ends.
type way struct {
	id         string
	membership *identity.Membership
}

func ways(text string, args ...any) db.Query[way] {
	return db.Query[way]{Text: text, Args: args, Scan: func(r db.Row) (w way, err error) {
		var verified *time.Time
		var minutes int
		err = r.Scan(&w.id, &verified, &minutes)
		w.membership = identity.EndingOf(verified, minutes)
		return w, err
	}}
}

func open(all []way, m identity.Memberships) map[string]bool {
	out := map[string]bool{}
	for _, w := range all {
		if m.Counts(w.membership) {
			out[w.id] = true
		}
	}
	return out
}

// Scopes are queued reads of the projects or the domains that a user has a role
// on.
type Scopes struct {
	found       resource.Records
	ways        *db.Result[way]
	memberships identity.Memberships
}

// All gives those that were read, by their names.
func (s Scopes) All() []resource.Record {
	found := s.found.All()
	if len(s.ways.All()) == 0 {
		return found
	}
	is := open(s.ways.All(), s.memberships)
	return slices.DeleteFunc(found, func(r resource.Record) bool { return !is[r.ID] })
}

// ProjectsOf queues the reads of the projects that a user has a role on.
func ProjectsOf(b *db.Batch, userID string, m identity.Memberships) Scopes {
	args := []any{userID, false, true}
	return Scopes{resource.RecordsIn(b, reach, reached, args...), db.Add(b, ways(given+ifForNow+givenForNow+toProjects, args...)), m}
}

// DomainsOf queues the reads of the domains that a user has a role on.
func DomainsOf(b *db.Batch, userID string, m identity.Memberships) Scopes {
	args := []any{userID, false}
	ids := `select a.target_id from assignment a
where ` + his + ` and a.inherited = $2 and a.type in ('UserDomain', 'GroupDomain')` + isShown
	return Scopes{resource.RecordsIn(b, shown, ids, args...), db.Add(b, ways(given+ifForNow+givenForNow+toDomains, args...)), m}
}

// ProjectIDsOf queues the read of the ids of the projects that a user has a role
// on.
func ProjectIDsOf(b *db.Batch, userID string, m identity.Memberships) func() map[string]bool {
	all := db.Add(b, ways(given+givenForNow+toProjects, userID, false, true))
	return func() map[string]bool { return open(all.All(), m) }
}
