package v3

import (
	"net/http"
	"strings"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// grants serves the roles of users and groups on projects, domains and the
// system (keystone/api/projects.py, domains.py, os_inherit.py, system.py).
type grants struct {
	assignment.Grants
	users users
}

func (h grants) routes() []Route {
	var rows []Route
	for _, actor := range []string{"user", "group"} {
		for _, place := range []string{"project", "domain"} {
			path := "/v3/" + place + "s/{" + place + "_id}/" + actor + "s/{" + actor + "_id}/roles"
			rel := place + "_" + actor + "_role"
			rows = append(rows, h.family(family{actor: actor, path: path, rel: rel, where: "a " + place})...)
			below := family{
				actor: actor, path: strings.Replace(path, "/v3", inherit, 1), rel: "ext/OS-INHERIT/1.0/rel/" + rel,
				end: "inherited_to_projects", where: "all below a " + place,
			}
			of := h.family(below)
			if place == "project" {
				of = of[1:] // nobody lists those of a project
			}
			rows = append(rows, of...)
		}
		rows = append(rows, h.onSystem(actor)...)
	}
	return rows
}

const inherit = "/v3/OS-INHERIT"

// family is what the rows of one kind of grants have in common.
type family struct{ actor, path, end, rel, where string }

// family are the row of all roles and those of one.
func (h grants) family(f family) []Route {
	all, one, rels := f.path, f.path+"/{role_id}", f.rel+"s"
	// What is missing is told before the rule is asked, but below OS-INHERIT.
	first := f.end == ""
	if !first {
		all, one = all+"/"+f.end, one+"/"+f.end
		f.rel, rels = f.rel+"_"+f.end, rels+"_"+f.end
	}
	gone := h.target(first, true)
	return []Route{
		{Method: "GET", Path: all, Rule: "identity:list_grants", Target: h.target(first, false), TargetFirst: first, Do: h.roles, Limit: ratelimit.ClassToken, Rel: rels, Summary: "List the roles of a " + f.actor + " on " + f.where},
		{Method: "GET", Path: one, Rule: "identity:check_grant", Target: h.target(first, false), TargetFirst: first, Do: h.check, Limit: ratelimit.ClassToken, Rel: f.rel, Summary: "Whether a " + f.actor + " has a role on " + f.where, Status: http.StatusNoContent},
		{Method: "PUT", Path: one, Rule: "identity:create_grant", Target: h.target(first, false), TargetFirst: first, Do: h.give, Limit: ratelimit.ClassToken, Rel: f.rel, Summary: "Give a " + f.actor + " a role on " + f.where, Status: http.StatusNoContent, Audited: "role_assignment"},
		{Method: "DELETE", Path: one, Rule: "identity:revoke_grant", Target: gone, TargetFirst: first, Do: h.take, Limit: ratelimit.ClassToken, Rel: f.rel, Summary: "Take from a " + f.actor + " a role on " + f.where, Audited: "role_assignment"},
	}
}

// onSystem are the rows of grants on the system, which have rules of their own
// and of which Python Keystone tells nobody.
func (h grants) onSystem(actor string) []Route {
	rows := h.family(family{actor: actor, path: "/v3/system/" + actor + "s/{" + actor + "_id}/roles", rel: "system_" + actor + "_role", where: "the system"})
	for i, rule := range []string{"list_system_grants", "check_system_grant", "create_system_grant", "revoke_system_grant"} {
		rows[i].Rule, rows[i].Audited = "identity:"+rule+"_for_"+actor, ""
	}
	return rows
}

// granted is the grant that a path names, with what there is of it.
type granted struct {
	assignment.Grant
	assignment.Parties
}

// target lets the rule look at the parts of the grant, as far as they are
// there. With first set, one that is missing is a 404; with goneToo not the
// user or the group, so that the grants of those who left can be taken back.
func (h grants) target(first, goneToo bool) func(*Call) (policy.Target, error) {
	return func(c *Call) (policy.Target, error) {
		g := grantOf(c)
		p, err := h.Parties(c.Ctx(), g)
		if err != nil {
			return nil, err
		}
		c.Object = granted{g, p}
		if first {
			if err := missing(g, p, goneToo); err != nil {
				return nil, err
			}
		}
		return h.targetOf(c, p), nil
	}
}

// grantOf reads a path.
func grantOf(c *Call) assignment.Grant {
	g := assignment.Grant{ProjectID: c.Param("project_id"), DomainID: c.Param("domain_id"), RoleID: c.Param("role_id")}
	g.ID = c.Param("user_id")
	if id := c.Param("group_id"); id != "" {
		g.ID, g.Group = id, true
	}
	g.Inherited = strings.HasPrefix(c.route.Path, inherit)
	return g
}

// missing is the first part that is not there, in the order of Python
// Keystone: a domain before all others, a project behind them.
func missing(g assignment.Grant, p assignment.Parties, goneToo bool) error {
	looks := []func(assignment.Parties) error{g.NoRole, g.NoActor, g.NoPlace}
	switch {
	case goneToo && g.DomainID != "":
		looks = []func(assignment.Parties) error{g.NoPlace, g.NoRole}
	case goneToo:
		looks = []func(assignment.Parties) error{g.NoRole, g.NoPlace}
	case g.DomainID != "":
		looks = []func(assignment.Parties) error{g.NoPlace, g.NoRole, g.NoActor}
	}
	for _, look := range looks {
		if err := look(p); err != nil {
			return err
		}
	}
	return nil
}

func (h grants) targetOf(c *Call, p assignment.Parties) policy.Target {
	t := policy.Target{}
	if p.Role != nil {
		t.AddObject("target.role", roleView(c, *p.Role))
	}
	if p.User != nil {
		t.AddObject("target.user", h.users.view(c, *p.User))
	}
	if p.Group != nil {
		t.AddObject("target.group", groupView(c, *p.Group))
	}
	switch {
	case p.Place == nil:
	case c.Param("domain_id") != "":
		t.AddObject("target.domain", domainView(c, *p.Place))
	default:
		t.AddObject("target.project", projectView(c, *p.Place))
	}
	return t
}

// roles lists them; a domain that is not there is told now, where it was not
// before.
func (h grants) roles(c *Call) (Reply, error) {
	g := c.Object.(granted)
	if err := g.NoPlace(g.Parties); err != nil {
		return Reply{}, err
	}
	found, err := h.Roles(c.Ctx(), g.Grant)
	if err != nil {
		return Reply{}, err
	}
	items := make([]pyjson.Object, len(found))
	for i, r := range found {
		items[i] = roleView(c, r)
	}
	return c.list("roles", items, nil, false), nil
}

func (h grants) check(c *Call) (Reply, error) {
	g := c.Object.(granted)
	for _, look := range []func(assignment.Parties) error{g.NoRole, g.NoPlace} {
		if err := look(g.Parties); err != nil {
			return Reply{}, err
		}
	}
	if err := h.Check(c.Ctx(), g.Grant); err != nil {
		return Reply{}, err
	}
	return noContent(), nil
}

func (h grants) give(c *Call) (Reply, error) {
	if err := h.Give(c.Ctx(), c.Object.(granted).Grant); err != nil {
		return Reply{}, err
	}
	return noContent(), nil
}

func (h grants) take(c *Call) (Reply, error) {
	g := c.Object.(granted)
	if err := g.NoRole(g.Parties); err != nil {
		return Reply{}, err
	}
	if err := h.Take(c.Ctx(), g.Grant); err != nil {
		return Reply{}, err
	}
	return noContent(), nil
}
