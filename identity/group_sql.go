package identity

import (
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

const groupCols = `g.id, g.domain_id, g.name, g.description, g.extra`

func scanGroup(r db.Row) (Group, error) {
	var g Group
	var extra *string
	err := r.Scan(&g.ID, &g.DomainID, &g.Name, &g.Description, &extra)
	g.Extra = pyjson.ReadExtra(deref(extra))
	return g, err
}

// GroupByID reads one group.
func GroupByID(id string) db.Query[Group] {
	return db.Query[Group]{Text: `select ` + groupCols + ` from "group" g where g.id = $1`, Args: []any{id}, Scan: scanGroup}
}

var groupColumns = map[string]hints.Column{"domain_id": {SQL: "g.domain_id", Max: 64}, "name": {SQL: "g.name", Max: 64}}

func groupSource(domainID string) hints.Source[Group] {
	return hints.Source[Group]{
		Select: `select ` + groupCols + ` from "group" g`, Columns: groupColumns, ID: "g.id", Paged: true, Scan: scanGroup,
		Where: func(w *db.Where) {
			if domainID != "" {
				w.And(`g.domain_id = ?`, domainID)
			}
		},
	}
}

func groupsOf(userID string) hints.Source[Joined] {
	return hints.Source[Joined]{
		Select: `select ` + groupCols + ` from "group" g`, Columns: groupColumns, ID: "g.id",
		Scan: func(r db.Row) (Joined, error) {
			g, err := scanGroup(r)
			return Joined{Group: g}, err
		},
		Where: func(w *db.Where) {
			w.And(`g.id in (select m.group_id from user_group_membership m where m.user_id = ?)`, userID)
		},
	}
}

// ending is a group in which a user is for now.
type ending struct {
	Group
	Membership
}

func endingGroups(userID string) db.Query[ending] {
	return db.Query[ending]{
		Text: `select ` + groupCols + `, ` + EndingCols + ` from ` + EndingFrom + ` join "group" g on g.id = e.group_id where e.user_id = $1 order by g.id, e.idp_id`,
		Args: []any{userID},
		Scan: func(r db.Row) (x ending, err error) {
			var extra *string
			err = r.Scan(&x.ID, &x.DomainID, &x.Name, &x.Description, &extra, &x.Verified, &x.Minutes)
			x.Extra = pyjson.ReadExtra(deref(extra))
			return x, err
		},
	}
}

func userExists(id string) db.Query[string] {
	return db.Query[string]{Text: `select u.id from "user" u where u.id = $1`, Args: []any{id}, Scan: db.ScanText}
}

// held finds the id of a user or group, and keeps the row from being changed or
// referred to until the transaction is over.
func held(d db.Dialect, table, id string) db.Query[string] {
	return db.Query[string]{Text: `select x.id from "` + table + `" x where x.id = $1` + db.ForUpdate(d), Args: []any{id}, Scan: db.ScanText}
}
