package auth

import (
	"time"

	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// isoZ renders a time of a token: whole seconds, six zeros, Z.
func isoZ(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// ISOMicro renders a database time as oslo.serialization does: microseconds,
// no zone.
func ISOMicro(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000") }

// Body is the `token` object of an answer (keystone/common/render_token.py).
func (id *Identity) Body() pyjson.Object {
	var expires any
	if id.User.PasswordExpiresAt != nil {
		expires = ISOMicro(*id.User.PasswordExpiresAt)
	}
	body := make(pyjson.Object, 0, 12)
	methods := id.Token.Methods
	if methods == nil {
		methods = []string{}
	}
	body = append(body,
		pyjson.Member{Key: "methods", Value: methods},
		pyjson.Member{Key: "user", Value: pyjson.Object{
			{Key: "domain", Value: ref(id.User.DomainID, id.User.DomainName)},
			{Key: "id", Value: id.User.ID},
			{Key: "name", Value: id.User.Name},
			{Key: "password_expires_at", Value: expires},
		}},
		pyjson.Member{Key: "audit_ids", Value: id.Token.AuditIDs},
		pyjson.Member{Key: "expires_at", Value: isoZ(id.Token.ExpiresAt)},
		pyjson.Member{Key: "issued_at", Value: isoZ(id.Token.IssuedAt)},
	)
	body = id.appendScope(body)
	if id.Scope() != "" {
		body = append(body, pyjson.Member{Key: "roles", Value: id.roleList()})
	}
	if id.Catalog != "" {
		body = append(body, pyjson.Member{Key: "catalog", Value: id.Catalog})
	}
	if len(id.ServiceProviders) > 0 {
		body = append(body, pyjson.Member{Key: "service_providers", Value: id.providerList()})
	}
	return body
}

func ref(id, name string) pyjson.Object {
	return pyjson.Object{{Key: "id", Value: id}, {Key: "name", Value: name}}
}

func (id *Identity) appendScope(body pyjson.Object) pyjson.Object {
	switch {
	case id.Token.System != "":
		return append(body, pyjson.Member{Key: "system", Value: pyjson.Object{{Key: "all", Value: true}}})
	case id.Domain != nil:
		return append(body, pyjson.Member{Key: "domain", Value: ref(id.Domain.ID, id.Domain.Name)})
	case id.Project != nil:
		domain := ref(id.Project.Domain.ID, id.Project.Domain.Name)
		if id.Project.IsDomain {
			domain = pyjson.Object{{Key: "id", Value: nil}, {Key: "name", Value: nil}}
		}
		body = append(body,
			pyjson.Member{Key: "project", Value: pyjson.Object{
				{Key: "domain", Value: domain}, {Key: "id", Value: id.Project.ID}, {Key: "name", Value: id.Project.Name},
			}},
			pyjson.Member{Key: "is_domain", Value: id.Project.IsDomain})
		if id.IsAdminProject != nil {
			body = append(body, pyjson.Member{Key: "is_admin_project", Value: *id.IsAdminProject})
		}
	}
	return body
}

func (id *Identity) roleList() []pyjson.Object {
	out := make([]pyjson.Object, len(id.Roles))
	for i, r := range id.Roles {
		out[i] = ref(r.ID, r.Name)
	}
	return out
}

func (id *Identity) providerList() []pyjson.Object {
	out := make([]pyjson.Object, len(id.ServiceProviders))
	for i, p := range id.ServiceProviders {
		out[i] = pyjson.Object{{Key: "auth_url", Value: p.AuthURL}, {Key: "id", Value: p.ID}, {Key: "sp_url", Value: p.SPURL}}
	}
	return out
}
