package v3

import (
	"encoding/json"

	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/internal/uuid"
	"github.com/keystone-go/keystone-go/limit"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// registeredLimits serves /v3/registered_limits
// (keystone/api/registered_limits.py).
type registeredLimits struct{ limit.Registry }

func (h registeredLimits) routes() []Route {
	const all, one = "/v3/registered_limits", "/v3/registered_limits/{registered_limit_id}"
	list := lists[limit.Registered]{key: "registered_limits", filters: []string{"service_id", "region_id", "resource_name"}, read: h.List, view: registeredView}
	return []Route{
		{Method: "GET", Path: all, Rule: "identity:list_registered_limits", Query: &registeredQuery, Do: list.answer, Limit: ratelimit.ClassToken, Rel: "registered_limits", Summary: "List registered limits"},
		{Method: "POST", Path: all, Rule: "identity:create_registered_limits", Body: &newRegistered, Do: h.create, Limit: ratelimit.ClassToken, Rel: "registered_limits", Summary: "Register limits"},
		{Method: "GET", Path: one, Rule: "identity:get_registered_limit", Do: h.one().find, Limit: ratelimit.ClassToken, Rel: "registered_limit", Summary: "Show a registered limit"},
		{Method: "PATCH", Path: one, Rule: "identity:update_registered_limit", Body: &changedRegistered, Do: h.update, Limit: ratelimit.ClassToken, Rel: "registered_limit", Summary: "Change a registered limit"},
		{Method: "DELETE", Path: one, Rule: "identity:delete_registered_limit", Do: h.delete, Limit: ratelimit.ClassToken, Rel: "registered_limit", Summary: "Delete a registered limit"},
	}
}

func (h registeredLimits) one() thing[limit.Registered] {
	return thing[limit.Registered]{name: "registered_limit", get: h.Get, view: registeredView}
}

// Schemas of keystone/limit/schema.py.
var (
	limitService  = field{name: "service_id", pattern: uuidText}
	limitRegion   = field{name: "region_id", nullable: true, min: 1, max: 255}
	limitResource = field{name: "resource_name", min: 1, max: 255, pattern: notBlank}
	limitAbout    = field{name: "description", nullable: true, max: 255}

	registeredQuery = query{fields: []field{limitService, limitRegion, limitResource}}
	newRegistered   = severalOf("registered_limits", limitService.needed(), limitRegion, limitResource.needed(), amount("default_limit").needed(), limitAbout)

	changedRegistered = shape{key: "registered_limit", alone: true, strict: true, fields: []field{
		limitService, limitRegion, limitResource, amount("default_limit"), limitAbout,
	}}
)

// amount is a number of things, -1 for no bound.
func amount(name string) field { return field{name: name, kind: integer, min: -1, max: 1<<31 - 1} }

// needed is the field where it must be there.
func (f field) needed() field {
	f.required = true
	return f
}

// severalOf is a body of at least one object with these members and no others.
func severalOf(key string, fields ...field) shape {
	items := field{name: key, kind: object, strict: true, fields: fields}
	return shape{key: key, alone: true, bare: true, fields: []field{{name: key, kind: array, min: 1, fields: []field{items}}}}
}

// objects are those under a key of the body.
func (c *Call) objects(key string) []pyjson.Object {
	v, _ := c.JSON().Get(key)
	items, _ := v.([]any)
	var out []pyjson.Object
	for _, item := range items {
		if o, isObject := item.(pyjson.Object); isObject {
			out = append(out, o)
		}
	}
	return out
}

// whole is a member's whole number, which a shape has bounded; nil where it is
// missing.
func whole(o pyjson.Object, key string) *int64 {
	v, _ := o.Get(key)
	text, isNumber := v.(json.Number)
	if !isNumber {
		return nil
	}
	f, err := text.Float64()
	if err != nil {
		return nil
	}
	n := int64(f)
	return &n
}

func resourceOf(o pyjson.Object) limit.Resource {
	var r limit.Resource
	r.ServiceID, _ = o.String("service_id")
	r.RegionID, _ = o.String("region_id")
	r.Name, _ = o.String("resource_name")
	return r
}

func (h registeredLimits) create(c *Call) (Reply, error) {
	var list []limit.Registered
	for _, o := range c.objects("registered_limits") {
		list = append(list, limit.Registered{ID: uuid.Hex(), Resource: resourceOf(o), Default: *whole(o, "default_limit"), Description: optional(o, "description")})
	}
	if err := h.Create(c.Ctx(), list); err != nil {
		return Reply{}, err
	}
	return created("registered_limits", views(c, list, registeredView)), nil
}

// views shows each of a list.
func views[T any](c *Call, list []T, view func(*Call, T) pyjson.Object) []pyjson.Object {
	out := make([]pyjson.Object, len(list))
	for i, v := range list {
		out[i] = view(c, v)
	}
	return out
}

func (h registeredLimits) update(c *Call) (Reply, error) {
	body := c.sent("registered_limit")
	ch := limit.RegisteredChange{
		ServiceID: optional(body, "service_id"), Name: optional(body, "resource_name"), Default: whole(body, "default_limit"), Description: change(body, "description"),
	}
	if region := change(body, "region_id"); region != nil {
		id := resourceOf(body).RegionID
		ch.RegionID = &id
	}
	r, err := h.Update(c.Ctx(), c.Param("registered_limit_id"), ch)
	return h.one().changed(c, r, err)
}

func (h registeredLimits) delete(c *Call) (Reply, error) {
	return done(h.Delete(c.Ctx(), c.Param("registered_limit_id")))
}

func registeredView(c *Call, r limit.Registered) pyjson.Object {
	return c.linked(member("id", r.ID, "service_id", orNull(r.ServiceID), "region_id", orNull(r.RegionID), "resource_name", orNull(r.Name),
		"default_limit", r.Default, "description", r.Description), "registered_limits", r.ID)
}
