package v3

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/resource"
)

// authScopes tells a caller what his user may be scoped to
// (keystone/api/auth.py).
type authScopes struct{ assignment.Grants }

func (h authScopes) routes() []Route {
	row := func(what string, do func(*Call) (Reply, error)) Route {
		return Route{Method: "GET", Path: "/v3/auth/" + what, Rule: "identity:get_auth_" + what, Do: do, Limit: ratelimit.ClassToken, Rel: "auth_" + what}
	}
	catalog := row("catalog", h.catalog)
	catalog.Want = func(_ *Call, check *auth.Check) { check.CallerFull = true }
	return []Route{catalog, row("projects", h.projects), row("domains", h.domains), row("system", h.system)}
}

func (h authScopes) catalog(c *Call) (Reply, error) {
	if c.Caller.Project == nil {
		return Reply{}, fault.Refused("A project-scoped token is required to produce a service catalog.")
	}
	return Reply{Status: http.StatusOK, Body: pyjson.Object{
		{Key: "catalog", Value: c.Caller.Catalog},
		{Key: "links", Value: pyjson.Object{{Key: "self", Value: c.Link("auth", "catalog")}}},
	}}, nil
}

func (h authScopes) projects(c *Call) (Reply, error) {
	return h.list(c, "projects", assignment.ProjectsOf, projectView)
}

func (h authScopes) domains(c *Call) (Reply, error) {
	return h.list(c, "domains", assignment.DomainsOf, domainView)
}

func (h authScopes) list(c *Call, key string, of func(*db.Batch, string, identity.Memberships) assignment.Scopes, view func(*Call, resource.Record) pyjson.Object) (Reply, error) {
	var b db.Batch
	found := of(&b, c.Caller.User.ID, h.Memberships)
	if err := h.send(c.Ctx(), &b); err != nil {
		return Reply{}, err
	}
	items := make([]pyjson.Object, 0)
	for _, r := range found.All() {
		items = append(items, view(c, r))
	}
	return c.list(key, items, nil, false), nil
}

// system tells of the user's own grants alone, as Python Keystone does: he may
// be scoped to the system by those of his groups as well.
func (h authScopes) system(c *Call) (Reply, error) {
	granted, err := h.Assignments(c.Ctx(), assignment.Filter{UserID: c.Caller.User.ID, System: true})
	if err != nil {
		return Reply{}, err
	}
	system := []pyjson.Object{}
	if len(granted) > 0 {
		system = append(system, pyjson.Object{{Key: "all", Value: true}})
	}
	return Reply{Status: http.StatusOK, Body: pyjson.Object{
		{Key: "system", Value: system},
		{Key: "links", Value: pyjson.Object{{Key: "self", Value: c.Link("auth", "system")}}},
	}}, nil
}

func (h authScopes) send(ctx context.Context, b *db.Batch) error {
	if err := h.DB.Send(ctx, b); err != nil {
		return fmt.Errorf("list the scopes of a user: %w", err)
	}
	return nil
}

func optionView(options resource.Options) pyjson.Object {
	out := pyjson.Object{}
	for _, o := range options {
		if o.Name == resource.OptionImmutable && json.Valid([]byte(o.Value)) {
			out = append(out, pyjson.Member{Key: "immutable", Value: pyjson.Raw(o.Value)})
		}
	}
	return out
}

func projectView(c *Call, p resource.Record) pyjson.Object {
	return append(pyjson.ReadExtra(p.Extra), pyjson.Object{
		{Key: "id", Value: p.ID},
		{Key: "name", Value: p.Name},
		{Key: "domain_id", Value: orNull(p.DomainID)},
		{Key: "description", Value: p.Description},
		{Key: "enabled", Value: p.Enabled},
		{Key: "parent_id", Value: orNull(p.ParentID)},
		{Key: "is_domain", Value: p.IsDomain},
		{Key: "tags", Value: p.TagNames()},
		{Key: "options", Value: optionView(p.Options)},
		{Key: "links", Value: pyjson.Object{{Key: "self", Value: c.Link("projects", p.ID)}}},
	}...)
}

func domainView(c *Call, d resource.Record) pyjson.Object {
	return append(pyjson.ReadExtra(d.Extra), pyjson.Object{
		{Key: "id", Value: d.ID},
		{Key: "name", Value: d.Name},
		{Key: "description", Value: d.Description},
		{Key: "enabled", Value: d.Enabled},
		{Key: "tags", Value: d.TagNames()},
		{Key: "options", Value: optionView(d.Options)},
		{Key: "links", Value: pyjson.Object{{Key: "self", Value: c.Link("domains", d.ID)}}},
	}...)
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
