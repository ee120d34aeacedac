package v3

import (
	"context"
	"slices"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/internal/uuid"
	"github.com/keystone-go/keystone-go/limit"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// limits serves /v3/limits (keystone/api/limits.py).
type limits struct{ limit.Limits }

func (h limits) routes() []Route {
	const all, one, model = "/v3/limits", "/v3/limits/{limit_id}", "/v3/limits/model"
	return []Route{
		{Method: "GET", Path: all, Rule: "identity:list_limits", Query: &limitQuery, Do: h.list, Limit: ratelimit.ClassToken, Rel: "limits", Summary: "List limits"},
		{Method: "POST", Path: all, Rule: "identity:create_limits", Body: &newLimits, Check: oneOwner, Do: h.create, Limit: ratelimit.ClassToken, Rel: "limits", Summary: "Create limits"},
		{Method: "GET", Path: model, Rule: "identity:get_limit_model", Do: h.model, Limit: ratelimit.ClassToken, Rel: "limit_model", Summary: "Show the model that limits follow"},
		{Method: "GET", Path: one, Rule: "identity:get_limit", Target: h.target, Do: h.one().show, Limit: ratelimit.ClassToken, Rel: "limit", Summary: "Show a limit"},
		{Method: "PATCH", Path: one, Rule: "identity:update_limit", Target: h.target, TargetFirst: true, Body: &changedLimit, Do: h.update, Limit: ratelimit.ClassToken, Rel: "limit", Summary: "Change a limit"},
		{Method: "DELETE", Path: one, Rule: "identity:delete_limit", Target: h.target, TargetFirst: true, Do: h.delete, Limit: ratelimit.ClassToken, Rel: "limit", Summary: "Delete a limit"},
	}
}

func (h limits) one() thing[limit.Limit] {
	return thing[limit.Limit]{name: "limit", get: h.Get, view: limitView}
}

// Schemas of keystone/limit/schema.py.
var (
	limitProject = field{name: "project_id", min: 1, max: 64, pattern: idText}
	limitDomain  = field{name: "domain_id", min: 1, max: 64, pattern: idText}

	limitQuery   = query{fields: []field{limitService, limitRegion, limitResource, limitProject, limitDomain}}
	newLimits    = severalOf("limits", limitProject, limitDomain, limitService.needed(), limitRegion, limitResource.needed(), amount("resource_limit").needed(), limitAbout)
	changedLimit = shape{key: "limit", alone: true, strict: true, fields: []field{amount("resource_limit"), limitAbout}}
)

// oneOwner refuses limits of both a project and a domain, or of neither.
func oneOwner(c *Call) error {
	for _, o := range c.objects("limits") {
		_, ofProject := o.Get("project_id")
		_, ofDomain := o.Get("domain_id")
		if ofProject == ofDomain {
			return invalid("a limit needs one of %q and %q", "project_id", "domain_id")
		}
	}
	return nil
}

// target loads the limit for the rule with its project or domain. What it has
// not is left out: null there would belong to whoever has no domain.
func (h limits) target(c *Call) (policy.Target, error) {
	l, owners, err := h.GetOwned(c.Ctx(), c.Param("limit_id"))
	if err != nil {
		return nil, err
	}
	c.Object = l
	view := limitView(c, l)
	for _, o := range owners {
		name, owner := "project", projectView(c, o)
		if l.ProjectID == "" {
			name, owner = "domain", domainView(c, o)
		}
		view = view.Set(name, slices.DeleteFunc(owner, func(m pyjson.Member) bool { return m.Value == nil }))
	}
	return about("limit", slices.DeleteFunc(view, func(m pyjson.Member) bool { return m.Value == nil })), nil
}

func (h limits) list(c *Call) (Reply, error) {
	see := viewer(c)
	read := func(ctx context.Context, q hints.Hints) (hints.Page[limit.Limit], error) { return h.List(ctx, q, see) }
	names := []string{"service_id", "region_id", "resource_name", "project_id", "domain_id"}
	return lists[limit.Limit]{key: "limits", filters: names, read: read, view: limitView}.answer(c)
}

// viewer is what the caller may see of all limits, whatever the rule says.
func viewer(c *Call) limit.Viewer {
	all := c.Caller.Scope() == "system" || slices.ContainsFunc(c.Caller.Roles, func(r assignment.Role) bool { return r.Name == "admin" || r.Name == "service" })
	v := limit.Viewer{All: all, DomainID: c.scopedDomain()}
	if p := c.Caller.Project; p != nil {
		v.ProjectID = p.ID
	}
	return v
}

func (h limits) create(c *Call) (Reply, error) {
	var list []limit.Limit
	for _, o := range c.objects("limits") {
		l := limit.Limit{ID: uuid.Hex(), Resource: resourceOf(o), Value: *whole(o, "resource_limit"), Description: optional(o, "description")}
		l.ProjectID, _ = o.String("project_id")
		l.DomainID, _ = o.String("domain_id")
		list = append(list, l)
	}
	stored, err := h.Create(c.Ctx(), list)
	if err != nil {
		return Reply{}, err
	}
	return created("limits", views(c, stored, limitView)), nil
}

func (h limits) update(c *Call) (Reply, error) {
	body := c.sent("limit")
	l, err := h.Update(c.Ctx(), c.Param("limit_id"), limit.Change{Value: whole(body, "resource_limit"), Description: change(body, "description")})
	return h.one().changed(c, l, err)
}

func (h limits) delete(c *Call) (Reply, error) {
	return done(h.Delete(c.Ctx(), c.Param("limit_id")))
}

func (h limits) model(*Call) (Reply, error) {
	return ok("model", member("name", h.Model.Name, "description", h.Model.Description)), nil
}

func limitView(c *Call, l limit.Limit) pyjson.Object {
	return c.linked(bareLimit(l), "limits", l.ID)
}

// bareLimit is a limit without the link to itself.
func bareLimit(l limit.Limit) pyjson.Object {
	return member("id", l.ID, "project_id", orNull(l.ProjectID), "domain_id", orNull(l.DomainID), "service_id", orNull(l.ServiceID), "region_id", orNull(l.RegionID),
		"resource_name", orNull(l.Name), "resource_limit", l.Value, "description", l.Description)
}
