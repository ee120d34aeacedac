package v3

import (
	"context"
	"unicode/utf8"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/internal/uuid"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// roles serves /v3/roles (keystone/api/roles.py).
type roles struct{ assignment.Roles }

func (h roles) routes() []Route {
	const all, one = "/v3/roles", "/v3/roles/{role_id}"
	return []Route{
		{Method: "GET", Path: all, Rule: "identity:list_roles", Other: "identity:list_domain_roles", Choose: asksForDomain, Query: &roleQuery, Do: h.list, Limit: ratelimit.ClassToken, Rel: "roles", Summary: "List roles"},
		{Method: "POST", Path: all, Rule: "identity:create_role", Other: "identity:create_domain_role", Choose: sendsDomain, Body: &newRole, Target: sentRole, Do: h.create, Limit: ratelimit.ClassToken, Rel: "roles", Summary: "Create a role", Audited: "role"},
		{Method: "GET", Path: one, Rule: "identity:get_role", Other: "identity:get_domain_role", Choose: ofDomain, Target: h.one().target, TargetFirst: true, Do: h.one().show, Limit: ratelimit.ClassToken, Rel: "role", Summary: "Show a role"},
		{Method: "PATCH", Path: one, Rule: "identity:update_role", Other: "identity:update_domain_role", Choose: ofDomain, Body: &changedRole, Target: h.one().target, TargetFirst: true, Do: h.update, Limit: ratelimit.ClassToken, Rel: "role", Summary: "Change a role", Audited: "role"},
		{Method: "DELETE", Path: one, Rule: "identity:delete_role", Other: "identity:delete_domain_role", Choose: ofDomain, Target: h.one().target, TargetFirst: true, Do: h.delete, Limit: ratelimit.ClassToken, Rel: "role", Summary: "Delete a role", Audited: "role"},
	}
}

// Schemas of keystone/assignment/schema.py.
var (
	newRole = shape{key: "role", alone: true, fields: []field{
		{name: "name", required: true, min: 1, max: 255, pattern: notBlank},
		{name: "description", nullable: true},
		{name: "domain_id", nullable: true, min: 1, max: 64, pattern: idText},
		immutableField,
	}}
	changedRole = shape{key: "role", alone: true, least: 1, fields: []field{
		{name: "name", min: 1, max: 255, pattern: notBlank},
		{name: "description", nullable: true},
		{name: "domain_id", nullable: true, min: 1, max: 64, pattern: idText},
		immutableField,
	}}
	roleQuery = query{fields: []field{{name: "name", max: 255}, {name: "domain_id", max: 64}}}
)

// What chooses the rules of domain-specific roles in place of the others.
func asksForDomain(c *Call) bool { return c.Query("domain_id") != "" }

func sendsDomain(c *Call) bool {
	id, _ := normalized(c.sent("role")).String("domain_id")
	return id != ""
}

func ofDomain(c *Call) bool {
	r, loaded := c.Object.(assignment.Record)
	return loaded && r.DomainID != ""
}

// sentRole lets the rule look at the role that is to be made.
func sentRole(c *Call) (policy.Target, error) {
	t := policy.Target{}
	if sendsDomain(c) {
		t.AddObject("target.role", normalized(c.sent("role")))
	}
	return t, nil
}

// one is told before the rule is asked where it is not there.
func (h roles) one() thing[assignment.Record] {
	return thing[assignment.Record]{name: "role", get: h.Get, view: roleView}
}

func (h roles) list(c *Call) (Reply, error) {
	read := func(ctx context.Context, q hints.Hints) (hints.Page[assignment.Record], error) {
		return h.List(ctx, q, c.Query("domain_id"))
	}
	return lists[assignment.Record]{key: "roles", filters: []string{"name"}, limit: h.Limit, read: read, view: roleView}.answer(c)
}

func (h roles) create(c *Call) (Reply, error) {
	body := normalized(c.sent("role"))
	if err := roleFits(body); err != nil {
		return Reply{}, err
	}
	domainID, _ := body.String("domain_id")
	r, err := h.Create(c.Ctx(), uuid.Hex(), domainID, roleChange(body))
	return h.one().made(c, r, err)
}

func (h roles) update(c *Call) (Reply, error) {
	before, body := c.Object.(assignment.Record), c.sent("role")
	ch := roleChange(body)
	if err := sameID(body, before.ID); err != nil {
		return Reply{}, err
	}
	if err := before.Options.Allow(ch.Option, "role", before.ID); err != nil {
		return Reply{}, err
	}
	if v, given := body.Get("domain_id"); given && v != orNull(before.DomainID) {
		return Reply{}, fault.New(fault.BadRequest, "Update of `domain_id` is not allowed.")
	}
	if err := roleFits(body); err != nil {
		return Reply{}, err
	}
	r, err := h.Update(c.Ctx(), before.ID, ch)
	return h.one().changed(c, r, err)
}

func (h roles) delete(c *Call) (Reply, error) {
	return done(h.Delete(c.Ctx(), c.Param("role_id")))
}

// roleFits refuses a description that its column does not hold.
func roleFits(body pyjson.Object) error {
	if text, _ := body.String("description"); utf8.RuneCountInString(text) > 255 {
		return fault.New(fault.BadRequest, "String length exceeded. The length of string '%s' exceeds the limit of column description(CHAR(255)).", text)
	}
	return nil
}

// roleChange reads what a body sets of a role.
func roleChange(body pyjson.Object) assignment.RoleChange {
	ch := assignment.RoleChange{Name: optional(body, "name"), Description: change(body, "description"), Option: optionChange(body)}
	ch.DomainID, _ = body.String("domain_id")
	ch.Extra = body.Without("id", "name", "domain_id", "description", "options", "links", "extra")
	return ch
}

func roleView(c *Call, r assignment.Record) pyjson.Object {
	out := append(pyjson.ReadExtra(r.Extra), member("id", r.ID, "name", r.Name, "domain_id", orNull(r.DomainID), "description", r.Description, "options", optionView(r.Options))...)
	return c.linked(out, "roles", r.ID)
}
