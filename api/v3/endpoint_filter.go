package v3

import (
	"context"
	"net/http"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// endpointFilter serves what OS-EP-FILTER ties to projects: endpoints and
// groups of them (keystone/api/os_ep_filter.py).
type endpointFilter struct {
	catalog.EndpointFilter
	groups catalog.EndpointGroups
}

func (h endpointFilter) routes() []Route {
	const project, group = filterPath + "/projects/{project_id}", filterPath + "/endpoint_groups/{endpoint_group_id}"
	row := func(method, path, rule, rel, summary string, do func(*Call) (Reply, error)) Route {
		r := Route{Method: method, Path: path, Rule: "identity:" + rule, Do: do, Limit: ratelimit.ClassToken, Rel: filterRel + rel, Summary: summary}
		if method == http.MethodPut {
			r.Status = http.StatusNoContent
		}
		return r
	}
	endpoint := pair("endpoint_id")
	inProject := row("GET", project+"/endpoints/{endpoint_id}", "check_endpoint_in_project", "project_endpoint", "Check whether a project has an endpoint", endpoint(h.Has))
	inProject.Status = http.StatusNoContent
	return []Route{
		row("GET", filterPath+"/endpoints/{endpoint_id}/projects", "list_projects_for_endpoint", "endpoint_projects", "List the projects that have an endpoint", listOf("projects", "endpoint_id", h.Projects, projectView)),
		row("GET", project+"/endpoints", "list_endpoints_for_project", "project_endpoints", "List the endpoints that a project has, its groups' too", listOf("endpoints", "project_id", h.Endpoints, endpointView)),
		row("GET", project+"/endpoint_groups", "list_endpoint_groups_for_project", "project_endpoint_groups", "List the endpoint groups that a project has", listOf("endpoint_groups", "project_id", h.groups.OfProject, endpointGroupView)),
		row("GET", group+"/endpoints", "list_endpoints_associated_with_endpoint_group", "endpoints_in_endpoint_group", "List the endpoints of a group", listOf("endpoints", "endpoint_group_id", h.groups.Endpoints, endpointView)),
		row("GET", group+"/projects", "list_projects_associated_with_endpoint_group", "projects_associated_with_endpoint_group", "List the projects that have an endpoint group", listOf("projects", "endpoint_group_id", h.groups.Projects, projectView)),
		inProject,
		row("PUT", project+"/endpoints/{endpoint_id}", "add_endpoint_to_project", "project_endpoint", "Give a project an endpoint", endpoint(h.Add)),
		row("DELETE", project+"/endpoints/{endpoint_id}", "remove_endpoint_from_project", "project_endpoint", "Take an endpoint from a project", endpoint(h.Remove)),
		row("GET", group+"/projects/{project_id}", "get_endpoint_group_in_project", "endpoint_group_to_project_association", "Show that a project has an endpoint group", h.group),
		row("PUT", group+"/projects/{project_id}", "add_endpoint_group_to_project", "endpoint_group_to_project_association", "Give a project an endpoint group", pair("endpoint_group_id")(h.groups.Add)),
		row("DELETE", group+"/projects/{project_id}", "remove_endpoint_group_from_project", "endpoint_group_to_project_association", "Take an endpoint group from a project", pair("endpoint_group_id")(h.groups.Remove)),
	}
}

// pair makes handlers that do something with the path's project and another
// argument of it.
func pair(other string) func(func(context.Context, string, string) error) func(*Call) (Reply, error) {
	return func(do func(context.Context, string, string) error) func(*Call) (Reply, error) {
		return func(c *Call) (Reply, error) {
			return done(do(c.Ctx(), c.Param("project_id"), c.Param(other)))
		}
	}
}

// listOf makes a handler that lists what hangs on an argument of the path.
func listOf[T any](key, of string, read func(context.Context, string) ([]T, error), view func(*Call, T) pyjson.Object) func(*Call) (Reply, error) {
	return func(c *Call) (Reply, error) {
		found, err := read(c.Ctx(), c.Param(of))
		if err != nil {
			return Reply{}, err
		}
		items := make([]pyjson.Object, len(found))
		for i, x := range found {
			items[i] = view(c, x)
		}
		return c.list(key, items, nil, false), nil
	}
}

func (h endpointFilter) group(c *Call) (Reply, error) {
	project, group := c.Param("project_id"), c.Param("endpoint_group_id")
	if err := h.groups.Has(c.Ctx(), project, group); err != nil {
		return Reply{}, err
	}
	// The link is Python's, without the server.
	self := "/OS-EP-FILTER/endpoint_groups/" + group + "/projects/" + project
	return ok("project_endpoint_group", member("endpoint_group_id", group, "project_id", project, "links", member("self", self))), nil
}
