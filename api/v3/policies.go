package v3

import (
	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/internal/uuid"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// policies serves /v3/policies (keystone/api/policy.py).
type policies struct{ catalog.Policies }

func (h policies) routes() []Route {
	const all, one = "/v3/policies", "/v3/policies/{policy_id}"
	list := lists[catalog.Policy]{key: "policies", filters: []string{"type"}, limit: h.Limit, read: h.List, view: policyView}
	return []Route{
		{Method: "GET", Path: all, Rule: "identity:list_policies", Query: &policyQuery, Do: list.answer, Limit: ratelimit.ClassToken, Rel: "policies", Summary: "List policies"},
		{Method: "POST", Path: all, Rule: "identity:create_policy", Body: &newPolicy, Do: h.create, Limit: ratelimit.ClassToken, Rel: "policies", Summary: "Create a policy", Audited: "policy"},
		{Method: "GET", Path: one, Rule: "identity:get_policy", Do: h.one().find, Limit: ratelimit.ClassToken, Rel: "policy", Summary: "Show a policy"},
		{Method: "PATCH", Path: one, Rule: "identity:update_policy", Body: &changedPolicy, Do: h.update, Limit: ratelimit.ClassToken, Rel: "policy", Summary: "Change a policy", Audited: "policy"},
		{Method: "DELETE", Path: one, Rule: "identity:delete_policy", Do: h.delete, Limit: ratelimit.ClassToken, Rel: "policy", Summary: "Delete a policy", Audited: "policy"},
	}
}

func (h policies) one() thing[catalog.Policy] {
	return thing[catalog.Policy]{name: "policy", get: h.Get, view: policyView}
}

// Schemas of keystone/policy/schema.py.
var (
	policyQuery   = query{fields: []field{{name: "type"}}}
	newPolicy     = shape{key: "policy", late: true, fields: []field{{name: "blob", required: true}, {name: "type", required: true, max: 255}}}
	changedPolicy = shape{key: "policy", late: true, least: 1, fields: []field{{name: "blob"}, {name: "type", max: 255}}}
)

func (h policies) create(c *Call) (Reply, error) {
	body := normalized(c.sent("policy"))
	p := catalog.Policy{ID: uuid.Hex(), Extra: policyExtra(body)}
	p.Type, _ = body.String("type")
	p.Blob, _ = body.Get("blob")
	return h.one().made(c, p, h.Create(c.Ctx(), p))
}

func (h policies) update(c *Call) (Reply, error) {
	id, body := c.Param("policy_id"), c.sent("policy")
	if given, found := body.Get("id"); found && given != id {
		return Reply{}, fault.New(fault.BadRequest, "Cannot change policy ID")
	}
	blob, _ := body.Get("blob")
	p, err := h.Update(c.Ctx(), id, catalog.PolicyChange{Type: optional(body, "type"), Blob: blob, Extra: policyExtra(body)})
	return h.one().changed(c, p, err)
}

func (h policies) delete(c *Call) (Reply, error) {
	return done(h.Delete(c.Ctx(), c.Param("policy_id")))
}

func policyExtra(body pyjson.Object) pyjson.Object {
	return body.Without("id", "blob", "type", "extra", "links")
}

func policyView(c *Call, p catalog.Policy) pyjson.Object {
	return c.linked(plainPolicy(p), "policies", p.ID)
}

func plainPolicy(p catalog.Policy) pyjson.Object {
	return shown(p.Extra, member("id", p.ID, "blob", p.Blob, "type", p.Type))
}
