package assignment

import "github.com/keystone-go/keystone-go/internal/db"

// onTheSystem is the target of grants on the system.
const onTheSystem = "system"

func (g Grant) table() string {
	if g.place() == "" {
		return "system_assignment"
	}
	return "assignment"
}

// where finds the row of one grant, of a user or a group alike: their ids are
// never the same (_build_grant_filter and check_system_grant in
// keystone/assignment/backends/sql.py).
func (g Grant) where() (string, []any) {
	where, args := `actor_id = $1 and target_id = $2 and role_id = $3 and inherited = $4`, []any{g.ID, g.target(), g.RoleID, g.Inherited}
	switch {
	case g.ProjectID != "":
		where += ` and type in ('UserProject', 'GroupProject')`
	case g.DomainID != "":
		where += ` and type in ('UserDomain', 'GroupDomain')`
	}
	return where, args
}

// made gives the role of a grant that was made, else no row.
func (g Grant) made() db.Query[string] {
	where, args := g.where()
	return db.Query[string]{Text: `select role_id from ` + g.table() + ` where ` + where, Args: args, Scan: db.ScanText}
}

// rolesOf finds all grants of somebody somewhere. On a domain these are those
// on it as a project too, and the other way round, as in Python Keystone.
func (g Grant) rolesOf() (string, []any) {
	if g.place() == "" {
		return `a.actor_id = $1 and a.target_id = $2 and a.type = $3`, []any{g.ID, onTheSystem, g.kind("System")}
	}
	return `a.actor_id = $1 and a.target_id = $2 and a.inherited = $3`, []any{g.ID, g.place(), g.Inherited}
}
