package assignment

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/resource"
)

// Name is what something is called, and the domain that it is in: none for a
// domain and a global role.
type Name struct{ Name, DomainID, DomainName string }

// Names are those of what a list of assignments names. What is gone has none.
type Names struct{ Users, Groups, Places, Roles map[string]Name }

// manyIDs is from how many ids on a table is read as a whole: as many
// arguments as rows would be more than engines take.
const manyIDs = 500

// The name of a user is the local one, else the one of another source
// (identity.AccountByID).
const (
	userNames = `select u.id, coalesce(l.name, (select n.name from nonlocal_user n where n.user_id = u.id), (select f.display_name from federated_user f where f.user_id = u.id order by f.id limit 1)), u.domain_id, d.name
from "user" u left join local_user l on l.user_id = u.id left join project d on d.id = u.domain_id`
	groupNames = `select g.id, g.name, g.domain_id, d.name from "group" g left join project d on d.id = g.domain_id`
	placeNames = `select p.id, p.name, p.domain_id, d.name from project p left join project d on d.id = p.domain_id`
	roleNames  = `select r.id, r.name, r.domain_id, d.name from role r left join project d on d.id = r.domain_id`
)

// Names reads the names of a list, in one round trip.
func (g Grants) Names(ctx context.Context, all []Assignment) (Names, error) {
	users, groups, places, roles := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, a := range all {
		users[a.UserID], groups[a.GroupID], roles[a.RoleID] = true, true, true
		places[a.ProjectID], places[a.DomainID] = true, true
	}
	var b db.Batch
	read := []*db.Result[named]{
		db.Add(&b, namesOf(userNames, "u.id", users)), db.Add(&b, namesOf(groupNames, "g.id", groups)),
		db.Add(&b, namesOf(placeNames, "p.id", places)), db.Add(&b, namesOf(roleNames, "r.id", roles)),
	}
	if err := g.DB.Send(ctx, &b); err != nil {
		return Names{}, fmt.Errorf("read the names of role assignments: %w", err)
	}
	var found [4]map[string]Name
	for i, r := range read {
		found[i] = map[string]Name{}
		for _, n := range r.All() {
			found[i][n.id] = n.Name
		}
	}
	return Names{Users: found[0], Groups: found[1], Places: found[2], Roles: found[3]}, nil
}

type named struct {
	id string
	Name
}

func namesOf(text, column string, ids map[string]bool) db.Query[named] {
	delete(ids, "")
	var w db.Where
	if len(ids) < manyIDs {
		w.AndIn(column, slices.Sorted(maps.Keys(ids)))
	}
	return db.Query[named]{Text: text + w.String(), Args: w.Args, Scan: func(r db.Row) (named, error) {
		var n named
		var name, domain, domainName *string
		err := r.Scan(&n.id, &name, &domain, &domainName)
		if name != nil {
			n.Name.Name = *name
		}
		if domain != nil && *domain != NoDomain && *domain != resource.RootDomainID {
			n.DomainID = *domain
		}
		if domainName != nil && n.DomainID != "" {
			n.DomainName = *domainName
		}
		return n, err
	}}
}
