// Package assignment holds roles, implied roles and grants (keystone/assignment).
package assignment

import "github.com/keystone-go/keystone-go/internal/db"

// NoDomain is the domain_id of a global role in the database
// (keystone/assignment/role_backends/sql_model.py NULL_DOMAIN_ID).
const NoDomain = "<<null>>"

// Role is a role.
type Role struct {
	ID, Name    string
	DomainID    string // "" for a global role
	Description *string
	Extra       string
}

// NewRole makes a role of its columns.
func NewRole(id, name, domainID string) Role {
	return Role{ID: id, Name: name, DomainID: domainOf(domainID)}
}

func scanRole(r db.Row) (Role, error) {
	var role Role
	err := r.Scan(&role.ID, &role.Name, &role.DomainID)
	role.DomainID = domainOf(role.DomainID)
	return role, err
}

func domainOf(stored string) string {
	if stored == NoDomain {
		return ""
	}
	return stored
}
