package v3

import (
	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/resource"
)

// roleAssignments serves /v3/role_assignments
// (keystone/api/role_assignments.py).
type roleAssignments struct {
	assignment.Grants
	projects resource.Projects
}

func (h roleAssignments) routes() []Route {
	return []Route{{
		Method: "GET", Path: "/v3/role_assignments", Rule: "identity:list_role_assignments", Other: "identity:list_role_assignments_for_tree", Choose: asksForTree,
		Query: &assignmentQuery, Check: checkAssignmentQuery, Target: h.target, Do: h.list,
		Limit: ratelimit.ClassToken, Rel: "role_assignments", Summary: "List role assignments",
	}}
}

// Schema of keystone/assignment/schema.py.
var assignmentQuery = query{fields: []field{
	{name: "group.id", min: 1, max: 64, pattern: idText},
	{name: "role.id", min: 1, max: 64, pattern: idText},
	{name: "user.id"},
	{name: "scope.domain.id", min: 1, max: 64, pattern: idText},
	{name: "scope.project.id", min: 1, max: 64, pattern: idText},
	{name: "scope.system"},
	{name: "scope.OS-INHERIT:inherited_to"},
}}

func asksForTree(c *Call) bool { return c.QueryFlag("include_subtree") }

// checkAssignmentQuery looks at what is there beside what.
func checkAssignmentQuery(c *Call) error {
	has := func(name string) bool { _, there := c.query[name]; return there }
	switch {
	case has("include_subtree") && !has("scope.project.id"):
		return invalid("scope.project.id is a dependency of include_subtree")
	case has("user.id") && has("group.id"):
		return invalid("user.id and group.id are not valid together")
	case has("effective") && has("group"):
		return invalid("effective and group are not valid together")
	}
	return nil
}

// target lets the rule look at the domain of the tree that is asked for, else
// at that of a token for one.
func (h roleAssignments) target(c *Call) (policy.Target, error) {
	if !asksForTree(c) {
		return ownDomain("target.domain_id")(c)
	}
	p, err := h.projects.Get(c.Ctx(), c.Query("scope.project.id"))
	if err != nil {
		return nil, err
	}
	t := about("project", projectView(c, p))
	if p.DomainID != "" {
		t["target.domain_id"] = p.DomainID
	}
	return t, nil
}

func (h roleAssignments) list(c *Call) (Reply, error) {
	f, err := assignmentFilter(c)
	if err != nil {
		return Reply{}, err
	}
	found, err := h.Assignments(c.Ctx(), f)
	if err != nil {
		return Reply{}, err
	}
	var names *assignment.Names
	if c.QueryFlag("include_names") {
		n, err := h.Names(c.Ctx(), found)
		if err != nil {
			return Reply{}, err
		}
		names = &n
	}
	l := newListing("role_assignments", len(found))
	for _, a := range found {
		l.add(assignmentView(c, a, names))
	}
	return l.end(c, nil, false), nil
}

// assignmentFilter reads the query, and refuses what can find nothing.
func assignmentFilter(c *Call) (assignment.Filter, error) {
	f := assignment.Filter{
		RoleID: c.Query("role.id"), UserID: c.Query("user.id"), GroupID: c.Query("group.id"),
		DomainID: c.Query("scope.domain.id"), ProjectID: c.Query("scope.project.id"),
		Subtree: asksForTree(c), System: c.Query("scope.system") == "all", Effective: c.QueryFlag("effective"),
	}
	if v, asked := c.query["scope.OS-INHERIT:inherited_to"]; asked {
		f.Inherited = new(v[0] == "projects")
	}
	if d := c.Caller.Domain; d != nil && !f.Subtree {
		f.InDomain = d.ID
	}
	system := c.Query("scope.system") != ""
	for _, wrong := range []struct {
		is   bool
		text string
	}{
		{f.DomainID != "" && f.ProjectID != "", "Specify a domain or project, not both"},
		{f.DomainID != "" && system, "Specify system or domain, not both"},
		{f.ProjectID != "" && system, "Specify system or project, not both"},
		{f.UserID != "" && f.GroupID != "", "Specify a user or group, not both"},
		{f.Effective && f.GroupID != "", "Combining effective and group filter will always result in an empty list."},
		{f.Effective && f.DomainID != "" && f.Inherited != nil && *f.Inherited, "Combining effective, domain and inherited filters will always result in an empty list."},
	} {
		if wrong.is {
			return f, fault.New(fault.BadRequest, "%s", wrong.text)
		}
	}
	return f, nil
}

