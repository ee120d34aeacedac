package v3

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/resource"
)

// authScopes tells a caller what his user may be scoped to
// (keystone/api/auth.py).
type authScopes struct{ db db.DB }

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
		{Key: "catalog", Value: auth.CatalogBody(c.Caller.Catalog)},
		{Key: "links", Value: pyjson.Object{{Key: "self", Value: c.Link("auth", "catalog")}}},
	}}, nil
}

func (h authScopes) projects(c *Call) (Reply, error) {
	var b db.Batch
	found := assignment.ProjectsOf(&b, c.Caller.User.ID)
	if err := h.send(c.Ctx(), &b); err != nil {
		return Reply{}, err
	}
	tags, options := labels(found.Tags.All()), labels(found.Options.All())
	items := make([]pyjson.Object, 0)
	for _, p := range found.Projects.All() {
		items = append(items, projectView(c, p, tags[p.ID], options[p.ID]))
	}
	return c.list("projects", items, nil, false), nil
}

func (h authScopes) domains(c *Call) (Reply, error) {
	var b db.Batch
	found := assignment.DomainsOf(&b, c.Caller.User.ID)
	if err := h.send(c.Ctx(), &b); err != nil {
		return Reply{}, err
	}
	tags, options := labels(found.Tags.All()), labels(found.Options.All())
	items := make([]pyjson.Object, 0)
	for _, d := range found.Domains.All() {
		items = append(items, domainView(c, d, tags[d.ID], options[d.ID]))
	}
	return c.list("domains", items, nil, false), nil
}

func (h authScopes) system(c *Call) (Reply, error) {
	var b db.Batch
	granted, implied := db.Add(&b, assignment.RolesOnSystem(c.Caller.User.ID)), db.Add(&b, assignment.Implications)
	if err := h.send(c.Ctx(), &b); err != nil {
		return Reply{}, err
	}
	system := []pyjson.Object{}
	if len(assignment.Effective(granted.All(), implied.All())) > 0 {
		system = append(system, pyjson.Object{{Key: "all", Value: true}})
	}
	return Reply{Status: http.StatusOK, Body: pyjson.Object{
		{Key: "system", Value: system},
		{Key: "links", Value: pyjson.Object{{Key: "self", Value: c.Link("auth", "system")}}},
	}}, nil
}

func (h authScopes) send(ctx context.Context, b *db.Batch) error {
	if err := h.db.Send(ctx, b); err != nil {
		return fmt.Errorf("list the scopes of a user: %w", err)
	}
	return nil
}

func labels(rows []resource.Label) map[string][]resource.Label {
	out := map[string][]resource.Label{}
	for _, l := range rows {
		out[l.ProjectID] = append(out[l.ProjectID], l)
	}
	return out
}

func tagNames(tags []resource.Label) []string {
	out := make([]string, len(tags))
	for i, t := range tags {
		out[i] = t.Name
	}
	return out
}

// immutable is the one option that domains, projects and roles have.
const immutable = "IMMU"

func optionView(options []resource.Label) pyjson.Object {
	out := pyjson.Object{}
	for _, o := range options {
		if o.Name == immutable && json.Valid([]byte(o.Value)) {
			out = append(out, pyjson.Member{Key: "immutable", Value: pyjson.Raw(o.Value)})
		}
	}
	return out
}

func projectView(c *Call, p resource.Project, tags, options []resource.Label) pyjson.Object {
	return append(extraView(p.Extra), pyjson.Object{
		{Key: "id", Value: p.ID},
		{Key: "name", Value: p.Name},
		{Key: "domain_id", Value: orNull(p.DomainID)},
		{Key: "description", Value: p.Description},
		{Key: "enabled", Value: p.Enabled},
		{Key: "parent_id", Value: orNull(p.ParentID)},
		{Key: "is_domain", Value: p.IsDomain},
		{Key: "tags", Value: tagNames(tags)},
		{Key: "options", Value: optionView(options)},
		{Key: "links", Value: pyjson.Object{{Key: "self", Value: c.Link("projects", p.ID)}}},
	}...)
}

func domainView(c *Call, d resource.Domain, tags, options []resource.Label) pyjson.Object {
	return append(extraView(d.Extra), pyjson.Object{
		{Key: "id", Value: d.ID},
		{Key: "name", Value: d.Name},
		{Key: "description", Value: d.Description},
		{Key: "enabled", Value: d.Enabled},
		{Key: "tags", Value: tagNames(tags)},
		{Key: "options", Value: optionView(options)},
		{Key: "links", Value: pyjson.Object{{Key: "self", Value: c.Link("domains", d.ID)}}},
	}...)
}

// extraView is what a row keeps beside its columns, shown at the top level.
func extraView(text string) pyjson.Object {
	o, err := pyjson.DecodeObject([]byte(text))
	if err != nil {
		return nil
	}
	return o
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
