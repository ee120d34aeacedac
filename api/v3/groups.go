package v3

import (
	"context"
	"net/http"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/notify"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/internal/uuid"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// groups serves /v3/groups (keystone/api/groups.py).
type groups struct {
	identity.Groups
	users         users
	defaultDomain string // [identity] default_domain_id
}

func (h groups) routes() []Route {
	const all, one = "/v3/groups", "/v3/groups/{group_id}"
	const members, member = one + "/users", one + "/users/{user_id}"
	return []Route{
		{Method: "GET", Path: all, Rule: "identity:list_groups", Query: &groupQuery, Target: ownDomain("target.group.domain_id"), Do: h.list, Limit: ratelimit.ClassToken, Rel: "groups", Summary: "List groups"},
		{Method: "POST", Path: all, Rule: "identity:create_group", Body: &newGroup, Target: aboutSent("group"), Do: h.create, Limit: ratelimit.ClassToken, Rel: "groups", Summary: "Create a group", Audited: "group"},
		{Method: "GET", Path: one, Rule: "identity:get_group", Target: h.one().target, Do: h.one().show, Limit: ratelimit.ClassToken, Rel: "group", Summary: "Show a group"},
		{Method: "PATCH", Path: one, Rule: "identity:update_group", Body: &changedGroup, Target: h.one().target, Do: h.update, Limit: ratelimit.ClassToken, Rel: "group", Summary: "Change a group", Audited: "group"},
		{Method: "DELETE", Path: one, Rule: "identity:delete_group", Target: h.one().target, TargetFirst: true, Do: h.delete, Limit: ratelimit.ClassToken, Rel: "group", Summary: "Delete a group", Audited: "group"},
		{Method: "GET", Path: members, Rule: "identity:list_users_in_group", Query: &query{fields: memberQuery}, Target: h.one().target, Do: h.members, Limit: ratelimit.ClassToken, Rel: "group_users", Summary: "List the users in a group"},
		{Method: "GET", Path: member, Rule: "identity:check_user_in_group", Target: h.both, Do: h.check, Limit: ratelimit.ClassToken, Rel: "group_user", Summary: "Whether a user is in a group", Status: http.StatusNoContent},
		{Method: "PUT", Path: member, Rule: "identity:add_user_to_group", Target: h.both, Do: h.add, Limit: ratelimit.ClassToken, Rel: "group_user", Summary: "Add a user to a group", Status: http.StatusNoContent},
		{Method: "DELETE", Path: member, Rule: "identity:remove_user_from_group", Target: h.both, Do: h.remove, Limit: ratelimit.ClassToken, Rel: "group_user", Summary: "Remove a user from a group"},
	}
}

// Schemas of keystone/identity/schema.py.
var (
	newGroup = shape{key: "group", alone: true, fields: []field{
		{name: "name", required: true, min: 1, max: 255, pattern: notBlank},
		{name: "description", nullable: true},
		{name: "domain_id", min: 1, max: 64, pattern: idText},
	}}
	changedGroup = shape{key: "group", alone: true, least: 1, fields: []field{
		{name: "name", min: 1, max: 255, pattern: notBlank},
		{name: "description", nullable: true},
	}}
	groupQuery  = query{fields: []field{{name: "domain_id", min: 1, max: 64, pattern: idText}, {name: "name", min: 1, max: 255, pattern: notBlank}, sortDirection}}
	memberQuery = []field{{name: "domain_id"}, {name: "enabled"}, {name: "name"}, {name: "password_expires_at"}}

	sortDirection = field{name: "sort_dir", oneOf: []string{"asc", "desc"}}
)

func (h groups) one() thing[identity.Group] {
	return thing[identity.Group]{name: "group", get: h.Get, view: groupView}
}

// both loads a group and a user, as far as they are there: the rule is asked of
// the others without them.
func (h groups) both(c *Call) (policy.Target, error) {
	t, err := h.one().target(c)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	if t == nil {
		t = policy.Target{}
	}
	u, err := h.users.Get(c.Ctx(), c.Param("user_id"))
	switch {
	case fault.Is(err, fault.NotFound):
	case err != nil:
		return nil, err
	default:
		t.AddObject("target.user", h.users.view(c, u))
	}
	return t, nil
}

func (h groups) list(c *Call) (Reply, error) {
	read := func(ctx context.Context, q hints.Hints) (hints.Page[identity.Group], error) {
		return h.List(ctx, q, c.scopedDomain())
	}
	return lists[identity.Group]{key: "groups", filters: []string{"domain_id", "name"}, limit: h.Limit, fixed: true, read: read, view: groupView}.answer(c)
}

func (h groups) create(c *Call) (Reply, error) {
	body := normalized(c.sent("group"))
	n := identity.Group{ID: uuid.Hex(), Description: new(""), Extra: groupExtra(body)}
	n.Name, _ = body.String("name")
	if n.DomainID, _ = body.String("domain_id"); n.DomainID == "" {
		n.DomainID = c.homeDomain(h.defaultDomain)
	}
	if _, given := body.Get("description"); given {
		n.Description = optional(body, "description")
	}
	g, err := h.Create(c.Ctx(), n)
	return h.one().made(c, g, err)
}

func (h groups) update(c *Call) (Reply, error) {
	before, body := c.Object.(identity.Group), c.sent("group")
	if err := sameID(body, before.ID); err != nil {
		return Reply{}, err
	}
	if v, given := body.Get("domain_id"); given && v != before.DomainID {
		return Reply{}, fault.New(fault.BadRequest, "Cannot change Domain ID")
	}
	ch := identity.GroupChange{Name: optional(body, "name"), Description: change(body, "description"), Extra: groupExtra(body)}
	g, err := h.Update(c.Ctx(), before.ID, ch)
	return h.one().changed(c, g, err)
}

func (h groups) delete(c *Call) (Reply, error) {
	return done(h.Delete(c.Ctx(), c.Param("group_id")))
}

func (h groups) members(c *Call) (Reply, error) {
	return h.users.listWhere(c, identity.UserFilter{GroupID: c.Param("group_id")})
}

func (h groups) check(c *Call) (Reply, error) {
	return done(h.Has(c.Ctx(), c.Param("user_id"), c.Param("group_id")))
}

func (h groups) add(c *Call) (Reply, error) {
	c.tell(membership(c, true))
	return done(h.Add(c.Ctx(), c.Param("user_id"), c.Param("group_id")))
}

func (h groups) remove(c *Call) (Reply, error) {
	c.tell(membership(c, false))
	return done(h.Remove(c.Ctx(), c.Param("user_id"), c.Param("group_id")))
}

// membership is a change of a group's members, which is told as one of the
// group.
func membership(c *Call, added bool) notify.Change {
	return notify.Change{Operation: notify.Updated, Kind: "group", ID: c.Param("group_id"), Member: c.Param("user_id"), Added: added}
}

func groupExtra(body pyjson.Object) pyjson.Object {
	return body.Without("id", "name", "domain_id", "description", "links", "extra")
}

func groupView(c *Call, g identity.Group) pyjson.Object {
	out := append(g.Extra.Without("links"), member("id", g.ID, "name", g.Name, "domain_id", g.DomainID, "description", g.Description)...)
	return c.linked(out, "groups", g.ID)
}
