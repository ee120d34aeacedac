package assignment

import (
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/resource"
)

const roleCols = `r.id, r.name, r.domain_id, r.description, r.extra`

func scanFullRole(r db.Row) (Role, error) {
	var role Role
	var extra *string
	err := r.Scan(&role.ID, &role.Name, &role.DomainID, &role.Description, &extra)
	role.DomainID = domainOf(role.DomainID)
	if extra != nil {
		role.Extra = *extra
	}
	return role, err
}

// RoleByID reads one role.
func RoleByID(id string) db.Query[Role] {
	return db.Query[Role]{Text: `select ` + roleCols + ` from role r where r.id = $1`, Args: []any{id}, Scan: scanFullRole}
}

var roleColumns = map[string]hints.Column{"name": {SQL: "r.name", Max: 255}}

func inDomain(domainID string) func(*db.Where) {
	return func(w *db.Where) { w.And(`r.domain_id = ?`, domainID) }
}

func roleSource(domainID string) hints.Source[Role] {
	return hints.Source[Role]{
		Select: `select ` + roleCols + ` from role r`, Where: inDomain(domainID), Columns: roleColumns, ID: "r.id", Scan: scanFullRole,
	}
}

func roleIDs(domainID string) hints.Source[string] {
	return hints.Source[string]{Select: `select r.id from role r`, Where: inDomain(domainID), Columns: roleColumns, ID: "r.id", Scan: db.ScanText}
}

func optionsIn(ids string, args ...any) db.Query[resource.Label] {
	return db.Query[resource.Label]{
		Text: `select o.role_id, o.option_id, o.option_value from role_option o where o.role_id in (` + ids + `)`,
		Args: args,
		Scan: resource.ScanLabel,
	}
}

// inference is one implication with the names of both roles.
const inference = `select p.id, p.name, p.domain_id, r.id, r.name, r.domain_id from implied_role i
join role p on p.id = i.prior_role_id
join role r on r.id = i.implied_role_id`

// Inference says that whoever holds Prior holds Implied too.
type Inference struct{ Prior, Implied Role }

func scanInference(r db.Row) (Inference, error) {
	var i Inference
	err := r.Scan(&i.Prior.ID, &i.Prior.Name, &i.Prior.DomainID, &i.Implied.ID, &i.Implied.Name, &i.Implied.DomainID)
	i.Prior.DomainID, i.Implied.DomainID = domainOf(i.Prior.DomainID), domainOf(i.Implied.DomainID)
	return i, err
}
