package auth

import (
	"encoding/json"

	"github.com/keystone-go/keystone-go/policy"
)

// Credentials are what policy rules may look at (keystone/common/context.py and
// oslo.context): the `token` entry is the token's body without its catalog.
func (id *Identity) Credentials() policy.Credentials {
	if id.AdminToken {
		return policy.Credentials{policy.AdminToken: true}
	}
	c := policy.Credentials{
		"user_id":           id.User.ID,
		"user_domain_id":    id.User.DomainID,
		"project_id":        nil,
		"project_domain_id": nil,
		"domain_id":         nil,
		"system_scope":      nil,
		"roles":             id.roleNames(),
		"is_admin_project":  id.IsAdminProject == nil || *id.IsAdminProject,
		"token":             tokenFields{id},
	}
	switch {
	case id.Token.System != "":
		c["system_scope"], c["system"] = id.Token.System, id.Token.System
	case id.Domain != nil:
		c["domain_id"], c["is_admin_project"] = id.Domain.ID, false
	case id.Project != nil:
		c["project_id"] = id.Project.ID
		if !id.Project.IsDomain {
			c["project_domain_id"] = id.Project.Domain.ID
		}
	}
	if id.Service != nil {
		id.Service.addAsService(c)
	}
	return c
}

func (id *Identity) addAsService(c policy.Credentials) {
	c["service_user_id"], c["service_user_domain_id"] = id.User.ID, id.User.DomainID
	c["service_roles"] = id.roleNames()
	if id.Project != nil {
		c["service_project_id"], c["service_project_domain_id"] = id.Project.ID, id.Project.Domain.ID
	}
}

func (id *Identity) roleNames() []string {
	names := make([]string, len(id.Roles))
	for i, r := range id.Roles {
		names[i] = r.Name
	}
	return names
}

// tokenFields builds the token's body when a rule asks for a part of it: few
// rules do.
type tokenFields struct{ id *Identity }

// MarshalJSON is the whole body, for rules that are asked of another server.
func (f tokenFields) MarshalJSON() ([]byte, error) { return json.Marshal(f.id.tokenMap()) }

// Field gives a part of the token's body.
func (f tokenFields) Field(name string) (any, bool) {
	v, ok := f.id.tokenMap()[name]
	return v, ok
}

func refMap(id, name string) map[string]any { return map[string]any{"id": id, "name": name} }

func (id *Identity) tokenMap() map[string]any {
	roles := make([]any, len(id.Roles))
	for i, r := range id.Roles {
		roles[i] = refMap(r.ID, r.Name)
	}
	user := refMap(id.User.ID, id.User.Name)
	user["domain"] = refMap(id.User.DomainID, id.User.DomainName)
	user["password_expires_at"] = nil
	if id.User.PasswordExpiresAt != nil {
		user["password_expires_at"] = ISOMicro(*id.User.PasswordExpiresAt)
	}
	t := map[string]any{
		"user": user, "methods": id.Token.Methods, "audit_ids": id.Token.AuditIDs,
		"expires_at": isoZ(id.Token.ExpiresAt), "issued_at": isoZ(id.Token.IssuedAt),
	}
	switch {
	case id.Token.System != "":
		t["system"], t["roles"] = map[string]any{"all": true}, roles
	case id.Domain != nil:
		t["domain"], t["roles"] = refMap(id.Domain.ID, id.Domain.Name), roles
	case id.Project != nil:
		project := refMap(id.Project.ID, id.Project.Name)
		project["domain"] = refMap(id.Project.Domain.ID, id.Project.Domain.Name)
		t["project"], t["roles"], t["is_domain"] = project, roles, id.Project.IsDomain
		if id.IsAdminProject != nil {
			t["is_admin_project"] = *id.IsAdminProject
		}
	}
	return t
}
