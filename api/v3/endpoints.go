package v3

import (
	"regexp"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/notify"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/internal/uuid"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// endpoints serves /v3/endpoints (keystone/api/endpoints.py).
type endpoints struct{ catalog.Endpoints }

func (h endpoints) routes() []Route {
	const all, one = "/v3/endpoints", "/v3/endpoints/{endpoint_id}"
	list := lists[catalog.Endpoint]{key: "endpoints", filters: []string{"interface", "service_id", "region_id"}, limit: h.Limit, read: h.List, view: endpointView}
	return []Route{
		{Method: "GET", Path: all, Rule: "identity:list_endpoints", Query: &endpointQuery, Do: list.answer, Limit: ratelimit.ClassToken, Rel: "endpoints", Summary: "List endpoints"},
		{Method: "POST", Path: all, Rule: "identity:create_endpoint", Body: &newEndpoint, Do: h.create, Limit: ratelimit.ClassToken, Rel: "endpoints", Summary: "Create an endpoint", Audited: "endpoint"},
		{Method: "GET", Path: one, Rule: "identity:get_endpoint", Do: h.one().find, Limit: ratelimit.ClassToken, Rel: "endpoint", Summary: "Show an endpoint"},
		{Method: "PATCH", Path: one, Rule: "identity:update_endpoint", Body: &changedEndpoint, Do: h.update, Limit: ratelimit.ClassToken, Rel: "endpoint", Summary: "Change an endpoint", Audited: "endpoint"},
		{Method: "DELETE", Path: one, Rule: "identity:delete_endpoint", Do: h.delete, Limit: ratelimit.ClassToken, Rel: "endpoint", Summary: "Delete an endpoint", Audited: "endpoint"},
	}
}

func (h endpoints) one() thing[catalog.Endpoint] {
	return thing[catalog.Endpoint]{name: "endpoint", get: h.Get, view: endpointView}
}

// Schemas of keystone/catalog/schema.py; 225 is Python's own bound of a URL.
var (
	interfaces    = []string{"admin", "internal", "public"}
	endpointQuery = query{fields: []field{{name: "interface", oneOf: interfaces}, {name: "service_id"}, {name: "region_id"}}}
	newEndpoint   = shape{key: "endpoint", alone: true, optional: true, fields: endpointFields(true)}

	changedEndpoint = shape{key: "endpoint", alone: true, least: 1, fields: endpointFields(false)}
)

func endpointFields(required bool) []field {
	return []field{
		{name: "enabled", kind: boolean},
		{name: "interface", required: required, oneOf: interfaces},
		{name: "region_id", nullable: true},
		{name: "region", nullable: true},
		{name: "service_id", required: required},
		{name: "url", required: required, max: 225, pattern: regexp.MustCompile(`^[a-zA-Z0-9+.-]+:.+`)},
		{name: "name"},
		{name: "description", nullable: true},
	}
}

func (h endpoints) create(c *Call) (Reply, error) {
	body, err := c.need("endpoint")
	if err != nil {
		return Reply{}, err
	}
	body, legacy := legacyRegion(normalized(body))
	e := catalog.Endpoint{
		ID: uuid.Hex(), RegionID: optional(body, "region_id"), Enabled: flag(body, "enabled", true), Extra: endpointExtra(body),
	}
	e.Interface, _ = body.String("interface")
	e.ServiceID, _ = body.String("service_id")
	e.URL, _ = body.String("url")
	region, err := h.Create(c.Ctx(), e, legacy)
	tellRegion(c, region, e)
	return h.one().made(c, e, err)
}

func (h endpoints) update(c *Call) (Reply, error) {
	id, body := c.Param("endpoint_id"), c.sent("endpoint")
	if err := sameID(body, id); err != nil {
		return Reply{}, err
	}
	body, legacy := legacyRegion(body)
	e, region, err := h.Update(c.Ctx(), id, catalog.EndpointChange{
		Interface: optional(body, "interface"), ServiceID: optional(body, "service_id"), URL: optional(body, "url"),
		RegionID: change(body, "region_id"), MakeRegion: legacy,
		Enabled: optionalFlag(body, "enabled"), Extra: endpointExtra(body),
	})
	tellRegion(c, region, e)
	return h.one().changed(c, e, err)
}

// tellRegion tells of a region that was made with an endpoint.
func tellRegion(c *Call, made bool, e catalog.Endpoint) {
	if made {
		c.tell(notify.Change{Operation: notify.Created, Kind: "region", ID: *e.RegionID})
	}
}

func (h endpoints) delete(c *Call) (Reply, error) {
	return done(h.Delete(c.Ctx(), c.Param("endpoint_id")))
}

// legacyRegion takes a region by its name of the second API, which is made
// where there is none, for the region's id where that is missing.
func legacyRegion(body pyjson.Object) (pyjson.Object, bool) {
	region, named := body.String("region")
	if id, _ := body.Get("region_id"); id != nil || !named {
		return body, false
	}
	return body.Without("region").Set("region_id", region), true
}

func endpointExtra(body pyjson.Object) pyjson.Object {
	return body.Without("id", "interface", "region_id", "service_id", "url", "legacy_endpoint_id", "enabled", "extra", "links")
}

func endpointView(c *Call, e catalog.Endpoint) pyjson.Object {
	return c.linked(plainEndpoint(e).Set("region", e.RegionID), "endpoints", e.ID)
}

// plainEndpoint is an endpoint without its region's older name.
func plainEndpoint(e catalog.Endpoint) pyjson.Object {
	return shown(e.Extra, member(
		"id", e.ID, "interface", e.Interface, "region_id", e.RegionID, "service_id", e.ServiceID, "url", e.URL, "enabled", e.Enabled))
}
