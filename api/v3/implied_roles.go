package v3

import (
	"net/http"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// impliedRoles serves /v3/roles/{prior_role_id}/implies and
// /v3/role_inferences (keystone/api/roles.py, role_inferences.py).
type impliedRoles struct{ assignment.Roles }

func (h impliedRoles) routes() []Route {
	const all, one = "/v3/roles/{prior_role_id}/implies", "/v3/roles/{prior_role_id}/implies/{implied_role_id}"
	return []Route{
		{Method: "GET", Path: all, Rule: "identity:list_implied_roles", Target: h.target, TargetFirst: true, Do: h.list, Limit: ratelimit.ClassToken, Rel: "implied_roles", Summary: "List what a role implies"},
		{Method: "GET", Path: one, Rule: "identity:get_implied_role", Target: h.target, TargetFirst: true, Do: h.get, Limit: ratelimit.ClassToken, Rel: "implied_role", Summary: "Show that a role implies another"},
		{Method: "HEAD", Path: one, Rule: "identity:check_implied_role", Target: h.target, TargetFirst: true, Do: h.check, Limit: ratelimit.ClassToken, Rel: "implied_role", Summary: "Whether a role implies another", Status: http.StatusNoContent},
		{Method: "PUT", Path: one, Rule: "identity:create_implied_role", Target: h.target, TargetFirst: true, Do: h.put, Limit: ratelimit.ClassToken, Rel: "implied_role", Summary: "Make a role imply another", Status: http.StatusCreated},
		{Method: "DELETE", Path: one, Rule: "identity:delete_implied_role", Target: h.target, TargetFirst: true, Do: h.delete, Limit: ratelimit.ClassToken, Rel: "implied_role", Summary: "Take an implication back"},
		{Method: "GET", Path: "/v3/role_inferences", Rule: "identity:list_role_inference_rules", Do: h.all, Limit: ratelimit.ClassToken, Rel: "role_inferences", Summary: "List all implications"},
	}
}

// target loads the roles of the path; unlike elsewhere, what is missing is told
// before the rule is asked.
func (h impliedRoles) target(c *Call) (policy.Target, error) {
	t := policy.Target{}
	for _, name := range []string{"prior_role", "implied_role"} {
		id := c.Param(name + "_id")
		if id == "" {
			continue
		}
		r, err := h.Get(c.Ctx(), id)
		if err != nil {
			return nil, err
		}
		t.AddObject("target."+name, roleView(c, r))
	}
	return t, nil
}

func (h impliedRoles) list(c *Call) (Reply, error) {
	prior, implied, err := h.Implies(c.Ctx(), c.Param("prior_role_id"))
	if err != nil {
		return Reply{}, err
	}
	list := make([]pyjson.Object, len(implied))
	for i, r := range implied {
		list[i] = namedRole(c, r)
	}
	return h.show(c, http.StatusOK, prior.Role, list), nil
}

func (h impliedRoles) get(c *Call) (Reply, error) {
	i, err := h.Implied(c.Ctx(), c.Param("prior_role_id"), c.Param("implied_role_id"))
	if err != nil {
		return Reply{}, err
	}
	return h.show(c, http.StatusOK, i.Prior, namedRole(c, i.Implied)), nil
}

func (h impliedRoles) check(c *Call) (Reply, error) {
	if _, err := h.get(c); err != nil {
		return Reply{}, err
	}
	return noContent(), nil
}

func (h impliedRoles) put(c *Call) (Reply, error) {
	i, err := h.Imply(c.Ctx(), c.Param("prior_role_id"), c.Param("implied_role_id"))
	if err != nil {
		return Reply{}, err
	}
	return h.show(c, http.StatusCreated, i.Prior, namedRole(c, i.Implied)), nil
}

func (h impliedRoles) delete(c *Call) (Reply, error) {
	if err := h.Unimply(c.Ctx(), c.Param("prior_role_id"), c.Param("implied_role_id")); err != nil {
		return Reply{}, err
	}
	return noContent(), nil
}

// all lists every implication by its prior role; the collection has no links.
func (h impliedRoles) all(c *Call) (Reply, error) {
	found, err := h.Inferences(c.Ctx())
	if err != nil {
		return Reply{}, err
	}
	list := []pyjson.Object{}
	for i := 0; i < len(found); {
		prior := found[i].Prior
		implied := []pyjson.Object{}
		for ; i < len(found) && found[i].Prior.ID == prior.ID; i++ {
			implied = append(implied, namedRole(c, found[i].Implied))
		}
		list = append(list, member("prior_role", namedRole(c, prior), "implies", implied))
	}
	return ok("role_inferences", list), nil
}

func (h impliedRoles) show(c *Call, status int, prior assignment.Role, implies any) Reply {
	return Reply{Status: status, Body: member(
		"role_inference", member("prior_role", namedRole(c, prior), "implies", implies),
		"links", member("self", c.base+c.r.URL.Path),
	)}
}

func namedRole(c *Call, r assignment.Role) pyjson.Object {
	return member("id", r.ID, "links", member("self", c.Link("roles", r.ID)), "name", r.Name)
}
