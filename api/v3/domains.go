package v3

import (
	"context"
	"regexp"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/uuid"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/resource"
)

// domains serves /v3/domains (keystone/api/domains.py).
type domains struct{ resource.Projects }

func (h domains) routes() []Route {
	const all, one = "/v3/domains", "/v3/domains/{domain_id}"
	return []Route{
		{Method: "GET", Path: all, Rule: "identity:list_domains", Query: &domainQuery, Target: ownDomain("target.domain.id"), Do: h.list, Limit: ratelimit.ClassToken, Rel: "domains", Summary: "List domains"},
		{Method: "POST", Path: all, Rule: "identity:create_domain", Body: &newDomain, Do: h.create, Limit: ratelimit.ClassToken, Rel: "domains", Summary: "Create a domain", Audited: "domain"},
		{Method: "GET", Path: one, Rule: "identity:get_domain", Target: h.one().target, Do: h.one().show, Limit: ratelimit.ClassToken, Rel: "domain", Summary: "Show a domain"},
		{Method: "PATCH", Path: one, Rule: "identity:update_domain", Body: &changedDomain, Target: h.one().target, TargetFirst: true, Do: h.update, Limit: ratelimit.ClassToken, Rel: "domain", Summary: "Change a domain"},
		{Method: "DELETE", Path: one, Rule: "identity:delete_domain", Target: h.one().target, TargetFirst: true, Do: h.delete, Limit: ratelimit.ClassToken, Rel: "domain", Summary: "Delete a disabled domain with all that it owns"},
	}
}

// Schemas of keystone/resource/schema.py.
var (
	hexID     = regexp.MustCompile(`^[0-9a-f]{32}$`)
	newDomain = shape{key: "domain", alone: true, fields: []field{
		{name: "name", required: true, min: 1, max: 64, pattern: notBlank},
		{name: "explicit_domain_id", min: 1, max: 64, pattern: idText},
		{name: "description", nullable: true, max: 255},
		{name: "enabled", kind: loose},
		tagList, immutableField,
	}}
	changedDomain = shape{key: "domain", alone: true, least: 1, fields: []field{
		{name: "name", min: 1, max: 64, pattern: notBlank},
		{name: "description", nullable: true, max: 255},
		{name: "enabled", kind: loose},
		tagList, immutableField,
	}}
	domainQuery = query{fields: []field{{name: "enabled", kind: loose}, {name: "name", min: 1, max: 64, pattern: notBlank}}}
)

func (h domains) one() thing[resource.Record] {
	return thing[resource.Record]{name: "domain", get: h.GetDomain, view: domainView}
}

func (h domains) list(c *Call) (Reply, error) {
	f := resource.Filter{Domains: true, DomainID: c.scopedDomain()}
	read := func(ctx context.Context, q hints.Hints) (hints.Page[resource.Record], error) {
		return h.List(ctx, q, f)
	}
	return lists[resource.Record]{key: "domains", filters: []string{"name", "enabled"}, limit: h.Limit, read: read, view: domainView}.answer(c)
}

func (h domains) create(c *Call) (Reply, error) {
	body := c.sent("domain")
	n := resource.New{ID: uuid.Hex(), IsDomain: true}
	if id, given := body.String("explicit_domain_id"); given {
		if !hexID.MatchString(id) {
			return Reply{}, fault.New(fault.BadRequest, "Domain ID does not conform to required UUID format.")
		}
		n.ID = id
	}
	n.Change = projectChange(normalized(body))
	r, err := h.Create(c.Ctx(), n)
	return h.one().made(c, r, err)
}

func (h domains) update(c *Call) (Reply, error) {
	r, err := h.Update(c.Ctx(), c.Param("domain_id"), projectChange(c.sent("domain")))
	c.tell(projectChanged(r, false)...)
	return h.one().changed(c, r, err)
}

func (h domains) delete(c *Call) (Reply, error) {
	id := c.Param("domain_id")
	gone, err := h.DeleteDomain(c.Ctx(), id)
	c.tellDomainGone(id, gone)
	return done(err)
}