// assignmentView shows an assignment, with a link to the grant that it comes
// from.
func assignmentView(c *Call, a assignment.Assignment, names *assignment.Names) pyjson.Object {
	links := pyjson.Object{}
	actor := "user"
	of := []string{"users", a.UserID}
	switch {
	case a.By.GroupID != "":
		of = []string{"groups", a.By.GroupID}
		links = member("membership", c.Link("groups", a.By.GroupID, "users", a.UserID))
	case a.GroupID != "":
		actor, of = "group", []string{"groups", a.GroupID}
	}
	granted := a.RoleID
	if a.By.RoleID != "" {
		granted = a.By.RoleID
	}
	scope, place := scopeOf(a, names)
	path := append(append(place, of...), "roles", granted)
	if a.Inherited || a.By.ProjectID != "" || a.By.DomainID != "" {
		scope = append(scope, pyjson.Member{Key: "OS-INHERIT:inherited_to", Value: "projects"})
		path = append(append([]string{"OS-INHERIT"}, path...), "inherited_to_projects")
	}
	links = append(links, pyjson.Member{Key: "assignment", Value: c.Link(path...)})
	if a.By.RoleID != "" {
		links = append(links, pyjson.Member{Key: "prior_role", Value: c.Link("prior_role", a.RoleID, "implies", a.By.RoleID)})
	}
	out := member("links", links, "scope", scope)
	if actor == "group" {
		return append(out, member("group", groupOf(a, names), "role", roleOf(a, names))...)
	}
	return append(out, member("user", userOf(a, names), "role", roleOf(a, names))...)
}

// scopeOf is where an assignment holds, and the path of where it was made.
func scopeOf(a assignment.Assignment, names *assignment.Names) (pyjson.Object, []string) {
	place := []string{"system"}
	switch {
	case a.By.DomainID != "":
		place = []string{"domains", a.By.DomainID}
	case a.By.ProjectID != "":
		place = []string{"projects", a.By.ProjectID}
	case a.ProjectID != "":
		place = []string{"projects", a.ProjectID}
	case a.DomainID != "":
		place = []string{"domains", a.DomainID}
	}
	switch {
	case a.ProjectID != "" && names != nil:
		return member("project", inDomain(a.ProjectID, names.Places[a.ProjectID])), place
	case a.ProjectID != "":
		return member("project", member("id", a.ProjectID)), place
	case a.DomainID != "" && names != nil:
		return member("domain", member("id", a.DomainID, "name", names.Places[a.DomainID].Name)), place
	case a.DomainID != "":
		return member("domain", member("id", a.DomainID)), place
	}
	return member("system", member("all", true)), place
}

func userOf(a assignment.Assignment, names *assignment.Names) pyjson.Object {
	if names == nil {
		return member("id", a.UserID)
	}
	return inDomain(a.UserID, names.Users[a.UserID])
}

func groupOf(a assignment.Assignment, names *assignment.Names) pyjson.Object {
	if names == nil {
		return member("id", a.GroupID)
	}
	return inDomain(a.GroupID, names.Groups[a.GroupID])
}

func roleOf(a assignment.Assignment, names *assignment.Names) pyjson.Object {
	if names == nil {
		return member("id", a.RoleID)
	}
	n := names.Roles[a.RoleID]
	if n.DomainID == "" {
		return member("id", a.RoleID, "name", n.Name)
	}
	return inDomain(a.RoleID, n)
}

// inDomain names something of a domain; a domain as a project is of none.
func inDomain(id string, n assignment.Name) pyjson.Object {
	domain := member("id", n.DomainID, "name", n.DomainName)
	if n.Name != "" && n.DomainID == "" {
		domain = member("id", nil, "name", nil)
	}
	return member("id", id, "name", n.Name, "domain", domain)
}
