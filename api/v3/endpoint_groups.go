package v3

import (
	"slices"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/internal/uuid"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// endpointGroups serves the groups of OS-EP-FILTER (keystone/api/os_ep_filter.py).
type endpointGroups struct{ catalog.EndpointGroups }

const (
	filterPath = "/v3/OS-EP-FILTER"
	filterRel  = "ext/OS-EP-FILTER/1.0/rel/"
)

func (h endpointGroups) routes() []Route {
	const all, one = filterPath + "/endpoint_groups", filterPath + "/endpoint_groups/{endpoint_group_id}"
	list := lists[catalog.EndpointGroup]{key: "endpoint_groups", filters: []string{"name"}, read: h.List, view: endpointGroupView}
	return []Route{
		{Method: "GET", Path: all, Rule: "identity:list_endpoint_groups", Query: &endpointGroupQuery, Do: list.answer, Limit: ratelimit.ClassToken, Rel: filterRel + "endpoint_groups", Summary: "List endpoint groups"},
		{Method: "POST", Path: all, Rule: "identity:create_endpoint_group", Body: &newEndpointGroup, Do: h.create, Limit: ratelimit.ClassToken, Rel: filterRel + "endpoint_groups", Summary: "Create an endpoint group"},
		{Method: "GET", Path: one, Rule: "identity:get_endpoint_group", Do: h.one().find, Limit: ratelimit.ClassToken, Rel: filterRel + "endpoint_group", Summary: "Show an endpoint group"},
		{Method: "PATCH", Path: one, Rule: "identity:update_endpoint_group", Body: &changedEndpointGroup, Do: h.update, Limit: ratelimit.ClassToken, Rel: filterRel + "endpoint_group", Summary: "Change an endpoint group"},
		{Method: "DELETE", Path: one, Rule: "identity:delete_endpoint_group", Do: h.delete, Limit: ratelimit.ClassToken, Rel: filterRel + "endpoint_group", Summary: "Delete an endpoint group"},
	}
}

func (h endpointGroups) one() thing[catalog.EndpointGroup] {
	return thing[catalog.EndpointGroup]{name: "endpoint_group", get: h.Get, view: endpointGroupView}
}

// Schemas of keystone/catalog/schema.py.
var (
	endpointGroupQuery = query{strict: true, fields: []field{{name: "name", min: 1, max: 255, pattern: notBlank}}}
	newEndpointGroup   = shape{key: "endpoint_group", alone: true, optional: true, strict: true, fields: endpointGroupFields(true)}

	changedEndpointGroup = shape{key: "endpoint_group", alone: true, least: 1, strict: true, fields: endpointGroupFields(false)}
)

func endpointGroupFields(required bool) []field {
	return []field{
		{name: "name", required: required, min: 1, max: 255, pattern: notBlank},
		{name: "description", nullable: true},
		{name: "filters", kind: object, required: required, fields: []field{
			{name: "interface", oneOf: interfaces}, {name: "service_id"}, {name: "region_id", nullable: true}, {name: "enabled", kind: boolean},
		}},
	}
}

func (h endpointGroups) create(c *Call) (Reply, error) {
	body := c.sent("endpoint_group")
	filters, _ := body.Object("filters")
	if len(filters) == 0 {
		return Reply{}, fault.New(fault.BadRequest, "filters field is required and cannot be empty")
	}
	if err := checkFilters(filters); err != nil {
		return Reply{}, err
	}
	g := catalog.EndpointGroup{ID: uuid.Hex(), Description: optional(body, "description"), Filters: filters}
	g.Name, _ = body.String("name")
	return h.one().made(c, g, h.Create(c.Ctx(), g))
}

// checkFilters refuses attributes that the schema knows and Python Keystone
// does not filter by.
func checkFilters(filters pyjson.Object) error {
	for _, m := range filters {
		if !slices.Contains([]string{"service_id", "region_id", "interface"}, m.Key) {
			return fault.Invalid("service_id or region_id or interface", "endpoint_group")
		}
	}
	return nil
}

func (h endpointGroups) update(c *Call) (Reply, error) {
	body := c.sent("endpoint_group")
	ch := catalog.EndpointGroupChange{Name: optional(body, "name"), Description: change(body, "description")}
	if filters, found := body.Object("filters"); found {
		if err := checkFilters(filters); err != nil {
			return Reply{}, err
		}
		ch.Filters = append(pyjson.Object{}, filters...)
	}
	g, err := h.Update(c.Ctx(), c.Param("endpoint_group_id"), ch)
	return h.one().changed(c, g, err)
}

func (h endpointGroups) delete(c *Call) (Reply, error) {
	return done(h.Delete(c.Ctx(), c.Param("endpoint_group_id")))
}

func endpointGroupView(c *Call, g catalog.EndpointGroup) pyjson.Object {
	filters := g.Filters
	if filters == nil {
		filters = pyjson.Object{}
	}
	return c.linked(member("id", g.ID, "name", g.Name, "description", g.Description, "filters", filters), "OS-EP-FILTER", "endpoint_groups", g.ID)
}
